-- why: only what a provider refused counts against a refund; what it did not answer is asked about until it is (PAY-069)
-- lock: ACCESS EXCLUSIVE on payments.gateway_intent for a moment: a column with a constant default, and the index of what is open, which is small
-- phase: expand

ALTER TABLE payments.gateway_intent ADD COLUMN refused integer NOT NULL DEFAULT 0 CHECK (refused >= 0);
GRANT UPDATE (refused) ON payments.gateway_intent TO admitone_app;
GRANT SELECT (fee_minor) ON payments.gateway_intent TO admitone_relay;

-- A return of what paid for nothing waits for somebody after three (it has no fee); a refund does not.
DROP INDEX payments.gateway_intent_unsettled;
CREATE INDEX gateway_intent_unsettled ON payments.gateway_intent (created_at, id) WHERE state = 'OPEN';
