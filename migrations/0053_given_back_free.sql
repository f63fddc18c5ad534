-- why: what somebody took for nothing and was not given is theirs to take again (FIN-082)
-- lock: ACCESS EXCLUSIVE on payments.free_claim for a moment, while a check is replaced; SHARE ROW EXCLUSIVE on payments.payment for its key
-- phase: expand

-- TENANT: what each free payment took of what one person may have for nothing, and whether it came back, because it was
-- not handed over. The counter of a claim only rises: what came back is taken off it by whoever holds the claim.
CREATE TABLE payments.free_taking (
    organization_id uuid        NOT NULL,
    payment_id      uuid        NOT NULL,
    guard_key       text        NOT NULL CHECK (length(guard_key) BETWEEN 1 AND 200),
    identity_id     uuid        NOT NULL,
    quantity        integer     NOT NULL CHECK (quantity > 0),
    given_back_at   timestamptz,
    PRIMARY KEY (organization_id, payment_id, guard_key),
    FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id)
);
CREATE INDEX free_taking_given_back ON payments.free_taking (organization_id, guard_key, identity_id)
    WHERE given_back_at IS NOT NULL;
ALTER TABLE payments.free_taking ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.free_taking FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.free_taking TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON payments.free_taking TO admitone_app;
GRANT UPDATE (given_back_at) ON payments.free_taking TO admitone_app;

-- It counts all that was ever taken, also what came back. Whatever is there kept the stricter rule.
ALTER TABLE payments.free_claim DROP CONSTRAINT free_claim_taken_check;
ALTER TABLE payments.free_claim ADD CONSTRAINT free_claim_taken_check CHECK (taken >= 0) NOT VALID;
