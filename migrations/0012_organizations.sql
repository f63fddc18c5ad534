-- why: organisations: who they are for the law and for invoices, what they agreed to, and whom they invited
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA organizations;
GRANT USAGE ON SCHEMA organizations TO admitone_app, admitone_authority;

-- TENANT: what an organisation says of itself. `home_city` is where it is at home; its rows in other tables may belong to
-- other cities, so it is no `city_code`. The official address counts from the moment that its link came back.
CREATE TABLE organizations.organization (
    organization_id            uuid        PRIMARY KEY REFERENCES kernel.tenant (id),
    display_name               text        NOT NULL CHECK (length(display_name) BETWEEN 1 AND 100),
    legal_name                 text        CHECK (length(legal_name) BETWEEN 1 AND 200),
    tax_id                     text        CHECK (length(tax_id) BETWEEN 2 AND 40),
    tax_country                text        CHECK (tax_country ~ '^[A-Z]{2}$'),
    invoice_prefix             text        CHECK (invoice_prefix ~ '^[A-Z0-9]{1,10}$'),
    invoice_address            text[]      NOT NULL CHECK (cardinality(invoice_address) <= 6),
    invoice_email              text        CHECK (length(invoice_email) BETWEEN 3 AND 254),
    default_currency           text        NOT NULL CHECK (default_currency ~ '^[A-Z]{3}$'),
    time_zone                  text        NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
    language                   text        NOT NULL CHECK (language IN ('en', 'pt_PT', 'pt_BR')),
    home_city                  text        NOT NULL CHECK (home_city ~ '^[A-Z]{3,8}$'),
    official_email             text        CHECK (length(official_email) BETWEEN 3 AND 254),
    official_email_verified_at timestamptz,
    official_email_digest      bytea       CHECK (octet_length(official_email_digest) = 32),
    official_email_asked_at    timestamptz,
    status                     text        NOT NULL CHECK (status IN ('ACTIVE', 'SUSPENDED', 'CLOSED')),
    version                    bigint      NOT NULL CHECK (version > 0),
    created_at                 timestamptz NOT NULL,
    -- A number of a taxpayer is one of some country.
    CHECK ((tax_id IS NULL) = (tax_country IS NULL)),
    CHECK (official_email IS NOT NULL OR (official_email_verified_at IS NULL AND official_email_digest IS NULL)),
    -- An address waits for its link, or it is verified.
    CHECK (official_email_digest IS NULL OR official_email_verified_at IS NULL),
    CHECK ((official_email_digest IS NULL) = (official_email_asked_at IS NULL))
);
ALTER TABLE organizations.organization ENABLE ROW LEVEL SECURITY;
ALTER TABLE organizations.organization FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON organizations.organization TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON organizations.organization TO admitone_app;
-- Of many organisations at once, only what stands over their door: the list of those in which a person is something.
CREATE POLICY authority_reads ON organizations.organization FOR SELECT TO admitone_authority USING (true);
GRANT SELECT (organization_id, display_name, status) ON organizations.organization TO admitone_authority;


-- TENANT: what an organisation agreed to, by whom and when. Append-only.
CREATE TABLE organizations.acceptance (
    organization_id  uuid        NOT NULL REFERENCES kernel.tenant (id),
    document         text        NOT NULL CHECK (length(document) BETWEEN 1 AND 60),
    document_version text        NOT NULL CHECK (length(document_version) BETWEEN 1 AND 40),
    accepted_by      uuid        NOT NULL,
    at               timestamptz NOT NULL,
    PRIMARY KEY (organization_id, document, document_version)
);
ALTER TABLE organizations.acceptance ENABLE ROW LEVEL SECURITY;
ALTER TABLE organizations.acceptance FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON organizations.acceptance TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON organizations.acceptance TO admitone_app;


-- TENANT: people who were asked to join. The address is sealed, and found again by its keyed hash; the link is kept as a
-- digest. What was to be given is what will be given.
CREATE TABLE organizations.invitation (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    email_sealed    bytea       NOT NULL CHECK (octet_length(email_sealed) <= 600),
    email_hash      bytea       NOT NULL CHECK (octet_length(email_hash) = 32),
    level           text        NOT NULL CHECK (level IN ('GROUP', 'BRANCH')),
    role            text        NOT NULL CHECK (role IN ('OWNER', 'CO_OWNER', 'ADMIN', 'STAFF', 'TRAINER', 'PROMOTER',
                                                         'VIEWER')),
    pack            text        CHECK (pack IN ('CLUB_MANAGER', 'TOURNAMENT_DIRECTOR', 'FRONT_DESK', 'COACH', 'REFEREE')),
    scopes          text[]      NOT NULL CHECK (cardinality(scopes) <= 40),
    branches        uuid[]      CHECK (cardinality(branches) BETWEEN 1 AND 200),
    state           text        NOT NULL CHECK (state IN ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED')),
    token_digest    bytea       NOT NULL CHECK (octet_length(token_digest) = 32),
    invited_by      uuid        NOT NULL,
    accepted_by     uuid,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, token_digest),
    CHECK (expires_at > created_at),
    CHECK ((state = 'ACCEPTED') = (accepted_by IS NOT NULL)),
    CHECK (level = 'GROUP' OR branches IS NULL),
    CHECK (role <> 'OWNER' OR (level = 'GROUP' AND branches IS NULL))
);
CREATE UNIQUE INDEX invitation_pending ON organizations.invitation (organization_id, email_hash) WHERE state = 'PENDING';
CREATE INDEX invitation_by_age ON organizations.invitation (expires_at);
ALTER TABLE organizations.invitation ENABLE ROW LEVEL SECURITY;
ALTER TABLE organizations.invitation FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON organizations.invitation TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY overdue ON organizations.invitation TO admitone_owner
    USING (expires_at < now() - interval '90 days') WITH CHECK (false);
GRANT SELECT, INSERT ON organizations.invitation TO admitone_app;
GRANT UPDATE (state, accepted_by) ON organizations.invitation TO admitone_app;
