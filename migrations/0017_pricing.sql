-- why: fee policies: what the platform takes of a sale, in versions that never change
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA pricing;
GRANT USAGE ON SCHEMA pricing TO admitone_app;

-- TENANT: the versions of an organisation's policies. Append-only: a change is a new version, and a retired one ends the
-- rule for its target. `target` is what a rule is found by; none of its parts has a slash.
CREATE TABLE pricing.fee_policy (
    organization_id  uuid        NOT NULL REFERENCES kernel.tenant (id),
    id               uuid        NOT NULL,
    version          bigint      NOT NULL CHECK (version > 0),
    source_type      text        CHECK (source_type IN ('TICKET_ORDER', 'BOOKING', 'PADEL_REGISTRATION', 'STORE_ORDER',
                                                        'STAY_RESERVATION', 'COUPON_CAMPAIGN')),
    source_id        text        CHECK (source_id ~ '^[A-Za-z0-9_.:-]{1,64}$'),
    currency         text        CHECK (currency ~ '^[A-Z]{3}$'),
    target           text        NOT NULL CHECK (target = COALESCE(source_type, '') || '/' || COALESCE(source_id, '')
                                                        || '/' || COALESCE(currency, '')),
    fee_bps          integer     NOT NULL CHECK (fee_bps BETWEEN 0 AND 10000),
    fee_fixed_minor  bigint      NOT NULL CHECK (fee_fixed_minor BETWEEN 0 AND 1000000000000),
    min_minor        bigint      CHECK (min_minor BETWEEN 0 AND 1000000000000),
    max_minor        bigint      CHECK (max_minor BETWEEN 0 AND 1000000000000),
    fee_mode         text        NOT NULL CHECK (fee_mode IN ('INCLUDED', 'ADDED', 'ABSORBED')),
    base             text        NOT NULL CHECK (base IN ('SUBTOTAL', 'SUBTOTAL_PLUS_TAXES')),
    absorbed_allowed boolean     NOT NULL,
    retired          boolean     NOT NULL,
    created_by       uuid,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, version),
    CHECK (source_id IS NULL OR source_type IS NOT NULL),
    CHECK (min_minor <= max_minor),
    -- An amount is one in some currency; a share is one in each.
    CHECK (currency IS NOT NULL OR (fee_fixed_minor = 0 AND min_minor IS NULL AND max_minor IS NULL)),
    CHECK (fee_mode <> 'ABSORBED' OR absorbed_allowed),
    -- Commissions of stays are 5 to 25 per cent (MOR-022).
    CHECK (retired OR source_type <> 'STAY_RESERVATION' OR fee_bps BETWEEN 500 AND 2500)
);
CREATE INDEX fee_policy_by_target ON pricing.fee_policy (organization_id, target, version DESC);
ALTER TABLE pricing.fee_policy ENABLE ROW LEVEL SECURITY;
ALTER TABLE pricing.fee_policy FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON pricing.fee_policy TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON pricing.fee_policy TO admitone_app;


-- TENANT: how an organisation wants its fee shown, for a type of source or (no type) for all; no mode: as its policy
-- says. Append-only: the newest counts.
CREATE TABLE pricing.fee_choice (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    version         bigint      NOT NULL CHECK (version > 0),
    source_type     text        CHECK (source_type IN ('TICKET_ORDER', 'BOOKING', 'PADEL_REGISTRATION', 'STORE_ORDER')),
    target          text        NOT NULL CHECK (target = COALESCE(source_type, '')),
    fee_mode        text        CHECK (fee_mode IN ('INCLUDED', 'ADDED', 'ABSORBED')),
    created_by      uuid,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, version)
);
CREATE INDEX fee_choice_by_target ON pricing.fee_choice (organization_id, target, version DESC);
ALTER TABLE pricing.fee_choice ENABLE ROW LEVEL SECURITY;
ALTER TABLE pricing.fee_choice FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON pricing.fee_choice TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON pricing.fee_choice TO admitone_app;


