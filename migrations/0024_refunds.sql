-- why: a refund that we order is booked when it is ordered, and settled when its provider says so (U-05)
-- lock: ACCESS EXCLUSIVE on payments.payment_fact and payments.gateway_intent for a moment: columns with a constant default
-- phase: expand

-- The key of our order that made a refund, where its provider says it.
ALTER TABLE payments.payment_fact ADD COLUMN order_key text NOT NULL DEFAULT '';
ALTER TABLE payments.payment_fact
    ADD CONSTRAINT payment_fact_order_key_check CHECK (length(order_key) <= 200) NOT VALID;
ALTER TABLE payments.payment_fact VALIDATE CONSTRAINT payment_fact_order_key_check;
ALTER TABLE payments.payment_fact DROP CONSTRAINT payment_fact_kind_check;
ALTER TABLE payments.payment_fact
    ADD CONSTRAINT payment_fact_kind_check CHECK (kind IN ('PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED',
        'CAPTURED', 'CANCELLED', 'EXPIRED', 'FEE', 'FEE_ADJUSTMENT', 'REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED',
        'DISPUTE_OPENED', 'DISPUTE_WON', 'DISPUTE_LOST', 'APPLIED', 'COMMISSION_HELD', 'COMMISSION_KEPT',
        'REFUND_BEGUN', 'REFUND_GIVEN_UP')) NOT VALID;
ALTER TABLE payments.payment_fact VALIDATE CONSTRAINT payment_fact_kind_check;

-- How much of the platform's fee goes back with it, and whether it was ordered for what was paid for: of money that paid
-- for nothing the whole fee goes back, and nobody decides on the fee.
ALTER TABLE payments.gateway_intent ADD COLUMN fee_minor bigint;
ALTER TABLE payments.gateway_intent
    ADD CONSTRAINT gateway_intent_fee_minor_check CHECK (fee_minor BETWEEN 0 AND amount_minor) NOT VALID;
ALTER TABLE payments.gateway_intent VALIDATE CONSTRAINT gateway_intent_fee_minor_check;

-- TENANT: which payments paid for something of a subject (whatever a vertical calls so), for whoever gives all of it back.
CREATE TABLE payments.paid_subject (
    organization_id uuid NOT NULL,
    subject         text NOT NULL CHECK (length(subject) BETWEEN 1 AND 200),
    payment_id      uuid NOT NULL,
    PRIMARY KEY (organization_id, subject, payment_id),
    FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id)
);
ALTER TABLE payments.paid_subject ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.paid_subject FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.paid_subject TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON payments.paid_subject TO admitone_app;
INSERT INTO payments.paid_subject
SELECT organization_id, unnest(subjects), id FROM payments.payment WHERE applied AND captured_minor > 0
    ON CONFLICT DO NOTHING;

CREATE SCHEMA refunds;
GRANT USAGE ON SCHEMA refunds TO admitone_app;

-- TENANT: what is given back, why, and what became of it. PLANNED: somebody decided it together with many others, and it
-- has not been ordered yet; OVERTAKEN: when its turn came, there was not so much left.
CREATE TABLE refunds.refund (
    organization_id uuid        NOT NULL,
    id              uuid        NOT NULL,
    payment_id      uuid        NOT NULL,
    city_code       text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    source_type     text        NOT NULL,
    source_id       text        NOT NULL,
    amount_minor    bigint      NOT NULL CHECK (amount_minor > 0),
    fee_minor       bigint      NOT NULL CHECK (fee_minor BETWEEN 0 AND amount_minor),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    reason          text        NOT NULL CHECK (reason IN ('CANCELLED_BY_SELLER', 'SERIOUS_FAILURE', 'ABUSE_REPORTED',
                                                'TECHNICAL_PROBLEM', 'NOT_DELIVERED', 'CUSTOMER_CANCELLED',
                                                'ADMIN_OVERRIDE')),
    cancellation_id uuid,
    state           text        NOT NULL CHECK (state IN ('PLANNED', 'OVERTAKEN', 'PENDING', 'SUCCEEDED', 'FAILED')),
    failure         text        CHECK (length(failure) <= 200),
    requested_by    uuid,
    created_at      timestamptz NOT NULL,
    settled_at      timestamptz,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id),
    CHECK ((state IN ('PLANNED', 'PENDING')) = (settled_at IS NULL)),
    CHECK (state <> 'PLANNED' OR cancellation_id IS NOT NULL)
);
CREATE INDEX refund_of_payment ON refunds.refund (organization_id, payment_id);
CREATE INDEX refund_by_state ON refunds.refund (organization_id, state, id);
-- Of one cancellation each payment is refunded once.
CREATE UNIQUE INDEX refund_of_cancellation ON refunds.refund (organization_id, cancellation_id, payment_id)
    WHERE cancellation_id IS NOT NULL;
ALTER TABLE refunds.refund ENABLE ROW LEVEL SECURITY;
ALTER TABLE refunds.refund FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON refunds.refund TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON refunds.refund AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
GRANT SELECT, INSERT ON refunds.refund TO admitone_app;
GRANT UPDATE (state, failure, settled_at) ON refunds.refund TO admitone_app;

-- TENANT: of which lines of the price it is, so that each piece goes back once.
CREATE TABLE refunds.refund_line (
    organization_id uuid    NOT NULL,
    refund_id       uuid    NOT NULL,
    line_key        text    NOT NULL CHECK (length(line_key) BETWEEN 1 AND 200),
    quantity        integer NOT NULL CHECK (quantity > 0),
    amount_minor    bigint  NOT NULL CHECK (amount_minor >= 0),
    fee_minor       bigint  NOT NULL CHECK (fee_minor >= 0),
    PRIMARY KEY (organization_id, refund_id, line_key),
    FOREIGN KEY (organization_id, refund_id) REFERENCES refunds.refund (organization_id, id)
);
ALTER TABLE refunds.refund_line ENABLE ROW LEVEL SECURITY;
ALTER TABLE refunds.refund_line FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON refunds.refund_line TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON refunds.refund_line TO admitone_app;
