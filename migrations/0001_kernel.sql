-- why: the ground: the scope of a transaction, tenants, idempotency keys, limits, the audit trail
-- lock: none, every object is new
-- phase: expand

-- Opens the scope of a transaction in one round trip: whose rows, how patient with locks, what time it is, and
-- (for work that writes) the transaction's own id, by which a lost COMMIT answer can be looked up.
-- SET LOCAL by EXECUTE, because set_config() does not travel to the workers of a sharded installation.
CREATE FUNCTION kernel.set_scope(
    organization uuid, identity uuid, patience_ms integer, writes boolean,
    OUT at timestamptz, OUT transaction_id text)
LANGUAGE plpgsql AS $$
BEGIN
    IF organization IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.organization_id = %L', organization);
    END IF;
    IF identity IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.identity_id = %L', identity);
    END IF;
    IF patience_ms IS NOT NULL THEN
        EXECUTE format('SET LOCAL lock_timeout = %L', patience_ms);
    END IF;
    at := transaction_timestamp();
    IF writes THEN
        transaction_id := pg_current_xact_id()::text;
    END IF;
END
$$;

GRANT USAGE ON SCHEMA kernel TO
    admitone_app, admitone_buyer, admitone_identity, admitone_authority, admitone_relay, admitone_maintenance;


-- TENANT: the anchor that every tenant table reaches by its foreign keys.
CREATE TABLE kernel.tenant (
    id         uuid        PRIMARY KEY,
    created_at timestamptz NOT NULL
);
-- The platform's own organisation, before FORCE makes the owner as blind as everybody else.
INSERT INTO kernel.tenant (id, created_at) VALUES ('00000000-0000-7000-8000-000000000001', now());
ALTER TABLE kernel.tenant ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.tenant FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.tenant TO admitone_app
    USING      (id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON kernel.tenant TO admitone_app;


-- TENANT: answers that were given under a key, so that a repeated request gets the same one. Append-only.
-- The name is a digest of contract, caller and key: one short column to look up many by.
CREATE TABLE kernel.idempotency_key (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    name            bytea       NOT NULL CHECK (octet_length(name) = 32),
    request_hash    bytea       NOT NULL CHECK (octet_length(request_hash) = 32),
    answer          bytea       NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, name)
);
ALTER TABLE kernel.idempotency_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.idempotency_key FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.idempotency_key TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON kernel.idempotency_key TO admitone_app;


-- PLATFORM: how often each limited subject came in its current period. The key is a digest: no address, no e-mail.
-- Low fillfactor and no second index, so that every count is a heap-only update.
CREATE TABLE kernel.limit_counter (
    key     bytea       PRIMARY KEY CHECK (octet_length(key) = 16),
    hits    bigint      NOT NULL CHECK (hits > 0),
    ends_at timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE kernel.limit_counter ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.limit_counter FORCE ROW LEVEL SECURITY;
CREATE POLICY authority_counts ON kernel.limit_counter TO admitone_authority USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON kernel.limit_counter TO admitone_authority;


-- PLATFORM: who did what, or was refused what, and why. Append-only; rows are written in their organisation's scope.
CREATE TABLE kernel.audit_entry (
    id              uuid        PRIMARY KEY,
    organization_id uuid        NOT NULL,
    at              timestamptz NOT NULL,
    actor_id        uuid,
    action          text        NOT NULL CHECK (length(action) BETWEEN 1 AND 200),
    subject         text        NOT NULL CHECK (length(subject) <= 500),
    reason_code     text        CHECK (length(reason_code) <= 100),
    before          jsonb,
    after           jsonb,
    correlation_id  uuid        NOT NULL
);
CREATE INDEX audit_entry_by_organization ON kernel.audit_entry (organization_id, id);
ALTER TABLE kernel.audit_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.audit_entry FORCE ROW LEVEL SECURITY;
CREATE POLICY app_records ON kernel.audit_entry FOR INSERT TO admitone_app
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT INSERT ON kernel.audit_entry TO admitone_app;
