-- why: an owner's statement of a week is announced once
-- lock: none, every object is new
-- phase: expand

-- TENANT: which statements were announced, and what the ledger moved in them (MOR-046, KPI-041). Append-only: whoever
-- announces a week again adds nothing. The statement itself is read from the ledger.
CREATE TABLE payouts.statement (
    organization_id uuid        NOT NULL,
    payee_id        uuid        NOT NULL,
    week            date        NOT NULL CHECK (extract(isodow FROM week) = 1),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    moved_minor     bigint      NOT NULL,
    announced_at    timestamptz NOT NULL,
    PRIMARY KEY (organization_id, payee_id, week, currency),
    FOREIGN KEY (organization_id, payee_id) REFERENCES payouts.owner (organization_id, payee_id)
);
ALTER TABLE payouts.statement ENABLE ROW LEVEL SECURITY;
ALTER TABLE payouts.statement FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payouts.statement TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON payouts.statement TO admitone_app;
