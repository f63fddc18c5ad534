-- why: limits, second half: bans that a person lays and lifts, and streaks of failures that ask for a step-up
-- lock: none, every object is new
-- phase: expand

-- PLATFORM: subjects that are closed until an instant, because a person said so. The key is a digest, as in
-- kernel.limit_counter. Bans are the platform's: they hold everywhere, so no other organisation's scope may lay one.
-- A row means nothing after `ends_at`; the audit trail remembers.
CREATE TABLE kernel.ban (
    key             bytea       PRIMARY KEY CHECK (octet_length(key) = 16),
    organization_id uuid        NOT NULL CHECK (organization_id = '00000000-0000-7000-8000-000000000001'),
    reason_code     text        NOT NULL CHECK (length(reason_code) BETWEEN 1 AND 100),
    created_at      timestamptz NOT NULL,
    ends_at         timestamptz NOT NULL
);
ALTER TABLE kernel.ban ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.ban FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.ban TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY authority_reads ON kernel.ban FOR SELECT TO admitone_authority USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON kernel.ban TO admitone_app;
GRANT SELECT ON kernel.ban TO admitone_authority;


-- PLATFORM: the latest failures of a subject, and what they led to. The key is a digest. `turn` counts the changes, so
-- that two who begin the same streak at once do not overwrite each other. A row means nothing after `ends_at`.
CREATE TABLE kernel.streak (
    key          bytea         PRIMARY KEY CHECK (octet_length(key) = 16),
    failed_at    timestamptz[] NOT NULL,
    step_up      boolean       NOT NULL,
    closed_until timestamptz,
    ends_at      timestamptz   NOT NULL CHECK (ends_at >= closed_until),
    turn         bigint        NOT NULL CHECK (turn > 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE kernel.streak ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.streak FORCE ROW LEVEL SECURITY;
CREATE POLICY authority_counts ON kernel.streak TO admitone_authority USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON kernel.streak TO admitone_authority;
