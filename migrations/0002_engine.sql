-- why: the engine: facts and their outbox, jobs with their workers, inbox, dead letters and schedules
-- lock: none, every object is new but one policy on kernel.tenant
-- phase: expand

-- TENANT: what happened (EventLog). Append-only. A pure log, so it is partitioned by the time that stands in its id;
-- keys that must stay unique live in a small table apart. Nothing references it: it is dropped after 180 days.
CREATE TABLE kernel.event_log (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    type            text        NOT NULL CHECK (type ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$' AND length(type) <= 100),
    version         text        NOT NULL CHECK (version ~ '^[0-9]+\.[0-9]+\.[0-9]+$'),
    subject_type    text        NOT NULL CHECK (length(subject_type) BETWEEN 1 AND 100),
    subject_id      text        NOT NULL CHECK (length(subject_id) BETWEEN 1 AND 200),
    actor_id        uuid,
    causation_id    uuid        NOT NULL,
    correlation_id  uuid        NOT NULL,
    idempotency_key text        NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 200),
    payload         jsonb       NOT NULL CHECK (jsonb_typeof(payload) = 'object'),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
) PARTITION BY RANGE (id);
-- By correlation alone: whoever asks what became of a call knows nothing else.
CREATE INDEX event_log_by_correlation ON kernel.event_log (correlation_id);
ALTER TABLE kernel.event_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.event_log FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.event_log TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_reads ON kernel.event_log FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON kernel.event_log TO admitone_app;
GRANT SELECT ON kernel.event_log TO admitone_relay;


-- TENANT: keys under which a fact may be told only once. Append-only.
CREATE TABLE kernel.fact_key (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    type            text        NOT NULL,
    idempotency_key text        NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 200),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, type, idempotency_key)
);
ALTER TABLE kernel.fact_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.fact_key FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.fact_key TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON kernel.fact_key TO admitone_app;


-- TENANT: facts that are to be told to their subscribers (OutboxEvent). Thin: the content stands in the event log and
-- never changes; the relay may touch the delivery columns only.
CREATE TABLE kernel.outbox (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    event_id        uuid        NOT NULL,
    created_at      timestamptz NOT NULL,
    published_at    timestamptz,
    attempts        integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, event_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX outbox_pending ON kernel.outbox (next_attempt_at) WHERE published_at IS NULL;
ALTER TABLE kernel.outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.outbox TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_delivers ON kernel.outbox TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON kernel.outbox TO admitone_app;
GRANT SELECT, UPDATE (published_at, attempts, next_attempt_at) ON kernel.outbox TO admitone_relay;


-- TENANT: which deliveries had their effect. Written with the effect, so that what is delivered twice happens once.
CREATE TABLE kernel.inbox (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    key             text        NOT NULL CHECK (length(key) BETWEEN 1 AND 300),
    done_at         timestamptz NOT NULL,
    PRIMARY KEY (organization_id, key)
);
ALTER TABLE kernel.inbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.inbox FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.inbox TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON kernel.inbox TO admitone_app;


-- PLATFORM: the permanent keys of jobs. A job whose key is here was enqueued once, and is never enqueued again.
CREATE TABLE kernel.job_key (
    organization_id uuid        NOT NULL,
    key             text        NOT NULL CHECK (length(key) BETWEEN 1 AND 300),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, key)
);
ALTER TABLE kernel.job_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.job_key FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.job_key TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_enqueues ON kernel.job_key TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON kernel.job_key TO admitone_app;
GRANT SELECT, INSERT ON kernel.job_key TO admitone_relay;


-- PLATFORM: processes that run jobs. The lease of all jobs of a worker is this one row: whoever has not been seen for
-- that long is taken off, and its jobs are free again.
CREATE TABLE kernel.worker (
    id         uuid        PRIMARY KEY,
    name       text        NOT NULL CHECK (length(name) <= 200),
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL
) WITH (fillfactor = 50);
ALTER TABLE kernel.worker ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.worker FORCE ROW LEVEL SECURITY;
CREATE POLICY relay_keeps ON kernel.worker TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON kernel.worker TO admitone_relay;