-- PLATFORM: the platform's own versions. The one for everything holds for every organisation that has no other; one for a
-- type holds for all who have none of their own for that type, whatever they have for everything. Everybody prices by them, so everybody reads them; they are written in the scope of the platform's organisation alone. There is no rule of
-- the platform for one source: a source is some organisation's. Append-only.
CREATE TABLE pricing.platform_policy (
    organization_id  uuid        NOT NULL CHECK (organization_id = '00000000-0000-7000-8000-000000000001'),
    id               uuid        PRIMARY KEY,
    version          bigint      NOT NULL UNIQUE CHECK (version > 0),
    source_type      text        CHECK (source_type IN ('TICKET_ORDER', 'BOOKING', 'PADEL_REGISTRATION', 'STORE_ORDER',
                                                        'STAY_RESERVATION', 'COUPON_CAMPAIGN')),
    source_id        text        CHECK (source_id IS NULL),
    currency         text        CHECK (currency ~ '^[A-Z]{3}$'),
    target           text        NOT NULL CHECK (target = COALESCE(source_type, '') || '//' || COALESCE(currency, '')),
    fee_bps          integer     NOT NULL CHECK (fee_bps BETWEEN 0 AND 10000),
    fee_fixed_minor  bigint      NOT NULL CHECK (fee_fixed_minor BETWEEN 0 AND 1000000000000),
    min_minor        bigint      CHECK (min_minor BETWEEN 0 AND 1000000000000),
    max_minor        bigint      CHECK (max_minor BETWEEN 0 AND 1000000000000),
    fee_mode         text        NOT NULL CHECK (fee_mode IN ('INCLUDED', 'ADDED', 'ABSORBED')),
    base             text        NOT NULL CHECK (base IN ('SUBTOTAL', 'SUBTOTAL_PLUS_TAXES')),
    absorbed_allowed boolean     NOT NULL,
    retired          boolean     NOT NULL,
    created_by       uuid,
    created_at       timestamptz NOT NULL,
    CHECK (min_minor <= max_minor),
    CHECK (currency IS NOT NULL OR (fee_fixed_minor = 0 AND min_minor IS NULL AND max_minor IS NULL)),
    CHECK (fee_mode <> 'ABSORBED' OR absorbed_allowed),
    CHECK (retired OR source_type <> 'STAY_RESERVATION' OR fee_bps BETWEEN 500 AND 2500),
    -- Whatever has no other rule has the one for everything, and that has no bounds for stays.
    CHECK (NOT retired OR currency IS NOT NULL OR COALESCE(source_type, 'STAY_RESERVATION') <> 'STAY_RESERVATION')
);
CREATE INDEX platform_policy_by_target ON pricing.platform_policy (target, version DESC);
INSERT INTO pricing.platform_policy (organization_id, id, version, source_type, target, fee_bps, fee_fixed_minor, fee_mode,
                                     base, absorbed_allowed, retired, created_at)
VALUES ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-0000000000f1', 1, NULL, '//', 500, 0,
        'INCLUDED', 'SUBTOTAL', false, false, now()),
       ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-0000000000f2', 2, 'STAY_RESERVATION',
        'STAY_RESERVATION//', 1500, 0, 'INCLUDED', 'SUBTOTAL_PLUS_TAXES', false, false, now()),
       ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-0000000000f3', 3, 'COUPON_CAMPAIGN',
        'COUPON_CAMPAIGN//', 0, 0, 'INCLUDED', 'SUBTOTAL', false, false, now());
ALTER TABLE pricing.platform_policy ENABLE ROW LEVEL SECURITY;
ALTER TABLE pricing.platform_policy FORCE ROW LEVEL SECURITY;
CREATE POLICY everybody_reads ON pricing.platform_policy FOR SELECT TO admitone_app USING (true);
CREATE POLICY app_own ON pricing.platform_policy FOR INSERT TO admitone_app
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON pricing.platform_policy TO admitone_app;
