-- why: letters: transactional mail that waits for its job to send it
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA mail;
GRANT USAGE ON SCHEMA mail TO admitone_app, admitone_identity, admitone_relay;

-- PLATFORM: letters to be sent, and what became of them. Whom one is for and what it says stands in `sealed`, which is
-- emptied as soon as the mail server has taken the letter or refuses its recipient for good: codes and links live there.
CREATE TABLE mail.letter (
    organization_id uuid        NOT NULL,
    id              uuid        NOT NULL,
    template        text        NOT NULL CHECK (length(template) BETWEEN 1 AND 100),
    language        text        NOT NULL CHECK (length(language) BETWEEN 2 AND 20),
    sealed          bytea       CHECK (length(sealed) <= 20000),
    created_at      timestamptz NOT NULL,
    sent_at         timestamptz,
    refused_at      timestamptz,
    PRIMARY KEY (organization_id, id),
    CHECK (num_nonnulls(sealed, sent_at, refused_at) = 1)
);
CREATE INDEX letter_by_age ON mail.letter (created_at);
CREATE INDEX letter_waiting ON mail.letter (created_at) WHERE sent_at IS NULL AND refused_at IS NULL;
ALTER TABLE mail.letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE mail.letter FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON mail.letter TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
-- People belong to no organisation: what is written to them is the platform's.
CREATE POLICY identity_posts ON mail.letter FOR INSERT TO admitone_identity
    WITH CHECK (organization_id = '00000000-0000-7000-8000-000000000001');
CREATE POLICY relay_counts ON mail.letter FOR SELECT TO admitone_relay USING (true);
CREATE POLICY overdue ON mail.letter TO admitone_owner
    USING (created_at < now() - interval '7 days') WITH CHECK (false);
GRANT SELECT, INSERT, UPDATE (sealed, sent_at, refused_at) ON mail.letter TO admitone_app;
GRANT INSERT ON mail.letter TO admitone_identity;
GRANT SELECT (created_at, sent_at, refused_at) ON mail.letter TO admitone_relay;
