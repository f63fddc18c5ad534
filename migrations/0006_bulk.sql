-- why: bulk work that shows its progress and can be resumed, and plans that are applied as they were shown
-- lock: none, every object is new
-- phase: expand

-- TENANT: work on many rows, a bounded step at a time. `steps` is the fence: only the turn that follows the last step
-- moves the cursor. Work for every organisation is a row of the platform; `parent_id` leads from its parts to it.
CREATE TABLE kernel.bulk (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    kind            text        NOT NULL CHECK (kind ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$' AND length(kind) <= 100),
    key             text        NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
    request         jsonb       NOT NULL,
    cursor          jsonb,
    steps           integer     NOT NULL DEFAULT 0 CHECK (steps >= 0),
    done            bigint      NOT NULL DEFAULT 0 CHECK (done >= 0),
    total           bigint      CHECK (total >= 0),
    status          text        NOT NULL CHECK (status IN ('QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED')),
    parent_id       uuid,
    requested_by    uuid,
    correlation_id  uuid        NOT NULL,
    started_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    error           text        CHECK (length(error) <= 4000),
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, kind, key),
    CHECK ((finished_at IS NULL) = (status IN ('QUEUED', 'RUNNING'))),
    CHECK ((error IS NULL) = (status <> 'FAILED'))
) WITH (fillfactor = 70);
-- By its id alone: whoever asks how far it is has nothing else; and the parts of work for every organisation.
CREATE INDEX bulk_by_id ON kernel.bulk (id);
CREATE INDEX bulk_by_parent ON kernel.bulk (parent_id, status) WHERE parent_id IS NOT NULL;
ALTER TABLE kernel.bulk ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.bulk FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.bulk TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_watches ON kernel.bulk TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON kernel.bulk TO admitone_app;
GRANT SELECT, UPDATE (status, updated_at, finished_at, error) ON kernel.bulk TO admitone_relay;


-- TENANT: what somebody was shown that would be done. Applied unchanged, or not at all.
CREATE TABLE kernel.plan (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    kind            text        NOT NULL CHECK (kind ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$' AND length(kind) <= 100),
    request         jsonb       NOT NULL,
    steps           jsonb       NOT NULL CHECK (jsonb_typeof(steps) = 'array'),
    digest          bytea       NOT NULL CHECK (length(digest) = 32),
    status          text        NOT NULL CHECK (status IN ('PLANNED', 'APPLIED', 'OVERTAKEN', 'EXPIRED')),
    made_at         timestamptz NOT NULL,
    made_by         uuid,
    expires_at      timestamptz NOT NULL CHECK (expires_at > made_at),
    applied_at      timestamptz,
    applied_by      uuid,
    PRIMARY KEY (organization_id, id),
    CHECK ((applied_at IS NULL) = (status <> 'APPLIED')),
    CHECK (applied_by IS NULL OR status = 'APPLIED')
);
ALTER TABLE kernel.plan ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.plan FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.plan TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE (status, applied_at, applied_by) ON kernel.plan TO admitone_app;


CREATE POLICY overdue ON kernel.bulk TO admitone_owner
    USING (finished_at < now() - interval '90 days') WITH CHECK (false);
CREATE POLICY overdue ON kernel.plan TO admitone_owner
    USING (made_at < now() - interval '90 days') WITH CHECK (false);
CREATE INDEX bulk_by_age ON kernel.bulk (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX plan_by_age ON kernel.plan (made_at);
