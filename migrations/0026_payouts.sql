-- why: payouts: what is owed to owners, when it is paid, and what providers say of it
-- lock: ACCESS EXCLUSIVE on payments.payment_fact for a moment, to let two more kinds in; every other object is new
-- phase: expand

ALTER TABLE payments.payment_fact DROP CONSTRAINT payment_fact_kind_check;
ALTER TABLE payments.payment_fact
    ADD CONSTRAINT payment_fact_kind_check CHECK (kind IN ('PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED',
        'CAPTURED', 'CANCELLED', 'EXPIRED', 'FEE', 'FEE_ADJUSTMENT', 'REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED',
        'DISPUTE_OPENED', 'DISPUTE_WON', 'DISPUTE_LOST', 'APPLIED', 'COMMISSION_HELD', 'COMMISSION_KEPT',
        'REFUND_BEGUN', 'REFUND_GIVEN_UP', 'TAX_WITHHELD', 'DUE')) NOT VALID;
ALTER TABLE payments.payment_fact VALIDATE CONSTRAINT payment_fact_kind_check;

CREATE SCHEMA payouts;
GRANT USAGE ON SCHEMA payouts TO admitone_app, admitone_relay;

-- TENANT: somebody who is owed, the payee of the ledger. Whoever decides what they are paid holds this row.
CREATE TABLE payouts.owner (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    payee_id        uuid        NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, payee_id)
);
ALTER TABLE payouts.owner ENABLE ROW LEVEL SECURITY;
ALTER TABLE payouts.owner FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payouts.owner TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
-- Nobody changes an owner; the right to is what locking one takes.
GRANT SELECT, INSERT, UPDATE (created_at) ON payouts.owner TO admitone_app;


-- TENANT: when an owner is paid, for one property, or, under the empty key, for all that have no schedule of their own
-- (MOR-031, MOR-032). Without a row it is the system's: every Monday.
CREATE TABLE payouts.schedule (
    organization_id     uuid        NOT NULL,
    payee_id            uuid        NOT NULL,
    property_key        text        NOT NULL CHECK (length(property_key) <= 100),
    frequency           text        NOT NULL CHECK (frequency IN ('weekly', 'biweekly', 'monthly', 'on_checkout')),
    day_of_week         smallint    CHECK (day_of_week BETWEEN 0 AND 6),
    day_of_month        smallint    CHECK (day_of_month BETWEEN 1 AND 31),
    min_threshold_minor bigint      NOT NULL CHECK (min_threshold_minor BETWEEN 0 AND 9007199254740991),
    hold_days           smallint    NOT NULL CHECK (hold_days BETWEEN 0 AND 365),
    version             bigint      NOT NULL CHECK (version > 0),
    changed_at          timestamptz NOT NULL,
    PRIMARY KEY (organization_id, payee_id, property_key),
    FOREIGN KEY (organization_id, payee_id) REFERENCES payouts.owner (organization_id, payee_id),
    CHECK ((frequency IN ('weekly', 'biweekly')) = (day_of_week IS NOT NULL)),
    CHECK ((frequency = 'monthly') = (day_of_month IS NOT NULL))
);
ALTER TABLE payouts.schedule ENABLE ROW LEVEL SECURITY;
ALTER TABLE payouts.schedule FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payouts.schedule TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON payouts.schedule TO admitone_app;
GRANT UPDATE (frequency, day_of_week, day_of_month, min_threshold_minor, hold_days, version, changed_at)
    ON payouts.schedule TO admitone_app;


