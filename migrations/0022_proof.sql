-- why: what the last recomputation of an organisation's books came to
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA proof;
GRANT USAGE ON SCHEMA proof TO admitone_app, admitone_relay;

-- TENANT: the latest verdict of each check. It proves nothing by itself: whoever doubts it recomputes.
CREATE TABLE proof.verdict (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    name            text        NOT NULL CHECK (name IN ('TRIAL_BALANCE', 'BALANCES', 'PROVIDER', 'CHAIN')),
    verdict         text        NOT NULL CHECK (verdict IN ('GREEN', 'RED', 'UNKNOWN')),
    severity        smallint    NOT NULL
        CHECK (severity = CASE verdict WHEN 'RED' THEN 0 WHEN 'UNKNOWN' THEN 1 ELSE 2 END),
    differing       bigint      NOT NULL CHECK ((differing > 0) = (verdict = 'RED')),
    figures         jsonb       NOT NULL,
    checked_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, name)
);
-- For operators, over all organisations: red ones first.
CREATE INDEX verdict_by_severity ON proof.verdict (severity, organization_id, name);
ALTER TABLE proof.verdict ENABLE ROW LEVEL SECURITY;
ALTER TABLE proof.verdict FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON proof.verdict TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_sums ON proof.verdict FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT, UPDATE ON proof.verdict TO admitone_app;
GRANT SELECT ON proof.verdict TO admitone_relay;
