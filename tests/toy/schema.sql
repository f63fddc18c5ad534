CREATE SCHEMA toy;
GRANT USAGE ON SCHEMA toy TO admitone_app, admitone_buyer, admitone_identity, admitone_authority;

-- TENANT
CREATE TABLE toy.counter (
    organization_id uuid   NOT NULL REFERENCES kernel.tenant (id),
    name            text   NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    value           bigint NOT NULL DEFAULT 0,
    ceiling         bigint NOT NULL CHECK (ceiling > 0),
    labels          text[],
    note            jsonb,
    status          text   NOT NULL DEFAULT 'OPEN' CHECK (status IN ('OPEN', 'PAUSED', 'CLOSED')),
    price_minor     bigint CHECK (price_minor >= 0),
    price_currency  text   CHECK (price_currency ~ '^[A-Z]{3}$'),
    secret_note     bytea,
    recounts        bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, name),
    CHECK (value BETWEEN 0 AND ceiling),
    CHECK ((price_minor IS NULL) = (price_currency IS NULL))
);
CREATE TABLE toy.increment (
    organization_id uuid        NOT NULL,
    id              uuid        NOT NULL,
    counter         text        NOT NULL,
    amount          bigint      NOT NULL CHECK (amount > 0),
    identity_id     uuid        NOT NULL,
    at              timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, counter) REFERENCES toy.counter (organization_id, name)
);
-- Listed exception: a person's own increments across organisations.
CREATE INDEX increment_by_identity ON toy.increment (identity_id, id);
CREATE INDEX increment_by_age ON toy.increment (at);

-- What the toy's handlers did. The key is not unique, so that an effect that came twice shows.
CREATE TABLE toy.heard (
    organization_id uuid   NOT NULL REFERENCES kernel.tenant (id),
    id              uuid   NOT NULL,
    key             text   NOT NULL,
    number          bigint NOT NULL,
    PRIMARY KEY (organization_id, id)
);

-- Of a city: what stands where.
CREATE TABLE toy.stall (
    organization_id uuid NOT NULL REFERENCES kernel.tenant (id),
    name            text NOT NULL,
    city_code       text NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    PRIMARY KEY (organization_id, name)
);
ALTER TABLE toy.stall ENABLE ROW LEVEL SECURITY;
ALTER TABLE toy.stall FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON toy.stall TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON toy.stall AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
GRANT SELECT, INSERT, UPDATE, DELETE ON toy.stall TO admitone_app;

-- IDENTITY
CREATE TABLE toy.profile (
    identity_id uuid PRIMARY KEY,
    nickname    text NOT NULL
);

-- REGISTRY
CREATE TABLE toy.nickname (
    nickname    text PRIMARY KEY,
    identity_id uuid NOT NULL
);

-- PLATFORM
CREATE TABLE toy.credential (
    digest          bytea  PRIMARY KEY,
    identity_id     uuid   NOT NULL,
    organization_id uuid   NOT NULL,
    permissions     text[] NOT NULL
);
CREATE TABLE toy.gate (
    name text PRIMARY KEY
);

ALTER TABLE toy.counter ENABLE ROW LEVEL SECURITY;
ALTER TABLE toy.counter FORCE ROW LEVEL SECURITY;
ALTER TABLE toy.increment ENABLE ROW LEVEL SECURITY;
ALTER TABLE toy.increment FORCE ROW LEVEL SECURITY;
ALTER TABLE toy.heard ENABLE ROW LEVEL SECURITY;
ALTER TABLE toy.heard FORCE ROW LEVEL SECURITY;
ALTER TABLE toy.profile ENABLE ROW LEVEL SECURITY;
ALTER TABLE toy.profile FORCE ROW LEVEL SECURITY;
ALTER TABLE toy.nickname ENABLE ROW LEVEL SECURITY;
ALTER TABLE toy.nickname FORCE ROW LEVEL SECURITY;
ALTER TABLE toy.credential ENABLE ROW LEVEL SECURITY;
ALTER TABLE toy.credential FORCE ROW LEVEL SECURITY;
ALTER TABLE toy.gate ENABLE ROW LEVEL SECURITY;
ALTER TABLE toy.gate FORCE ROW LEVEL SECURITY;

CREATE POLICY app_own ON toy.counter TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY app_own ON toy.increment TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY app_own ON toy.heard TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY buyer_own ON toy.increment FOR SELECT TO admitone_buyer
    USING (identity_id = NULLIF(current_setting('app.identity_id', true), '')::uuid);
CREATE POLICY overdue ON toy.increment TO admitone_owner
    USING (at < now() - interval '400 days') WITH CHECK (false);
CREATE POLICY identity_all ON toy.profile TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY buyer_own ON toy.profile FOR SELECT TO admitone_buyer
    USING (identity_id = NULLIF(current_setting('app.identity_id', true), '')::uuid);
-- The owner reaches the registry through its one function only: nobody logs in as the owner at run time.
CREATE POLICY owner_by_function ON toy.nickname TO admitone_owner USING (true) WITH CHECK (true);
CREATE POLICY authority_reads ON toy.credential FOR SELECT TO admitone_authority USING (true);
CREATE POLICY authority_reads ON toy.gate FOR SELECT TO admitone_authority USING (true);

GRANT SELECT, INSERT, UPDATE ON toy.counter TO admitone_app;
GRANT SELECT, INSERT ON toy.increment, toy.heard TO admitone_app;
GRANT SELECT ON toy.increment TO admitone_buyer;
GRANT SELECT, INSERT, UPDATE ON toy.profile TO admitone_identity;
GRANT SELECT ON toy.profile TO admitone_buyer;
GRANT SELECT ON toy.credential, toy.gate TO admitone_authority;

-- Whose the nickname is now: the claimer's, or already somebody else's.
CREATE FUNCTION toy.claim_nickname(wanted text, claimer uuid) RETURNS uuid
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    INSERT INTO toy.nickname (nickname, identity_id) VALUES (wanted, claimer)
        ON CONFLICT (nickname) DO UPDATE SET nickname = EXCLUDED.nickname
    RETURNING identity_id
$$;
REVOKE EXECUTE ON FUNCTION toy.claim_nickname(text, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION toy.claim_nickname(text, uuid) TO admitone_identity;