-- TENANT: one transfer to one owner for one period in one currency (MOR-036): the intent, written before the provider is
-- asked, whose id is the provider's key. Its money is in the ledger from when the provider took it.
CREATE TABLE payouts.payout (
    organization_id  uuid        NOT NULL,
    id               uuid        NOT NULL,
    payee_id         uuid        NOT NULL,
    city_code        text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    period           date        NOT NULL,
    currency         text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    -- What the organisation sells itself never passes us (FIN-006).
    settlement_model text        NOT NULL CHECK (settlement_model = 'PLATFORM_MOR'),
    provider         text        NOT NULL CHECK (provider IN ('sandbox', 'stripe', 'mercadopago', 'openpix')),
    livemode         boolean     NOT NULL,
    account          text        NOT NULL CHECK (length(account) BETWEEN 1 AND 100),
    gross_minor      bigint      NOT NULL CHECK (gross_minor >= 0),
    recovered_minor  bigint      NOT NULL CHECK (recovered_minor >= 0),
    amount_minor     bigint      NOT NULL CHECK (amount_minor = gross_minor - recovered_minor),
    state            text        NOT NULL CHECK (state IN ('payout_pending', 'processing', 'transferred', 'completed',
                                                 'failed', 'frozen')),
    reference        text        CHECK (length(reference) BETWEEN 1 AND 200),
    code             text        NOT NULL CHECK (length(code) <= 100),
    correlation_id   uuid        NOT NULL,
    created_at       timestamptz NOT NULL,
    asked_at         timestamptz,
    changed_at       timestamptz NOT NULL,
    UNIQUE (organization_id, payee_id, period, currency),
    FOREIGN KEY (organization_id, payee_id) REFERENCES payouts.owner (organization_id, payee_id),
    CHECK (amount_minor > 0 OR state = 'frozen'),
    CHECK (state <> 'payout_pending' OR asked_at IS NULL),
    CHECK (state IN ('payout_pending', 'frozen') OR asked_at IS NOT NULL),
    CHECK (state NOT IN ('transferred', 'completed') OR reference IS NOT NULL)
);
CREATE UNIQUE INDEX payout_by_reference ON payouts.payout (organization_id, provider, reference)
    WHERE reference IS NOT NULL;
CREATE INDEX payout_unposted_of_owner ON payouts.payout (organization_id, payee_id, currency)
    WHERE state IN ('payout_pending', 'processing');
-- What somebody must still ask about, of everybody: the sweep looks here.
CREATE INDEX payout_unposted ON payouts.payout (created_at, id) WHERE state IN ('payout_pending', 'processing');
ALTER TABLE payouts.payout ADD PRIMARY KEY (organization_id, id);
ALTER TABLE payouts.payout ENABLE ROW LEVEL SECURITY;
ALTER TABLE payouts.payout FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payouts.payout TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON payouts.payout AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
CREATE POLICY relay_sweeps ON payouts.payout FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON payouts.payout TO admitone_app;
GRANT UPDATE (gross_minor, recovered_minor, amount_minor, state, reference, code, asked_at, changed_at)
    ON payouts.payout TO admitone_app;
GRANT SELECT (organization_id, id, state, created_at, asked_at) ON payouts.payout TO admitone_relay;


-- TENANT: what is owed to an owner of one payment (U-15, U-16). `due_minor` is what became due, `amount_minor` what is left
-- of it after what went back since.
CREATE TABLE payouts.obligation (
    organization_id uuid        NOT NULL,
    id              uuid        NOT NULL,
    payment_id      uuid        NOT NULL,
    payee_id        uuid        NOT NULL,
    city_code       text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    property_key    text        NOT NULL CHECK (length(property_key) <= 100),
    livemode        boolean     NOT NULL,
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    due_minor       bigint      NOT NULL CHECK (due_minor BETWEEN 1 AND 9007199254740991),
    amount_minor    bigint      NOT NULL CHECK (amount_minor BETWEEN 0 AND due_minor),
    checked_out_at  timestamptz NOT NULL,
    hold_days       smallint    NOT NULL CHECK (hold_days BETWEEN 0 AND 365),
    eligible_at     timestamptz NOT NULL CHECK (eligible_at >= checked_out_at + interval '24 hours'),
    state           text        NOT NULL CHECK (state IN ('DUE', 'IN_PAYOUT', 'PAID', 'FROZEN', 'REVERSED')),
    payout_id       uuid,
    created_at      timestamptz NOT NULL,
    changed_at      timestamptz NOT NULL,
    UNIQUE (organization_id, payment_id),
    FOREIGN KEY (organization_id, payee_id) REFERENCES payouts.owner (organization_id, payee_id),
    FOREIGN KEY (organization_id, payout_id) REFERENCES payouts.payout (organization_id, id),
    CHECK ((state IN ('IN_PAYOUT', 'PAID')) = (payout_id IS NOT NULL)),
    CHECK (amount_minor > 0 OR state IN ('REVERSED', 'FROZEN'))
);
-- What waits for a batch: whose it is first, for one organisation and for all of them.
CREATE INDEX obligation_due ON payouts.obligation (organization_id, payee_id, eligible_at) WHERE state = 'DUE';
CREATE INDEX obligation_open ON payouts.obligation (organization_id, payee_id, currency) WHERE state IN ('DUE', 'FROZEN');
CREATE INDEX obligation_of_payout ON payouts.obligation (organization_id, payout_id) WHERE payout_id IS NOT NULL;
ALTER TABLE payouts.obligation ADD PRIMARY KEY (organization_id, id);
ALTER TABLE payouts.obligation ENABLE ROW LEVEL SECURITY;
ALTER TABLE payouts.obligation FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payouts.obligation TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON payouts.obligation AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
CREATE POLICY relay_finds ON payouts.obligation FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON payouts.obligation TO admitone_app;
GRANT UPDATE (amount_minor, state, payout_id, changed_at) ON payouts.obligation TO admitone_app;
GRANT SELECT (organization_id, payee_id, state, eligible_at) ON payouts.obligation TO admitone_relay;