-- PLATFORM: work to do. Empty when all is well. `worker` is the fence: only whom it names may finish, retry or bury
-- the job. `crashes` counts workers that were lost with it in their hands.
CREATE TABLE kernel.job (
    id              uuid        PRIMARY KEY,
    organization_id uuid        NOT NULL,
    kind            text        NOT NULL CHECK (kind ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$' AND length(kind) <= 100),
    lane            text        NOT NULL CHECK (length(lane) BETWEEN 1 AND 50),
    priority        smallint    NOT NULL CHECK (priority BETWEEN 0 AND 9),
    run_at          timestamptz NOT NULL,
    worker          uuid,
    attempts        smallint    NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    crashes         smallint    NOT NULL DEFAULT 0 CHECK (crashes >= 0),
    key             text        NOT NULL CHECK (length(key) BETWEEN 1 AND 300),
    payload         jsonb       NOT NULL,
    event_id        uuid,
    actor_id        uuid,
    causation_id    uuid        NOT NULL,
    correlation_id  uuid        NOT NULL,
    created_at      timestamptz NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX job_ready ON kernel.job (lane, priority, run_at) WHERE worker IS NULL AND crashes = 0;
-- Once the head of the queue says whose jobs are oldest, more of the same organisation go with them. Its condition says
-- the same in other words, so that a statement can mean this index and no other, whatever the planner believes.
CREATE INDEX job_ready_of_one ON kernel.job (organization_id, lane, priority, run_at) WHERE worker IS NULL AND crashes < 1;
CREATE INDEX job_suspect ON kernel.job (lane, priority, run_at) WHERE worker IS NULL AND crashes > 0;
CREATE INDEX job_of_worker ON kernel.job (worker) WHERE worker IS NOT NULL;
ALTER TABLE kernel.job ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.job FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.job TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_runs ON kernel.job TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON kernel.job TO admitone_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON kernel.job TO admitone_relay;


-- PLATFORM: executions that failed, each with its reason. Append-only.
CREATE TABLE kernel.job_attempt (
    job_id          uuid        NOT NULL,
    number          integer     NOT NULL CHECK (number > 0),
    organization_id uuid        NOT NULL,
    key             text        NOT NULL,
    kind            text        NOT NULL,
    worker          uuid        NOT NULL,
    at              timestamptz NOT NULL,
    error           text        NOT NULL CHECK (length(error) <= 4000),
    PRIMARY KEY (job_id, number)
);
CREATE INDEX job_attempt_by_key ON kernel.job_attempt (organization_id, key);
ALTER TABLE kernel.job_attempt ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.job_attempt FORCE ROW LEVEL SECURITY;
CREATE POLICY relay_records ON kernel.job_attempt TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON kernel.job_attempt TO admitone_relay;


-- PLATFORM: jobs that will not be run again unless somebody says so.
CREATE TABLE kernel.dead_letter (
    id              uuid        PRIMARY KEY,
    organization_id uuid        NOT NULL,
    kind            text        NOT NULL,
    lane            text        NOT NULL,
    priority        smallint    NOT NULL,
    attempts        smallint    NOT NULL,
    crashes         smallint    NOT NULL,
    key             text        NOT NULL,
    payload         jsonb       NOT NULL,
    event_id        uuid,
    actor_id        uuid,
    causation_id    uuid        NOT NULL,
    correlation_id  uuid        NOT NULL,
    created_at      timestamptz NOT NULL,
    died_at         timestamptz NOT NULL,
    reason          text        NOT NULL CHECK (reason IN ('RETRIES_EXHAUSTED', 'NOT_RETRYABLE', 'CRASH_LIMIT')),
    error           text        NOT NULL CHECK (length(error) <= 4000),
    replayed_at     timestamptz,
    replayed_by     text        CHECK (length(replayed_by) <= 200),
    replay_reason   text        CHECK (length(replay_reason) <= 500),
    CHECK ((replayed_at IS NULL) = (replayed_by IS NULL) AND (replayed_at IS NULL) = (replay_reason IS NULL))
);
CREATE INDEX dead_letter_open ON kernel.dead_letter (id) WHERE replayed_at IS NULL;
CREATE INDEX dead_letter_by_correlation ON kernel.dead_letter (correlation_id);
ALTER TABLE kernel.dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.dead_letter FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON kernel.dead_letter TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_buries ON kernel.dead_letter TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE (replayed_at, replayed_by, replay_reason) ON kernel.dead_letter TO admitone_app;
GRANT SELECT, INSERT ON kernel.dead_letter TO admitone_relay;


-- PLATFORM: how far each schedule has come.
CREATE TABLE kernel.schedule (
    name    text        PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 100),
    last_at timestamptz NOT NULL
);
ALTER TABLE kernel.schedule ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.schedule FORCE ROW LEVEL SECURITY;
CREATE POLICY relay_fires ON kernel.schedule TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON kernel.schedule TO admitone_relay;


-- Work for every organisation needs to know which there are.
CREATE POLICY relay_lists ON kernel.tenant FOR SELECT TO admitone_relay USING (true);
GRANT SELECT ON kernel.tenant TO admitone_relay;


-- The smallest UUIDv7 of an instant: ids sort by time, so this is where a partition begins.
CREATE FUNCTION kernel.first_id(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- Makes the weekly partitions of every log that lacks one between two instants; gives how many it made.
-- Nobody may reach a partition but through its log, so no policy is needed on it.
CREATE FUNCTION kernel.add_partitions(since timestamptz, until timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET timezone = 'UTC' AS $$
DECLARE
    log   record;
    week  timestamptz;
    name  text;
    made  integer := 0;
BEGIN
    FOR log IN
        SELECT n.nspname AS schema, c.relname AS name
          FROM pg_class AS c
          JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.relkind = 'p' AND pg_get_userbyid(c.relowner) = current_user AND pg_get_partkeydef(c.oid) = 'RANGE (id)'
         ORDER BY 1, 2
    LOOP
        week := date_trunc('week', since);
        WHILE week <= until LOOP
            name := log.name || to_char(week, '_IYYY_"w"IW');
            IF to_regclass(format('%I.%I', log.schema, name)) IS NULL THEN
                EXECUTE format('CREATE TABLE %I.%I PARTITION OF %I.%I FOR VALUES FROM (%L) TO (%L)', log.schema, name,
                    log.schema, log.name, kernel.first_id(week), kernel.first_id(week + interval '7 days'));
                EXECUTE format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY', log.schema, name);
                EXECUTE format('ALTER TABLE %I.%I FORCE ROW LEVEL SECURITY', log.schema, name);
                made := made + 1;
            END IF;
            week := week + interval '7 days';
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION kernel.add_partitions(timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kernel.add_partitions(timestamptz, timestamptz) TO admitone_maintenance;
