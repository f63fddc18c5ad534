-- why: the ledger against providers: runs, what they found until somebody closes it, and how far they came
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA reconciliation;
GRANT USAGE ON SCHEMA reconciliation TO admitone_app, admitone_relay;

-- TENANT: how far an organisation's books were compared. Its row is locked by whoever writes down what was found, so that
-- two runs at once do not both correct the same.
CREATE TABLE reconciliation.standing (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    -- When it was first to be compared.
    known_since     timestamptz NOT NULL,
    -- Up to when everything was; not at all, if nothing stands there.
    compared_until  timestamptz,
    PRIMARY KEY (organization_id)
);
-- For whoever watches that nobody falls behind.
CREATE INDEX standing_by_lag ON reconciliation.standing (COALESCE(compared_until, known_since), organization_id);
ALTER TABLE reconciliation.standing ENABLE ROW LEVEL SECURITY;
ALTER TABLE reconciliation.standing FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON reconciliation.standing TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_watches ON reconciliation.standing FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT, UPDATE ON reconciliation.standing TO admitone_app;
GRANT SELECT ON reconciliation.standing TO admitone_relay;


-- TENANT: comparisons, with what they came to: the daily report (MOR-046).
CREATE TABLE reconciliation.run (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    state           text        NOT NULL CHECK (state IN ('QUEUED', 'RUNNING', 'DONE', 'UNTOLD', 'ABANDONED')),
    -- What moved from then on, up to when it looked; from the beginning, if nothing stands there.
    since           timestamptz,
    until           timestamptz,
    counts          jsonb       NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(counts) = 'object'),
    sums            jsonb       NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(sums) = 'object'),
    -- What was open when it ended, by class.
    open_issues     jsonb       NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(open_issues) = 'array'),
    reason          text        CHECK (length(reason) BETWEEN 1 AND 200),
    correlation_id  uuid        NOT NULL,
    created_at      timestamptz NOT NULL,
    started_at      timestamptz,
    finished_at     timestamptz,
    PRIMARY KEY (organization_id, id),
    CHECK ((started_at IS NULL) = (state = 'QUEUED')),
    CHECK ((finished_at IS NULL) = (state IN ('QUEUED', 'RUNNING'))),
    CHECK ((state = 'UNTOLD') = (reason IS NOT NULL)),
    CHECK (until IS NOT NULL OR state <> 'DONE')
);
CREATE INDEX run_at_work ON reconciliation.run (organization_id, started_at) WHERE state = 'RUNNING';
ALTER TABLE reconciliation.run ENABLE ROW LEVEL SECURITY;
ALTER TABLE reconciliation.run FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON reconciliation.run TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON reconciliation.run TO admitone_app;


-- TENANT: LedgerReconciliationIssue (FIN-043): what is not the same here and there, or stayed where nothing may stay. It
-- is never deleted, and nothing of the ledger is edited for it.
CREATE TABLE reconciliation.issue (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    class           text        NOT NULL CHECK (class IN ('MISSING_HERE', 'MISSING_THERE', 'AMOUNT', 'FEE', 'CURRENCY',
                                                          'DUPLICATE', 'STAYED')),
    kind            text        NOT NULL CHECK (length(kind) BETWEEN 1 AND 40),
    reference       text        NOT NULL CHECK (length(reference) <= 200),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    here_currency   text        CHECK (here_currency ~ '^[A-Z]{3}$'),
    here_minor      bigint      NOT NULL,
    there_minor     bigint      NOT NULL,
    payment_id      uuid,
    -- Whose it is to see to: a role, until somebody takes it.
    responsible     text        NOT NULL CHECK (length(responsible) BETWEEN 1 AND 60),
    taken_by        uuid,
    state           text        NOT NULL CHECK (state IN ('OPEN', 'CLOSED')),
    closed_how      text        CHECK (closed_how IN ('ROUNDING', 'RESOLVED_BY_ITSELF', 'BY_HAND')),
    closed_reason   text        CHECK (length(closed_reason) BETWEEN 1 AND 100),
    closed_by       uuid,
    closed_at       timestamptz,
    -- When it first moved, on either side; when a run first and last saw that it differs, and which one last.
    moved_at        timestamptz NOT NULL,
    first_seen_at   timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL CHECK (last_seen_at >= first_seen_at),
    run_id          uuid        NOT NULL,
    correlation_id  uuid        NOT NULL,
    PRIMARY KEY (organization_id, id),
    CHECK ((here_currency IS NOT NULL) = (class = 'CURRENCY')),
    CHECK ((state = 'CLOSED') = (closed_how IS NOT NULL AND closed_at IS NOT NULL)),
    CHECK ((closed_reason IS NOT NULL) = COALESCE(closed_how = 'BY_HAND', false)),
    CHECK ((closed_by IS NOT NULL) = COALESCE(closed_how = 'BY_HAND', false))
);
-- One of an object, as long as it is open.
CREATE UNIQUE INDEX issue_of_object ON reconciliation.issue (organization_id, kind, reference, currency)
    WHERE state = 'OPEN';
CREATE INDEX issue_by_object ON reconciliation.issue (organization_id, kind, reference, currency, first_seen_at);
CREATE INDEX issue_by_state ON reconciliation.issue (organization_id, state, id);
CREATE INDEX issue_unseen ON reconciliation.issue (organization_id, last_seen_at) WHERE state = 'OPEN';
-- For operators, over all organisations.
CREATE INDEX issue_by_age ON reconciliation.issue (first_seen_at) WHERE state = 'OPEN';
ALTER TABLE reconciliation.issue ENABLE ROW LEVEL SECURITY;
ALTER TABLE reconciliation.issue FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON reconciliation.issue TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_counts ON reconciliation.issue FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT, UPDATE ON reconciliation.issue TO admitone_app;
-- How many, and how old; not what they are about.
GRANT SELECT (organization_id, state, first_seen_at) ON reconciliation.issue TO admitone_relay;


-- The hourly run asks for PIX that waits (PAY-055).
GRANT SELECT (method) ON payments.payment TO admitone_relay;