-- TENANT: why what is owed of a payment is not paid for now; what the organisation sells itself is not ours to keep, and
-- only blocks what we show (U-14, FIN-091).
CREATE TABLE payouts.freeze (
    organization_id  uuid        NOT NULL REFERENCES kernel.tenant (id),
    payment_id       uuid        NOT NULL,
    reason           text        NOT NULL CHECK (reason IN ('DISPUTE', 'REFUND_FAILED', 'OPERATOR')),
    settlement_model text        NOT NULL CHECK (settlement_model IN ('ORG_MOR', 'PLATFORM_MOR')),
    since            timestamptz NOT NULL,
    lifted_at        timestamptz,
    PRIMARY KEY (organization_id, payment_id, reason)
);
CREATE INDEX freeze_that_blocks ON payouts.freeze (organization_id, since)
    WHERE lifted_at IS NULL AND settlement_model = 'ORG_MOR';
ALTER TABLE payouts.freeze ENABLE ROW LEVEL SECURITY;
ALTER TABLE payouts.freeze FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payouts.freeze TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON payouts.freeze TO admitone_app;
GRANT UPDATE (since, lifted_at) ON payouts.freeze TO admitone_app;


-- TENANT: what providers say of payouts, ours and those that they make themselves from an organisation's account to its bank
-- (FIN-064, FIN-090): a read model. `released_at` is when it was shown as released; nothing follows from it anywhere.
CREATE TABLE payouts.reported (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    provider        text        NOT NULL CHECK (provider IN ('sandbox', 'stripe', 'mercadopago', 'openpix')),
    reference       text        NOT NULL CHECK (length(reference) BETWEEN 1 AND 200),
    status          text        NOT NULL CHECK (status IN ('PENDING', 'PAID', 'FAILED')),
    amount_minor    bigint      NOT NULL CHECK (amount_minor >= 0),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    code            text        NOT NULL CHECK (length(code) <= 100),
    at              timestamptz NOT NULL,
    payout_id       uuid,
    created_at      timestamptz NOT NULL,
    released_at     timestamptz,
    FOREIGN KEY (organization_id, payout_id) REFERENCES payouts.payout (organization_id, id)
);
CREATE INDEX reported_by_time ON payouts.reported (organization_id, at, reference) WHERE payout_id IS NULL;
CREATE INDEX reported_unreleased ON payouts.reported (organization_id, reference)
    WHERE released_at IS NULL AND payout_id IS NULL;
ALTER TABLE payouts.reported ADD PRIMARY KEY (organization_id, provider, reference);
ALTER TABLE payouts.reported ENABLE ROW LEVEL SECURITY;
ALTER TABLE payouts.reported FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payouts.reported TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_finds ON payouts.reported FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON payouts.reported TO admitone_app;
GRANT UPDATE (status, amount_minor, currency, code, at, payout_id, released_at) ON payouts.reported TO admitone_app;
GRANT SELECT (organization_id, reference, payout_id, released_at) ON payouts.reported TO admitone_relay;
