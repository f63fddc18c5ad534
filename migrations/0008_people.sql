-- why: the ground for people: cities as a second scope, identity's own facts and jobs, and the authority tables
-- lock: policies on small kernel tables; every table is new
-- phase: expand

-- As before, and also which cities: '*' is every one that the organisation has, no code is no row. The former one stays
-- for yesterday's code.
CREATE FUNCTION kernel.set_scope(
    organization uuid, identity uuid, cities text, patience_ms integer, writes boolean,
    OUT at timestamptz, OUT transaction_id text)
LANGUAGE plpgsql AS $$
BEGIN
    IF organization IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.organization_id = %L', organization);
    END IF;
    IF cities IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.city_codes = %L', cities);
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

-- Whether a row of a city may be seen: what the restrictive policy of every table with a `city_code` asks.
CREATE FUNCTION kernel.in_city(code text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN current_setting('app.city_codes', true) = '*'
    OR code = ANY (string_to_array(current_setting('app.city_codes', true), ','));

-- PLATFORM: the cities there are, the same for everybody. GLOBAL is the city of what belongs to none.
CREATE TABLE kernel.city (
    code       text        PRIMARY KEY CHECK (code ~ '^[A-Z]{3,8}$'),
    name       text        NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    time_zone  text        NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
    created_at timestamptz NOT NULL
);
INSERT INTO kernel.city (code, name, time_zone, created_at) VALUES ('GLOBAL', 'Everywhere', 'UTC', now());
ALTER TABLE kernel.city ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.city FORCE ROW LEVEL SECURITY;
CREATE POLICY everybody_reads ON kernel.city FOR SELECT
    TO admitone_app, admitone_buyer, admitone_identity, admitone_authority USING (true);
GRANT SELECT ON kernel.city TO admitone_app, admitone_buyer, admitone_identity, admitone_authority;


-- What people do is told, audited, answered under a key and followed up by jobs in the platform's own organisation, and
-- in no other: the identity role reaches these tables for that one organisation.
CREATE POLICY identity_records ON kernel.audit_entry FOR INSERT TO admitone_identity
    WITH CHECK (organization_id = '00000000-0000-7000-8000-000000000001'::uuid);
GRANT INSERT ON kernel.audit_entry TO admitone_identity;

CREATE POLICY identity_tells ON kernel.event_log TO admitone_identity
    USING      (organization_id = '00000000-0000-7000-8000-000000000001'::uuid)
    WITH CHECK (organization_id = '00000000-0000-7000-8000-000000000001'::uuid);
GRANT SELECT, INSERT ON kernel.event_log TO admitone_identity;

CREATE POLICY identity_tells ON kernel.fact_key TO admitone_identity
    USING      (organization_id = '00000000-0000-7000-8000-000000000001'::uuid)
    WITH CHECK (organization_id = '00000000-0000-7000-8000-000000000001'::uuid);
GRANT SELECT, INSERT ON kernel.fact_key TO admitone_identity;

CREATE POLICY identity_tells ON kernel.outbox TO admitone_identity
    USING      (organization_id = '00000000-0000-7000-8000-000000000001'::uuid)
    WITH CHECK (organization_id = '00000000-0000-7000-8000-000000000001'::uuid);
GRANT SELECT, INSERT ON kernel.outbox TO admitone_identity;

CREATE POLICY identity_answers ON kernel.idempotency_key TO admitone_identity
    USING      (organization_id = '00000000-0000-7000-8000-000000000001'::uuid)
    WITH CHECK (organization_id = '00000000-0000-7000-8000-000000000001'::uuid);
GRANT SELECT, INSERT ON kernel.idempotency_key TO admitone_identity;

CREATE POLICY identity_enqueues ON kernel.job TO admitone_identity
    USING      (organization_id = '00000000-0000-7000-8000-000000000001'::uuid)
    WITH CHECK (organization_id = '00000000-0000-7000-8000-000000000001'::uuid);
GRANT SELECT, INSERT ON kernel.job TO admitone_identity;

CREATE POLICY identity_enqueues ON kernel.job_key TO admitone_identity
    USING      (organization_id = '00000000-0000-7000-8000-000000000001'::uuid)
    WITH CHECK (organization_id = '00000000-0000-7000-8000-000000000001'::uuid);
GRANT SELECT, INSERT ON kernel.job_key TO admitone_identity;

-- An organisation reads its own audit trail, and the platform its own.
CREATE POLICY app_reads ON kernel.audit_entry FOR SELECT TO admitone_app
    USING (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT ON kernel.audit_entry TO admitone_app;


CREATE SCHEMA authority;
GRANT USAGE ON SCHEMA authority TO admitone_app, admitone_authority, admitone_identity;

-- IDENTITY: who is signed in where. A session has one access and one refresh token at a time, as digests, and says what
-- its holder has proved. It ends; it is never changed back.
CREATE TABLE authority.session (
    id                 uuid        PRIMARY KEY,
    identity_id        uuid        NOT NULL,
    access_digest      bytea       NOT NULL CHECK (octet_length(access_digest) = 32),
    access_expires_at  timestamptz NOT NULL,
    refresh_digest     bytea       NOT NULL CHECK (octet_length(refresh_digest) = 32),
    refresh_expires_at timestamptz NOT NULL,
    lasts_until        timestamptz NOT NULL,
    method             text        NOT NULL CHECK (method IN ('PASSWORD', 'CODE', 'LINK', 'APPLE')),
    email_verified_at  timestamptz,
    authenticated_at   timestamptz NOT NULL,
    stepped_up_at      timestamptz,
    created_at         timestamptz NOT NULL,
    refreshed_at       timestamptz NOT NULL,
    ended_at           timestamptz,
    end_reason         text        CHECK (end_reason IN ('LOGOUT', 'PASSWORD_CHANGED', 'TOKEN_REUSED', 'EMAIL_CHANGED',
                                                         'SUSPENDED', 'ERASED', 'BY_OWNER')),
    CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    CHECK (refresh_expires_at <= lasts_until)
);
CREATE UNIQUE INDEX session_by_access ON authority.session (access_digest);
CREATE UNIQUE INDEX session_by_refresh ON authority.session (refresh_digest);
CREATE INDEX session_by_identity ON authority.session (identity_id, id) WHERE ended_at IS NULL;
CREATE INDEX session_by_age ON authority.session (lasts_until);
ALTER TABLE authority.session ENABLE ROW LEVEL SECURITY;
ALTER TABLE authority.session FORCE ROW LEVEL SECURITY;
CREATE POLICY identity_all ON authority.session TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY authority_reads ON authority.session FOR SELECT TO admitone_authority USING (true);
CREATE POLICY overdue ON authority.session TO admitone_owner
    USING (lasts_until < now() - interval '30 days') WITH CHECK (false);
GRANT SELECT, INSERT, UPDATE ON authority.session TO admitone_identity;
GRANT SELECT ON authority.session TO admitone_authority;

-- IDENTITY: refresh tokens that were used: whoever shows one again has stolen it, or was stolen from. Append-only.
CREATE TABLE authority.spent_token (
    digest     bytea       PRIMARY KEY CHECK (octet_length(digest) = 32),
    session_id uuid        NOT NULL,
    spent_at   timestamptz NOT NULL
);
CREATE INDEX spent_token_by_age ON authority.spent_token (spent_at);
ALTER TABLE authority.spent_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE authority.spent_token FORCE ROW LEVEL SECURITY;
CREATE POLICY identity_all ON authority.spent_token TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY overdue ON authority.spent_token TO admitone_owner
    USING (spent_at < now() - interval '100 days') WITH CHECK (false);
GRANT SELECT, INSERT ON authority.spent_token TO admitone_identity;

-- PLATFORM: keys of programs and devices, each of one organisation and for one purpose.
CREATE TABLE authority.service_key (
    organization_id uuid        NOT NULL,
    id              uuid        NOT NULL,
    digest          bytea       NOT NULL CHECK (octet_length(digest) = 32),
    purpose         text        NOT NULL CHECK (purpose IN ('API', 'SCANNER')),
    label           text        NOT NULL CHECK (length(label) BETWEEN 1 AND 100),
    scopes          text[]      NOT NULL CHECK (cardinality(scopes) BETWEEN 1 AND 40),
    created_by      uuid,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz,
    revoked_at      timestamptz,
    PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX service_key_by_digest ON authority.service_key (digest);
ALTER TABLE authority.service_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE authority.service_key FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON authority.service_key TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY authority_reads ON authority.service_key FOR SELECT TO admitone_authority USING (true);
GRANT SELECT, INSERT ON authority.service_key TO admitone_app;
GRANT UPDATE (revoked_at) ON authority.service_key TO admitone_app;
GRANT SELECT ON authority.service_key TO admitone_authority;

-- PLATFORM: to which group each organisation belongs. A group is called by its mother; one alone is its own.
CREATE TABLE authority.branch (
    organization_id uuid        PRIMARY KEY,
    group_id        uuid        NOT NULL,
    created_at      timestamptz NOT NULL
);
CREATE INDEX branch_by_group ON authority.branch (group_id, organization_id);
INSERT INTO authority.branch (organization_id, group_id, created_at)
VALUES ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000001', now());
ALTER TABLE authority.branch ENABLE ROW LEVEL SECURITY;
ALTER TABLE authority.branch FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON authority.branch TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY authority_reads ON authority.branch FOR SELECT TO admitone_authority USING (true);
GRANT SELECT, INSERT ON authority.branch TO admitone_app;
GRANT SELECT ON authority.branch TO admitone_authority;

-- PLATFORM: members of a group (OrganizationGroupMember), kept by its mother: what one is in all branches, or in some.
CREATE TABLE authority.group_member (
    organization_id uuid        NOT NULL,
    identity_id     uuid        NOT NULL,
    role            text        NOT NULL CHECK (role IN ('OWNER', 'CO_OWNER', 'ADMIN', 'STAFF', 'TRAINER', 'PROMOTER',
                                                         'VIEWER')),
    pack            text        CHECK (pack IN ('CLUB_MANAGER', 'TOURNAMENT_DIRECTOR', 'FRONT_DESK', 'COACH', 'REFEREE')),
    scopes          text[]      NOT NULL CHECK (cardinality(scopes) <= 40),
    branches        uuid[]      CHECK (cardinality(branches) BETWEEN 1 AND 200),
    created_at      timestamptz NOT NULL,
    version         bigint      NOT NULL CHECK (version > 0),
    PRIMARY KEY (organization_id, identity_id),
    CHECK (role <> 'OWNER' OR branches IS NULL)
);
CREATE INDEX group_member_by_identity ON authority.group_member (identity_id, organization_id);
ALTER TABLE authority.group_member ENABLE ROW LEVEL SECURITY;
ALTER TABLE authority.group_member FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON authority.group_member TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY authority_reads ON authority.group_member FOR SELECT TO admitone_authority USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON authority.group_member TO admitone_app;
GRANT SELECT ON authority.group_member TO admitone_authority;

-- PLATFORM: what one is in a single branch instead (OrganizationGroupMemberOrganizationOverride), kept by the branch. No
-- role means: nothing, whatever the group says.
CREATE TABLE authority.member_override (
    organization_id uuid        NOT NULL,
    identity_id     uuid        NOT NULL,
    role            text        CHECK (role IN ('CO_OWNER', 'ADMIN', 'STAFF', 'TRAINER', 'PROMOTER', 'VIEWER')),
    pack            text        CHECK (pack IN ('CLUB_MANAGER', 'TOURNAMENT_DIRECTOR', 'FRONT_DESK', 'COACH', 'REFEREE')),
    scopes          text[]      NOT NULL CHECK (cardinality(scopes) <= 40),
    created_at      timestamptz NOT NULL,
    version         bigint      NOT NULL CHECK (version > 0),
    PRIMARY KEY (organization_id, identity_id),
    CHECK (role IS NOT NULL OR (pack IS NULL AND cardinality(scopes) = 0))
);
CREATE INDEX member_override_by_identity ON authority.member_override (identity_id, organization_id);
ALTER TABLE authority.member_override ENABLE ROW LEVEL SECURITY;
ALTER TABLE authority.member_override FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON authority.member_override TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY authority_reads ON authority.member_override FOR SELECT TO admitone_authority USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON authority.member_override TO admitone_app;
GRANT SELECT ON authority.member_override TO admitone_authority;

-- PLATFORM: which modules an organisation has switched on (OrganizationModuleEntry). Without a row, a module is off.
CREATE TABLE authority.module_entry (
    organization_id uuid        NOT NULL,
    module          text        NOT NULL CHECK (module IN ('EVENTOS', 'TORNEIOS', 'RESERVAS', 'FINANCEIRO', 'CRM', 'LOJA',
                                                           'STAFF', 'DEFINICOES')),
    enabled         boolean     NOT NULL,
    changed_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, module)
);
ALTER TABLE authority.module_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE authority.module_entry FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON authority.module_entry TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY authority_reads ON authority.module_entry FOR SELECT TO admitone_authority USING (true);
GRANT SELECT, INSERT, UPDATE ON authority.module_entry TO admitone_app;
GRANT SELECT ON authority.module_entry TO admitone_authority;

-- PLATFORM: switches. A feature is off until a row says that it is on (the cut-line); business goes on until a row stops it
-- (kill switches of an event, an organisation, an identity, the platform). Each row says why, for which case and until
-- when. A feature is on for the organisation that keeps its row, or for all when the platform's own does; what stops
-- somebody is the platform's alone.
CREATE TABLE authority.switch (
    organization_id uuid        NOT NULL,
    key             text        NOT NULL CHECK (key ~ '^(feature|stop):[a-z0-9_:.-]{1,150}$'),
    reason_code     text        NOT NULL CHECK (reason_code ~ '^[A-Z][A-Z0-9_]{2,63}$'),
    case_reference  text        NOT NULL CHECK (length(case_reference) BETWEEN 1 AND 100),
    set_by          uuid        NOT NULL,
    set_at          timestamptz NOT NULL,
    expires_at      timestamptz,
    PRIMARY KEY (organization_id, key),
    CHECK (expires_at > set_at),
    -- A stop ends by itself, should everybody forget it.
    CHECK (key LIKE 'feature:%' OR expires_at IS NOT NULL),
    CHECK (key LIKE 'feature:%' OR organization_id = '00000000-0000-7000-8000-000000000001')
);
ALTER TABLE authority.switch ENABLE ROW LEVEL SECURITY;
ALTER TABLE authority.switch FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON authority.switch TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY authority_reads ON authority.switch FOR SELECT TO admitone_authority USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON authority.switch TO admitone_app;
GRANT SELECT ON authority.switch TO admitone_authority;
