-- why: alerts: what somebody must look at, one row for as long as it lasts; and dead letters found by their kind
-- lock: kernel.dead_letter against writes while its index is made; it is small
-- phase: expand

-- TENANT: alerts, all of them rows of the platform's own organisation: the transaction that opens one publishes the fact
-- that tells of it, and no other organisation can see or write a row. Whom an alert concerns is `concerns`.
CREATE TABLE kernel.alert (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    rule            text        NOT NULL CHECK (rule ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$' AND length(rule) <= 100),
    class           text        NOT NULL CHECK (class IN ('PAGER', 'TICKET')),
    subject         text        NOT NULL CHECK (length(subject) BETWEEN 1 AND 200),
    concerns        uuid,
    entities        jsonb       NOT NULL CHECK (jsonb_typeof(entities) = 'object'),
    detail          text        NOT NULL CHECK (length(detail) <= 2000),
    link            text        NOT NULL CHECK (length(link) <= 2000),
    correlation_id  uuid        NOT NULL,
    first_seen_at   timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL CHECK (last_seen_at >= first_seen_at),
    times           bigint      NOT NULL CHECK (times > 0),
    resolved_at     timestamptz,
    PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 50);
-- One at a time of a rule and a subject: this is what makes one alert of what many processes see.
CREATE UNIQUE INDEX alert_open ON kernel.alert (organization_id, rule, subject) WHERE resolved_at IS NULL;
CREATE INDEX alert_open_by_age ON kernel.alert (organization_id, id) WHERE resolved_at IS NULL;
ALTER TABLE kernel.alert ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.alert FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.alert TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON kernel.alert TO admitone_app;
GRANT UPDATE (detail, last_seen_at, times, resolved_at) ON kernel.alert TO admitone_app;


-- How many letters of each kind are open, and since when: asked every few seconds, whatever has piled up.
CREATE INDEX dead_letter_open_by_kind ON kernel.dead_letter (kind, priority, reason, died_at) WHERE replayed_at IS NULL;


CREATE POLICY overdue ON kernel.alert TO admitone_owner
    USING (resolved_at < now() - interval '90 days') WITH CHECK (false);
CREATE INDEX alert_by_age ON kernel.alert (resolved_at) WHERE resolved_at IS NOT NULL;
