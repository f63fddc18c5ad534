-- why: what was paid for is handed over once: one operation for each payment, for ever
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA fulfilment;
GRANT USAGE ON SCHEMA fulfilment TO admitone_app, admitone_relay;

-- TENANT: what became of one payment. It is written by whoever holds the payment, at the end of all its steps.
CREATE TABLE fulfilment.operation (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    payment_id      uuid        NOT NULL,
    source_type     text        NOT NULL CHECK (source_type IN ('TICKET_ORDER', 'BOOKING', 'PADEL_REGISTRATION', 'STORE_ORDER',
                                                                'STAY_RESERVATION', 'COUPON_CAMPAIGN')),
    source_id       text        NOT NULL CHECK (length(source_id) BETWEEN 1 AND 64),
    state           text        NOT NULL CHECK (state IN ('OPEN', 'DONE', 'RETURNED', 'FAILED')),
    scenario        text        CHECK (scenario IN ('SINGLE', 'FREE', 'RESALE', 'GROUP_FULL', 'GROUP_SPLIT',
                                                    'GROUP_SPLIT_SECOND_CHARGE', 'SUBSCRIPTION')),
    key             text        CHECK (length(key) BETWEEN 5 AND 200),
    steps           text[]      NOT NULL,
    reason          text        CHECK (length(reason) BETWEEN 1 AND 200),
    refund_id       uuid,
    attempts        integer     NOT NULL CHECK (attempts > 0),
    correlation_id  uuid        NOT NULL,
    begun_at        timestamptz NOT NULL,
    changed_at      timestamptz NOT NULL,
    UNIQUE (organization_id, key),
    CHECK ((scenario IS NULL) = (key IS NULL)),
    CHECK (state <> 'DONE' OR (key IS NOT NULL AND cardinality(steps) > 1)),
    CHECK ((state = 'DONE') = (reason IS NULL)),
    CHECK (refund_id IS NULL OR state = 'RETURNED')
);
-- Over all organisations, for whoever watches: what is not over, what was for nothing, and all of a few minutes.
CREATE INDEX operation_unfinished ON fulfilment.operation (state) WHERE state IN ('OPEN', 'FAILED');
CREATE INDEX operation_fruitless ON fulfilment.operation (changed_at) WHERE state IN ('RETURNED', 'FAILED');
CREATE INDEX operation_by_change ON fulfilment.operation (changed_at);
-- Last, so that the planner takes it before anybody has counted rows.
ALTER TABLE fulfilment.operation ADD PRIMARY KEY (organization_id, payment_id);
ALTER TABLE fulfilment.operation ENABLE ROW LEVEL SECURITY;
ALTER TABLE fulfilment.operation FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON fulfilment.operation TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_watches ON fulfilment.operation FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON fulfilment.operation TO admitone_app;
GRANT UPDATE (state, scenario, key, steps, reason, refund_id, attempts, changed_at) ON fulfilment.operation TO admitone_app;
GRANT SELECT (organization_id, payment_id, state, reason, correlation_id, changed_at) ON fulfilment.operation TO admitone_relay;
