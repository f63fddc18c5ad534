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
