-- why: what is kept for some days only can be removed after them, and nothing else can
-- lock: SHARE on the tables of the engine while their small indexes are built, ACCESS EXCLUSIVE for an instant for the policies
-- phase: expand

-- The rule of each table. FORCE makes the owner as blind as everybody; these let it see, lock and delete what is
-- overdue, and write nothing. The same days stand in the manifests, and a check compares them.
CREATE POLICY overdue ON kernel.idempotency_key TO admitone_owner
    USING (created_at < now() - interval '3 days') WITH CHECK (false);
CREATE POLICY overdue ON kernel.limit_counter TO admitone_owner
    USING (ends_at < now() - interval '1 day') WITH CHECK (false);
CREATE POLICY overdue ON kernel.ban TO admitone_owner
    USING (ends_at < now() - interval '1 day') WITH CHECK (false);
CREATE POLICY overdue ON kernel.streak TO admitone_owner
    USING (ends_at < now() - interval '1 day') WITH CHECK (false);
CREATE POLICY overdue ON kernel.audit_entry TO admitone_owner
    USING (at < now() - interval '730 days') WITH CHECK (false);
CREATE POLICY overdue ON kernel.event_log TO admitone_owner
    USING (created_at < now() - interval '180 days') WITH CHECK (false);
CREATE POLICY overdue ON kernel.fact_key TO admitone_owner
    USING (created_at < now() - interval '180 days') WITH CHECK (false);
-- What was never published is never overdue: NULL is not less than anything.
CREATE POLICY overdue ON kernel.outbox TO admitone_owner
    USING (published_at < now() - interval '30 days') WITH CHECK (false);
-- Longer than any fact: a fact that is told again must still find that it was heard.
CREATE POLICY overdue ON kernel.inbox TO admitone_owner
    USING (done_at < now() - interval '190 days') WITH CHECK (false);
CREATE POLICY overdue ON kernel.job_key TO admitone_owner
    USING (created_at < now() - interval '190 days') WITH CHECK (false);
CREATE POLICY overdue ON kernel.job_attempt TO admitone_owner
    USING (at < now() - interval '90 days') WITH CHECK (false);
CREATE POLICY overdue ON kernel.dead_letter TO admitone_owner
    USING (died_at < now() - interval '90 days') WITH CHECK (false);


-- The way to the oldest rows. Not BRIN: its summaries never narrow, so once freed pages were filled again it would read
-- the whole table. limit_counter and streak have none, because every count must stay a heap-only update; they live for
-- a day.
CREATE INDEX ban_by_age ON kernel.ban (ends_at);
CREATE INDEX idempotency_key_by_age ON kernel.idempotency_key (created_at);
CREATE INDEX audit_entry_by_age ON kernel.audit_entry (at);
CREATE INDEX fact_key_by_age ON kernel.fact_key (created_at);
CREATE INDEX outbox_by_age ON kernel.outbox (published_at) WHERE published_at IS NOT NULL;
CREATE INDEX inbox_by_age ON kernel.inbox (done_at);
CREATE INDEX job_key_by_age ON kernel.job_key (created_at);
CREATE INDEX job_attempt_by_age ON kernel.job_attempt (at);
CREATE INDEX dead_letter_by_age ON kernel.dead_letter (died_at);


-- What the policy of a table says: after which column, and how many days. Raises for a table that has none, or on which
-- the owner may see other rows too.
CREATE FUNCTION kernel.retention_of(target regclass, OUT aged_by text, OUT days integer)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'postgres' AS $$
DECLARE
    rules text[];
BEGIN
    SELECT array_agg(pg_get_expr(p.polqual, p.polrelid)) INTO rules
      FROM pg_policy AS p
      JOIN pg_class AS c ON c.oid = p.polrelid
     WHERE p.polrelid = target AND c.relforcerowsecurity AND p.polroles && ARRAY[c.relowner, 0::oid];
    IF cardinality(rules) = 1 THEN
        SELECT said[1], said[2] INTO aged_by, days
          FROM regexp_match(rules[1], '^\((\w+) < \(now\(\) - ''(\d+) days?''::interval\)\)$') AS said;
    END IF;
    IF days IS NULL THEN
        RAISE EXCEPTION '% has no retention: its rows are kept', target USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION kernel.retention_of(regclass) FROM PUBLIC;

-- Deletes overdue rows, the oldest first and at most so many; gives how many there were and how old the last was. Which
-- rows are overdue is for the policy to say. Who comes again begins at `since`, and so does not wade through what was
-- deleted a moment ago. Rows that somebody holds are left for another time: this waits for nobody.
-- The plan is not left to statistics, which know nothing of the rows that became overdue since they were made: rows are
-- found by the index on their age, in its order, and deleted by their place, never by comparing each with each.
CREATE FUNCTION kernel.purge(target text, most integer, since timestamptz, OUT purged bigint, OUT reached timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_indexscan = on AS $$
DECLARE
    aged_by text := (kernel.retention_of(target::regclass)).aged_by;
    places  tid[];
BEGIN
    IF EXISTS (SELECT FROM pg_class WHERE oid = target::regclass AND relkind = 'p') THEN
        RAISE EXCEPTION '% is partitioned: its partitions are dropped', target USING ERRCODE = 'wrong_object_type';
    END IF;
    EXECUTE format(
        'SELECT array_agg(ctid), max(at)
           FROM (SELECT ctid, %2$I AS at FROM %1$s WHERE %2$I >= $1 ORDER BY 2 LIMIT $2 FOR UPDATE SKIP LOCKED) AS due',
        target::regclass, aged_by)
       INTO places, reached USING since, most;
    SET LOCAL enable_indexscan = off;
    EXECUTE format('DELETE FROM %s WHERE ctid = ANY ($1)', target::regclass) USING places;
    GET DIAGNOSTICS purged = ROW_COUNT;
END
$$;
REVOKE EXECUTE ON FUNCTION kernel.purge(text, integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kernel.purge(text, integer, timestamptz) TO admitone_maintenance;

-- Drops the oldest partition of a log if all of it is overdue, and gives its name. The lock keeps out everybody who
-- writes to the log, so it is waited for less long than they are willing to wait.
CREATE FUNCTION kernel.drop_partition(target text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '40ms' AS $$
DECLARE
    days   integer := (kernel.retention_of(target::regclass)).days;
    oldest text;
BEGIN
    SELECT part.oid::regclass INTO oldest
      FROM pg_inherits AS i
      JOIN pg_class AS part ON part.oid = i.inhrelid
     CROSS JOIN LATERAL substring(pg_get_expr(part.relpartbound, part.oid) FROM 'TO \(''(.+)''\)$') AS ends
     WHERE i.inhparent = target::regclass AND ends::uuid <= kernel.first_id(now() - make_interval(days => days))
     ORDER BY ends::uuid
     LIMIT 1;
    IF oldest IS NOT NULL THEN
        EXECUTE 'DROP TABLE ' || oldest;
    END IF;
    RETURN oldest;
END
$$;
REVOKE EXECUTE ON FUNCTION kernel.drop_partition(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kernel.drop_partition(text) TO admitone_maintenance;

-- A temporary table that calls itself pg_class must not be taken for the catalog.
ALTER FUNCTION kernel.add_partitions(timestamptz, timestamptz) SET search_path = pg_catalog, pg_temp;
