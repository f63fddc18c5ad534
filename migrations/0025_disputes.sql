-- why: the case of a dispute: who must answer it, with what, until when, and what was done
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA disputes;
GRANT USAGE ON SCHEMA disputes TO admitone_app, admitone_relay;

-- TENANT: one case for one dispute at a provider. What happened to the money (amount, fee, won, lost) follows from the facts
-- of its payment, and until when evidence is taken from what the provider has on file.
CREATE TABLE disputes.dispute (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    city_code       text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    payment_id      uuid        NOT NULL,
    provider        text        NOT NULL CHECK (provider IN ('sandbox', 'stripe', 'mercadopago', 'openpix')),
    reference       text        NOT NULL CHECK (length(reference) BETWEEN 1 AND 200),
    state           text        NOT NULL CHECK (state IN ('OPEN', 'EVIDENCE_SUBMITTED', 'WON', 'LOST')),
    reason          text        NOT NULL CHECK (length(reason) <= 100),
    amount_minor    bigint      NOT NULL CHECK (amount_minor >= 0),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    fee_minor       bigint      NOT NULL CHECK (fee_minor >= 0),
    opened_at       timestamptz NOT NULL,
    -- Until the provider's file was read, a guess that is rather too early; none, if the provider has none.
    due_at          timestamptz,
    -- When the provider's file was last read.
    told_at         timestamptz,
    assignee_id        uuid,
    -- How often evidence was put; up to which of them the provider has answered; which is to be submitted, or was.
    evidence        integer     NOT NULL CHECK (evidence >= 0),
    filed           integer     NOT NULL CHECK (filed BETWEEN 0 AND evidence),
    submission      integer     CHECK (submission BETWEEN 1 AND evidence),
    submitted_at    timestamptz,
    closed_at       timestamptz,
    version         integer     NOT NULL CHECK (version > 0),
    created_at      timestamptz NOT NULL,
    changed_at      timestamptz NOT NULL,
    UNIQUE (organization_id, provider, reference),
    CHECK ((state IN ('WON', 'LOST')) = (closed_at IS NOT NULL)),
    CHECK (state <> 'EVIDENCE_SUBMITTED' OR submitted_at IS NOT NULL),
    CHECK (state <> 'OPEN' OR submitted_at IS NULL),
    CHECK (due_at IS NOT NULL OR told_at IS NOT NULL)
);
CREATE INDEX dispute_of_payment ON disputes.dispute (organization_id, payment_id);
CREATE INDEX dispute_by_state ON disputes.dispute (organization_id, state, id);
-- For the platform's people and for whoever watches what is due, over all organisations.
CREATE INDEX dispute_everywhere ON disputes.dispute (state, id);
-- Last, so that the planner takes it before anybody has counted rows.
ALTER TABLE disputes.dispute ADD PRIMARY KEY (organization_id, id);
ALTER TABLE disputes.dispute ENABLE ROW LEVEL SECURITY;
ALTER TABLE disputes.dispute FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON disputes.dispute TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON disputes.dispute AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
CREATE POLICY relay_watches ON disputes.dispute FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON disputes.dispute TO admitone_app;
GRANT UPDATE (state, reason, amount_minor, currency, fee_minor, opened_at, due_at, told_at, assignee_id, evidence, filed,
              submission, submitted_at, closed_at, version, changed_at)
    ON disputes.dispute TO admitone_app;
GRANT SELECT ON disputes.dispute TO admitone_relay;


-- TENANT: what was said to a dispute. It may name people, so it is sealed, and gone after its days; that it was said, by whom
-- and when, stands in the steps. `id` is the provider's idempotency key. Append-only.
CREATE TABLE disputes.evidence (
    organization_id uuid        NOT NULL,
    dispute_id      uuid        NOT NULL,
    number          integer     NOT NULL CHECK (number > 0),
    id              uuid        NOT NULL,
    submits         boolean     NOT NULL,
    sealed          bytea       NOT NULL CHECK (length(sealed) <= 300000),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, dispute_id, number),
    FOREIGN KEY (organization_id, dispute_id) REFERENCES disputes.dispute (organization_id, id)
);
ALTER TABLE disputes.evidence ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX evidence_by_age ON disputes.evidence (created_at);
ALTER TABLE disputes.evidence ENABLE ROW LEVEL SECURITY;
ALTER TABLE disputes.evidence FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON disputes.evidence TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY overdue ON disputes.evidence TO admitone_owner
    USING (created_at < now() - interval '400 days') WITH CHECK (false);
GRANT SELECT, INSERT ON disputes.evidence TO admitone_app;


-- TENANT: what happened to a case, one after another: its trail. Append-only.
CREATE TABLE disputes.step (
    organization_id uuid        NOT NULL,
    dispute_id      uuid        NOT NULL,
    number          integer     NOT NULL CHECK (number > 0),
    kind            text        NOT NULL CHECK (kind IN ('OPENED', 'FILE_READ', 'TAKEN', 'EVIDENCE_PUT', 'SUBMISSION_ORDERED',
                                                'FILED', 'SUBMITTED', 'SUBMITTED_ELSEWHERE', 'REFUSED', 'WON', 'LOST')),
    at              timestamptz NOT NULL,
    actor_id        uuid,
    reason_code     text        CHECK (reason_code ~ '^[A-Z][A-Z0-9_]{2,63}$'),
    evidence        integer     CHECK (evidence > 0),
    detail          text        CHECK (length(detail) <= 500),
    correlation_id  uuid        NOT NULL,
    PRIMARY KEY (organization_id, dispute_id, number),
    FOREIGN KEY (organization_id, dispute_id) REFERENCES disputes.dispute (organization_id, id)
);
ALTER TABLE disputes.step ENABLE ROW LEVEL SECURITY;
ALTER TABLE disputes.step FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON disputes.step TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON disputes.step TO admitone_app;
