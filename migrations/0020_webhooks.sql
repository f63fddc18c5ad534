-- why: webhooks: receipts of what providers tell us, sealed payloads, the poller's cursors
-- lock: kernel.job and kernel.job_key for a moment, to add a policy each; every other object is new
-- phase: expand

CREATE SCHEMA webhooks;
GRANT USAGE ON SCHEMA webhooks TO admitone_app, admitone_relay;

-- PLATFORM: that a provider told us something, for ever (PAY-012, PAY-073): metadata only, what it said stands in
-- `payload`. A receipt is a row of the platform's own organisation until it is known whose event it is; then it is that
-- organisation's, which settles it in the transaction of the effect.
CREATE TABLE webhooks.receipt (
    id                  uuid        PRIMARY KEY,
    organization_id     uuid        NOT NULL,
    source              text        NOT NULL CHECK (length(source) BETWEEN 1 AND 50),
    external_id         text        NOT NULL CHECK (length(external_id) BETWEEN 1 AND 200),
    provider            text        NOT NULL CHECK (length(provider) BETWEEN 1 AND 50),
    type                text        NOT NULL CHECK (length(type) BETWEEN 1 AND 200),
    account             text        CHECK (length(account) BETWEEN 1 AND 200),
    provider_created_at timestamptz NOT NULL,
    livemode            boolean     NOT NULL,
    request_id          text        CHECK (length(request_id) BETWEEN 1 AND 200),
    correlation_id      uuid        NOT NULL,
    state               text        NOT NULL
        CHECK (state IN ('RECEIVED', 'PROCESSED', 'IGNORED', 'ORG_UNRESOLVED', 'DEAD')),
    reason              text        CHECK (length(reason) <= 500),
    payment_id          uuid,
    round               smallint    NOT NULL DEFAULT 0 CHECK (round >= 0),
    received_at         timestamptz NOT NULL,
    settled_at          timestamptz,
    UNIQUE (external_id, source),
    CHECK ((state = 'RECEIVED') = (settled_at IS NULL)),
    CHECK (reason IS NOT NULL OR state NOT IN ('ORG_UNRESOLVED', 'DEAD')),
    CHECK (state <> 'ORG_UNRESOLVED' OR organization_id = '00000000-0000-7000-8000-000000000001')
) WITH (fillfactor = 90);
-- For operators, who look for what is to be mended.
CREATE INDEX receipt_by_state ON webhooks.receipt (state, id);
ALTER TABLE webhooks.receipt ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks.receipt FORCE ROW LEVEL SECURITY;
-- An organisation sees and settles its own, and makes none.
CREATE POLICY app_sees_own ON webhooks.receipt FOR SELECT TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY app_settles_own ON webhooks.receipt FOR UPDATE TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
-- The platform's own scope makes them, finds a duplicate whoever's it is, hands them on and takes them back.
CREATE POLICY platform_keeps ON webhooks.receipt TO admitone_app
    USING      (NULLIF(current_setting('app.organization_id', true), '')::uuid = '00000000-0000-7000-8000-000000000001')
    WITH CHECK (NULLIF(current_setting('app.organization_id', true), '')::uuid = '00000000-0000-7000-8000-000000000001');
-- Whose job died is written down by whoever buries it.
CREATE POLICY relay_mourns ON webhooks.receipt TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE (organization_id, state, reason, payment_id, round, settled_at)
    ON webhooks.receipt TO admitone_app;
GRANT SELECT, UPDATE (organization_id, state, reason, settled_at) ON webhooks.receipt TO admitone_relay;


-- PLATFORM: what was said, sealed, for ninety days (U-39). Always the platform's own: no organisation reads one, its job
-- carries what the event means.
CREATE TABLE webhooks.payload (
    organization_id uuid        NOT NULL,
    receipt_id      uuid        NOT NULL,
    sealed          bytea       NOT NULL CHECK (length(sealed) <= 300000),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, receipt_id)
);
-- Sealed bytes do not compress.
ALTER TABLE webhooks.payload ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX payload_by_age ON webhooks.payload (created_at);
ALTER TABLE webhooks.payload ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks.payload FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON webhooks.payload TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY overdue ON webhooks.payload TO admitone_owner
    USING (created_at < now() - interval '90 days') WITH CHECK (false);
GRANT SELECT, INSERT ON webhooks.payload TO admitone_app;


-- PLATFORM: how far the poller came with each provider.
CREATE TABLE webhooks.cursor (
    organization_id uuid        NOT NULL,
    provider        text        NOT NULL CHECK (length(provider) BETWEEN 1 AND 50),
    position        text        CHECK (length(position) BETWEEN 1 AND 500),
    since           timestamptz NOT NULL,
    PRIMARY KEY (organization_id, provider)
);
ALTER TABLE webhooks.cursor ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks.cursor FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON webhooks.cursor TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE (position, since) ON webhooks.cursor TO admitone_app;


-- The platform's own scope, which finds out whose an event is, hands a job on to that organisation: it may add, and sees
-- nothing of what is there. In any other scope these policies allow nothing.
CREATE POLICY platform_hands_on ON kernel.job_key FOR INSERT TO admitone_app
    WITH CHECK (NULLIF(current_setting('app.organization_id', true), '')::uuid = '00000000-0000-7000-8000-000000000001');
CREATE POLICY platform_hands_on ON kernel.job FOR INSERT TO admitone_app
    WITH CHECK (NULLIF(current_setting('app.organization_id', true), '')::uuid = '00000000-0000-7000-8000-000000000001');
