-- Name: authority; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA authority;
ALTER SCHEMA authority OWNER TO admitone_owner;

-- Name: coupons; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA coupons;
ALTER SCHEMA coupons OWNER TO admitone_owner;

-- Name: disputes; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA disputes;
ALTER SCHEMA disputes OWNER TO admitone_owner;

-- Name: entitlements; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA entitlements;
ALTER SCHEMA entitlements OWNER TO admitone_owner;

-- Name: events; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA events;
ALTER SCHEMA events OWNER TO admitone_owner;

-- Name: fulfilment; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA fulfilment;
ALTER SCHEMA fulfilment OWNER TO admitone_owner;

-- Name: identity; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA identity;
ALTER SCHEMA identity OWNER TO admitone_owner;

-- Name: kernel; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA kernel;
ALTER SCHEMA kernel OWNER TO admitone_owner;

-- Name: ledger; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA ledger;
ALTER SCHEMA ledger OWNER TO admitone_owner;

-- Name: mail; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA mail;
ALTER SCHEMA mail OWNER TO admitone_owner;

-- Name: organizations; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA organizations;
ALTER SCHEMA organizations OWNER TO admitone_owner;

-- Name: payments; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA payments;
ALTER SCHEMA payments OWNER TO admitone_owner;

-- Name: payouts; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA payouts;
ALTER SCHEMA payouts OWNER TO admitone_owner;

-- Name: pricing; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA pricing;
ALTER SCHEMA pricing OWNER TO admitone_owner;

-- Name: proof; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA proof;
ALTER SCHEMA proof OWNER TO admitone_owner;

-- Name: reconciliation; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA reconciliation;
ALTER SCHEMA reconciliation OWNER TO admitone_owner;

-- Name: refunds; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA refunds;
ALTER SCHEMA refunds OWNER TO admitone_owner;

-- Name: sales; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA sales;
ALTER SCHEMA sales OWNER TO admitone_owner;

-- Name: stock; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA stock;
ALTER SCHEMA stock OWNER TO admitone_owner;

-- Name: usernames; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA usernames;
ALTER SCHEMA usernames OWNER TO admitone_owner;

-- Name: webhooks; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA webhooks;
ALTER SCHEMA webhooks OWNER TO admitone_owner;

-- Name: stopped(uuid, text[], timestamp with time zone); Type: FUNCTION; Schema: authority; Owner: admitone_owner
CREATE FUNCTION authority.stopped(asking uuid, keys text[], at timestamp with time zone) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT k.key
      FROM unnest(keys) AS k(key)
     WHERE asking = NULLIF(current_setting('app.organization_id', true), '')::uuid
       AND k.key LIKE 'stop:%'
       AND EXISTS (SELECT FROM authority.switch AS s
                    WHERE s.organization_id = '00000000-0000-7000-8000-000000000001'
                      AND s.key = k.key AND s.expires_at > at)
$$;
ALTER FUNCTION authority.stopped(asking uuid, keys text[], at timestamp with time zone) OWNER TO admitone_owner;

-- Name: forget(integer, timestamp with time zone); Type: FUNCTION; Schema: coupons; Owner: admitone_owner
CREATE FUNCTION coupons.forget(most integer, at timestamp with time zone) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH gone AS (
        DELETE FROM coupons.known_token
         WHERE digest IN (SELECT k.digest
                            FROM coupons.known_token AS k
                           WHERE k.expires_at < at - interval '90 days'
                           ORDER BY k.expires_at
                           LIMIT most
                             FOR UPDATE SKIP LOCKED)
        RETURNING digest
    )
    SELECT count(*) FROM gone
$$;
ALTER FUNCTION coupons.forget(most integer, at timestamp with time zone) OWNER TO admitone_owner;

-- Name: know(uuid, bytea[], timestamp with time zone[]); Type: FUNCTION; Schema: coupons; Owner: admitone_owner
CREATE FUNCTION coupons.know(own uuid, digests bytea[], ends timestamp with time zone[]) RETURNS SETOF bytea
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    INSERT INTO coupons.known_token (digest, merchant_id, expires_at)
    SELECT v.digest, own, v.expires_at
      FROM unnest(digests, ends) AS v(digest, expires_at)
     ORDER BY v.digest
    RETURNING digest
$$;
ALTER FUNCTION coupons.know(own uuid, digests bytea[], ends timestamp with time zone[]) OWNER TO admitone_owner;

-- Name: known(bytea[]); Type: FUNCTION; Schema: coupons; Owner: admitone_owner
CREATE FUNCTION coupons.known(digests bytea[]) RETURNS SETOF bytea
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT k.digest FROM coupons.known_token AS k WHERE k.digest = ANY (digests)
$$;
ALTER FUNCTION coupons.known(digests bytea[]) OWNER TO admitone_owner;

-- Name: add_partitions(timestamp with time zone, timestamp with time zone); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.add_partitions(since timestamp with time zone, until timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
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
ALTER FUNCTION kernel.add_partitions(since timestamp with time zone, until timestamp with time zone) OWNER TO admitone_owner;

-- Name: drop_partition(text); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.drop_partition(target text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '40ms'
    AS $_$
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
$_$;
ALTER FUNCTION kernel.drop_partition(target text) OWNER TO admitone_owner;

-- Name: first_id(timestamp with time zone); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.first_id(at timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;
ALTER FUNCTION kernel.first_id(at timestamp with time zone) OWNER TO admitone_owner;

-- Name: in_city(text); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.in_city(code text) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN (current_setting('app.city_codes'::text, true) = '*'::text) THEN true ELSE (code = ANY (string_to_array(current_setting('app.city_codes'::text, true), ','::text))) END;
ALTER FUNCTION kernel.in_city(code text) OWNER TO admitone_owner;

-- Name: purge(text, integer, timestamp with time zone); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.purge(target text, most integer, since timestamp with time zone, OUT purged bigint, OUT reached timestamp with time zone) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_indexscan TO 'on'
    AS $_$
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
$_$;
ALTER FUNCTION kernel.purge(target text, most integer, since timestamp with time zone, OUT purged bigint, OUT reached timestamp with time zone) OWNER TO admitone_owner;

-- Name: retention_of(regclass); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.retention_of(target regclass, OUT aged_by text, OUT days integer) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "IntervalStyle" TO 'postgres'
    AS $_$
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
$_$;
ALTER FUNCTION kernel.retention_of(target regclass, OUT aged_by text, OUT days integer) OWNER TO admitone_owner;

-- Name: set_scope(uuid, uuid, integer, boolean); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.set_scope(organization uuid, identity uuid, patience_ms integer, writes boolean, OUT at timestamp with time zone, OUT transaction_id text) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF organization IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.organization_id = %L', organization);
    END IF;
    IF identity IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.identity_id = %L', identity);
    END IF;
    IF patience_ms IS NOT NULL THEN
        EXECUTE format('SET LOCAL lock_timeout = %L', patience_ms);
    END IF;
    at := transaction_timestamp();
    IF writes THEN
        transaction_id := pg_current_xact_id()::text;
    END IF;
END
$$;
ALTER FUNCTION kernel.set_scope(organization uuid, identity uuid, patience_ms integer, writes boolean, OUT at timestamp with time zone, OUT transaction_id text) OWNER TO admitone_owner;

-- Name: set_scope(uuid, uuid, text, integer, boolean); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.set_scope(organization uuid, identity uuid, cities text, patience_ms integer, writes boolean, OUT at timestamp with time zone, OUT transaction_id text) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF organization IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.organization_id = %L', organization);
    END IF;
    IF cities IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.city_codes = %L', cities);
    END IF;
    IF identity IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.identity_id = %L', identity);
    END IF;
    IF patience_ms IS NOT NULL THEN
        EXECUTE format('SET LOCAL lock_timeout = %L', patience_ms);
    END IF;
    at := transaction_timestamp();
    IF writes THEN
        transaction_id := pg_current_xact_id()::text;
    END IF;
END
$$;
ALTER FUNCTION kernel.set_scope(organization uuid, identity uuid, cities text, patience_ms integer, writes boolean, OUT at timestamp with time zone, OUT transaction_id text) OWNER TO admitone_owner;

-- Name: find_refs(uuid, text, text[], text[]); Type: FUNCTION; Schema: payments; Owner: admitone_owner
CREATE FUNCTION payments.find_refs(asking uuid, of_provider text, types text[], ids text[], OUT object_type text, OUT object_id text, OUT organization_id uuid, OUT payment_id uuid) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF asking IS DISTINCT FROM NULLIF(current_setting('app.organization_id', true), '')::uuid THEN
        RAISE EXCEPTION 'another organisation''s references' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN QUERY
    SELECT r.object_type, r.object_id, r.organization_id, r.payment_id
      FROM unnest(types, ids) AS v(type, id)
     CROSS JOIN LATERAL (SELECT s.* FROM payments.provider_ref AS s
                          WHERE s.provider = of_provider AND s.object_type = v.type AND s.object_id = v.id
                         OFFSET 0) AS r
     WHERE asking IN (r.organization_id, '00000000-0000-7000-8000-000000000001');
END
$$;
ALTER FUNCTION payments.find_refs(asking uuid, of_provider text, types text[], ids text[], OUT object_type text, OUT object_id text, OUT organization_id uuid, OUT payment_id uuid) OWNER TO admitone_owner;

-- Name: put_refs(uuid, text[], text[], text[], uuid[], integer[], timestamp with time zone); Type: FUNCTION; Schema: payments; Owner: admitone_owner
CREATE FUNCTION payments.put_refs(organization uuid, providers text[], types text[], ids text[], payment_ids uuid[], claims integer[], at timestamp with time zone) RETURNS SETOF integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    refused integer[];
BEGIN
    IF organization IS DISTINCT FROM NULLIF(current_setting('app.organization_id', true), '')::uuid THEN
        RAISE EXCEPTION 'another organisation''s references' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT COALESCE(array_agg(DISTINCT v.claim), '{}') INTO refused
      FROM unnest(providers, types, ids, payment_ids, claims) AS v(provider, type, id, payment, claim)
     CROSS JOIN LATERAL (SELECT s.* FROM payments.provider_ref AS s
                          WHERE s.provider = v.provider AND s.object_type = v.type AND s.object_id = v.id
                         OFFSET 0) AS r
     WHERE r.organization_id <> organization OR r.payment_id IS DISTINCT FROM v.payment;
    INSERT INTO payments.provider_ref (provider, object_type, object_id, organization_id, payment_id, created_at)
    SELECT v.provider, v.type, v.id, organization, v.payment, at
      FROM unnest(providers, types, ids, payment_ids, claims) AS v(provider, type, id, payment, claim)
     WHERE v.claim <> ALL (refused)
     ORDER BY v.provider, v.type, v.id
        ON CONFLICT DO NOTHING;
    -- Two claimed the same at once: whoever comes again finds whose it became.
    IF EXISTS (SELECT FROM unnest(providers, types, ids, payment_ids, claims) AS v(provider, type, id, payment, claim)
                CROSS JOIN LATERAL (SELECT s.* FROM payments.provider_ref AS s
                                     WHERE s.provider = v.provider AND s.object_type = v.type AND s.object_id = v.id
                                    OFFSET 0) AS r
                WHERE v.claim <> ALL (refused)
                  AND (r.organization_id <> organization OR r.payment_id IS DISTINCT FROM v.payment)) THEN
        RAISE EXCEPTION 'claimed by another meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN QUERY SELECT unnest(refused);
END
$$;
ALTER FUNCTION payments.put_refs(organization uuid, providers text[], types text[], ids text[], payment_ids uuid[], claims integer[], at timestamp with time zone) OWNER TO admitone_owner;

-- Name: claim(text, uuid[], text[], timestamp with time zone); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.claim(kind text, owners uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    wanted   text;
    claimant uuid;
    there    usernames.username;
    is_own   boolean;
BEGIN
    PERFORM usernames.hold_still(kind, owners, names);
    FOR place, claimant, wanted IN SELECT v.place, v.owner, v.name
                                     FROM unnest(owners, names) WITH ORDINALITY AS v(owner, name, place)
                                    ORDER BY v.place LOOP
        SELECT u.* INTO there FROM usernames.username AS u WHERE u.name = wanted;
        is_own := COALESCE(there.owner_type = kind AND there.owner_id = claimant, false);
        SELECT max(u.held_until) INTO until
          FROM usernames.username AS u
         WHERE u.owner_type = kind AND u.owner_id = claimant AND u.status = 'HELD' AND u.held_until > at;
        outcome := CASE
            WHEN is_own AND there.status = 'LIVE' THEN 'KEPT'
            WHEN there.status = 'LIVE' OR (there.held_until > at AND NOT is_own) THEN 'TAKEN'
            WHEN until IS NOT NULL AND NOT (is_own AND there.held_until > at) THEN 'COOLDOWN'
            ELSE 'CLAIMED' END;
        IF outcome = 'CLAIMED' THEN
            PERFORM usernames.leave(kind, ARRAY[claimant], at);
            INSERT INTO usernames.username AS u (name, owner_type, owner_id, status, claimed_at)
            VALUES (wanted, kind, claimant, 'LIVE', at)
                ON CONFLICT (name) DO UPDATE
               SET owner_type = EXCLUDED.owner_type, owner_id = EXCLUDED.owner_id, status = 'LIVE',
                   claimed_at = EXCLUDED.claimed_at, held_until = NULL
             WHERE u.status = 'HELD' AND (u.held_until <= at OR is_own);
            IF NOT FOUND THEN
                RAISE EXCEPTION 'a username was given to two at once' USING ERRCODE = 'unique_violation';
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
ALTER FUNCTION usernames.claim(kind text, owners uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) OWNER TO admitone_owner;

-- Name: claim_for_organization(uuid, text[], timestamp with time zone); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.claim_for_organization(organization uuid, names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) RETURNS SETOF record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM usernames.require_own(organization);
    RETURN QUERY SELECT c.place, c.outcome, c.until
                   FROM usernames.claim(
                        'ORGANIZATION', array_fill(organization, ARRAY[cardinality(names)]), names, at) AS c;
END
$$;
ALTER FUNCTION usernames.claim_for_organization(organization uuid, names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) OWNER TO admitone_owner;

-- Name: claim_for_people(uuid[], text[], timestamp with time zone); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.claim_for_people(people uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) RETURNS SETOF record
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT c.place, c.outcome, c.until FROM usernames.claim('USER', people, names, at) AS c
$$;
ALTER FUNCTION usernames.claim_for_people(people uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) OWNER TO admitone_owner;

-- Name: forget(integer, timestamp with time zone); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.forget(most integer, at timestamp with time zone) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH gone AS (
        DELETE FROM usernames.username
         WHERE name IN (SELECT u.name
                          FROM usernames.username AS u
                         WHERE u.status = 'HELD' AND u.held_until <= at
                         ORDER BY u.held_until
                         LIMIT most
                           FOR UPDATE SKIP LOCKED)
        RETURNING name
    )
    SELECT count(*) FROM gone
$$;
ALTER FUNCTION usernames.forget(most integer, at timestamp with time zone) OWNER TO admitone_owner;

-- Name: hold_still(text, uuid[], text[]); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.hold_still(kind text, owners uuid[], names text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(number)
       FROM (SELECT DISTINCT hashtextextended('usernames ' || thing, 0) AS number
               FROM (SELECT kind || ' ' || owner FROM unnest(owners) AS owner
                      UNION ALL
                     SELECT name FROM unnest(names) AS name) AS things(thing)
              ORDER BY number) AS sorted;
END
$$;
ALTER FUNCTION usernames.hold_still(kind text, owners uuid[], names text[]) OWNER TO admitone_owner;

-- Name: leave(text, uuid[], timestamp with time zone); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.leave(kind text, owners uuid[], at timestamp with time zone) RETURNS SETOF uuid
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE usernames.username
       SET status = 'HELD', held_until = at + interval '360 hours'
     WHERE owner_type = kind
       AND owner_id = ANY (owners)
       AND status = 'LIVE'
    RETURNING owner_id
$$;
ALTER FUNCTION usernames.leave(kind text, owners uuid[], at timestamp with time zone) OWNER TO admitone_owner;

-- Name: names_of(text, uuid[]); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.names_of(kind text, owners uuid[], OUT owner_id uuid, OUT name text) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT u.owner_id, u.name
      FROM usernames.username AS u
     WHERE u.owner_type = kind
       AND u.owner_id = ANY (owners)
       AND u.status = 'LIVE'
$$;
ALTER FUNCTION usernames.names_of(kind text, owners uuid[], OUT owner_id uuid, OUT name text) OWNER TO admitone_owner;

-- Name: release_of_organization(uuid, timestamp with time zone); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.release_of_organization(organization uuid, at timestamp with time zone) RETURNS SETOF uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM usernames.require_own(organization), usernames.hold_still('ORGANIZATION', ARRAY[organization], '{}');
    RETURN QUERY SELECT l FROM usernames.leave('ORGANIZATION', ARRAY[organization], at) AS l;
END
$$;
ALTER FUNCTION usernames.release_of_organization(organization uuid, at timestamp with time zone) OWNER TO admitone_owner;

-- Name: release_of_people(uuid[], timestamp with time zone); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.release_of_people(people uuid[], at timestamp with time zone) RETURNS SETOF uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM usernames.hold_still('USER', people, '{}');
    RETURN QUERY SELECT l FROM usernames.leave('USER', people, at) AS l;
END
$$;
ALTER FUNCTION usernames.release_of_people(people uuid[], at timestamp with time zone) OWNER TO admitone_owner;

-- Name: require_own(uuid); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.require_own(organization uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF organization IS DISTINCT FROM NULLIF(current_setting('app.organization_id', true), '')::uuid THEN
        RAISE EXCEPTION 'another organisation''s username' USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;
ALTER FUNCTION usernames.require_own(organization uuid) OWNER TO admitone_owner;

-- Name: resolve(text[], timestamp with time zone); Type: FUNCTION; Schema: usernames; Owner: admitone_owner
CREATE FUNCTION usernames.resolve(names text[], at timestamp with time zone, OUT name text, OUT owner_type text, OUT owner_id uuid) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT u.name,
           CASE WHEN u.status = 'LIVE' THEN u.owner_type END,
           CASE WHEN u.status = 'LIVE' THEN u.owner_id END
      FROM usernames.username AS u
     WHERE u.name = ANY (names)
       AND (u.status = 'LIVE' OR u.held_until > at)
$$;
ALTER FUNCTION usernames.resolve(names text[], at timestamp with time zone, OUT name text, OUT owner_type text, OUT owner_id uuid) OWNER TO admitone_owner;

-- Name: branch; Type: TABLE; Schema: authority; Owner: admitone_owner
CREATE TABLE authority.branch (
    organization_id uuid NOT NULL,
    group_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY authority.branch FORCE ROW LEVEL SECURITY;
ALTER TABLE authority.branch OWNER TO admitone_owner;

-- Name: group_member; Type: TABLE; Schema: authority; Owner: admitone_owner
CREATE TABLE authority.group_member (
    organization_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    role text NOT NULL,
    pack text,
    scopes text[] NOT NULL,
    branches uuid[],
    created_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT group_member_branches_check CHECK (((cardinality(branches) >= 1) AND (cardinality(branches) <= 200))),
    CONSTRAINT group_member_check CHECK (((role <> 'OWNER'::text) OR (branches IS NULL))),
    CONSTRAINT group_member_pack_check CHECK ((pack = ANY (ARRAY['CLUB_MANAGER'::text, 'TOURNAMENT_DIRECTOR'::text, 'FRONT_DESK'::text, 'COACH'::text, 'REFEREE'::text]))),
    CONSTRAINT group_member_role_check CHECK ((role = ANY (ARRAY['OWNER'::text, 'CO_OWNER'::text, 'ADMIN'::text, 'STAFF'::text, 'TRAINER'::text, 'PROMOTER'::text, 'VIEWER'::text]))),
    CONSTRAINT group_member_scopes_check CHECK ((cardinality(scopes) <= 40)),
    CONSTRAINT group_member_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY authority.group_member FORCE ROW LEVEL SECURITY;
ALTER TABLE authority.group_member OWNER TO admitone_owner;

-- Name: member_override; Type: TABLE; Schema: authority; Owner: admitone_owner
CREATE TABLE authority.member_override (
    organization_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    role text,
    pack text,
    scopes text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT member_override_check CHECK (((role IS NOT NULL) OR ((pack IS NULL) AND (cardinality(scopes) = 0)))),
    CONSTRAINT member_override_pack_check CHECK ((pack = ANY (ARRAY['CLUB_MANAGER'::text, 'TOURNAMENT_DIRECTOR'::text, 'FRONT_DESK'::text, 'COACH'::text, 'REFEREE'::text]))),
    CONSTRAINT member_override_role_check CHECK ((role = ANY (ARRAY['CO_OWNER'::text, 'ADMIN'::text, 'STAFF'::text, 'TRAINER'::text, 'PROMOTER'::text, 'VIEWER'::text]))),
    CONSTRAINT member_override_scopes_check CHECK ((cardinality(scopes) <= 40)),
    CONSTRAINT member_override_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY authority.member_override FORCE ROW LEVEL SECURITY;
ALTER TABLE authority.member_override OWNER TO admitone_owner;

-- Name: module_entry; Type: TABLE; Schema: authority; Owner: admitone_owner
CREATE TABLE authority.module_entry (
    organization_id uuid NOT NULL,
    module text NOT NULL,
    enabled boolean NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT module_entry_module_check CHECK ((module = ANY (ARRAY['EVENTOS'::text, 'TORNEIOS'::text, 'RESERVAS'::text, 'FINANCEIRO'::text, 'CRM'::text, 'LOJA'::text, 'STAFF'::text, 'DEFINICOES'::text])))
);
ALTER TABLE ONLY authority.module_entry FORCE ROW LEVEL SECURITY;
ALTER TABLE authority.module_entry OWNER TO admitone_owner;

-- Name: service_key; Type: TABLE; Schema: authority; Owner: admitone_owner
CREATE TABLE authority.service_key (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    digest bytea NOT NULL,
    purpose text NOT NULL,
    label text NOT NULL,
    scopes text[] NOT NULL,
    created_by uuid,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT service_key_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT service_key_label_check CHECK (((length(label) >= 1) AND (length(label) <= 100))),
    CONSTRAINT service_key_purpose_check CHECK ((purpose = ANY (ARRAY['API'::text, 'SCANNER'::text]))),
    CONSTRAINT service_key_scopes_check CHECK (((cardinality(scopes) >= 1) AND (cardinality(scopes) <= 40)))
);
ALTER TABLE ONLY authority.service_key FORCE ROW LEVEL SECURITY;
ALTER TABLE authority.service_key OWNER TO admitone_owner;

-- Name: session; Type: TABLE; Schema: authority; Owner: admitone_owner
CREATE TABLE authority.session (
    id uuid NOT NULL,
    identity_id uuid NOT NULL,
    access_digest bytea NOT NULL,
    access_expires_at timestamp with time zone NOT NULL,
    refresh_digest bytea NOT NULL,
    refresh_expires_at timestamp with time zone NOT NULL,
    lasts_until timestamp with time zone NOT NULL,
    method text NOT NULL,
    email_verified_at timestamp with time zone,
    authenticated_at timestamp with time zone,
    stepped_up_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    refreshed_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    end_reason text,
    CONSTRAINT session_access_digest_check CHECK ((octet_length(access_digest) = 32)),
    CONSTRAINT session_check CHECK (((ended_at IS NULL) = (end_reason IS NULL))),
    CONSTRAINT session_check1 CHECK ((refresh_expires_at <= lasts_until)),
    CONSTRAINT session_end_reason_check CHECK ((end_reason = ANY (ARRAY['LOGOUT'::text, 'PASSWORD_CHANGED'::text, 'TOKEN_REUSED'::text, 'EMAIL_CHANGED'::text, 'SUSPENDED'::text, 'ERASED'::text, 'BY_OWNER'::text]))),
    CONSTRAINT session_method_check CHECK ((method = ANY (ARRAY['PASSWORD'::text, 'CODE'::text, 'LINK'::text, 'APPLE'::text]))),
    CONSTRAINT session_refresh_digest_check CHECK ((octet_length(refresh_digest) = 32))
);
ALTER TABLE ONLY authority.session FORCE ROW LEVEL SECURITY;
ALTER TABLE authority.session OWNER TO admitone_owner;

-- Name: spent_token; Type: TABLE; Schema: authority; Owner: admitone_owner
CREATE TABLE authority.spent_token (
    digest bytea NOT NULL,
    session_id uuid NOT NULL,
    spent_at timestamp with time zone NOT NULL,
    CONSTRAINT spent_token_digest_check CHECK ((octet_length(digest) = 32))
);
ALTER TABLE ONLY authority.spent_token FORCE ROW LEVEL SECURITY;
ALTER TABLE authority.spent_token OWNER TO admitone_owner;

-- Name: switch; Type: TABLE; Schema: authority; Owner: admitone_owner
CREATE TABLE authority.switch (
    organization_id uuid NOT NULL,
    key text NOT NULL,
    reason_code text NOT NULL,
    case_reference text NOT NULL,
    set_by uuid NOT NULL,
    set_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT switch_case_reference_check CHECK (((length(case_reference) >= 1) AND (length(case_reference) <= 100))),
    CONSTRAINT switch_check CHECK ((expires_at > set_at)),
    CONSTRAINT switch_check1 CHECK (((key ~~ 'feature:%'::text) OR (expires_at IS NOT NULL))),
    CONSTRAINT switch_check2 CHECK (((key ~~ 'feature:%'::text) OR (organization_id = '00000000-0000-7000-8000-000000000001'::uuid))),
    CONSTRAINT switch_key_check CHECK ((key ~ '^(feature|stop):[a-z0-9_:.-]{1,150}$'::text)),
    CONSTRAINT switch_reason_code_check CHECK ((reason_code ~ '^[A-Z][A-Z0-9_]{2,63}$'::text))
);
ALTER TABLE ONLY authority.switch FORCE ROW LEVEL SECURITY;
ALTER TABLE authority.switch OWNER TO admitone_owner;

-- Name: campaign; Type: TABLE; Schema: coupons; Owner: admitone_owner
CREATE TABLE coupons.campaign (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    days integer NOT NULL,
    weeks integer NOT NULL,
    weekly_fee_minor bigint NOT NULL,
    cost_minor bigint NOT NULL,
    currency text NOT NULL,
    redemption_limit integer NOT NULL,
    redeemed integer DEFAULT 0 NOT NULL,
    state text NOT NULL,
    identity_id uuid NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL,
    payment_id uuid,
    created_at timestamp with time zone NOT NULL,
    activated_at timestamp with time zone,
    ends_at timestamp with time zone,
    ended_at timestamp with time zone,
    ended_for text,
    earned_weeks integer DEFAULT 0 NOT NULL,
    earned_minor bigint DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    watched_until timestamp with time zone NOT NULL,
    divergence text,
    CONSTRAINT campaign_check CHECK ((weeks = ((days + 6) / 7))),
    CONSTRAINT campaign_check1 CHECK ((cost_minor = (weekly_fee_minor * weeks))),
    CONSTRAINT campaign_check10 CHECK (((state = 'ENDED'::text) = (ended_for IS NOT NULL))),
    CONSTRAINT campaign_check11 CHECK (((ended_for <> 'OVER'::text) OR (ended_at >= ends_at))),
    CONSTRAINT campaign_check12 CHECK ((((ended_for = 'EXHAUSTED'::text) IS NOT TRUE) OR (redeemed = redemption_limit))),
    CONSTRAINT campaign_check13 CHECK (((state <> 'ACTIVE'::text) OR (redeemed < redemption_limit))),
    CONSTRAINT campaign_check14 CHECK (((state <> 'PENDING_PAYMENT'::text) OR ((redeemed = 0) AND (earned_weeks = 0) AND (earned_minor = 0) AND (due_at IS NULL)))),
    CONSTRAINT campaign_check2 CHECK (((redeemed >= 0) AND (redeemed <= redemption_limit))),
    CONSTRAINT campaign_check3 CHECK (((earned_weeks >= 0) AND (earned_weeks <= weeks))),
    CONSTRAINT campaign_check4 CHECK (((earned_minor >= 0) AND (earned_minor <= cost_minor))),
    CONSTRAINT campaign_check5 CHECK (((state = 'PENDING_PAYMENT'::text) = (activated_at IS NULL))),
    CONSTRAINT campaign_check6 CHECK (((activated_at IS NULL) = (ends_at IS NULL))),
    CONSTRAINT campaign_check7 CHECK (((activated_at IS NULL) = (payment_id IS NULL))),
    CONSTRAINT campaign_check8 CHECK (((ends_at - activated_at) >= '360:00:00'::interval)),
    CONSTRAINT campaign_check9 CHECK (((state = 'ENDED'::text) = (ended_at IS NOT NULL))),
    CONSTRAINT campaign_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT campaign_days_check CHECK (((days >= 15) AND (days <= 364))),
    CONSTRAINT campaign_divergence_check CHECK ((divergence = ANY (ARRAY['PAID_NOT_ACTIVE'::text, 'ACTIVE_NOT_PAID'::text, 'BOOKS_DIFFER'::text]))),
    CONSTRAINT campaign_ended_for_check CHECK ((ended_for = ANY (ARRAY['OVER'::text, 'EXHAUSTED'::text, 'REVERSED'::text]))),
    CONSTRAINT campaign_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255))),
    CONSTRAINT campaign_name_check CHECK (((length(name) >= 1) AND (length(name) <= 120))),
    CONSTRAINT campaign_redemption_limit_check CHECK (((redemption_limit >= 1) AND (redemption_limit <= 10000000))),
    CONSTRAINT campaign_request_hash_check CHECK ((octet_length(request_hash) = 32)),
    CONSTRAINT campaign_state_check CHECK ((state = ANY (ARRAY['PENDING_PAYMENT'::text, 'ACTIVE'::text, 'ENDED'::text]))),
    CONSTRAINT campaign_weekly_fee_minor_check CHECK (((weekly_fee_minor >= 1) AND (weekly_fee_minor <= 1000000000)))
);
ALTER TABLE ONLY coupons.campaign FORCE ROW LEVEL SECURITY;
ALTER TABLE coupons.campaign OWNER TO admitone_owner;

-- Name: known_token; Type: TABLE; Schema: coupons; Owner: admitone_owner
CREATE TABLE coupons.known_token (
    digest bytea NOT NULL,
    merchant_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT known_token_digest_check CHECK ((octet_length(digest) = 32))
);
ALTER TABLE ONLY coupons.known_token FORCE ROW LEVEL SECURITY;
ALTER TABLE coupons.known_token OWNER TO admitone_owner;

-- Name: token; Type: TABLE; Schema: coupons; Owner: admitone_owner
CREATE TABLE coupons.token (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    digest bytea NOT NULL,
    key_version smallint NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    redeemed_at timestamp with time zone,
    CONSTRAINT token_check CHECK (((expires_at - created_at) = '00:05:00'::interval)),
    CONSTRAINT token_check1 CHECK (((status = 'REDEEMED'::text) = (redeemed_at IS NOT NULL))),
    CONSTRAINT token_check2 CHECK (((redeemed_at >= created_at) AND (redeemed_at < expires_at))),
    CONSTRAINT token_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT token_status_check CHECK ((status = ANY (ARRAY['GENERATED'::text, 'REDEEMED'::text, 'EXPIRED'::text])))
);
ALTER TABLE ONLY coupons.token FORCE ROW LEVEL SECURITY;
ALTER TABLE coupons.token OWNER TO admitone_owner;

-- Name: dispute; Type: TABLE; Schema: disputes; Owner: admitone_owner
CREATE TABLE disputes.dispute (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    city_code text NOT NULL,
    payment_id uuid NOT NULL,
    provider text NOT NULL,
    reference text NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    amount_minor bigint NOT NULL,
    currency text NOT NULL,
    fee_minor bigint NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    told_at timestamp with time zone,
    assignee_id uuid,
    evidence integer NOT NULL,
    filed integer NOT NULL,
    submission integer,
    submitted_at timestamp with time zone,
    closed_at timestamp with time zone,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT dispute_amount_minor_check CHECK ((amount_minor >= 0)),
    CONSTRAINT dispute_check CHECK (((filed >= 0) AND (filed <= evidence))),
    CONSTRAINT dispute_check1 CHECK (((submission >= 1) AND (submission <= evidence))),
    CONSTRAINT dispute_check2 CHECK (((state = ANY (ARRAY['WON'::text, 'LOST'::text])) = (closed_at IS NOT NULL))),
    CONSTRAINT dispute_check3 CHECK (((state <> 'EVIDENCE_SUBMITTED'::text) OR (submitted_at IS NOT NULL))),
    CONSTRAINT dispute_check4 CHECK (((state <> 'OPEN'::text) OR (submitted_at IS NULL))),
    CONSTRAINT dispute_check5 CHECK (((due_at IS NOT NULL) OR (told_at IS NOT NULL))),
    CONSTRAINT dispute_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT dispute_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT dispute_evidence_check CHECK ((evidence >= 0)),
    CONSTRAINT dispute_fee_minor_check CHECK ((fee_minor >= 0)),
    CONSTRAINT dispute_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text, 'mercadopago'::text, 'openpix'::text]))),
    CONSTRAINT dispute_reason_check CHECK ((length(reason) <= 100)),
    CONSTRAINT dispute_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 200))),
    CONSTRAINT dispute_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'EVIDENCE_SUBMITTED'::text, 'WON'::text, 'LOST'::text]))),
    CONSTRAINT dispute_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY disputes.dispute FORCE ROW LEVEL SECURITY;
ALTER TABLE disputes.dispute OWNER TO admitone_owner;

-- Name: evidence; Type: TABLE; Schema: disputes; Owner: admitone_owner
CREATE TABLE disputes.evidence (
    organization_id uuid NOT NULL,
    dispute_id uuid NOT NULL,
    number integer NOT NULL,
    id uuid NOT NULL,
    submits boolean NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT evidence_number_check CHECK ((number > 0)),
    CONSTRAINT evidence_sealed_check CHECK ((length(sealed) <= 300000))
);
ALTER TABLE ONLY disputes.evidence ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY disputes.evidence FORCE ROW LEVEL SECURITY;
ALTER TABLE disputes.evidence OWNER TO admitone_owner;

-- Name: step; Type: TABLE; Schema: disputes; Owner: admitone_owner
CREATE TABLE disputes.step (
    organization_id uuid NOT NULL,
    dispute_id uuid NOT NULL,
    number integer NOT NULL,
    kind text NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_id uuid,
    reason_code text,
    evidence integer,
    detail text,
    correlation_id uuid NOT NULL,
    CONSTRAINT step_detail_check CHECK ((length(detail) <= 500)),
    CONSTRAINT step_evidence_check CHECK ((evidence > 0)),
    CONSTRAINT step_kind_check CHECK ((kind = ANY (ARRAY['OPENED'::text, 'FILE_READ'::text, 'TAKEN'::text, 'EVIDENCE_PUT'::text, 'SUBMISSION_ORDERED'::text, 'FILED'::text, 'SUBMITTED'::text, 'SUBMITTED_ELSEWHERE'::text, 'REFUSED'::text, 'WON'::text, 'LOST'::text]))),
    CONSTRAINT step_number_check CHECK ((number > 0)),
    CONSTRAINT step_reason_code_check CHECK ((reason_code ~ '^[A-Z][A-Z0-9_]{2,63}$'::text))
);
ALTER TABLE ONLY disputes.step FORCE ROW LEVEL SECURITY;
ALTER TABLE disputes.step OWNER TO admitone_owner;

-- Name: change; Type: TABLE; Schema: entitlements; Owner: admitone_owner
CREATE TABLE entitlements.change (
    organization_id uuid NOT NULL,
    entitlement_id uuid NOT NULL,
    number integer NOT NULL,
    kind text NOT NULL,
    from_status text,
    to_status text NOT NULL,
    reason text,
    identity_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_id uuid,
    cause_id uuid,
    correlation_id uuid NOT NULL,
    CONSTRAINT change_kind_check CHECK ((kind = ANY (ARRAY['GRANTED'::text, 'ACTIVATED'::text, 'SUSPENDED'::text, 'RELEASED'::text, 'REVOKED'::text, 'EXPIRED'::text, 'TRANSFERRED'::text, 'CLAIMED'::text, 'RESCHEDULED'::text, 'RELAXED'::text, 'CODES_REVOKED'::text]))),
    CONSTRAINT change_number_check CHECK ((number > 0)),
    CONSTRAINT change_reason_check CHECK ((length(reason) <= 100))
);
ALTER TABLE ONLY entitlements.change FORCE ROW LEVEL SECURITY;
ALTER TABLE entitlements.change OWNER TO admitone_owner;

-- Name: checkin; Type: TABLE; Schema: entitlements; Owner: admitone_owner
CREATE TABLE entitlements.checkin (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    entitlement_id uuid,
    event_id text,
    session_id text,
    source_type text,
    action text NOT NULL,
    admitted boolean NOT NULL,
    reason_code text,
    entry integer,
    method text NOT NULL,
    gate text NOT NULL,
    device text NOT NULL,
    scanner_id uuid,
    at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    policy_version integer,
    epoch integer,
    refers_to uuid,
    lease_id uuid,
    scan_key text,
    correlation_id uuid NOT NULL,
    CONSTRAINT checkin_action_check CHECK ((action = ANY (ARRAY['ENTRY'::text, 'UNDO'::text]))),
    CONSTRAINT checkin_check CHECK (((NOT admitted) OR ((entitlement_id IS NOT NULL) AND (entry IS NOT NULL)))),
    CONSTRAINT checkin_check1 CHECK ((admitted OR (action = 'UNDO'::text) OR (reason_code IS NOT NULL))),
    CONSTRAINT checkin_check2 CHECK (((action <> 'UNDO'::text) OR ((NOT admitted) AND (refers_to IS NOT NULL) AND (reason_code IS NOT NULL)))),
    CONSTRAINT checkin_device_check CHECK ((length(device) <= 128)),
    CONSTRAINT checkin_entry_check CHECK ((entry > 0)),
    CONSTRAINT checkin_event_id_check CHECK (((length(event_id) >= 1) AND (length(event_id) <= 64))),
    CONSTRAINT checkin_gate_check CHECK ((length(gate) <= 64)),
    CONSTRAINT checkin_method_check CHECK ((method = ANY (ARRAY['QR'::text, 'MANUAL'::text]))),
    CONSTRAINT checkin_of_lease_has_key CHECK (((lease_id IS NULL) OR (scan_key IS NOT NULL))),
    CONSTRAINT checkin_reason_code_check CHECK ((reason_code ~ '^[A-Z][A-Z0-9_]{2,63}$'::text)),
    CONSTRAINT checkin_scan_key_length CHECK (((length(scan_key) >= 1) AND (length(scan_key) <= 255))),
    CONSTRAINT checkin_session_id_check CHECK (((length(session_id) >= 1) AND (length(session_id) <= 64))),
    CONSTRAINT checkin_source_type_check CHECK ((source_type = ANY (ARRAY['TICKET_ORDER'::text, 'BOOKING'::text, 'PADEL_REGISTRATION'::text, 'STORE_ORDER'::text, 'STAY_RESERVATION'::text, 'COUPON_CAMPAIGN'::text])))
);
ALTER TABLE ONLY entitlements.checkin FORCE ROW LEVEL SECURITY;
ALTER TABLE entitlements.checkin OWNER TO admitone_owner;

-- Name: claimed; Type: TABLE; Schema: entitlements; Owner: admitone_owner
CREATE TABLE entitlements.claimed (
    guest_id uuid NOT NULL,
    user_id uuid NOT NULL,
    claimed_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY entitlements.claimed FORCE ROW LEVEL SECURITY;
ALTER TABLE entitlements.claimed OWNER TO admitone_owner;

-- Name: entitlement; Type: TABLE; Schema: entitlements; Owner: admitone_owner
CREATE TABLE entitlements.entitlement (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    emission_key text NOT NULL,
    source_type text NOT NULL,
    source_id text NOT NULL,
    line_key text NOT NULL,
    piece integer,
    payment_id uuid,
    event_id text,
    session_id text,
    label text NOT NULL,
    identity_id uuid NOT NULL,
    kind text NOT NULL,
    offline_allowed boolean NOT NULL,
    status text NOT NULL,
    held_for text[] NOT NULL,
    revoked_for text,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone NOT NULL,
    policy_version integer,
    methods text[] NOT NULL,
    max_entries integer NOT NULL,
    reentry_minutes integer NOT NULL,
    undo_minutes integer NOT NULL,
    entries integer NOT NULL,
    entered integer NOT NULL,
    duplicates integer NOT NULL,
    consumed_at timestamp with time zone,
    last_entry_at timestamp with time zone,
    epoch integer NOT NULL,
    coded_until timestamp with time zone,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT entitlement_check CHECK ((valid_until > valid_from)),
    CONSTRAINT entitlement_check1 CHECK (((entries >= 0) AND (entries <= max_entries))),
    CONSTRAINT entitlement_check10 CHECK (((epoch = 0) = (coded_until IS NULL))),
    CONSTRAINT entitlement_check11 CHECK (((status <> 'PENDING'::text) OR ((epoch = 0) AND (entries = 0)))),
    CONSTRAINT entitlement_check2 CHECK ((entered >= entries)),
    CONSTRAINT entitlement_check3 CHECK (((event_id IS NULL) OR (policy_version IS NOT NULL))),
    CONSTRAINT entitlement_check4 CHECK (((session_id IS NULL) OR (event_id IS NOT NULL))),
    CONSTRAINT entitlement_check5 CHECK (((status <> 'SUSPENDED'::text) OR (cardinality(held_for) > 0))),
    CONSTRAINT entitlement_check6 CHECK (((status <> ALL (ARRAY['ACTIVE'::text, 'REVOKED'::text])) OR (cardinality(held_for) = 0))),
    CONSTRAINT entitlement_check7 CHECK (((status = 'REVOKED'::text) = (revoked_for IS NOT NULL))),
    CONSTRAINT entitlement_check8 CHECK (((entries > 0) = (consumed_at IS NOT NULL))),
    CONSTRAINT entitlement_check9 CHECK (((consumed_at IS NULL) = (last_entry_at IS NULL))),
    CONSTRAINT entitlement_duplicates_check CHECK ((duplicates >= 0)),
    CONSTRAINT entitlement_emission_key_check CHECK (((length(emission_key) >= 1) AND (length(emission_key) <= 200))),
    CONSTRAINT entitlement_epoch_check CHECK ((epoch >= 0)),
    CONSTRAINT entitlement_event_id_check CHECK (((length(event_id) >= 1) AND (length(event_id) <= 64))),
    CONSTRAINT entitlement_held_for_check CHECK ((held_for <@ ARRAY['DISPUTE'::text, 'INVESTIGATION'::text, 'FRAUD'::text])),
    CONSTRAINT entitlement_kind_check CHECK ((kind ~ '^[a-z][a-z_]{1,31}$'::text)),
    CONSTRAINT entitlement_label_check CHECK ((length(label) <= 120)),
    CONSTRAINT entitlement_line_key_check CHECK (((length(line_key) >= 1) AND (length(line_key) <= 64))),
    CONSTRAINT entitlement_max_entries_check CHECK (((max_entries >= 1) AND (max_entries <= 1000))),
    CONSTRAINT entitlement_methods_check CHECK ((methods <@ ARRAY['QR_TICKET'::text, 'QR_REGISTRATION'::text, 'QR_BOOKING'::text, 'MANUAL'::text])),
    CONSTRAINT entitlement_piece_check CHECK ((piece >= 0)),
    CONSTRAINT entitlement_policy_version_check CHECK ((policy_version > 0)),
    CONSTRAINT entitlement_reentry_minutes_check CHECK (((reentry_minutes >= 0) AND (reentry_minutes <= 10080))),
    CONSTRAINT entitlement_revoked_for_check CHECK ((revoked_for = ANY (ARRAY['REFUND'::text, 'CHARGEBACK'::text, 'CANCELLATION'::text, 'ADMIN'::text, 'VIOLATION'::text]))),
    CONSTRAINT entitlement_session_id_check CHECK (((length(session_id) >= 1) AND (length(session_id) <= 64))),
    CONSTRAINT entitlement_source_id_check CHECK (((length(source_id) >= 1) AND (length(source_id) <= 64))),
    CONSTRAINT entitlement_source_type_check CHECK ((source_type = ANY (ARRAY['TICKET_ORDER'::text, 'BOOKING'::text, 'PADEL_REGISTRATION'::text, 'STORE_ORDER'::text, 'STAY_RESERVATION'::text, 'COUPON_CAMPAIGN'::text]))),
    CONSTRAINT entitlement_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'ACTIVE'::text, 'REVOKED'::text, 'EXPIRED'::text, 'SUSPENDED'::text]))),
    CONSTRAINT entitlement_undo_minutes_check CHECK (((undo_minutes >= 0) AND (undo_minutes <= 1440))),
    CONSTRAINT entitlement_version_check CHECK ((version > 0))
)
WITH (fillfactor='80');
ALTER TABLE ONLY entitlements.entitlement FORCE ROW LEVEL SECURITY;
ALTER TABLE entitlements.entitlement OWNER TO admitone_owner;

-- Name: lease; Type: TABLE; Schema: entitlements; Owner: admitone_owner
CREATE TABLE entitlements.lease (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    device text NOT NULL,
    event_id text NOT NULL,
    session_id text,
    gate text NOT NULL,
    issued_by uuid,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    synced_at timestamp with time zone NOT NULL,
    entries_allowed integer NOT NULL,
    entries_used integer NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT lease_check CHECK ((expires_at > issued_at)),
    CONSTRAINT lease_device_check CHECK (((length(device) >= 1) AND (length(device) <= 128))),
    CONSTRAINT lease_entries_allowed_check CHECK (((entries_allowed >= 1) AND (entries_allowed <= 10000))),
    CONSTRAINT lease_entries_used_check CHECK ((entries_used >= 0)),
    CONSTRAINT lease_event_id_check CHECK (((length(event_id) >= 1) AND (length(event_id) <= 64))),
    CONSTRAINT lease_gate_check CHECK ((length(gate) <= 64)),
    CONSTRAINT lease_session_id_check CHECK (((length(session_id) >= 1) AND (length(session_id) <= 64)))
);
ALTER TABLE ONLY entitlements.lease FORCE ROW LEVEL SECURITY;
ALTER TABLE entitlements.lease OWNER TO admitone_owner;

-- Name: scanner; Type: TABLE; Schema: entitlements; Owner: admitone_owner
CREATE TABLE entitlements.scanner (
    organization_id uuid NOT NULL,
    event_id text NOT NULL,
    device text NOT NULL,
    warned_at timestamp with time zone,
    closed_at timestamp with time zone,
    opened_at timestamp with time zone,
    CONSTRAINT scanner_check CHECK (((closed_at IS NULL) OR (opened_at IS NULL))),
    CONSTRAINT scanner_device_check CHECK (((length(device) >= 1) AND (length(device) <= 128))),
    CONSTRAINT scanner_event_id_check CHECK (((length(event_id) >= 1) AND (length(event_id) <= 64)))
);
ALTER TABLE ONLY entitlements.scanner FORCE ROW LEVEL SECURITY;
ALTER TABLE entitlements.scanner OWNER TO admitone_owner;

-- Name: tally; Type: TABLE; Schema: entitlements; Owner: admitone_owner
CREATE TABLE entitlements.tally (
    organization_id uuid NOT NULL,
    event_id text NOT NULL,
    device text NOT NULL,
    minute timestamp with time zone NOT NULL,
    gate text NOT NULL,
    session_id text NOT NULL,
    admitted integer NOT NULL,
    undone integer NOT NULL,
    duplicate integer NOT NULL,
    denied integer NOT NULL,
    CONSTRAINT tally_admitted_check CHECK ((admitted >= 0)),
    CONSTRAINT tally_denied_check CHECK ((denied >= 0)),
    CONSTRAINT tally_device_check CHECK ((length(device) <= 128)),
    CONSTRAINT tally_duplicate_check CHECK ((duplicate >= 0)),
    CONSTRAINT tally_event_id_check CHECK (((length(event_id) >= 1) AND (length(event_id) <= 64))),
    CONSTRAINT tally_gate_check CHECK ((length(gate) <= 64)),
    CONSTRAINT tally_session_id_check CHECK ((length(session_id) <= 64)),
    CONSTRAINT tally_undone_check CHECK ((undone >= 0))
)
WITH (fillfactor='80');
ALTER TABLE ONLY entitlements.tally FORCE ROW LEVEL SECURITY;
ALTER TABLE entitlements.tally OWNER TO admitone_owner;

-- Name: token; Type: TABLE; Schema: entitlements; Owner: admitone_owner
CREATE TABLE entitlements.token (
    organization_id uuid NOT NULL,
    digest bytea NOT NULL,
    entitlement_id uuid NOT NULL,
    epoch integer NOT NULL,
    key_version smallint NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    redeemed_at timestamp with time zone,
    CONSTRAINT token_check CHECK ((valid_until > valid_from)),
    CONSTRAINT token_digest_check CHECK ((length(digest) = 16)),
    CONSTRAINT token_epoch_check CHECK ((epoch > 0)),
    CONSTRAINT token_key_version_check CHECK ((key_version > 0))
);
ALTER TABLE ONLY entitlements.token FORCE ROW LEVEL SECURITY;
ALTER TABLE entitlements.token OWNER TO admitone_owner;

-- Name: access_policy; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.access_policy (
    organization_id uuid NOT NULL,
    event_id uuid NOT NULL,
    version integer NOT NULL,
    mode text NOT NULL,
    guest_checkout_allowed boolean NOT NULL,
    login_required boolean NOT NULL,
    invite_token_allowed boolean NOT NULL,
    invite_identity_match text NOT NULL,
    invite_token_hours integer,
    requires_entitlement boolean NOT NULL,
    scanner_required boolean NOT NULL,
    methods text[] NOT NULL,
    allow_reentry boolean NOT NULL,
    reentry_minutes integer NOT NULL,
    max_entries integer NOT NULL,
    undo_minutes integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    actor_id uuid,
    CONSTRAINT access_policy_check CHECK (((NOT invite_token_allowed) OR ((invite_identity_match = ANY (ARRAY['EMAIL'::text, 'BOTH'::text])) AND (invite_token_hours IS NOT NULL)))),
    CONSTRAINT access_policy_check1 CHECK (((NOT login_required) OR ((NOT guest_checkout_allowed) AND (mode = 'INVITE_ONLY'::text)))),
    CONSTRAINT access_policy_invite_identity_match_check CHECK ((invite_identity_match = ANY (ARRAY['EMAIL'::text, 'USERNAME'::text, 'BOTH'::text]))),
    CONSTRAINT access_policy_invite_token_hours_check CHECK (((invite_token_hours >= 1) AND (invite_token_hours <= 8760))),
    CONSTRAINT access_policy_max_entries_check CHECK (((max_entries >= 1) AND (max_entries <= 1000))),
    CONSTRAINT access_policy_methods_check CHECK (((methods <@ ARRAY['QR_TICKET'::text, 'QR_REGISTRATION'::text, 'QR_BOOKING'::text, 'MANUAL'::text]) AND (cardinality(methods) > 0))),
    CONSTRAINT access_policy_mode_check CHECK ((mode = ANY (ARRAY['PUBLIC'::text, 'INVITE_ONLY'::text, 'UNLISTED'::text]))),
    CONSTRAINT access_policy_reentry_minutes_check CHECK (((reentry_minutes >= 0) AND (reentry_minutes <= 10080))),
    CONSTRAINT access_policy_undo_minutes_check CHECK (((undo_minutes >= 0) AND (undo_minutes <= 1440))),
    CONSTRAINT access_policy_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY events.access_policy FORCE ROW LEVEL SECURITY;
ALTER TABLE events.access_policy OWNER TO admitone_owner;

-- Name: event; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.event (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    status text NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    time_zone text NOT NULL,
    currency text NOT NULL,
    venue text NOT NULL,
    address text NOT NULL,
    city text NOT NULL,
    country text NOT NULL,
    least_age smallint,
    hold_minutes smallint NOT NULL,
    allows_zero boolean NOT NULL,
    pricing_mode text NOT NULL,
    policy_version integer NOT NULL,
    first_sold_at timestamp with time zone,
    published_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT event_address_check CHECK ((length(address) <= 300)),
    CONSTRAINT event_check CHECK ((ends_at > starts_at)),
    CONSTRAINT event_check1 CHECK ((((status = 'DRAFT'::text) = (published_at IS NULL)) OR (status = 'CANCELLED'::text))),
    CONSTRAINT event_check2 CHECK (((status = 'CANCELLED'::text) = (cancelled_at IS NOT NULL))),
    CONSTRAINT event_check3 CHECK (((status <> 'DRAFT'::text) OR (first_sold_at IS NULL))),
    CONSTRAINT event_city_check CHECK ((length(city) <= 100)),
    CONSTRAINT event_country_check CHECK ((country ~ '^([A-Z]{2})?$'::text)),
    CONSTRAINT event_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT event_description_check CHECK ((length(description) <= 20000)),
    CONSTRAINT event_hold_minutes_check CHECK (((hold_minutes >= 1) AND (hold_minutes <= 60))),
    CONSTRAINT event_least_age_check CHECK (((least_age >= 1) AND (least_age <= 99))),
    CONSTRAINT event_policy_version_check CHECK ((policy_version > 0)),
    CONSTRAINT event_pricing_mode_check CHECK ((pricing_mode = ANY (ARRAY['STANDARD'::text, 'FREE_ONLY'::text]))),
    CONSTRAINT event_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'PUBLISHED'::text, 'CANCELLED'::text]))),
    CONSTRAINT event_time_zone_check CHECK (((length(time_zone) >= 1) AND (length(time_zone) <= 64))),
    CONSTRAINT event_title_check CHECK (((length(title) >= 1) AND (length(title) <= 200))),
    CONSTRAINT event_venue_check CHECK ((length(venue) <= 200)),
    CONSTRAINT event_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY events.event FORCE ROW LEVEL SECURITY;
ALTER TABLE events.event OWNER TO admitone_owner;

-- Name: guest_link; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.guest_link (
    organization_id uuid NOT NULL,
    digest bytea NOT NULL,
    order_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT guest_link_digest_check CHECK ((length(digest) = 32))
);
ALTER TABLE ONLY events.guest_link FORCE ROW LEVEL SECURITY;
ALTER TABLE events.guest_link OWNER TO admitone_owner;

-- Name: house; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.house (
    organization_id uuid NOT NULL,
    is_open boolean NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY events.house FORCE ROW LEVEL SECURITY;
ALTER TABLE events.house OWNER TO admitone_owner;

-- Name: listing; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.listing (
    event_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    event_version integer NOT NULL,
    listed boolean NOT NULL,
    title text NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    time_zone text NOT NULL,
    venue text NOT NULL,
    city text NOT NULL,
    country text NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY events.listing FORCE ROW LEVEL SECURITY;
ALTER TABLE events.listing OWNER TO admitone_owner;

-- Name: order_line; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.order_line (
    organization_id uuid NOT NULL,
    order_id uuid NOT NULL,
    ticket_type_id uuid NOT NULL,
    name text NOT NULL,
    quantity integer NOT NULL,
    unit_price_minor bigint NOT NULL,
    sessions uuid[],
    CONSTRAINT order_line_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT order_line_quantity_check CHECK (((quantity >= 1) AND (quantity <= 100))),
    CONSTRAINT order_line_sessions_check CHECK ((cardinality(sessions) <= 100)),
    CONSTRAINT order_line_unit_price_minor_check CHECK ((unit_price_minor >= 0))
);
ALTER TABLE ONLY events.order_line FORCE ROW LEVEL SECURITY;
ALTER TABLE events.order_line OWNER TO admitone_owner;

-- Name: session; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.session (
    organization_id uuid NOT NULL,
    event_id uuid NOT NULL,
    id uuid NOT NULL,
    label text NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT session_check CHECK ((ends_at > starts_at)),
    CONSTRAINT session_label_check CHECK (((length(label) >= 1) AND (length(label) <= 100)))
);
ALTER TABLE ONLY events.session FORCE ROW LEVEL SECURITY;
ALTER TABLE events.session OWNER TO admitone_owner;

-- Name: shared_pool; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.shared_pool (
    organization_id uuid NOT NULL,
    event_id uuid NOT NULL,
    id uuid NOT NULL,
    label text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT shared_pool_label_check CHECK (((length(label) >= 1) AND (length(label) <= 100)))
);
ALTER TABLE ONLY events.shared_pool FORCE ROW LEVEL SECURITY;
ALTER TABLE events.shared_pool OWNER TO admitone_owner;

-- Name: ticket; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.ticket (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid CONSTRAINT ticket_order_id_not_null1 NOT NULL,
    event_id uuid NOT NULL,
    ticket_type_id uuid NOT NULL,
    emission_index integer NOT NULL,
    identity_id uuid NOT NULL,
    status text NOT NULL,
    price_minor bigint NOT NULL,
    unit_id uuid,
    seat text,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT ticket_emission_index_check CHECK ((emission_index >= 0)),
    CONSTRAINT ticket_price_minor_check CHECK ((price_minor >= 0)),
    CONSTRAINT ticket_seat_check CHECK ((length(seat) <= 64)),
    CONSTRAINT ticket_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'RESALE_LISTED'::text, 'TRANSFERRED'::text, 'REFUNDED'::text, 'DISPUTED'::text, 'CHARGEBACK_LOST'::text, 'CANCELLED'::text]))),
    CONSTRAINT ticket_version_check CHECK ((version > 0))
)
WITH (fillfactor='85');
ALTER TABLE ONLY events.ticket FORCE ROW LEVEL SECURITY;
ALTER TABLE events.ticket OWNER TO admitone_owner;

-- Name: ticket_order; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.ticket_order (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL,
    state text NOT NULL,
    currency text NOT NULL,
    amount_minor bigint NOT NULL,
    is_guest boolean NOT NULL,
    language text NOT NULL,
    age_confirmed boolean NOT NULL,
    billing bytea,
    expires_at timestamp with time zone NOT NULL,
    payment_id uuid,
    fulfilled_at timestamp with time zone,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    billing_key smallint GENERATED ALWAYS AS (get_byte(billing, 0)) STORED,
    CONSTRAINT ticket_order_amount_minor_check CHECK ((amount_minor >= 0)),
    CONSTRAINT ticket_order_check CHECK (((state <> 'FULFILLED'::text) OR ((payment_id IS NOT NULL) AND (fulfilled_at IS NOT NULL)))),
    CONSTRAINT ticket_order_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT ticket_order_kept_check CHECK ((expires_at <= (created_at + '01:35:00'::interval))),
    CONSTRAINT ticket_order_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255))),
    CONSTRAINT ticket_order_language_check CHECK (((length(language) >= 2) AND (length(language) <= 10))),
    CONSTRAINT ticket_order_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'FULFILLED'::text, 'CANCELLED'::text, 'RETURNED'::text]))),
    CONSTRAINT ticket_order_version_check CHECK ((version > 0))
)
WITH (fillfactor='85');
ALTER TABLE ONLY events.ticket_order FORCE ROW LEVEL SECURITY;
ALTER TABLE events.ticket_order OWNER TO admitone_owner;

-- Name: ticket_type; Type: TABLE; Schema: events; Owner: admitone_owner
CREATE TABLE events.ticket_type (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    price_minor bigint NOT NULL,
    allows_zero boolean NOT NULL,
    free_per_person integer NOT NULL,
    pool_id uuid NOT NULL,
    shared_pools uuid[] NOT NULL,
    seated boolean NOT NULL,
    sales_from timestamp with time zone,
    sales_until timestamp with time zone,
    most_per_order integer NOT NULL,
    most_per_buyer integer,
    status text NOT NULL,
    sessions uuid[] NOT NULL,
    "position" integer NOT NULL,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT ticket_type_check CHECK (((price_minor > 0) OR allows_zero)),
    CONSTRAINT ticket_type_check1 CHECK ((sales_until > sales_from)),
    CONSTRAINT ticket_type_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT ticket_type_free_per_person_check CHECK (((free_per_person >= 1) AND (free_per_person <= 100))),
    CONSTRAINT ticket_type_most_per_buyer_check CHECK (((most_per_buyer >= 1) AND (most_per_buyer <= 10000))),
    CONSTRAINT ticket_type_most_per_order_check CHECK (((most_per_order >= 1) AND (most_per_order <= 100))),
    CONSTRAINT ticket_type_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT ticket_type_price_minor_check CHECK (((price_minor >= 0) AND (price_minor <= '1000000000000'::bigint))),
    CONSTRAINT ticket_type_sessions_check CHECK ((cardinality(sessions) <= 100)),
    CONSTRAINT ticket_type_shared_pools_check CHECK ((cardinality(shared_pools) <= 5)),
    CONSTRAINT ticket_type_status_check CHECK ((status = ANY (ARRAY['ON_SALE'::text, 'HIDDEN'::text, 'ARCHIVED'::text]))),
    CONSTRAINT ticket_type_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY events.ticket_type FORCE ROW LEVEL SECURITY;
ALTER TABLE events.ticket_type OWNER TO admitone_owner;

-- Name: operation; Type: TABLE; Schema: fulfilment; Owner: admitone_owner
CREATE TABLE fulfilment.operation (
    organization_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    source_type text NOT NULL,
    source_id text NOT NULL,
    state text NOT NULL,
    scenario text,
    key text,
    steps text[] NOT NULL,
    reason text,
    refund_id uuid,
    attempts integer NOT NULL,
    correlation_id uuid NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT operation_attempts_check CHECK ((attempts > 0)),
    CONSTRAINT operation_check CHECK (((scenario IS NULL) = (key IS NULL))),
    CONSTRAINT operation_check1 CHECK (((state <> 'DONE'::text) OR ((key IS NOT NULL) AND (cardinality(steps) > 1)))),
    CONSTRAINT operation_check2 CHECK (((state = 'DONE'::text) = (reason IS NULL))),
    CONSTRAINT operation_check3 CHECK (((refund_id IS NULL) OR (state = 'RETURNED'::text))),
    CONSTRAINT operation_key_check CHECK (((length(key) >= 5) AND (length(key) <= 200))),
    CONSTRAINT operation_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 200))),
    CONSTRAINT operation_scenario_check CHECK ((scenario = ANY (ARRAY['SINGLE'::text, 'FREE'::text, 'RESALE'::text, 'GROUP_FULL'::text, 'GROUP_SPLIT'::text, 'GROUP_SPLIT_SECOND_CHARGE'::text, 'SUBSCRIPTION'::text]))),
    CONSTRAINT operation_source_id_check CHECK (((length(source_id) >= 1) AND (length(source_id) <= 64))),
    CONSTRAINT operation_source_type_check CHECK ((source_type = ANY (ARRAY['TICKET_ORDER'::text, 'BOOKING'::text, 'PADEL_REGISTRATION'::text, 'STORE_ORDER'::text, 'STAY_RESERVATION'::text, 'COUPON_CAMPAIGN'::text]))),
    CONSTRAINT operation_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'DONE'::text, 'RETURNED'::text, 'FAILED'::text])))
);
ALTER TABLE ONLY fulfilment.operation FORCE ROW LEVEL SECURITY;
ALTER TABLE fulfilment.operation OWNER TO admitone_owner;

-- Name: apple; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.apple (
    subject_hash bytea NOT NULL,
    identity_id uuid NOT NULL,
    linked_at timestamp with time zone NOT NULL,
    key_version smallint NOT NULL,
    CONSTRAINT apple_key_version_check CHECK (((key_version >= 1) AND (key_version <= 255))),
    CONSTRAINT apple_subject_hash_check CHECK ((octet_length(subject_hash) = 32))
);
ALTER TABLE ONLY identity.apple FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.apple OWNER TO admitone_owner;

-- Name: challenge; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.challenge (
    id uuid NOT NULL,
    purpose text NOT NULL,
    digest bytea NOT NULL,
    identity_id uuid,
    sealed bytea NOT NULL,
    attempts_left smallint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    key text,
    email_hash bytea,
    CONSTRAINT challenge_attempts_left_check CHECK ((attempts_left >= 0)),
    CONSTRAINT challenge_check CHECK ((expires_at > created_at)),
    CONSTRAINT challenge_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT challenge_email_hash_check CHECK ((octet_length(email_hash) = 32)),
    CONSTRAINT challenge_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT challenge_purpose_check CHECK ((purpose = ANY (ARRAY['SIGN_IN'::text, 'RESET'::text, 'LINK'::text, 'CHANGE_EMAIL'::text, 'STEP_UP'::text])))
);
ALTER TABLE ONLY identity.challenge FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.challenge OWNER TO admitone_owner;

-- Name: email_hash; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.email_hash (
    type text NOT NULL,
    hash bytea NOT NULL,
    key_version smallint NOT NULL,
    identity_id uuid NOT NULL,
    CONSTRAINT email_hash_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT email_hash_key_version_check CHECK (((key_version >= 1) AND (key_version <= 255))),
    CONSTRAINT email_hash_type_check CHECK ((type = ANY (ARRAY['USER'::text, 'GUEST_EMAIL'::text])))
);
ALTER TABLE ONLY identity.email_hash FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.email_hash OWNER TO admitone_owner;

-- Name: identity; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.identity (
    id uuid NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    merged_into uuid,
    email_verified_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT identity_check CHECK (((status = 'TOMBSTONE'::text) = (merged_into IS NOT NULL))),
    CONSTRAINT identity_check1 CHECK (((status <> 'TOMBSTONE'::text) OR (type = 'GUEST_EMAIL'::text))),
    CONSTRAINT identity_check2 CHECK (((type = 'USER'::text) OR (email_verified_at IS NULL))),
    CONSTRAINT identity_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'TOMBSTONE'::text, 'ERASED'::text]))),
    CONSTRAINT identity_type_check CHECK ((type = ANY (ARRAY['USER'::text, 'GUEST_EMAIL'::text])))
);
ALTER TABLE ONLY identity.identity FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.identity OWNER TO admitone_owner;

-- Name: merge; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.merge (
    guest_id uuid NOT NULL,
    user_id uuid NOT NULL,
    email_hash bytea NOT NULL,
    batch_version integer NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT merge_batch_version_check CHECK ((batch_version > 0)),
    CONSTRAINT merge_email_hash_check CHECK ((octet_length(email_hash) = 32))
);
ALTER TABLE ONLY identity.merge FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.merge OWNER TO admitone_owner;

-- Name: password; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.password (
    identity_id uuid NOT NULL,
    hash text NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT password_hash_check CHECK (((hash ~~ '$argon2id$%'::text) AND (length(hash) <= 200)))
);
ALTER TABLE ONLY identity.password FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.password OWNER TO admitone_owner;

-- Name: profile; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.profile (
    identity_id uuid NOT NULL,
    email_sealed bytea NOT NULL,
    display_name text,
    language text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT profile_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 100))),
    CONSTRAINT profile_language_check CHECK ((language = ANY (ARRAY['en'::text, 'pt_PT'::text, 'pt_BR'::text])))
);
ALTER TABLE ONLY identity.profile FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.profile OWNER TO admitone_owner;

-- Name: recovery_code; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.recovery_code (
    identity_id uuid NOT NULL,
    digest bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT recovery_code_digest_check CHECK ((octet_length(digest) = 32))
);
ALTER TABLE ONLY identity.recovery_code FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.recovery_code OWNER TO admitone_owner;

-- Name: totp; Type: TABLE; Schema: identity; Owner: admitone_owner
CREATE TABLE identity.totp (
    identity_id uuid NOT NULL,
    secret_sealed bytea,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    last_step bigint DEFAULT 0 NOT NULL,
    pending_sealed bytea,
    pending_at timestamp with time zone,
    missed smallint DEFAULT 0 NOT NULL,
    CONSTRAINT totp_counts_when_confirmed CHECK (((secret_sealed IS NULL) = (confirmed_at IS NULL))),
    CONSTRAINT totp_missed_check CHECK ((missed >= 0)),
    CONSTRAINT totp_not_empty CHECK ((num_nonnulls(secret_sealed, pending_sealed) > 0)),
    CONSTRAINT totp_pending_since CHECK (((pending_sealed IS NULL) = (pending_at IS NULL)))
);
ALTER TABLE ONLY identity.totp FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.totp OWNER TO admitone_owner;

-- Name: alert; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.alert (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    rule text NOT NULL,
    class text NOT NULL,
    subject text NOT NULL,
    concerns uuid,
    entities jsonb NOT NULL,
    detail text NOT NULL,
    link text NOT NULL,
    correlation_id uuid NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    times bigint NOT NULL,
    resolved_at timestamp with time zone,
    CONSTRAINT alert_check CHECK ((last_seen_at >= first_seen_at)),
    CONSTRAINT alert_class_check CHECK ((class = ANY (ARRAY['PAGER'::text, 'TICKET'::text]))),
    CONSTRAINT alert_detail_check CHECK ((length(detail) <= 2000)),
    CONSTRAINT alert_entities_check CHECK ((jsonb_typeof(entities) = 'object'::text)),
    CONSTRAINT alert_link_check CHECK ((length(link) <= 2000)),
    CONSTRAINT alert_rule_check CHECK (((rule ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$'::text) AND (length(rule) <= 100))),
    CONSTRAINT alert_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 200))),
    CONSTRAINT alert_times_check CHECK ((times > 0))
)
WITH (fillfactor='50');
ALTER TABLE ONLY kernel.alert FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.alert OWNER TO admitone_owner;

-- Name: audit_entry; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.audit_entry (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_id uuid,
    action text NOT NULL,
    subject text NOT NULL,
    reason_code text,
    before jsonb,
    after jsonb,
    correlation_id uuid NOT NULL,
    CONSTRAINT audit_entry_action_check CHECK (((length(action) >= 1) AND (length(action) <= 200))),
    CONSTRAINT audit_entry_reason_code_check CHECK ((length(reason_code) <= 100)),
    CONSTRAINT audit_entry_subject_check CHECK ((length(subject) <= 500))
);
ALTER TABLE ONLY kernel.audit_entry FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.audit_entry OWNER TO admitone_owner;

-- Name: ban; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.ban (
    key bytea NOT NULL,
    organization_id uuid NOT NULL,
    reason_code text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT ban_key_check CHECK ((octet_length(key) = 16)),
    CONSTRAINT ban_organization_id_check CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid)),
    CONSTRAINT ban_reason_code_check CHECK (((length(reason_code) >= 1) AND (length(reason_code) <= 100)))
);
ALTER TABLE ONLY kernel.ban FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.ban OWNER TO admitone_owner;

-- Name: breaker; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.breaker (
    dependency text NOT NULL,
    state text NOT NULL,
    failures timestamp with time zone[] NOT NULL,
    openings integer NOT NULL,
    until timestamp with time zone,
    probe uuid,
    CONSTRAINT breaker_check CHECK (((state = 'CLOSED'::text) = (until IS NULL))),
    CONSTRAINT breaker_check1 CHECK (((state = 'CLOSED'::text) = (openings = 0))),
    CONSTRAINT breaker_check2 CHECK (((state = 'HALF_OPEN'::text) = (probe IS NOT NULL))),
    CONSTRAINT breaker_dependency_check CHECK (((dependency ~ '^[a-z0-9_]+$'::text) AND (length(dependency) <= 50))),
    CONSTRAINT breaker_failures_check CHECK ((cardinality(failures) <= 100)),
    CONSTRAINT breaker_openings_check CHECK ((openings >= 0)),
    CONSTRAINT breaker_state_check CHECK ((state = ANY (ARRAY['CLOSED'::text, 'OPEN'::text, 'HALF_OPEN'::text])))
)
WITH (fillfactor='50');
ALTER TABLE ONLY kernel.breaker FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.breaker OWNER TO admitone_owner;

-- Name: bulk; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.bulk (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    request jsonb NOT NULL,
    cursor jsonb,
    steps integer DEFAULT 0 NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    total bigint,
    status text NOT NULL,
    parent_id uuid,
    requested_by uuid,
    correlation_id uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    error text,
    CONSTRAINT bulk_check CHECK (((finished_at IS NULL) = (status = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text])))),
    CONSTRAINT bulk_check1 CHECK (((error IS NULL) = (status <> 'FAILED'::text))),
    CONSTRAINT bulk_done_check CHECK ((done >= 0)),
    CONSTRAINT bulk_error_check CHECK ((length(error) <= 4000)),
    CONSTRAINT bulk_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT bulk_kind_check CHECK (((kind ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$'::text) AND (length(kind) <= 100))),
    CONSTRAINT bulk_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'DONE'::text, 'FAILED'::text, 'CANCELLED'::text]))),
    CONSTRAINT bulk_steps_check CHECK ((steps >= 0)),
    CONSTRAINT bulk_total_check CHECK ((total >= 0))
)
WITH (fillfactor='70');
ALTER TABLE ONLY kernel.bulk FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.bulk OWNER TO admitone_owner;

-- Name: city; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.city (
    code text NOT NULL,
    name text NOT NULL,
    time_zone text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT city_code_check CHECK ((code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT city_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT city_time_zone_check CHECK (((length(time_zone) >= 1) AND (length(time_zone) <= 64)))
);
ALTER TABLE ONLY kernel.city FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.city OWNER TO admitone_owner;

-- Name: dead_letter; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.dead_letter (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    lane text NOT NULL,
    priority smallint NOT NULL,
    attempts smallint NOT NULL,
    crashes smallint NOT NULL,
    key text NOT NULL,
    payload jsonb NOT NULL,
    event_id uuid,
    actor_id uuid,
    causation_id uuid NOT NULL,
    correlation_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    died_at timestamp with time zone NOT NULL,
    reason text NOT NULL,
    error text NOT NULL,
    replayed_at timestamp with time zone,
    replayed_by text,
    replay_reason text,
    CONSTRAINT dead_letter_check CHECK ((((replayed_at IS NULL) = (replayed_by IS NULL)) AND ((replayed_at IS NULL) = (replay_reason IS NULL)))),
    CONSTRAINT dead_letter_error_check CHECK ((length(error) <= 4000)),
    CONSTRAINT dead_letter_reason_check CHECK ((reason = ANY (ARRAY['RETRIES_EXHAUSTED'::text, 'NOT_RETRYABLE'::text, 'CRASH_LIMIT'::text]))),
    CONSTRAINT dead_letter_replay_reason_check CHECK ((length(replay_reason) <= 500)),
    CONSTRAINT dead_letter_replayed_by_check CHECK ((length(replayed_by) <= 200))
);
ALTER TABLE ONLY kernel.dead_letter FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.dead_letter OWNER TO admitone_owner;

-- Name: event_log; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.event_log (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    version text NOT NULL,
    subject_type text NOT NULL,
    subject_id text NOT NULL,
    actor_id uuid,
    causation_id uuid NOT NULL,
    correlation_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT event_log_idempotency_key_check CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 200))),
    CONSTRAINT event_log_payload_check CHECK ((jsonb_typeof(payload) = 'object'::text)),
    CONSTRAINT event_log_subject_id_check CHECK (((length(subject_id) >= 1) AND (length(subject_id) <= 200))),
    CONSTRAINT event_log_subject_type_check CHECK (((length(subject_type) >= 1) AND (length(subject_type) <= 100))),
    CONSTRAINT event_log_type_check CHECK (((type ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$'::text) AND (length(type) <= 100))),
    CONSTRAINT event_log_version_check CHECK ((version ~ '^[0-9]+\.[0-9]+\.[0-9]+$'::text))
)
PARTITION BY RANGE (id);
ALTER TABLE ONLY kernel.event_log FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.event_log OWNER TO admitone_owner;

-- Name: fact_key; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.fact_key (
    organization_id uuid NOT NULL,
    type text NOT NULL,
    idempotency_key text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT fact_key_idempotency_key_check CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 200)))
);
ALTER TABLE ONLY kernel.fact_key FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.fact_key OWNER TO admitone_owner;

-- Name: idempotency_key; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.idempotency_key (
    organization_id uuid NOT NULL,
    name bytea NOT NULL,
    request_hash bytea NOT NULL,
    answer bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotency_key_name_check CHECK ((octet_length(name) = 32)),
    CONSTRAINT idempotency_key_request_hash_check CHECK ((octet_length(request_hash) = 32))
);
ALTER TABLE ONLY kernel.idempotency_key FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.idempotency_key OWNER TO admitone_owner;

-- Name: inbox; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.inbox (
    organization_id uuid NOT NULL,
    key text NOT NULL,
    done_at timestamp with time zone NOT NULL,
    CONSTRAINT inbox_key_check CHECK (((length(key) >= 1) AND (length(key) <= 300)))
);
ALTER TABLE ONLY kernel.inbox FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.inbox OWNER TO admitone_owner;

-- Name: job; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.job (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    lane text NOT NULL,
    priority smallint NOT NULL,
    run_at timestamp with time zone NOT NULL,
    worker uuid,
    attempts smallint DEFAULT 0 NOT NULL,
    crashes smallint DEFAULT 0 NOT NULL,
    key text NOT NULL,
    payload jsonb NOT NULL,
    event_id uuid,
    actor_id uuid,
    causation_id uuid NOT NULL,
    correlation_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT job_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT job_crashes_check CHECK ((crashes >= 0)),
    CONSTRAINT job_key_check CHECK (((length(key) >= 1) AND (length(key) <= 300))),
    CONSTRAINT job_kind_check CHECK (((kind ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$'::text) AND (length(kind) <= 100))),
    CONSTRAINT job_lane_check CHECK (((length(lane) >= 1) AND (length(lane) <= 50))),
    CONSTRAINT job_priority_check CHECK (((priority >= 0) AND (priority <= 9)))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY kernel.job FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.job OWNER TO admitone_owner;

-- Name: job_attempt; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.job_attempt (
    job_id uuid NOT NULL,
    number integer NOT NULL,
    organization_id uuid NOT NULL,
    key text NOT NULL,
    kind text NOT NULL,
    worker uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    error text NOT NULL,
    CONSTRAINT job_attempt_error_check CHECK ((length(error) <= 4000)),
    CONSTRAINT job_attempt_number_check CHECK ((number > 0))
);
ALTER TABLE ONLY kernel.job_attempt FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.job_attempt OWNER TO admitone_owner;

-- Name: job_key; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.job_key (
    organization_id uuid NOT NULL,
    key text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT job_key_key_check CHECK (((length(key) >= 1) AND (length(key) <= 300)))
);
ALTER TABLE ONLY kernel.job_key FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.job_key OWNER TO admitone_owner;

-- Name: limit_counter; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.limit_counter (
    key bytea NOT NULL,
    hits bigint NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT limit_counter_hits_check CHECK ((hits > 0)),
    CONSTRAINT limit_counter_key_check CHECK ((octet_length(key) = 16))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY kernel.limit_counter FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.limit_counter OWNER TO admitone_owner;

-- Name: migration; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.migration (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT migration_number_check CHECK ((number > 0))
);
ALTER TABLE ONLY kernel.migration FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.migration OWNER TO admitone_owner;

-- Name: outbox; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.outbox (
    organization_id uuid NOT NULL,
    event_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    published_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    CONSTRAINT outbox_attempts_check CHECK ((attempts >= 0))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY kernel.outbox FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.outbox OWNER TO admitone_owner;

-- Name: plan; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.plan (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    request jsonb NOT NULL,
    steps jsonb NOT NULL,
    digest bytea NOT NULL,
    status text NOT NULL,
    made_at timestamp with time zone NOT NULL,
    made_by uuid,
    expires_at timestamp with time zone NOT NULL,
    applied_at timestamp with time zone,
    applied_by uuid,
    CONSTRAINT plan_check CHECK ((expires_at > made_at)),
    CONSTRAINT plan_check1 CHECK (((applied_at IS NULL) = (status <> 'APPLIED'::text))),
    CONSTRAINT plan_check2 CHECK (((applied_by IS NULL) OR (status = 'APPLIED'::text))),
    CONSTRAINT plan_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT plan_kind_check CHECK (((kind ~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$'::text) AND (length(kind) <= 100))),
    CONSTRAINT plan_status_check CHECK ((status = ANY (ARRAY['PLANNED'::text, 'APPLIED'::text, 'OVERTAKEN'::text, 'EXPIRED'::text]))),
    CONSTRAINT plan_steps_check CHECK ((jsonb_typeof(steps) = 'array'::text))
);
ALTER TABLE ONLY kernel.plan FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.plan OWNER TO admitone_owner;

-- Name: schedule; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.schedule (
    name text NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT schedule_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);
ALTER TABLE ONLY kernel.schedule FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.schedule OWNER TO admitone_owner;

-- Name: streak; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.streak (
    key bytea NOT NULL,
    failed_at timestamp with time zone[] NOT NULL,
    step_up boolean NOT NULL,
    closed_until timestamp with time zone,
    ends_at timestamp with time zone NOT NULL,
    turn bigint NOT NULL,
    CONSTRAINT streak_check CHECK ((ends_at >= closed_until)),
    CONSTRAINT streak_key_check CHECK ((octet_length(key) = 16)),
    CONSTRAINT streak_turn_check CHECK ((turn > 0))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY kernel.streak FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.streak OWNER TO admitone_owner;

-- Name: tenant; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.tenant (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY kernel.tenant FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.tenant OWNER TO admitone_owner;

-- Name: worker; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.worker (
    id uuid NOT NULL,
    name text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT worker_name_check CHECK ((length(name) <= 200))
)
WITH (fillfactor='50');
ALTER TABLE ONLY kernel.worker FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.worker OWNER TO admitone_owner;

-- Name: balance; Type: TABLE; Schema: ledger; Owner: admitone_owner
CREATE TABLE ledger.balance (
    organization_id uuid NOT NULL,
    account text NOT NULL,
    payee_id uuid NOT NULL,
    currency text NOT NULL,
    city_code text NOT NULL,
    debits_minor bigint NOT NULL,
    credits_minor bigint NOT NULL,
    CONSTRAINT balance_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT balance_credits_minor_check CHECK ((credits_minor >= 0)),
    CONSTRAINT balance_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT balance_debits_minor_check CHECK ((debits_minor >= 0))
)
WITH (fillfactor='50');
ALTER TABLE ONLY ledger.balance FORCE ROW LEVEL SECURITY;
ALTER TABLE ledger.balance OWNER TO admitone_owner;

-- Name: balance_day; Type: TABLE; Schema: ledger; Owner: admitone_owner
CREATE TABLE ledger.balance_day (
    organization_id uuid NOT NULL,
    account text NOT NULL,
    payee_id uuid NOT NULL,
    currency text NOT NULL,
    day date NOT NULL,
    city_code text NOT NULL,
    debits_minor bigint NOT NULL,
    credits_minor bigint NOT NULL,
    CONSTRAINT balance_day_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT balance_day_credits_minor_check CHECK ((credits_minor >= 0)),
    CONSTRAINT balance_day_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT balance_day_debits_minor_check CHECK ((debits_minor >= 0))
)
WITH (fillfactor='50');
ALTER TABLE ONLY ledger.balance_day FORCE ROW LEVEL SECURITY;
ALTER TABLE ledger.balance_day OWNER TO admitone_owner;

-- Name: delta; Type: TABLE; Schema: ledger; Owner: admitone_owner
CREATE TABLE ledger.delta (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    city_code text NOT NULL,
    day date NOT NULL,
    accounts text[] NOT NULL,
    payees uuid[] NOT NULL,
    currencies text[] NOT NULL,
    debits bigint[] NOT NULL,
    credits bigint[] NOT NULL,
    transfers uuid[] NOT NULL,
    posted_at timestamp with time zone NOT NULL,
    CONSTRAINT delta_accounts_check CHECK ((cardinality(accounts) > 0)),
    CONSTRAINT delta_check CHECK ((cardinality(payees) = cardinality(accounts))),
    CONSTRAINT delta_check1 CHECK ((cardinality(currencies) = cardinality(accounts))),
    CONSTRAINT delta_check2 CHECK ((cardinality(debits) = cardinality(accounts))),
    CONSTRAINT delta_check3 CHECK ((cardinality(credits) = cardinality(accounts))),
    CONSTRAINT delta_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT delta_transfers_check CHECK ((cardinality(transfers) > 0))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY ledger.delta FORCE ROW LEVEL SECURITY;
ALTER TABLE ledger.delta OWNER TO admitone_owner;

-- Name: transfer; Type: TABLE; Schema: ledger; Owner: admitone_owner
CREATE TABLE ledger.transfer (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    transaction_id uuid NOT NULL,
    city_code text NOT NULL,
    payee_id uuid NOT NULL,
    entry_type text NOT NULL,
    event text NOT NULL,
    flow text NOT NULL,
    line integer NOT NULL,
    debit_account text NOT NULL,
    credit_account text NOT NULL,
    amount_minor bigint NOT NULL,
    currency text NOT NULL,
    payment_id uuid,
    source_type text,
    source_id text,
    causation_id text NOT NULL,
    correlation_id uuid NOT NULL,
    reference text,
    metadata jsonb,
    posted_at timestamp with time zone NOT NULL,
    CONSTRAINT transfer_amount_minor_check CHECK (((amount_minor >= 1) AND (amount_minor <= '9007199254740991'::bigint))),
    CONSTRAINT transfer_causation_id_check CHECK (((length(causation_id) >= 1) AND (length(causation_id) <= 200))),
    CONSTRAINT transfer_check CHECK (((source_type IS NULL) = (source_id IS NULL))),
    CONSTRAINT transfer_check1 CHECK ((debit_account <> credit_account)),
    CONSTRAINT transfer_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT transfer_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT transfer_event_check CHECK (((length(event) >= 1) AND (length(event) <= 40))),
    CONSTRAINT transfer_flow_check CHECK (((length(flow) >= 1) AND (length(flow) <= 40))),
    CONSTRAINT transfer_is_of_a_template CHECK ((((((entry_type || ' '::text) || debit_account) || ' '::text) || credit_account) = ANY (ARRAY['ACCOUNT_FEE gateway_fee_expense merchant_account'::text, 'ACCOUNT_FEE_RETURNED merchant_account gateway_fee_expense'::text, 'BANK_PAYOUT bank_account merchant_account'::text, 'BANK_PAYOUT_RETURNED merchant_account bank_account'::text, 'CAMPAIGN_CHARGEBACK deferred_revenue disputed_funds'::text, 'CAMPAIGN_EARNED deferred_revenue coupon_revenue'::text, 'CAMPAIGN_PREPAYMENT merchant_account deferred_revenue'::text, 'CAMPAIGN_REFUND deferred_revenue refunds_payable'::text, 'CAMPAIGN_REFUND_MIRROR refunds_payable deferred_revenue'::text, 'CAMPAIGN_UNEARNED coupon_revenue deferred_revenue'::text, 'CHARGEBACK_GROSS customer_deposits disputed_funds'::text, 'CHARGEBACK_GROSS org_payable disputed_funds'::text, 'CHARGEBACK_PLATFORM_FEE_REVERSAL commission_revenue org_payable'::text, 'CHARGEBACK_PLATFORM_FEE_REVERSAL commissions_payable customer_deposits'::text, 'CHARGEBACK_PLATFORM_FEE_REVERSAL platform_fee_revenue org_payable'::text, 'COMMISSION_EARNED commissions_payable commission_revenue'::text, 'COMMISSION_SWEEP cash_reserve merchant_account'::text, 'COMMISSION_SWEEP merchant_account cash_reserve'::text, 'DISPUTE_FEE org_payable merchant_account'::text, 'DISPUTE_FEE_REVERSAL merchant_account org_payable'::text, 'DISPUTE_FUNDS_REINSTATED cash_reserve disputed_funds'::text, 'DISPUTE_FUNDS_REINSTATED merchant_account disputed_funds'::text, 'DISPUTE_FUNDS_WITHDRAWN disputed_funds cash_reserve'::text, 'DISPUTE_FUNDS_WITHDRAWN disputed_funds merchant_account'::text, 'GROSS cash_reserve customer_deposits'::text, 'GROSS merchant_account org_payable'::text, 'PAYOUT_DUE customer_deposits org_payable'::text, 'PAYOUT_FAILED payouts_in_transit org_settlements'::text, 'PAYOUT_INITIATED org_settlements payouts_in_transit'::text, 'PAYOUT_PAID payouts_in_transit cash_reserve'::text, 'PLATFORM_FEE customer_deposits commissions_payable'::text, 'PLATFORM_FEE org_payable platform_fee_revenue'::text, 'PROCESSOR_FEES_ADJUSTMENT gateway_fee_expense merchant_account'::text, 'PROCESSOR_FEES_ADJUSTMENT merchant_account gateway_fee_expense'::text, 'PROCESSOR_FEES_ADJUSTMENT merchant_account org_payable'::text, 'PROCESSOR_FEES_ADJUSTMENT org_payable merchant_account'::text, 'PROCESSOR_FEES_FINAL gateway_fee_expense gateway_fees_payable'::text, 'PROCESSOR_FEES_FINAL org_payable merchant_account'::text, 'PROCESSOR_FEES_SETTLED gateway_fees_payable merchant_account'::text, 'RECON_ROUNDING cash_reserve rounding_adjustment'::text, 'RECON_ROUNDING merchant_account rounding_adjustment'::text, 'RECON_ROUNDING rounding_adjustment cash_reserve'::text, 'RECON_ROUNDING rounding_adjustment merchant_account'::text, 'REFUND_GROSS customer_deposits refunds_payable'::text, 'REFUND_GROSS org_payable refunds_payable'::text, 'REFUND_GROSS_MIRROR refunds_payable customer_deposits'::text, 'REFUND_GROSS_MIRROR refunds_payable org_payable'::text, 'REFUND_PLATFORM_FEE_MIRROR customer_deposits commissions_payable'::text, 'REFUND_PLATFORM_FEE_MIRROR org_payable commission_revenue'::text, 'REFUND_PLATFORM_FEE_MIRROR org_payable platform_fee_revenue'::text, 'REFUND_PLATFORM_FEE_REVERSAL commission_revenue org_payable'::text, 'REFUND_PLATFORM_FEE_REVERSAL commissions_payable customer_deposits'::text, 'REFUND_PLATFORM_FEE_REVERSAL platform_fee_revenue org_payable'::text, 'REFUND_PROCESSOR_FEES_REVERSAL merchant_account gateway_fee_expense'::text, 'REFUND_PROCESSOR_FEES_REVERSAL merchant_account org_payable'::text, 'REFUND_SETTLED refunds_payable cash_reserve'::text, 'REFUND_SETTLED refunds_payable merchant_account'::text, 'REFUND_SETTLED_MIRROR cash_reserve refunds_payable'::text, 'REFUND_SETTLED_MIRROR merchant_account refunds_payable'::text, 'RESALE_SELLER_SHARE org_payable resale_seller_payable'::text, 'SELLER_PAID resale_seller_payable merchant_account'::text, 'TAX_REMITTED tax_payable cash_reserve'::text, 'TAX_WITHHELD customer_deposits tax_payable'::text, 'TRANSFER_REVERSAL merchant_account org_settlements'::text, 'TRANSFER_REVERSAL_MIRROR org_settlements merchant_account'::text, 'TRANSFER_TO_ORG org_settlements merchant_account'::text, 'UNAPPLIED_APPLIED unapplied_receipts cash_reserve'::text, 'UNAPPLIED_APPLIED unapplied_receipts merchant_account'::text, 'UNAPPLIED_CHARGEBACK unapplied_receipts disputed_funds'::text, 'UNAPPLIED_RECEIPT cash_reserve unapplied_receipts'::text, 'UNAPPLIED_RECEIPT merchant_account unapplied_receipts'::text, 'UNAPPLIED_REFUND unapplied_receipts refunds_payable'::text, 'UNAPPLIED_REFUND_MIRROR refunds_payable unapplied_receipts'::text]))),
    CONSTRAINT transfer_line_check CHECK ((line >= 0)),
    CONSTRAINT transfer_metadata_check CHECK (((jsonb_typeof(metadata) = 'object'::text) AND (octet_length((metadata)::text) <= 1000))),
    CONSTRAINT transfer_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 200))),
    CONSTRAINT transfer_source_id_check CHECK (((length(source_id) >= 1) AND (length(source_id) <= 64))),
    CONSTRAINT transfer_source_type_check CHECK (((length(source_type) >= 1) AND (length(source_type) <= 40)))
);
ALTER TABLE ONLY ledger.transfer FORCE ROW LEVEL SECURITY;
ALTER TABLE ledger.transfer OWNER TO admitone_owner;

-- Name: journal_line; Type: VIEW; Schema: ledger; Owner: admitone_owner
CREATE VIEW ledger.journal_line WITH (security_invoker='true') AS
 SELECT t.organization_id,
    t.id AS transfer_id,
        CASE s.direction
            WHEN 'debit'::text THEN t.id
            ELSE (OVERLAY((t.id)::text PLACING '8'::text FROM 15))::uuid
        END AS entry_id,
    t.transaction_id,
        CASE t.source_type
            WHEN 'STAY_RESERVATION'::text THEN t.source_id
            ELSE NULL::text
        END AS booking_id,
    NULL::uuid AS property_id,
    t.city_code,
        CASE t.entry_type
            WHEN 'GROSS'::text THEN 'payment_received'::text
            WHEN 'PLATFORM_FEE'::text THEN 'commission_taken'::text
            WHEN 'PROCESSOR_FEES_FINAL'::text THEN 'gateway_fee'::text
            WHEN 'PROCESSOR_FEES_ADJUSTMENT'::text THEN 'gateway_fee'::text
            WHEN 'DISPUTE_FEE'::text THEN 'gateway_fee'::text
            WHEN 'DISPUTE_FEE_REVERSAL'::text THEN 'gateway_fee'::text
            WHEN 'REFUND_GROSS'::text THEN 'refund_processed'::text
            WHEN 'REFUND_PLATFORM_FEE_REVERSAL'::text THEN 'refund_processed'::text
            WHEN 'REFUND_PROCESSOR_FEES_REVERSAL'::text THEN 'refund_processed'::text
            WHEN 'CHARGEBACK_GROSS'::text THEN 'refund_processed'::text
            WHEN 'CHARGEBACK_PLATFORM_FEE_REVERSAL'::text THEN 'refund_processed'::text
            WHEN 'TAX_WITHHELD'::text THEN 'tax_withheld'::text
            WHEN 'PAYOUT_DUE'::text THEN 'payout_due'::text
            WHEN 'RESALE_SELLER_SHARE'::text THEN 'payout_due'::text
            WHEN 'REFUND_GROSS_MIRROR'::text THEN 'refund_processed'::text
            WHEN 'REFUND_PLATFORM_FEE_MIRROR'::text THEN 'refund_processed'::text
            WHEN 'TRANSFER_TO_ORG'::text THEN 'payout_due'::text
            WHEN 'TRANSFER_REVERSAL'::text THEN 'payout_due'::text
            WHEN 'TRANSFER_REVERSAL_MIRROR'::text THEN 'payout_due'::text
            WHEN 'PROCESSOR_FEES_SETTLED'::text THEN 'gateway_fee'::text
            WHEN 'REFUND_SETTLED'::text THEN 'refund_processed'::text
            WHEN 'REFUND_SETTLED_MIRROR'::text THEN 'refund_processed'::text
            WHEN 'DISPUTE_FUNDS_WITHDRAWN'::text THEN 'refund_processed'::text
            WHEN 'DISPUTE_FUNDS_REINSTATED'::text THEN 'refund_processed'::text
            WHEN 'COMMISSION_EARNED'::text THEN 'commission_taken'::text
            WHEN 'COMMISSION_SWEEP'::text THEN 'commission_taken'::text
            WHEN 'TAX_REMITTED'::text THEN 'tax_withheld'::text
            WHEN 'PAYOUT_INITIATED'::text THEN 'payout_due'::text
            WHEN 'PAYOUT_PAID'::text THEN 'payout_due'::text
            WHEN 'PAYOUT_FAILED'::text THEN 'payout_due'::text
            WHEN 'SELLER_PAID'::text THEN 'payout_due'::text
            WHEN 'UNAPPLIED_RECEIPT'::text THEN 'payment_received'::text
            WHEN 'UNAPPLIED_APPLIED'::text THEN 'payment_received'::text
            WHEN 'UNAPPLIED_REFUND'::text THEN 'refund_processed'::text
            WHEN 'UNAPPLIED_REFUND_MIRROR'::text THEN 'refund_processed'::text
            WHEN 'UNAPPLIED_CHARGEBACK'::text THEN 'refund_processed'::text
            WHEN 'CAMPAIGN_PREPAYMENT'::text THEN 'payment_received'::text
            WHEN 'CAMPAIGN_EARNED'::text THEN 'commission_taken'::text
            WHEN 'CAMPAIGN_UNEARNED'::text THEN 'refund_processed'::text
            WHEN 'CAMPAIGN_REFUND'::text THEN 'refund_processed'::text
            WHEN 'CAMPAIGN_REFUND_MIRROR'::text THEN 'refund_processed'::text
            WHEN 'CAMPAIGN_CHARGEBACK'::text THEN 'refund_processed'::text
            WHEN 'RECON_ROUNDING'::text THEN 'gateway_fee'::text
            WHEN 'BANK_PAYOUT'::text THEN 'payout_due'::text
            WHEN 'BANK_PAYOUT_RETURNED'::text THEN 'payout_due'::text
            WHEN 'ACCOUNT_FEE'::text THEN 'gateway_fee'::text
            WHEN 'ACCOUNT_FEE_RETURNED'::text THEN 'gateway_fee'::text
            ELSE NULL::text
        END AS entry_type,
    t.amount_minor AS amount,
    s.direction,
        CASE s.account
            WHEN 'cash_reserve'::text THEN 'cash_reserve'::text
            WHEN 'merchant_account'::text THEN 'merchant_account'::text
            WHEN 'bank_account'::text THEN 'bank_account'::text
            WHEN 'disputed_funds'::text THEN 'disputed_funds'::text
            WHEN 'org_settlements'::text THEN 'payouts_receivable'::text
            WHEN 'customer_deposits'::text THEN 'customer_deposits'::text
            WHEN 'org_payable'::text THEN 'payouts_receivable'::text
            WHEN 'refunds_payable'::text THEN 'refunds_payable'::text
            WHEN 'commissions_payable'::text THEN 'commissions_payable'::text
            WHEN 'gateway_fees_payable'::text THEN 'gateway_fees_receivable'::text
            WHEN 'tax_payable'::text THEN 'tax_payable'::text
            WHEN 'payouts_in_transit'::text THEN 'payouts_in_transit'::text
            WHEN 'resale_seller_payable'::text THEN 'resale_seller_payable'::text
            WHEN 'unapplied_receipts'::text THEN 'unapplied_receipts'::text
            WHEN 'deferred_revenue'::text THEN 'deferred_revenue'::text
            WHEN 'platform_fee_revenue'::text THEN 'commission_revenue'::text
            WHEN 'commission_revenue'::text THEN 'commission_revenue'::text
            WHEN 'coupon_revenue'::text THEN 'coupon_revenue'::text
            WHEN 'gateway_fee_expense'::text THEN 'gateway_fee_expense'::text
            WHEN 'rounding_adjustment'::text THEN 'rounding_adjustment'::text
            ELSE NULL::text
        END AS account,
        CASE s.account
            WHEN 'cash_reserve'::text THEN 'gateway'::text
            WHEN 'merchant_account'::text THEN 'gateway'::text
            WHEN 'bank_account'::text THEN 'gateway'::text
            WHEN 'disputed_funds'::text THEN 'customer'::text
            WHEN 'org_settlements'::text THEN 'owner'::text
            WHEN 'customer_deposits'::text THEN 'customer'::text
            WHEN 'org_payable'::text THEN 'owner'::text
            WHEN 'refunds_payable'::text THEN 'customer'::text
            WHEN 'commissions_payable'::text THEN 'owner'::text
            WHEN 'gateway_fees_payable'::text THEN 'gateway'::text
            WHEN 'tax_payable'::text THEN 'owner'::text
            WHEN 'payouts_in_transit'::text THEN 'owner'::text
            WHEN 'resale_seller_payable'::text THEN 'customer'::text
            WHEN 'unapplied_receipts'::text THEN 'customer'::text
            WHEN 'deferred_revenue'::text THEN 'owner'::text
            WHEN 'platform_fee_revenue'::text THEN 'owner'::text
            WHEN 'commission_revenue'::text THEN 'owner'::text
            WHEN 'coupon_revenue'::text THEN 'owner'::text
            WHEN 'gateway_fee_expense'::text THEN 'gateway'::text
            WHEN 'rounding_adjustment'::text THEN 'gateway'::text
            ELSE NULL::text
        END AS counterparty,
    (COALESCE(t.metadata, '{}'::jsonb) || jsonb_build_object('entryType', t.entry_type, 'account', s.account, 'event', t.event, 'flow', t.flow, 'line', t.line, 'reference', t.reference)) AS metadata,
    t.posted_at AS created_at,
    t.payee_id,
    t.payment_id,
    t.causation_id,
    t.correlation_id,
    t.currency
   FROM (ledger.transfer t
     CROSS JOIN LATERAL ( VALUES ('debit'::text,t.debit_account), ('credit'::text,t.credit_account)) s(direction, account));
ALTER VIEW ledger.journal_line OWNER TO admitone_owner;

-- Name: ledger_entry; Type: VIEW; Schema: ledger; Owner: admitone_owner
CREATE VIEW ledger.ledger_entry WITH (security_invoker='true') AS
 SELECT t.organization_id,
    t.id,
    s.account,
    t.transaction_id,
    t.payee_id,
    t.city_code,
    t.entry_type,
    s.amount_signed,
    t.currency,
    t.payment_id,
    t.source_type,
    t.source_id,
    t.line,
    t.causation_id,
    t.correlation_id,
    t.posted_at AS created_at
   FROM (ledger.transfer t
     CROSS JOIN LATERAL ( VALUES (t.debit_account,(- t.amount_minor)), (t.credit_account,t.amount_minor)) s(account, amount_signed))
  WHERE (s.account = ANY (ARRAY['customer_deposits'::text, 'org_payable'::text]));
ALTER VIEW ledger.ledger_entry OWNER TO admitone_owner;

-- Name: seal; Type: TABLE; Schema: ledger; Owner: admitone_owner
CREATE TABLE ledger.seal (
    organization_id uuid NOT NULL,
    number bigint NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    transfers integer NOT NULL,
    total bigint NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    CONSTRAINT seal_check CHECK ((total >= transfers)),
    CONSTRAINT seal_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT seal_number_check CHECK ((number > 0)),
    CONSTRAINT seal_previous_hash_check CHECK ((octet_length(previous_hash) = 32)),
    CONSTRAINT seal_transfers_check CHECK ((transfers > 0))
);
ALTER TABLE ONLY ledger.seal FORCE ROW LEVEL SECURITY;
ALTER TABLE ledger.seal OWNER TO admitone_owner;

-- Name: seal_member; Type: TABLE; Schema: ledger; Owner: admitone_owner
CREATE TABLE ledger.seal_member (
    organization_id uuid NOT NULL,
    seal bigint NOT NULL,
    ordinal integer NOT NULL,
    transfer_id uuid NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT seal_member_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT seal_member_ordinal_check CHECK ((ordinal > 0))
);
ALTER TABLE ONLY ledger.seal_member FORCE ROW LEVEL SECURITY;
ALTER TABLE ledger.seal_member OWNER TO admitone_owner;

-- Name: letter; Type: TABLE; Schema: mail; Owner: admitone_owner
CREATE TABLE mail.letter (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    template text NOT NULL,
    language text NOT NULL,
    sealed bytea,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    refused_at timestamp with time zone,
    CONSTRAINT letter_check CHECK ((num_nonnulls(sealed, sent_at, refused_at) = 1)),
    CONSTRAINT letter_language_check CHECK (((length(language) >= 2) AND (length(language) <= 20))),
    CONSTRAINT letter_sealed_check CHECK ((length(sealed) <= 20000)),
    CONSTRAINT letter_template_check CHECK (((length(template) >= 1) AND (length(template) <= 100)))
);
ALTER TABLE ONLY mail.letter FORCE ROW LEVEL SECURITY;
ALTER TABLE mail.letter OWNER TO admitone_owner;

-- Name: acceptance; Type: TABLE; Schema: organizations; Owner: admitone_owner
CREATE TABLE organizations.acceptance (
    organization_id uuid NOT NULL,
    document text NOT NULL,
    document_version text NOT NULL,
    accepted_by uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT acceptance_document_check CHECK (((length(document) >= 1) AND (length(document) <= 60))),
    CONSTRAINT acceptance_document_version_check CHECK (((length(document_version) >= 1) AND (length(document_version) <= 40)))
);
ALTER TABLE ONLY organizations.acceptance FORCE ROW LEVEL SECURITY;
ALTER TABLE organizations.acceptance OWNER TO admitone_owner;

-- Name: invitation; Type: TABLE; Schema: organizations; Owner: admitone_owner
CREATE TABLE organizations.invitation (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    email_sealed bytea,
    email_hash bytea,
    level text NOT NULL,
    role text NOT NULL,
    pack text,
    scopes text[] NOT NULL,
    branches uuid[],
    state text NOT NULL,
    token_digest bytea NOT NULL,
    invited_by uuid NOT NULL,
    accepted_by uuid,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT invitation_address_while_pending CHECK ((num_nonnulls(email_sealed, email_hash) =
CASE
    WHEN (state = 'PENDING'::text) THEN 2
    ELSE 0
END)),
    CONSTRAINT invitation_branches_check CHECK (((cardinality(branches) >= 1) AND (cardinality(branches) <= 200))),
    CONSTRAINT invitation_check CHECK ((expires_at > created_at)),
    CONSTRAINT invitation_check1 CHECK (((state = 'ACCEPTED'::text) = (accepted_by IS NOT NULL))),
    CONSTRAINT invitation_check2 CHECK (((level = 'GROUP'::text) OR (branches IS NULL))),
    CONSTRAINT invitation_check3 CHECK (((role <> 'OWNER'::text) OR ((level = 'GROUP'::text) AND (branches IS NULL)))),
    CONSTRAINT invitation_email_hash_check CHECK ((octet_length(email_hash) = 32)),
    CONSTRAINT invitation_email_sealed_check CHECK ((octet_length(email_sealed) <= 600)),
    CONSTRAINT invitation_level_check CHECK ((level = ANY (ARRAY['GROUP'::text, 'BRANCH'::text]))),
    CONSTRAINT invitation_pack_check CHECK ((pack = ANY (ARRAY['CLUB_MANAGER'::text, 'TOURNAMENT_DIRECTOR'::text, 'FRONT_DESK'::text, 'COACH'::text, 'REFEREE'::text]))),
    CONSTRAINT invitation_role_check CHECK ((role = ANY (ARRAY['OWNER'::text, 'CO_OWNER'::text, 'ADMIN'::text, 'STAFF'::text, 'TRAINER'::text, 'PROMOTER'::text, 'VIEWER'::text]))),
    CONSTRAINT invitation_scopes_check CHECK ((cardinality(scopes) <= 40)),
    CONSTRAINT invitation_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'ACCEPTED'::text, 'REVOKED'::text, 'EXPIRED'::text]))),
    CONSTRAINT invitation_token_digest_check CHECK ((octet_length(token_digest) = 32))
);
ALTER TABLE ONLY organizations.invitation FORCE ROW LEVEL SECURITY;
ALTER TABLE organizations.invitation OWNER TO admitone_owner;

-- Name: organization; Type: TABLE; Schema: organizations; Owner: admitone_owner
CREATE TABLE organizations.organization (
    organization_id uuid NOT NULL,
    display_name text NOT NULL,
    legal_name text,
    tax_id text,
    tax_country text,
    invoice_prefix text,
    invoice_address text[] NOT NULL,
    invoice_email text,
    default_currency text NOT NULL,
    time_zone text NOT NULL,
    language text NOT NULL,
    home_city text NOT NULL,
    official_email text,
    official_email_verified_at timestamp with time zone,
    official_email_digest bytea,
    official_email_asked_at timestamp with time zone,
    status text NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    invoicing text,
    invoicing_software text,
    invoicing_notes text,
    invoicing_duties text[] DEFAULT '{}'::text[] NOT NULL,
    accent_color text,
    CONSTRAINT organization_accent_color_check CHECK ((accent_color ~ '^#[0-9a-f]{6}$'::text)),
    CONSTRAINT organization_answers_for CHECK (((cardinality(invoicing_duties) > 0) = (NOT (invoicing IS DISTINCT FROM 'MANUAL'::text)))),
    CONSTRAINT organization_check CHECK (((tax_id IS NULL) = (tax_country IS NULL))),
    CONSTRAINT organization_check1 CHECK (((official_email IS NOT NULL) OR ((official_email_verified_at IS NULL) AND (official_email_digest IS NULL)))),
    CONSTRAINT organization_check2 CHECK (((official_email_digest IS NULL) OR (official_email_verified_at IS NULL))),
    CONSTRAINT organization_check3 CHECK (((official_email_digest IS NULL) = (official_email_asked_at IS NULL))),
    CONSTRAINT organization_default_currency_check CHECK ((default_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT organization_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 100))),
    CONSTRAINT organization_home_city_check CHECK ((home_city ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT organization_invoice_address_check CHECK ((cardinality(invoice_address) <= 6)),
    CONSTRAINT organization_invoice_email_check CHECK (((length(invoice_email) >= 3) AND (length(invoice_email) <= 254))),
    CONSTRAINT organization_invoice_prefix_check CHECK ((invoice_prefix ~ '^[A-Z0-9]{1,10}$'::text)),
    CONSTRAINT organization_invoices_with CHECK (((invoicing_software IS NOT NULL) = (NOT (invoicing IS DISTINCT FROM 'EXTERNAL'::text)))),
    CONSTRAINT organization_invoicing_check CHECK ((invoicing = ANY (ARRAY['EXTERNAL'::text, 'MANUAL'::text]))),
    CONSTRAINT organization_invoicing_duties_check CHECK ((cardinality(invoicing_duties) <= 8)),
    CONSTRAINT organization_invoicing_notes_check CHECK (((length(invoicing_notes) >= 1) AND (length(invoicing_notes) <= 1000))),
    CONSTRAINT organization_invoicing_software_check CHECK (((length(invoicing_software) >= 1) AND (length(invoicing_software) <= 100))),
    CONSTRAINT organization_language_check CHECK ((language = ANY (ARRAY['en'::text, 'pt_PT'::text, 'pt_BR'::text]))),
    CONSTRAINT organization_legal_name_check CHECK (((length(legal_name) >= 1) AND (length(legal_name) <= 200))),
    CONSTRAINT organization_official_email_check CHECK (((length(official_email) >= 3) AND (length(official_email) <= 254))),
    CONSTRAINT organization_official_email_digest_check CHECK ((octet_length(official_email_digest) = 32)),
    CONSTRAINT organization_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text, 'CLOSED'::text]))),
    CONSTRAINT organization_tax_country_check CHECK ((tax_country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT organization_tax_id_check CHECK (((length(tax_id) >= 2) AND (length(tax_id) <= 40))),
    CONSTRAINT organization_time_zone_check CHECK (((length(time_zone) >= 1) AND (length(time_zone) <= 64))),
    CONSTRAINT organization_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY organizations.organization FORCE ROW LEVEL SECURITY;
ALTER TABLE organizations.organization OWNER TO admitone_owner;

-- Name: profile_layout; Type: TABLE; Schema: organizations; Owner: admitone_owner
CREATE TABLE organizations.profile_layout (
    organization_id uuid NOT NULL,
    version integer NOT NULL,
    blocks text[] NOT NULL,
    tagline text,
    about text,
    questions text[] NOT NULL,
    answers text[] NOT NULL,
    website text,
    phone text,
    address text,
    changed_by uuid,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT profile_layout_about_check CHECK (((length(about) >= 1) AND (length(about) <= 3000))),
    CONSTRAINT profile_layout_address_check CHECK ((((length(address) >= 1) AND (length(address) <= 160)) AND (address !~ '[\u0001-\u001f\u007f]'::text))),
    CONSTRAINT profile_layout_answers_check CHECK (((array_position(answers, NULL::text) IS NULL) AND (length(array_to_string(answers, ''::text)) <= (12 * 800)))),
    CONSTRAINT profile_layout_blocks_check CHECK ((('HERO'::text = ANY (blocks)) AND (cardinality(blocks) <= 9) AND (blocks <@ ARRAY['HERO'::text, 'ABOUT'::text, 'EVENTS_AGENDA'::text, 'STORE'::text, 'SERVICES'::text, 'FORMS'::text, 'GALLERY'::text, 'FAQ'::text, 'CONTACT'::text]))),
    CONSTRAINT profile_layout_check CHECK ((cardinality(questions) = cardinality(answers))),
    CONSTRAINT profile_layout_phone_check CHECK (((length(phone) <= 30) AND (phone ~ '^\+?[0-9][0-9 ().-]{3,27}[0-9]$'::text))),
    CONSTRAINT profile_layout_questions_check CHECK (((cardinality(questions) <= 12) AND (array_position(questions, NULL::text) IS NULL) AND (length(array_to_string(questions, ''::text)) <= (12 * 160)))),
    CONSTRAINT profile_layout_tagline_check CHECK ((((length(tagline) >= 1) AND (length(tagline) <= 140)) AND (tagline !~ '[\u0001-\u001f\u007f]'::text))),
    CONSTRAINT profile_layout_version_check CHECK ((version > 0)),
    CONSTRAINT profile_layout_website_check CHECK (((length(website) <= 200) AND (website ~ '^https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]{1,5})?([/?#][!-~]*)?$'::text)))
);
ALTER TABLE ONLY organizations.profile_layout FORCE ROW LEVEL SECURITY;
ALTER TABLE organizations.profile_layout OWNER TO admitone_owner;

-- Name: account; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.account (
    organization_id uuid NOT NULL,
    provider text NOT NULL,
    livemode boolean NOT NULL,
    account text NOT NULL,
    type text NOT NULL,
    onboarding_status text NOT NULL,
    charges_enabled boolean NOT NULL,
    payouts_enabled boolean NOT NULL,
    requirements_due text[] NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    told_at timestamp with time zone NOT NULL,
    CONSTRAINT account_account_check CHECK (((length(account) >= 1) AND (length(account) <= 100))),
    CONSTRAINT account_check CHECK (((onboarding_status <> 'COMPLETE'::text) OR (charges_enabled AND (cardinality(requirements_due) = 0)))),
    CONSTRAINT account_onboarding_status_check CHECK ((onboarding_status = ANY (ARRAY['PENDING'::text, 'COMPLETE'::text, 'RESTRICTED'::text]))),
    CONSTRAINT account_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text, 'mercadopago'::text, 'openpix'::text]))),
    CONSTRAINT account_requirements_due_check CHECK ((cardinality(requirements_due) <= 100)),
    CONSTRAINT account_type_check CHECK ((type = 'standard'::text)),
    CONSTRAINT account_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY payments.account FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.account OWNER TO admitone_owner;

-- Name: free_claim; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.free_claim (
    organization_id uuid NOT NULL,
    guard_key text NOT NULL,
    identity_id uuid NOT NULL,
    taken integer NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT free_claim_guard_key_check CHECK (((length(guard_key) >= 1) AND (length(guard_key) <= 200)))
);
ALTER TABLE ONLY payments.free_claim FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.free_claim OWNER TO admitone_owner;

-- Name: free_taking; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.free_taking (
    organization_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    guard_key text NOT NULL,
    identity_id uuid NOT NULL,
    quantity integer NOT NULL,
    given_back_at timestamp with time zone,
    CONSTRAINT free_taking_guard_key_check CHECK (((length(guard_key) >= 1) AND (length(guard_key) <= 200))),
    CONSTRAINT free_taking_quantity_check CHECK ((quantity > 0))
);
ALTER TABLE ONLY payments.free_taking FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.free_taking OWNER TO admitone_owner;

-- Name: gateway_intent; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.gateway_intent (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    action text NOT NULL,
    state text NOT NULL,
    amount_minor bigint NOT NULL,
    currency text NOT NULL,
    return_url text,
    description text NOT NULL,
    reason text,
    answer bytea,
    capture_key text,
    unanswered integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    fee_minor bigint,
    refused integer DEFAULT 0 NOT NULL,
    CONSTRAINT gateway_intent_action_check CHECK ((action = ANY (ARRAY['OPEN'::text, 'REFUND'::text]))),
    CONSTRAINT gateway_intent_amount_minor_check CHECK ((amount_minor > 0)),
    CONSTRAINT gateway_intent_answer_check CHECK ((octet_length(answer) <= 8000)),
    CONSTRAINT gateway_intent_capture_key_check CHECK (((length(capture_key) >= 1) AND (length(capture_key) <= 200))),
    CONSTRAINT gateway_intent_check CHECK (((state = 'OPEN'::text) = (settled_at IS NULL))),
    CONSTRAINT gateway_intent_check1 CHECK (((state = 'REFUSED'::text) = (reason IS NOT NULL))),
    CONSTRAINT gateway_intent_check2 CHECK (((action = 'REFUND'::text) = (capture_key IS NOT NULL))),
    CONSTRAINT gateway_intent_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT gateway_intent_description_check CHECK ((length(description) <= 200)),
    CONSTRAINT gateway_intent_fee_minor_check CHECK (((fee_minor >= 0) AND (fee_minor <= amount_minor))),
    CONSTRAINT gateway_intent_reason_check CHECK ((length(reason) <= 200)),
    CONSTRAINT gateway_intent_refused_check CHECK ((refused >= 0)),
    CONSTRAINT gateway_intent_return_url_check CHECK ((length(return_url) <= 2000)),
    CONSTRAINT gateway_intent_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'DONE'::text, 'REFUSED'::text]))),
    CONSTRAINT gateway_intent_unanswered_check CHECK ((unanswered >= 0))
);
ALTER TABLE ONLY payments.gateway_intent FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.gateway_intent OWNER TO admitone_owner;

-- Name: paid_subject; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.paid_subject (
    organization_id uuid NOT NULL,
    subject text NOT NULL,
    payment_id uuid NOT NULL,
    CONSTRAINT paid_subject_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 200)))
);
ALTER TABLE ONLY payments.paid_subject FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.paid_subject OWNER TO admitone_owner;

-- Name: payment; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.payment (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    city_code text NOT NULL,
    identity_id uuid NOT NULL,
    payee_id uuid NOT NULL,
    source_type text NOT NULL,
    source_id text NOT NULL,
    flow text NOT NULL,
    settlement_model text NOT NULL,
    scenario text NOT NULL,
    method text NOT NULL,
    provider text,
    account text,
    livemode boolean NOT NULL,
    amount_minor bigint NOT NULL,
    fee_minor bigint NOT NULL,
    currency text NOT NULL,
    fee_policy_version text NOT NULL,
    snapshot text NOT NULL,
    snapshot_hash text NOT NULL,
    subjects text[] NOT NULL,
    idempotency_key text NOT NULL,
    request_hash bytea NOT NULL,
    correlation_id uuid NOT NULL,
    status text NOT NULL,
    refund_state text NOT NULL,
    manual_reason text,
    applied boolean NOT NULL,
    captured_minor bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    failed_attempts integer NOT NULL,
    processor_fees_status text NOT NULL,
    processor_fees_actual bigint,
    charge_id text,
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    unreadable_status text,
    CONSTRAINT payment_account_check CHECK (((length(account) >= 1) AND (length(account) <= 100))),
    CONSTRAINT payment_amount_minor_check CHECK (((amount_minor >= 0) AND (amount_minor <= '9007199254740991'::bigint))),
    CONSTRAINT payment_captured_minor_check CHECK ((captured_minor >= 0)),
    CONSTRAINT payment_charge_id_check CHECK (((length(charge_id) >= 1) AND (length(charge_id) <= 200))),
    CONSTRAINT payment_check CHECK (((fee_minor >= 0) AND (fee_minor <= amount_minor))),
    CONSTRAINT payment_check1 CHECK (((refunded_minor >= 0) AND (refunded_minor <= captured_minor))),
    CONSTRAINT payment_check2 CHECK ((expires_at > created_at)),
    CONSTRAINT payment_check3 CHECK (((processor_fees_status = 'FINAL'::text) = (processor_fees_actual IS NOT NULL))),
    CONSTRAINT payment_check4 CHECK (((scenario = 'FREE_CHECKOUT'::text) = (amount_minor = 0))),
    CONSTRAINT payment_check5 CHECK ((((scenario = 'FREE_CHECKOUT'::text) = (method = 'FREE'::text)) AND ((method = 'FREE'::text) = (provider IS NULL)))),
    CONSTRAINT payment_check6 CHECK (((flow = ANY (ARRAY['SALE'::text, 'RESALE'::text])) = (settlement_model = 'ORG_MOR'::text))),
    CONSTRAINT payment_check7 CHECK (((settlement_model = 'ORG_MOR'::text) OR (source_type = ANY (ARRAY['STAY_RESERVATION'::text, 'COUPON_CAMPAIGN'::text])))),
    CONSTRAINT payment_check8 CHECK ((applied OR (status <> ALL (ARRAY['SUCCEEDED'::text, 'PARTIAL_REFUND'::text, 'CHARGEBACK_WON'::text])))),
    CONSTRAINT payment_check9 CHECK (((status <> 'NEEDS_MANUAL'::text) OR ((manual_reason IS NOT NULL) AND (NOT applied)))),
    CONSTRAINT payment_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT payment_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payment_failed_attempts_check CHECK ((failed_attempts >= 0)),
    CONSTRAINT payment_fee_policy_version_check CHECK (((length(fee_policy_version) >= 1) AND (length(fee_policy_version) <= 128))),
    CONSTRAINT payment_flow_check CHECK ((flow = ANY (ARRAY['SALE'::text, 'STAY'::text, 'STAY_LEFT'::text, 'CAMPAIGN'::text, 'RESALE'::text]))),
    CONSTRAINT payment_idempotency_key_check CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 255))),
    CONSTRAINT payment_manual_reason_check CHECK ((manual_reason = ANY (ARRAY['LATE'::text, 'AMOUNT_MISMATCH'::text, 'CURRENCY_MISMATCH'::text, 'SOURCE_ALREADY_PAID'::text]))),
    CONSTRAINT payment_method_check CHECK ((method = ANY (ARRAY['CARD'::text, 'PIX'::text, 'FREE'::text]))),
    CONSTRAINT payment_processor_fees_status_check CHECK ((processor_fees_status = ANY (ARRAY['PENDING'::text, 'FINAL'::text]))),
    CONSTRAINT payment_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text, 'mercadopago'::text, 'openpix'::text]))),
    CONSTRAINT payment_refund_state_check CHECK ((refund_state = ANY (ARRAY['NONE'::text, 'PENDING'::text, 'FAILED'::text]))),
    CONSTRAINT payment_request_hash_check CHECK ((octet_length(request_hash) = 32)),
    CONSTRAINT payment_scenario_check CHECK ((scenario = ANY (ARRAY['PAID'::text, 'FREE_CHECKOUT'::text]))),
    CONSTRAINT payment_settlement_model_check CHECK ((settlement_model = ANY (ARRAY['ORG_MOR'::text, 'PLATFORM_MOR'::text]))),
    CONSTRAINT payment_snapshot_check CHECK (((length(snapshot) >= 2) AND (length(snapshot) <= 200000))),
    CONSTRAINT payment_snapshot_hash_check CHECK ((snapshot_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT payment_source_id_check CHECK (((length(source_id) >= 1) AND (length(source_id) <= 64))),
    CONSTRAINT payment_source_type_check CHECK ((source_type = ANY (ARRAY['TICKET_ORDER'::text, 'BOOKING'::text, 'PADEL_REGISTRATION'::text, 'STORE_ORDER'::text, 'STAY_RESERVATION'::text, 'COUPON_CAMPAIGN'::text]))),
    CONSTRAINT payment_status_check CHECK ((status = ANY (ARRAY['CREATED'::text, 'PENDING'::text, 'REQUIRES_ACTION'::text, 'PROCESSING'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text, 'EXPIRED'::text, 'NEEDS_MANUAL'::text, 'PARTIAL_REFUND'::text, 'REFUNDED'::text, 'DISPUTED'::text, 'CHARGEBACK_WON'::text, 'CHARGEBACK_LOST'::text]))),
    CONSTRAINT payment_subjects_check CHECK ((cardinality(subjects) <= 20)),
    CONSTRAINT payment_unreadable_status_check CHECK (((length(unreadable_status) >= 1) AND (length(unreadable_status) <= 40))),
    CONSTRAINT payment_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY payments.payment FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.payment OWNER TO admitone_owner;

-- Name: payment_fact; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.payment_fact (
    organization_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    key text NOT NULL,
    ordinal integer NOT NULL,
    kind text NOT NULL,
    at timestamp with time zone NOT NULL,
    reference text NOT NULL,
    amount_minor bigint NOT NULL,
    currency text NOT NULL,
    total_minor bigint NOT NULL,
    fee_minor bigint NOT NULL,
    code text NOT NULL,
    charge text NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    order_key text DEFAULT ''::text NOT NULL,
    CONSTRAINT payment_fact_charge_check CHECK ((length(charge) <= 200)),
    CONSTRAINT payment_fact_check CHECK (((kind = 'FEE_ADJUSTMENT'::text) OR (amount_minor >= 0))),
    CONSTRAINT payment_fact_code_check CHECK ((length(code) <= 100)),
    CONSTRAINT payment_fact_currency_check CHECK ((currency ~ '^([A-Z]{3})?$'::text)),
    CONSTRAINT payment_fact_fee_minor_check CHECK ((fee_minor >= 0)),
    CONSTRAINT payment_fact_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT payment_fact_kind_check CHECK ((kind = ANY (ARRAY['PENDING'::text, 'REQUIRES_ACTION'::text, 'PROCESSING'::text, 'FAILED'::text, 'CAPTURED'::text, 'CANCELLED'::text, 'EXPIRED'::text, 'FEE'::text, 'FEE_ADJUSTMENT'::text, 'REFUND_PENDING'::text, 'REFUNDED'::text, 'REFUND_FAILED'::text, 'DISPUTE_OPENED'::text, 'DISPUTE_WON'::text, 'DISPUTE_LOST'::text, 'APPLIED'::text, 'COMMISSION_HELD'::text, 'COMMISSION_KEPT'::text, 'REFUND_BEGUN'::text, 'REFUND_GIVEN_UP'::text, 'TAX_WITHHELD'::text, 'DUE'::text]))),
    CONSTRAINT payment_fact_order_key_check CHECK ((length(order_key) <= 200)),
    CONSTRAINT payment_fact_ordinal_check CHECK ((ordinal > 0)),
    CONSTRAINT payment_fact_reference_check CHECK ((length(reference) <= 200)),
    CONSTRAINT payment_fact_total_minor_check CHECK ((total_minor >= 0))
);
ALTER TABLE ONLY payments.payment_fact FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.payment_fact OWNER TO admitone_owner;

-- Name: provider_ref; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.provider_ref (
    provider text NOT NULL,
    object_type text NOT NULL,
    object_id text NOT NULL,
    organization_id uuid NOT NULL,
    payment_id uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT provider_ref_check CHECK (((object_type = ANY (ARRAY['account'::text, 'payout'::text])) = (payment_id IS NULL))),
    CONSTRAINT provider_ref_object_id_check CHECK (((length(object_id) >= 1) AND (length(object_id) <= 200))),
    CONSTRAINT provider_ref_object_type_check CHECK ((object_type = ANY (ARRAY['session'::text, 'intent'::text, 'charge'::text, 'pix'::text, 'refund'::text, 'dispute'::text, 'payout'::text, 'account'::text]))),
    CONSTRAINT provider_ref_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text, 'mercadopago'::text, 'openpix'::text])))
);
ALTER TABLE ONLY payments.provider_ref FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.provider_ref OWNER TO admitone_owner;

-- Name: risk_hold; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.risk_hold (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    reason_code text NOT NULL,
    placed_by uuid,
    placed_at timestamp with time zone NOT NULL,
    lifted_by uuid,
    lifted_at timestamp with time zone,
    CONSTRAINT risk_hold_reason_code_check CHECK ((reason_code ~ '^[A-Z][A-Z0-9_]{2,63}$'::text))
);
ALTER TABLE ONLY payments.risk_hold FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.risk_hold OWNER TO admitone_owner;

-- Name: unapplied_receipt; Type: TABLE; Schema: payments; Owner: admitone_owner
CREATE TABLE payments.unapplied_receipt (
    organization_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    capture_key text NOT NULL,
    city_code text NOT NULL,
    amount_minor bigint NOT NULL,
    currency text NOT NULL,
    reason text NOT NULL,
    policy text NOT NULL,
    state text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    CONSTRAINT unapplied_receipt_amount_minor_check CHECK ((amount_minor > 0)),
    CONSTRAINT unapplied_receipt_capture_key_check CHECK (((length(capture_key) >= 1) AND (length(capture_key) <= 200))),
    CONSTRAINT unapplied_receipt_check CHECK (((state = ANY (ARRAY['OPEN'::text, 'RETURNING'::text])) = (settled_at IS NULL))),
    CONSTRAINT unapplied_receipt_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT unapplied_receipt_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT unapplied_receipt_policy_check CHECK ((policy = ANY (ARRAY['AUTO_REFUND'::text, 'MANUAL'::text]))),
    CONSTRAINT unapplied_receipt_reason_check CHECK ((reason = ANY (ARRAY['LATE'::text, 'AMOUNT_MISMATCH'::text, 'CURRENCY_MISMATCH'::text, 'SOURCE_ALREADY_PAID'::text, 'SURPLUS'::text, 'SECOND_CAPTURE'::text]))),
    CONSTRAINT unapplied_receipt_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'RETURNING'::text, 'RETURNED'::text, 'APPLIED'::text, 'LOST'::text])))
);
ALTER TABLE ONLY payments.unapplied_receipt FORCE ROW LEVEL SECURITY;
ALTER TABLE payments.unapplied_receipt OWNER TO admitone_owner;

-- Name: freeze; Type: TABLE; Schema: payouts; Owner: admitone_owner
CREATE TABLE payouts."freeze" (
    organization_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    reason text NOT NULL,
    settlement_model text NOT NULL,
    since timestamp with time zone NOT NULL,
    lifted_at timestamp with time zone,
    CONSTRAINT freeze_reason_check CHECK ((reason = ANY (ARRAY['DISPUTE'::text, 'REFUND_FAILED'::text, 'OPERATOR'::text]))),
    CONSTRAINT freeze_settlement_model_check CHECK ((settlement_model = ANY (ARRAY['ORG_MOR'::text, 'PLATFORM_MOR'::text])))
);
ALTER TABLE ONLY payouts."freeze" FORCE ROW LEVEL SECURITY;
ALTER TABLE payouts."freeze" OWNER TO admitone_owner;

-- Name: obligation; Type: TABLE; Schema: payouts; Owner: admitone_owner
CREATE TABLE payouts.obligation (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    payee_id uuid NOT NULL,
    city_code text NOT NULL,
    property_key text NOT NULL,
    livemode boolean NOT NULL,
    currency text NOT NULL,
    due_minor bigint NOT NULL,
    amount_minor bigint NOT NULL,
    checked_out_at timestamp with time zone NOT NULL,
    hold_days smallint NOT NULL,
    eligible_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    payout_id uuid,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    kept_minor bigint DEFAULT 0 NOT NULL,
    is_returned boolean DEFAULT false NOT NULL,
    CONSTRAINT obligation_check CHECK (((amount_minor >= 0) AND (amount_minor <= due_minor))),
    CONSTRAINT obligation_check1 CHECK ((eligible_at >= (checked_out_at + '24:00:00'::interval))),
    CONSTRAINT obligation_check2 CHECK (((state = ANY (ARRAY['IN_PAYOUT'::text, 'PAID'::text])) = (payout_id IS NOT NULL))),
    CONSTRAINT obligation_check3 CHECK (((amount_minor > 0) OR (state = ANY (ARRAY['REVERSED'::text, 'FROZEN'::text])))),
    CONSTRAINT obligation_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT obligation_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT obligation_due_minor_check CHECK (((due_minor >= 1) AND (due_minor <= '9007199254740991'::bigint))),
    CONSTRAINT obligation_hold_days_check CHECK (((hold_days >= 0) AND (hold_days <= 365))),
    CONSTRAINT obligation_kept_minor_check CHECK (((kept_minor >= 0) AND (kept_minor <= due_minor))),
    CONSTRAINT obligation_property_key_check CHECK ((length(property_key) <= 100)),
    CONSTRAINT obligation_state_check CHECK ((state = ANY (ARRAY['DUE'::text, 'IN_PAYOUT'::text, 'PAID'::text, 'FROZEN'::text, 'REVERSED'::text])))
);
ALTER TABLE ONLY payouts.obligation FORCE ROW LEVEL SECURITY;
ALTER TABLE payouts.obligation OWNER TO admitone_owner;

-- Name: owner; Type: TABLE; Schema: payouts; Owner: admitone_owner
CREATE TABLE payouts.owner (
    organization_id uuid NOT NULL,
    payee_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY payouts.owner FORCE ROW LEVEL SECURITY;
ALTER TABLE payouts.owner OWNER TO admitone_owner;

-- Name: payout; Type: TABLE; Schema: payouts; Owner: admitone_owner
CREATE TABLE payouts.payout (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    payee_id uuid NOT NULL,
    city_code text NOT NULL,
    period date NOT NULL,
    currency text NOT NULL,
    settlement_model text NOT NULL,
    provider text NOT NULL,
    livemode boolean NOT NULL,
    account text NOT NULL,
    gross_minor bigint NOT NULL,
    recovered_minor bigint NOT NULL,
    amount_minor bigint NOT NULL,
    state text NOT NULL,
    reference text,
    code text NOT NULL,
    correlation_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    asked_at timestamp with time zone,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT payout_account_check CHECK (((length(account) >= 1) AND (length(account) <= 100))),
    CONSTRAINT payout_check CHECK ((amount_minor = (gross_minor - recovered_minor))),
    CONSTRAINT payout_check1 CHECK (((amount_minor > 0) OR (state = 'frozen'::text))),
    CONSTRAINT payout_check2 CHECK (((state <> 'payout_pending'::text) OR (asked_at IS NULL))),
    CONSTRAINT payout_check3 CHECK (((state = ANY (ARRAY['payout_pending'::text, 'frozen'::text])) OR (asked_at IS NOT NULL))),
    CONSTRAINT payout_check4 CHECK (((state <> ALL (ARRAY['transferred'::text, 'completed'::text])) OR (reference IS NOT NULL))),
    CONSTRAINT payout_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT payout_code_check CHECK ((length(code) <= 100)),
    CONSTRAINT payout_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payout_gross_minor_check CHECK ((gross_minor >= 0)),
    CONSTRAINT payout_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text, 'mercadopago'::text, 'openpix'::text]))),
    CONSTRAINT payout_recovered_minor_check CHECK ((recovered_minor >= 0)),
    CONSTRAINT payout_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 200))),
    CONSTRAINT payout_settlement_model_check CHECK ((settlement_model = 'PLATFORM_MOR'::text)),
    CONSTRAINT payout_state_check CHECK ((state = ANY (ARRAY['payout_pending'::text, 'processing'::text, 'transferred'::text, 'completed'::text, 'failed'::text, 'frozen'::text])))
);
ALTER TABLE ONLY payouts.payout FORCE ROW LEVEL SECURITY;
ALTER TABLE payouts.payout OWNER TO admitone_owner;

-- Name: reported; Type: TABLE; Schema: payouts; Owner: admitone_owner
CREATE TABLE payouts.reported (
    organization_id uuid NOT NULL,
    provider text NOT NULL,
    reference text NOT NULL,
    status text NOT NULL,
    amount_minor bigint NOT NULL,
    currency text NOT NULL,
    code text NOT NULL,
    at timestamp with time zone NOT NULL,
    payout_id uuid,
    created_at timestamp with time zone NOT NULL,
    released_at timestamp with time zone,
    CONSTRAINT reported_code_check CHECK ((length(code) <= 100)),
    CONSTRAINT reported_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT reported_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text, 'mercadopago'::text, 'openpix'::text]))),
    CONSTRAINT reported_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 200))),
    CONSTRAINT reported_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'PAID'::text, 'FAILED'::text])))
);
ALTER TABLE ONLY payouts.reported FORCE ROW LEVEL SECURITY;
ALTER TABLE payouts.reported OWNER TO admitone_owner;

-- Name: schedule; Type: TABLE; Schema: payouts; Owner: admitone_owner
CREATE TABLE payouts.schedule (
    organization_id uuid NOT NULL,
    payee_id uuid NOT NULL,
    property_key text NOT NULL,
    frequency text NOT NULL,
    day_of_week smallint,
    day_of_month smallint,
    min_threshold_minor bigint NOT NULL,
    hold_days smallint NOT NULL,
    version bigint NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT schedule_check CHECK (((frequency = ANY (ARRAY['weekly'::text, 'biweekly'::text])) = (day_of_week IS NOT NULL))),
    CONSTRAINT schedule_check1 CHECK (((frequency = 'monthly'::text) = (day_of_month IS NOT NULL))),
    CONSTRAINT schedule_day_of_month_check CHECK (((day_of_month >= 1) AND (day_of_month <= 31))),
    CONSTRAINT schedule_day_of_week_check CHECK (((day_of_week >= 0) AND (day_of_week <= 6))),
    CONSTRAINT schedule_frequency_check CHECK ((frequency = ANY (ARRAY['weekly'::text, 'biweekly'::text, 'monthly'::text, 'on_checkout'::text]))),
    CONSTRAINT schedule_hold_days_check CHECK (((hold_days >= 0) AND (hold_days <= 365))),
    CONSTRAINT schedule_min_threshold_minor_check CHECK (((min_threshold_minor >= 0) AND (min_threshold_minor <= '9007199254740991'::bigint))),
    CONSTRAINT schedule_property_key_check CHECK ((length(property_key) <= 100)),
    CONSTRAINT schedule_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY payouts.schedule FORCE ROW LEVEL SECURITY;
ALTER TABLE payouts.schedule OWNER TO admitone_owner;

-- Name: statement; Type: TABLE; Schema: payouts; Owner: admitone_owner
CREATE TABLE payouts.statement (
    organization_id uuid NOT NULL,
    payee_id uuid NOT NULL,
    week date NOT NULL,
    currency text NOT NULL,
    moved_minor bigint NOT NULL,
    announced_at timestamp with time zone NOT NULL,
    CONSTRAINT statement_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT statement_week_check CHECK ((EXTRACT(isodow FROM week) = (1)::numeric))
);
ALTER TABLE ONLY payouts.statement FORCE ROW LEVEL SECURITY;
ALTER TABLE payouts.statement OWNER TO admitone_owner;

-- Name: fee_choice; Type: TABLE; Schema: pricing; Owner: admitone_owner
CREATE TABLE pricing.fee_choice (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    source_type text,
    target text NOT NULL,
    fee_mode text,
    created_by uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT fee_choice_check CHECK ((target = COALESCE(source_type, ''::text))),
    CONSTRAINT fee_choice_fee_mode_check CHECK ((fee_mode = ANY (ARRAY['INCLUDED'::text, 'ADDED'::text, 'ABSORBED'::text]))),
    CONSTRAINT fee_choice_source_type_check CHECK ((source_type = ANY (ARRAY['TICKET_ORDER'::text, 'BOOKING'::text, 'PADEL_REGISTRATION'::text, 'STORE_ORDER'::text]))),
    CONSTRAINT fee_choice_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY pricing.fee_choice FORCE ROW LEVEL SECURITY;
ALTER TABLE pricing.fee_choice OWNER TO admitone_owner;

-- Name: fee_policy; Type: TABLE; Schema: pricing; Owner: admitone_owner
CREATE TABLE pricing.fee_policy (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    source_type text,
    source_id text,
    currency text,
    target text NOT NULL,
    fee_bps integer NOT NULL,
    fee_fixed_minor bigint NOT NULL,
    min_minor bigint,
    max_minor bigint,
    fee_mode text NOT NULL,
    base text NOT NULL,
    absorbed_allowed boolean NOT NULL,
    retired boolean NOT NULL,
    created_by uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT fee_policy_base_check CHECK ((base = ANY (ARRAY['SUBTOTAL'::text, 'SUBTOTAL_PLUS_TAXES'::text]))),
    CONSTRAINT fee_policy_check CHECK ((target = ((((COALESCE(source_type, ''::text) || '/'::text) || COALESCE(source_id, ''::text)) || '/'::text) || COALESCE(currency, ''::text)))),
    CONSTRAINT fee_policy_check1 CHECK (((source_id IS NULL) OR (source_type IS NOT NULL))),
    CONSTRAINT fee_policy_check2 CHECK ((min_minor <= max_minor)),
    CONSTRAINT fee_policy_check3 CHECK (((currency IS NOT NULL) OR ((fee_fixed_minor = 0) AND (min_minor IS NULL) AND (max_minor IS NULL)))),
    CONSTRAINT fee_policy_check4 CHECK (((fee_mode <> 'ABSORBED'::text) OR absorbed_allowed)),
    CONSTRAINT fee_policy_check5 CHECK ((retired OR (source_type <> 'STAY_RESERVATION'::text) OR ((fee_bps >= 500) AND (fee_bps <= 2500)))),
    CONSTRAINT fee_policy_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT fee_policy_fee_bps_check CHECK (((fee_bps >= 0) AND (fee_bps <= 10000))),
    CONSTRAINT fee_policy_fee_fixed_minor_check CHECK (((fee_fixed_minor >= 0) AND (fee_fixed_minor <= '1000000000000'::bigint))),
    CONSTRAINT fee_policy_fee_mode_check CHECK ((fee_mode = ANY (ARRAY['INCLUDED'::text, 'ADDED'::text, 'ABSORBED'::text]))),
    CONSTRAINT fee_policy_max_minor_check CHECK (((max_minor >= 0) AND (max_minor <= '1000000000000'::bigint))),
    CONSTRAINT fee_policy_min_minor_check CHECK (((min_minor >= 0) AND (min_minor <= '1000000000000'::bigint))),
    CONSTRAINT fee_policy_source_id_check CHECK ((source_id ~ '^[A-Za-z0-9_.:-]{1,64}$'::text)),
    CONSTRAINT fee_policy_source_type_check CHECK ((source_type = ANY (ARRAY['TICKET_ORDER'::text, 'BOOKING'::text, 'PADEL_REGISTRATION'::text, 'STORE_ORDER'::text, 'STAY_RESERVATION'::text, 'COUPON_CAMPAIGN'::text]))),
    CONSTRAINT fee_policy_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY pricing.fee_policy FORCE ROW LEVEL SECURITY;
ALTER TABLE pricing.fee_policy OWNER TO admitone_owner;

-- Name: platform_policy; Type: TABLE; Schema: pricing; Owner: admitone_owner
CREATE TABLE pricing.platform_policy (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    source_type text,
    source_id text,
    currency text,
    target text NOT NULL,
    fee_bps integer NOT NULL,
    fee_fixed_minor bigint NOT NULL,
    min_minor bigint,
    max_minor bigint,
    fee_mode text NOT NULL,
    base text NOT NULL,
    absorbed_allowed boolean NOT NULL,
    retired boolean NOT NULL,
    created_by uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT platform_policy_base_check CHECK ((base = ANY (ARRAY['SUBTOTAL'::text, 'SUBTOTAL_PLUS_TAXES'::text]))),
    CONSTRAINT platform_policy_check CHECK ((target = ((COALESCE(source_type, ''::text) || '//'::text) || COALESCE(currency, ''::text)))),
    CONSTRAINT platform_policy_check1 CHECK ((min_minor <= max_minor)),
    CONSTRAINT platform_policy_check2 CHECK (((currency IS NOT NULL) OR ((fee_fixed_minor = 0) AND (min_minor IS NULL) AND (max_minor IS NULL)))),
    CONSTRAINT platform_policy_check3 CHECK (((fee_mode <> 'ABSORBED'::text) OR absorbed_allowed)),
    CONSTRAINT platform_policy_check4 CHECK ((retired OR (source_type <> 'STAY_RESERVATION'::text) OR ((fee_bps >= 500) AND (fee_bps <= 2500)))),
    CONSTRAINT platform_policy_check5 CHECK (((NOT retired) OR (currency IS NOT NULL) OR (COALESCE(source_type, 'STAY_RESERVATION'::text) <> 'STAY_RESERVATION'::text))),
    CONSTRAINT platform_policy_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT platform_policy_fee_bps_check CHECK (((fee_bps >= 0) AND (fee_bps <= 10000))),
    CONSTRAINT platform_policy_fee_fixed_minor_check CHECK (((fee_fixed_minor >= 0) AND (fee_fixed_minor <= '1000000000000'::bigint))),
    CONSTRAINT platform_policy_fee_mode_check CHECK ((fee_mode = ANY (ARRAY['INCLUDED'::text, 'ADDED'::text, 'ABSORBED'::text]))),
    CONSTRAINT platform_policy_max_minor_check CHECK (((max_minor >= 0) AND (max_minor <= '1000000000000'::bigint))),
    CONSTRAINT platform_policy_min_minor_check CHECK (((min_minor >= 0) AND (min_minor <= '1000000000000'::bigint))),
    CONSTRAINT platform_policy_organization_id_check CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid)),
    CONSTRAINT platform_policy_source_id_check CHECK ((source_id IS NULL)),
    CONSTRAINT platform_policy_source_type_check CHECK ((source_type = ANY (ARRAY['TICKET_ORDER'::text, 'BOOKING'::text, 'PADEL_REGISTRATION'::text, 'STORE_ORDER'::text, 'STAY_RESERVATION'::text, 'COUPON_CAMPAIGN'::text]))),
    CONSTRAINT platform_policy_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY pricing.platform_policy FORCE ROW LEVEL SECURITY;
ALTER TABLE pricing.platform_policy OWNER TO admitone_owner;

-- Name: verdict; Type: TABLE; Schema: proof; Owner: admitone_owner
CREATE TABLE proof.verdict (
    organization_id uuid NOT NULL,
    name text NOT NULL,
    verdict text NOT NULL,
    severity smallint NOT NULL,
    differing bigint NOT NULL,
    figures jsonb NOT NULL,
    checked_at timestamp with time zone NOT NULL,
    green_at timestamp with time zone NOT NULL,
    CONSTRAINT verdict_check CHECK ((severity =
CASE verdict
    WHEN 'RED'::text THEN 0
    WHEN 'UNKNOWN'::text THEN 1
    ELSE 2
END)),
    CONSTRAINT verdict_check1 CHECK (((differing > 0) = (verdict = 'RED'::text))),
    CONSTRAINT verdict_name_check CHECK ((name = ANY (ARRAY['TRIAL_BALANCE'::text, 'BALANCES'::text, 'PROVIDER'::text, 'CHAIN'::text]))),
    CONSTRAINT verdict_verdict_check CHECK ((verdict = ANY (ARRAY['GREEN'::text, 'RED'::text, 'UNKNOWN'::text])))
);
ALTER TABLE ONLY proof.verdict FORCE ROW LEVEL SECURITY;
ALTER TABLE proof.verdict OWNER TO admitone_owner;

-- Name: issue; Type: TABLE; Schema: reconciliation; Owner: admitone_owner
CREATE TABLE reconciliation.issue (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    class text NOT NULL,
    kind text NOT NULL,
    reference text NOT NULL,
    currency text NOT NULL,
    here_currency text,
    here_minor bigint NOT NULL,
    there_minor bigint NOT NULL,
    payment_id uuid,
    responsible text NOT NULL,
    taken_by uuid,
    state text NOT NULL,
    closed_how text,
    closed_reason text,
    closed_by uuid,
    closed_at timestamp with time zone,
    moved_at timestamp with time zone NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    correlation_id uuid NOT NULL,
    CONSTRAINT issue_check CHECK ((last_seen_at >= first_seen_at)),
    CONSTRAINT issue_check1 CHECK (((here_currency IS NOT NULL) = (class = 'CURRENCY'::text))),
    CONSTRAINT issue_check2 CHECK (((state = 'CLOSED'::text) = ((closed_how IS NOT NULL) AND (closed_at IS NOT NULL)))),
    CONSTRAINT issue_check3 CHECK (((closed_reason IS NOT NULL) = COALESCE((closed_how = 'BY_HAND'::text), false))),
    CONSTRAINT issue_check4 CHECK (((closed_by IS NOT NULL) = COALESCE((closed_how = 'BY_HAND'::text), false))),
    CONSTRAINT issue_class_check CHECK ((class = ANY (ARRAY['MISSING_HERE'::text, 'MISSING_THERE'::text, 'AMOUNT'::text, 'FEE'::text, 'CURRENCY'::text, 'DUPLICATE'::text, 'STAYED'::text]))),
    CONSTRAINT issue_closed_how_check CHECK ((closed_how = ANY (ARRAY['ROUNDING'::text, 'RESOLVED_BY_ITSELF'::text, 'BY_HAND'::text]))),
    CONSTRAINT issue_closed_reason_check CHECK (((length(closed_reason) >= 1) AND (length(closed_reason) <= 100))),
    CONSTRAINT issue_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT issue_here_currency_check CHECK ((here_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT issue_kind_check CHECK (((length(kind) >= 1) AND (length(kind) <= 40))),
    CONSTRAINT issue_reference_check CHECK ((length(reference) <= 200)),
    CONSTRAINT issue_responsible_check CHECK (((length(responsible) >= 1) AND (length(responsible) <= 60))),
    CONSTRAINT issue_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'CLOSED'::text])))
);
ALTER TABLE ONLY reconciliation.issue FORCE ROW LEVEL SECURITY;
ALTER TABLE reconciliation.issue OWNER TO admitone_owner;

-- Name: run; Type: TABLE; Schema: reconciliation; Owner: admitone_owner
CREATE TABLE reconciliation.run (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    state text NOT NULL,
    since timestamp with time zone,
    until timestamp with time zone,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    sums jsonb DEFAULT '{}'::jsonb NOT NULL,
    open_issues jsonb DEFAULT '[]'::jsonb NOT NULL,
    reason text,
    correlation_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT run_check CHECK (((started_at IS NULL) = (state = 'QUEUED'::text))),
    CONSTRAINT run_check1 CHECK (((finished_at IS NULL) = (state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text])))),
    CONSTRAINT run_check2 CHECK (((state = 'UNTOLD'::text) = (reason IS NOT NULL))),
    CONSTRAINT run_check3 CHECK (((until IS NOT NULL) OR (state <> 'DONE'::text))),
    CONSTRAINT run_counts_check CHECK ((jsonb_typeof(counts) = 'object'::text)),
    CONSTRAINT run_open_issues_check CHECK ((jsonb_typeof(open_issues) = 'array'::text)),
    CONSTRAINT run_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 200))),
    CONSTRAINT run_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'DONE'::text, 'UNTOLD'::text, 'ABANDONED'::text]))),
    CONSTRAINT run_sums_check CHECK ((jsonb_typeof(sums) = 'object'::text))
);
ALTER TABLE ONLY reconciliation.run FORCE ROW LEVEL SECURITY;
ALTER TABLE reconciliation.run OWNER TO admitone_owner;

-- Name: standing; Type: TABLE; Schema: reconciliation; Owner: admitone_owner
CREATE TABLE reconciliation.standing (
    organization_id uuid NOT NULL,
    known_since timestamp with time zone NOT NULL,
    compared_until timestamp with time zone
);
ALTER TABLE ONLY reconciliation.standing FORCE ROW LEVEL SECURITY;
ALTER TABLE reconciliation.standing OWNER TO admitone_owner;

-- Name: refund; Type: TABLE; Schema: refunds; Owner: admitone_owner
CREATE TABLE refunds.refund (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    city_code text NOT NULL,
    source_type text NOT NULL,
    source_id text NOT NULL,
    amount_minor bigint NOT NULL,
    fee_minor bigint NOT NULL,
    currency text NOT NULL,
    reason text NOT NULL,
    cancellation_id uuid,
    state text NOT NULL,
    failure text,
    requested_by uuid,
    created_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    stands_for uuid,
    CONSTRAINT refund_amount_minor_check CHECK ((amount_minor > 0)),
    CONSTRAINT refund_check CHECK (((fee_minor >= 0) AND (fee_minor <= amount_minor))),
    CONSTRAINT refund_check1 CHECK (((state = ANY (ARRAY['PLANNED'::text, 'PENDING'::text])) = (settled_at IS NULL))),
    CONSTRAINT refund_check2 CHECK (((state <> 'PLANNED'::text) OR (cancellation_id IS NOT NULL))),
    CONSTRAINT refund_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT refund_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT refund_failure_check CHECK ((length(failure) <= 200)),
    CONSTRAINT refund_reason_check CHECK ((reason = ANY (ARRAY['CANCELLED_BY_SELLER'::text, 'SERIOUS_FAILURE'::text, 'ABUSE_REPORTED'::text, 'TECHNICAL_PROBLEM'::text, 'NOT_DELIVERED'::text, 'CUSTOMER_CANCELLED'::text, 'ADMIN_OVERRIDE'::text]))),
    CONSTRAINT refund_stands_for_check CHECK (((stands_for IS NULL) OR (cancellation_id IS NULL))),
    CONSTRAINT refund_state_check CHECK ((state = ANY (ARRAY['PLANNED'::text, 'OVERTAKEN'::text, 'PENDING'::text, 'SUCCEEDED'::text, 'FAILED'::text])))
);
ALTER TABLE ONLY refunds.refund FORCE ROW LEVEL SECURITY;
ALTER TABLE refunds.refund OWNER TO admitone_owner;

-- Name: refund_line; Type: TABLE; Schema: refunds; Owner: admitone_owner
CREATE TABLE refunds.refund_line (
    organization_id uuid NOT NULL,
    refund_id uuid NOT NULL,
    line_key text NOT NULL,
    quantity integer NOT NULL,
    amount_minor bigint NOT NULL,
    fee_minor bigint NOT NULL,
    pieces integer[] DEFAULT '{}'::integer[] NOT NULL,
    CONSTRAINT refund_line_amount_minor_check CHECK ((amount_minor >= 0)),
    CONSTRAINT refund_line_fee_minor_check CHECK ((fee_minor >= 0)),
    CONSTRAINT refund_line_line_key_check CHECK (((length(line_key) >= 1) AND (length(line_key) <= 200))),
    CONSTRAINT refund_line_pieces_check CHECK ((cardinality(pieces) <= quantity)),
    CONSTRAINT refund_line_quantity_check CHECK ((quantity > 0))
);
ALTER TABLE ONLY refunds.refund_line FORCE ROW LEVEL SECURITY;
ALTER TABLE refunds.refund_line OWNER TO admitone_owner;

-- Name: sale_line; Type: TABLE; Schema: sales; Owner: admitone_owner
CREATE TABLE sales.sale_line (
    organization_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    line integer NOT NULL,
    city_code text NOT NULL,
    key text NOT NULL,
    quantity integer NOT NULL,
    unit_price_minor bigint NOT NULL,
    gross_minor bigint NOT NULL,
    discount_minor bigint NOT NULL,
    platform_fee_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    promotions jsonb NOT NULL,
    CONSTRAINT sale_line_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT sale_line_line_check CHECK ((line > 0)),
    CONSTRAINT sale_line_quantity_check CHECK ((quantity > 0))
);
ALTER TABLE ONLY sales.sale_line FORCE ROW LEVEL SECURITY;
ALTER TABLE sales.sale_line OWNER TO admitone_owner;

-- Name: sale_summary; Type: TABLE; Schema: sales; Owner: admitone_owner
CREATE TABLE sales.sale_summary (
    organization_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    payment_version bigint NOT NULL,
    city_code text NOT NULL,
    identity_id uuid NOT NULL,
    source_type text NOT NULL,
    source_id text NOT NULL,
    provider_intent_id text,
    status text NOT NULL,
    is_test boolean NOT NULL,
    currency text NOT NULL,
    subtotal_minor bigint NOT NULL,
    discount_minor bigint NOT NULL,
    platform_fee_minor bigint NOT NULL,
    card_fee_minor bigint NOT NULL,
    stripe_fee_minor bigint,
    total_minor bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    promotions jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT sale_summary_card_fee_minor_check CHECK ((card_fee_minor = 0)),
    CONSTRAINT sale_summary_city_code_check CHECK ((city_code ~ '^[A-Z]{3,8}$'::text)),
    CONSTRAINT sale_summary_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT sale_summary_payment_version_check CHECK ((payment_version > 0)),
    CONSTRAINT sale_summary_provider_intent_id_check CHECK (((length(provider_intent_id) >= 1) AND (length(provider_intent_id) <= 200))),
    CONSTRAINT sale_summary_source_id_check CHECK (((length(source_id) >= 1) AND (length(source_id) <= 64))),
    CONSTRAINT sale_summary_source_type_check CHECK (((length(source_type) >= 1) AND (length(source_type) <= 40))),
    CONSTRAINT sale_summary_status_check CHECK (((length(status) >= 1) AND (length(status) <= 40)))
);
ALTER TABLE ONLY sales.sale_summary FORCE ROW LEVEL SECURITY;
ALTER TABLE sales.sale_summary OWNER TO admitone_owner;

-- Name: given_back; Type: TABLE; Schema: stock; Owner: admitone_owner
CREATE TABLE stock.given_back (
    organization_id uuid NOT NULL,
    hold_id uuid NOT NULL,
    key text NOT NULL,
    number smallint NOT NULL,
    quantity integer NOT NULL,
    units uuid[],
    at timestamp with time zone NOT NULL,
    CONSTRAINT given_back_check CHECK ((cardinality(units) = quantity)),
    CONSTRAINT given_back_key_check CHECK (((length(key) >= 1) AND (length(key) <= 100))),
    CONSTRAINT given_back_quantity_check CHECK ((quantity > 0))
);
ALTER TABLE ONLY stock.given_back FORCE ROW LEVEL SECURITY;
ALTER TABLE stock.given_back OWNER TO admitone_owner;

-- Name: pool; Type: TABLE; Schema: stock; Owner: admitone_owner
CREATE TABLE stock.pool (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    capacity integer NOT NULL,
    held integer NOT NULL,
    sold integer NOT NULL,
    seated boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT pool_capacity_check CHECK (((capacity >= 0) AND (capacity <= 1000000000))),
    CONSTRAINT pool_check CHECK (((held + sold) <= capacity)),
    CONSTRAINT pool_held_check CHECK ((held >= 0)),
    CONSTRAINT pool_sold_check CHECK ((sold >= 0))
)
WITH (fillfactor='50');
ALTER TABLE ONLY stock.pool FORCE ROW LEVEL SECURITY;
ALTER TABLE stock.pool OWNER TO admitone_owner;

-- Name: portion; Type: TABLE; Schema: stock; Owner: admitone_owner
CREATE TABLE stock.portion (
    organization_id uuid NOT NULL,
    hold_id uuid NOT NULL,
    number smallint NOT NULL,
    pool_id uuid NOT NULL,
    item text NOT NULL,
    subject text NOT NULL,
    buyer_id uuid NOT NULL,
    quantity integer NOT NULL,
    leads boolean NOT NULL,
    most integer,
    status text NOT NULL,
    returned integer NOT NULL,
    units uuid[],
    kept_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    keepable_until timestamp with time zone,
    CONSTRAINT portion_check CHECK (((returned >= 0) AND (returned <= quantity))),
    CONSTRAINT portion_check1 CHECK (((status = ANY (ARRAY['RELEASED'::text, 'EXPIRED'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT portion_check2 CHECK (((returned = 0) OR (status = 'SOLD'::text))),
    CONSTRAINT portion_check3 CHECK ((cardinality(units) = (quantity - returned))),
    CONSTRAINT portion_item_check CHECK (((length(item) >= 1) AND (length(item) <= 64))),
    CONSTRAINT portion_keepable_check CHECK ((expires_at <= keepable_until)),
    CONSTRAINT portion_most_check CHECK ((most >= 0)),
    CONSTRAINT portion_number_check CHECK ((number >= 0)),
    CONSTRAINT portion_quantity_check CHECK (((quantity >= 1) AND (quantity <= 1000000))),
    CONSTRAINT portion_status_check CHECK ((status = ANY (ARRAY['HELD'::text, 'SOLD'::text, 'RELEASED'::text, 'EXPIRED'::text]))),
    CONSTRAINT portion_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 64)))
)
WITH (fillfactor='80');
ALTER TABLE ONLY stock.portion FORCE ROW LEVEL SECURITY;
ALTER TABLE stock.portion OWNER TO admitone_owner;

-- Name: unit; Type: TABLE; Schema: stock; Owner: admitone_owner
CREATE TABLE stock.unit (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    pool_id uuid NOT NULL,
    label text NOT NULL,
    place integer NOT NULL,
    hold_id uuid,
    CONSTRAINT unit_label_check CHECK (((length(label) >= 1) AND (length(label) <= 64))),
    CONSTRAINT unit_place_check CHECK ((place >= 0))
)
WITH (fillfactor='80');
ALTER TABLE ONLY stock.unit FORCE ROW LEVEL SECURITY;
ALTER TABLE stock.unit OWNER TO admitone_owner;

-- Name: username; Type: TABLE; Schema: usernames; Owner: admitone_owner
CREATE TABLE usernames.username (
    name text NOT NULL,
    owner_type text NOT NULL,
    owner_id uuid NOT NULL,
    status text NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    held_until timestamp with time zone,
    CONSTRAINT username_check CHECK (((status = 'HELD'::text) = (held_until IS NOT NULL))),
    CONSTRAINT username_name_check CHECK (((length(name) >= 4) AND (length(name) <= 15))),
    CONSTRAINT username_name_check1 CHECK ((name IS NFC NORMALIZED)),
    CONSTRAINT username_name_check2 CHECK ((name = lower((name COLLATE "C")))),
    CONSTRAINT username_name_check3 CHECK ((name !~ '\s'::text)),
    CONSTRAINT username_owner_type_check CHECK ((owner_type = ANY (ARRAY['USER'::text, 'ORGANIZATION'::text]))),
    CONSTRAINT username_status_check CHECK ((status = ANY (ARRAY['LIVE'::text, 'HELD'::text])))
);
ALTER TABLE ONLY usernames.username FORCE ROW LEVEL SECURITY;
ALTER TABLE usernames.username OWNER TO admitone_owner;

-- Name: cursor; Type: TABLE; Schema: webhooks; Owner: admitone_owner
CREATE TABLE webhooks.cursor (
    organization_id uuid NOT NULL,
    provider text NOT NULL,
    "position" text,
    since timestamp with time zone NOT NULL,
    CONSTRAINT cursor_position_check CHECK (((length("position") >= 1) AND (length("position") <= 500))),
    CONSTRAINT cursor_provider_check CHECK (((length(provider) >= 1) AND (length(provider) <= 50)))
);
ALTER TABLE ONLY webhooks.cursor FORCE ROW LEVEL SECURITY;
ALTER TABLE webhooks.cursor OWNER TO admitone_owner;

-- Name: payload; Type: TABLE; Schema: webhooks; Owner: admitone_owner
CREATE TABLE webhooks.payload (
    organization_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT payload_sealed_check CHECK ((length(sealed) <= 300000))
);
ALTER TABLE ONLY webhooks.payload ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY webhooks.payload FORCE ROW LEVEL SECURITY;
ALTER TABLE webhooks.payload OWNER TO admitone_owner;

-- Name: receipt; Type: TABLE; Schema: webhooks; Owner: admitone_owner
CREATE TABLE webhooks.receipt (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    source text NOT NULL,
    external_id text NOT NULL,
    provider text NOT NULL,
    type text NOT NULL,
    account text,
    provider_created_at timestamp with time zone NOT NULL,
    livemode boolean NOT NULL,
    request_id text,
    correlation_id uuid NOT NULL,
    state text NOT NULL,
    reason text,
    payment_id uuid,
    round smallint DEFAULT 0 NOT NULL,
    received_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    CONSTRAINT receipt_account_check CHECK (((length(account) >= 1) AND (length(account) <= 200))),
    CONSTRAINT receipt_check CHECK (((state = 'RECEIVED'::text) = (settled_at IS NULL))),
    CONSTRAINT receipt_check1 CHECK (((reason IS NOT NULL) OR (state <> ALL (ARRAY['ORG_UNRESOLVED'::text, 'DEAD'::text])))),
    CONSTRAINT receipt_check2 CHECK (((state <> 'ORG_UNRESOLVED'::text) OR (organization_id = '00000000-0000-7000-8000-000000000001'::uuid))),
    CONSTRAINT receipt_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 200))),
    CONSTRAINT receipt_provider_check CHECK (((length(provider) >= 1) AND (length(provider) <= 50))),
    CONSTRAINT receipt_reason_check CHECK ((length(reason) <= 500)),
    CONSTRAINT receipt_request_id_check CHECK (((length(request_id) >= 1) AND (length(request_id) <= 200))),
    CONSTRAINT receipt_round_check CHECK ((round >= 0)),
    CONSTRAINT receipt_source_check CHECK (((length(source) >= 1) AND (length(source) <= 50))),
    CONSTRAINT receipt_state_check CHECK ((state = ANY (ARRAY['RECEIVED'::text, 'PROCESSED'::text, 'IGNORED'::text, 'ORG_UNRESOLVED'::text, 'DEAD'::text]))),
    CONSTRAINT receipt_type_check CHECK (((length(type) >= 1) AND (length(type) <= 200)))
)
WITH (fillfactor='90');
ALTER TABLE ONLY webhooks.receipt FORCE ROW LEVEL SECURITY;
ALTER TABLE webhooks.receipt OWNER TO admitone_owner;

-- Name: branch branch_pkey; Type: CONSTRAINT; Schema: authority; Owner: admitone_owner
ALTER TABLE ONLY authority.branch
    ADD CONSTRAINT branch_pkey PRIMARY KEY (organization_id);

-- Name: group_member group_member_pkey; Type: CONSTRAINT; Schema: authority; Owner: admitone_owner
ALTER TABLE ONLY authority.group_member
    ADD CONSTRAINT group_member_pkey PRIMARY KEY (organization_id, identity_id);

-- Name: member_override member_override_pkey; Type: CONSTRAINT; Schema: authority; Owner: admitone_owner
ALTER TABLE ONLY authority.member_override
    ADD CONSTRAINT member_override_pkey PRIMARY KEY (organization_id, identity_id);

-- Name: module_entry module_entry_pkey; Type: CONSTRAINT; Schema: authority; Owner: admitone_owner
ALTER TABLE ONLY authority.module_entry
    ADD CONSTRAINT module_entry_pkey PRIMARY KEY (organization_id, module);

-- Name: service_key service_key_pkey; Type: CONSTRAINT; Schema: authority; Owner: admitone_owner
ALTER TABLE ONLY authority.service_key
    ADD CONSTRAINT service_key_pkey PRIMARY KEY (organization_id, id);

-- Name: session session_pkey; Type: CONSTRAINT; Schema: authority; Owner: admitone_owner
ALTER TABLE ONLY authority.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);

-- Name: spent_token spent_token_pkey; Type: CONSTRAINT; Schema: authority; Owner: admitone_owner
ALTER TABLE ONLY authority.spent_token
    ADD CONSTRAINT spent_token_pkey PRIMARY KEY (digest);

-- Name: switch switch_pkey; Type: CONSTRAINT; Schema: authority; Owner: admitone_owner
ALTER TABLE ONLY authority.switch
    ADD CONSTRAINT switch_pkey PRIMARY KEY (organization_id, key);

-- Name: campaign campaign_organization_id_key_key; Type: CONSTRAINT; Schema: coupons; Owner: admitone_owner
ALTER TABLE ONLY coupons.campaign
    ADD CONSTRAINT campaign_organization_id_key_key UNIQUE (organization_id, key);

-- Name: campaign campaign_pkey; Type: CONSTRAINT; Schema: coupons; Owner: admitone_owner
ALTER TABLE ONLY coupons.campaign
    ADD CONSTRAINT campaign_pkey PRIMARY KEY (organization_id, id);

-- Name: known_token known_token_pkey; Type: CONSTRAINT; Schema: coupons; Owner: admitone_owner
ALTER TABLE ONLY coupons.known_token
    ADD CONSTRAINT known_token_pkey PRIMARY KEY (digest);

-- Name: token token_pkey; Type: CONSTRAINT; Schema: coupons; Owner: admitone_owner
ALTER TABLE ONLY coupons.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (organization_id, id);

-- Name: dispute dispute_organization_id_provider_reference_key; Type: CONSTRAINT; Schema: disputes; Owner: admitone_owner
ALTER TABLE ONLY disputes.dispute
    ADD CONSTRAINT dispute_organization_id_provider_reference_key UNIQUE (organization_id, provider, reference);

-- Name: dispute dispute_pkey; Type: CONSTRAINT; Schema: disputes; Owner: admitone_owner
ALTER TABLE ONLY disputes.dispute
    ADD CONSTRAINT dispute_pkey PRIMARY KEY (organization_id, id);

-- Name: evidence evidence_pkey; Type: CONSTRAINT; Schema: disputes; Owner: admitone_owner
ALTER TABLE ONLY disputes.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (organization_id, dispute_id, number);

-- Name: step step_pkey; Type: CONSTRAINT; Schema: disputes; Owner: admitone_owner
ALTER TABLE ONLY disputes.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (organization_id, dispute_id, number);

-- Name: change change_pkey; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.change
    ADD CONSTRAINT change_pkey PRIMARY KEY (organization_id, entitlement_id, number);

-- Name: checkin checkin_pkey; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.checkin
    ADD CONSTRAINT checkin_pkey PRIMARY KEY (organization_id, id);

-- Name: claimed claimed_pkey; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.claimed
    ADD CONSTRAINT claimed_pkey PRIMARY KEY (guest_id);

-- Name: entitlement entitlement_organization_id_emission_key_key; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.entitlement
    ADD CONSTRAINT entitlement_organization_id_emission_key_key UNIQUE (organization_id, emission_key);

-- Name: entitlement entitlement_pkey; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.entitlement
    ADD CONSTRAINT entitlement_pkey PRIMARY KEY (organization_id, id);

-- Name: lease lease_pkey; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (organization_id, id);

-- Name: scanner scanner_pkey; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.scanner
    ADD CONSTRAINT scanner_pkey PRIMARY KEY (organization_id, event_id, device);

-- Name: tally tally_pkey; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.tally
    ADD CONSTRAINT tally_pkey PRIMARY KEY (organization_id, event_id, device, minute, gate, session_id);

-- Name: token token_organization_id_entitlement_id_epoch_key; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.token
    ADD CONSTRAINT token_organization_id_entitlement_id_epoch_key UNIQUE (organization_id, entitlement_id, epoch);

-- Name: token token_pkey; Type: CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (organization_id, digest);

-- Name: access_policy access_policy_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.access_policy
    ADD CONSTRAINT access_policy_pkey PRIMARY KEY (organization_id, event_id, version);

-- Name: event event_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (organization_id, id);

-- Name: guest_link guest_link_organization_id_order_id_digest_key; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.guest_link
    ADD CONSTRAINT guest_link_organization_id_order_id_digest_key UNIQUE (organization_id, order_id, digest);

-- Name: guest_link guest_link_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.guest_link
    ADD CONSTRAINT guest_link_pkey PRIMARY KEY (organization_id, digest);

-- Name: house house_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.house
    ADD CONSTRAINT house_pkey PRIMARY KEY (organization_id);

-- Name: listing listing_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.listing
    ADD CONSTRAINT listing_pkey PRIMARY KEY (event_id);

-- Name: order_line order_line_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.order_line
    ADD CONSTRAINT order_line_pkey PRIMARY KEY (organization_id, order_id, ticket_type_id);

-- Name: session session_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (organization_id, event_id, id);

-- Name: shared_pool shared_pool_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.shared_pool
    ADD CONSTRAINT shared_pool_pkey PRIMARY KEY (organization_id, event_id, id);

-- Name: ticket_order ticket_order_organization_id_identity_id_key_key; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.ticket_order
    ADD CONSTRAINT ticket_order_organization_id_identity_id_key_key UNIQUE (organization_id, identity_id, key);

-- Name: ticket_order ticket_order_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.ticket_order
    ADD CONSTRAINT ticket_order_pkey PRIMARY KEY (organization_id, id);

-- Name: ticket ticket_organization_id_order_id_ticket_type_id_emission_ind_key; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.ticket
    ADD CONSTRAINT ticket_organization_id_order_id_ticket_type_id_emission_ind_key UNIQUE (organization_id, order_id, ticket_type_id, emission_index);

-- Name: ticket ticket_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.ticket
    ADD CONSTRAINT ticket_pkey PRIMARY KEY (organization_id, id);

-- Name: ticket_type ticket_type_pkey; Type: CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.ticket_type
    ADD CONSTRAINT ticket_type_pkey PRIMARY KEY (organization_id, id);

-- Name: operation operation_organization_id_key_key; Type: CONSTRAINT; Schema: fulfilment; Owner: admitone_owner
ALTER TABLE ONLY fulfilment.operation
    ADD CONSTRAINT operation_organization_id_key_key UNIQUE (organization_id, key);

-- Name: operation operation_pkey; Type: CONSTRAINT; Schema: fulfilment; Owner: admitone_owner
ALTER TABLE ONLY fulfilment.operation
    ADD CONSTRAINT operation_pkey PRIMARY KEY (organization_id, payment_id);

-- Name: apple apple_once_under_a_key; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.apple
    ADD CONSTRAINT apple_once_under_a_key UNIQUE (identity_id, key_version);

-- Name: apple apple_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.apple
    ADD CONSTRAINT apple_pkey PRIMARY KEY (subject_hash);

-- Name: challenge challenge_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.challenge
    ADD CONSTRAINT challenge_pkey PRIMARY KEY (id);

-- Name: email_hash email_hash_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.email_hash
    ADD CONSTRAINT email_hash_pkey PRIMARY KEY (type, hash);

-- Name: identity identity_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (id);

-- Name: merge merge_email_hash_user_id_batch_version_key; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.merge
    ADD CONSTRAINT merge_email_hash_user_id_batch_version_key UNIQUE (email_hash, user_id, batch_version);

-- Name: merge merge_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.merge
    ADD CONSTRAINT merge_pkey PRIMARY KEY (guest_id);

-- Name: password password_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.password
    ADD CONSTRAINT password_pkey PRIMARY KEY (identity_id);

-- Name: profile profile_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.profile
    ADD CONSTRAINT profile_pkey PRIMARY KEY (identity_id);

-- Name: recovery_code recovery_code_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.recovery_code
    ADD CONSTRAINT recovery_code_pkey PRIMARY KEY (identity_id, digest);

-- Name: totp totp_pkey; Type: CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.totp
    ADD CONSTRAINT totp_pkey PRIMARY KEY (identity_id);

-- Name: alert alert_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.alert
    ADD CONSTRAINT alert_pkey PRIMARY KEY (organization_id, id);

-- Name: audit_entry audit_entry_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.audit_entry
    ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (id);

-- Name: ban ban_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.ban
    ADD CONSTRAINT ban_pkey PRIMARY KEY (key);

-- Name: breaker breaker_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.breaker
    ADD CONSTRAINT breaker_pkey PRIMARY KEY (dependency);

-- Name: bulk bulk_organization_id_kind_key_key; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.bulk
    ADD CONSTRAINT bulk_organization_id_kind_key_key UNIQUE (organization_id, kind, key);

-- Name: bulk bulk_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.bulk
    ADD CONSTRAINT bulk_pkey PRIMARY KEY (organization_id, id);

-- Name: city city_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.city
    ADD CONSTRAINT city_pkey PRIMARY KEY (code);

-- Name: dead_letter dead_letter_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (id);

-- Name: event_log event_log_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.event_log
    ADD CONSTRAINT event_log_pkey PRIMARY KEY (organization_id, id);

-- Name: fact_key fact_key_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.fact_key
    ADD CONSTRAINT fact_key_pkey PRIMARY KEY (organization_id, type, idempotency_key);

-- Name: idempotency_key idempotency_key_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (organization_id, name);

-- Name: inbox inbox_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (organization_id, key);

-- Name: job_attempt job_attempt_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.job_attempt
    ADD CONSTRAINT job_attempt_pkey PRIMARY KEY (job_id, number);

-- Name: job_key job_key_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.job_key
    ADD CONSTRAINT job_key_pkey PRIMARY KEY (organization_id, key);

-- Name: job job_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

-- Name: limit_counter limit_counter_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.limit_counter
    ADD CONSTRAINT limit_counter_pkey PRIMARY KEY (key);

-- Name: migration migration_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);

-- Name: outbox outbox_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (organization_id, event_id);

-- Name: plan plan_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.plan
    ADD CONSTRAINT plan_pkey PRIMARY KEY (organization_id, id);

-- Name: schedule schedule_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name);

-- Name: streak streak_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.streak
    ADD CONSTRAINT streak_pkey PRIMARY KEY (key);

-- Name: tenant tenant_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);

-- Name: worker worker_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (id);

-- Name: balance_day balance_day_pkey; Type: CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.balance_day
    ADD CONSTRAINT balance_day_pkey PRIMARY KEY (organization_id, account, payee_id, currency, day, city_code);

-- Name: balance balance_pkey; Type: CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.balance
    ADD CONSTRAINT balance_pkey PRIMARY KEY (organization_id, account, payee_id, currency, city_code);

-- Name: delta delta_pkey; Type: CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.delta
    ADD CONSTRAINT delta_pkey PRIMARY KEY (organization_id, id);

-- Name: seal_member seal_member_organization_id_transfer_id_key; Type: CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.seal_member
    ADD CONSTRAINT seal_member_organization_id_transfer_id_key UNIQUE (organization_id, transfer_id);

-- Name: seal_member seal_member_pkey; Type: CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.seal_member
    ADD CONSTRAINT seal_member_pkey PRIMARY KEY (organization_id, seal, ordinal);

-- Name: seal seal_pkey; Type: CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.seal
    ADD CONSTRAINT seal_pkey PRIMARY KEY (organization_id, number);

-- Name: transfer transfer_once; Type: CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.transfer
    ADD CONSTRAINT transfer_once UNIQUE NULLS NOT DISTINCT (organization_id, payment_id, entry_type, causation_id, line);

-- Name: transfer transfer_pkey; Type: CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.transfer
    ADD CONSTRAINT transfer_pkey PRIMARY KEY (organization_id, id);

-- Name: letter letter_pkey; Type: CONSTRAINT; Schema: mail; Owner: admitone_owner
ALTER TABLE ONLY mail.letter
    ADD CONSTRAINT letter_pkey PRIMARY KEY (organization_id, id);

-- Name: acceptance acceptance_pkey; Type: CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.acceptance
    ADD CONSTRAINT acceptance_pkey PRIMARY KEY (organization_id, document, document_version);

-- Name: invitation invitation_organization_id_token_digest_key; Type: CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.invitation
    ADD CONSTRAINT invitation_organization_id_token_digest_key UNIQUE (organization_id, token_digest);

-- Name: invitation invitation_pkey; Type: CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (organization_id, id);

-- Name: organization organization_pkey; Type: CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.organization
    ADD CONSTRAINT organization_pkey PRIMARY KEY (organization_id);

-- Name: profile_layout profile_layout_pkey; Type: CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.profile_layout
    ADD CONSTRAINT profile_layout_pkey PRIMARY KEY (organization_id, version);

-- Name: account account_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (organization_id, provider, livemode);

-- Name: free_claim free_claim_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.free_claim
    ADD CONSTRAINT free_claim_pkey PRIMARY KEY (organization_id, guard_key, identity_id);

-- Name: free_claim free_claim_taken_check; Type: CHECK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.free_claim
    ADD CONSTRAINT free_claim_taken_check CHECK ((taken >= 0)) NOT VALID;

-- Name: free_taking free_taking_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.free_taking
    ADD CONSTRAINT free_taking_pkey PRIMARY KEY (organization_id, payment_id, guard_key);

-- Name: gateway_intent gateway_intent_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.gateway_intent
    ADD CONSTRAINT gateway_intent_pkey PRIMARY KEY (organization_id, id);

-- Name: paid_subject paid_subject_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.paid_subject
    ADD CONSTRAINT paid_subject_pkey PRIMARY KEY (organization_id, subject, payment_id);

-- Name: payment_fact payment_fact_organization_id_payment_id_ordinal_key; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.payment_fact
    ADD CONSTRAINT payment_fact_organization_id_payment_id_ordinal_key UNIQUE (organization_id, payment_id, ordinal);

-- Name: payment_fact payment_fact_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.payment_fact
    ADD CONSTRAINT payment_fact_pkey PRIMARY KEY (organization_id, payment_id, key);

-- Name: payment payment_organization_id_source_type_source_id_idempotency_k_key; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.payment
    ADD CONSTRAINT payment_organization_id_source_type_source_id_idempotency_k_key UNIQUE (organization_id, source_type, source_id, idempotency_key);

-- Name: payment payment_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.payment
    ADD CONSTRAINT payment_pkey PRIMARY KEY (organization_id, id);

-- Name: provider_ref provider_ref_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.provider_ref
    ADD CONSTRAINT provider_ref_pkey PRIMARY KEY (provider, object_type, object_id);

-- Name: risk_hold risk_hold_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.risk_hold
    ADD CONSTRAINT risk_hold_pkey PRIMARY KEY (organization_id, id);

-- Name: unapplied_receipt unapplied_receipt_pkey; Type: CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.unapplied_receipt
    ADD CONSTRAINT unapplied_receipt_pkey PRIMARY KEY (organization_id, payment_id, capture_key);

-- Name: freeze freeze_pkey; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts."freeze"
    ADD CONSTRAINT freeze_pkey PRIMARY KEY (organization_id, payment_id, reason);

-- Name: obligation obligation_organization_id_payment_id_key; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.obligation
    ADD CONSTRAINT obligation_organization_id_payment_id_key UNIQUE (organization_id, payment_id);

-- Name: obligation obligation_pkey; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.obligation
    ADD CONSTRAINT obligation_pkey PRIMARY KEY (organization_id, id);

-- Name: owner owner_pkey; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.owner
    ADD CONSTRAINT owner_pkey PRIMARY KEY (organization_id, payee_id);

-- Name: payout payout_organization_id_payee_id_period_currency_key; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.payout
    ADD CONSTRAINT payout_organization_id_payee_id_period_currency_key UNIQUE (organization_id, payee_id, period, currency);

-- Name: payout payout_pkey; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.payout
    ADD CONSTRAINT payout_pkey PRIMARY KEY (organization_id, id);

-- Name: reported reported_pkey; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.reported
    ADD CONSTRAINT reported_pkey PRIMARY KEY (organization_id, provider, reference);

-- Name: schedule schedule_pkey; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (organization_id, payee_id, property_key);

-- Name: statement statement_pkey; Type: CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.statement
    ADD CONSTRAINT statement_pkey PRIMARY KEY (organization_id, payee_id, week, currency);

-- Name: fee_choice fee_choice_organization_id_version_key; Type: CONSTRAINT; Schema: pricing; Owner: admitone_owner
ALTER TABLE ONLY pricing.fee_choice
    ADD CONSTRAINT fee_choice_organization_id_version_key UNIQUE (organization_id, version);

-- Name: fee_choice fee_choice_pkey; Type: CONSTRAINT; Schema: pricing; Owner: admitone_owner
ALTER TABLE ONLY pricing.fee_choice
    ADD CONSTRAINT fee_choice_pkey PRIMARY KEY (organization_id, id);

-- Name: fee_policy fee_policy_organization_id_version_key; Type: CONSTRAINT; Schema: pricing; Owner: admitone_owner
ALTER TABLE ONLY pricing.fee_policy
    ADD CONSTRAINT fee_policy_organization_id_version_key UNIQUE (organization_id, version);

-- Name: fee_policy fee_policy_pkey; Type: CONSTRAINT; Schema: pricing; Owner: admitone_owner
ALTER TABLE ONLY pricing.fee_policy
    ADD CONSTRAINT fee_policy_pkey PRIMARY KEY (organization_id, id);

-- Name: platform_policy platform_policy_pkey; Type: CONSTRAINT; Schema: pricing; Owner: admitone_owner
ALTER TABLE ONLY pricing.platform_policy
    ADD CONSTRAINT platform_policy_pkey PRIMARY KEY (id);

-- Name: platform_policy platform_policy_version_key; Type: CONSTRAINT; Schema: pricing; Owner: admitone_owner
ALTER TABLE ONLY pricing.platform_policy
    ADD CONSTRAINT platform_policy_version_key UNIQUE (version);

-- Name: verdict verdict_pkey; Type: CONSTRAINT; Schema: proof; Owner: admitone_owner
ALTER TABLE ONLY proof.verdict
    ADD CONSTRAINT verdict_pkey PRIMARY KEY (organization_id, name);

-- Name: issue issue_pkey; Type: CONSTRAINT; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE ONLY reconciliation.issue
    ADD CONSTRAINT issue_pkey PRIMARY KEY (organization_id, id);

-- Name: run run_pkey; Type: CONSTRAINT; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE ONLY reconciliation.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (organization_id, id);

-- Name: standing standing_pkey; Type: CONSTRAINT; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE ONLY reconciliation.standing
    ADD CONSTRAINT standing_pkey PRIMARY KEY (organization_id);

-- Name: refund_line refund_line_pkey; Type: CONSTRAINT; Schema: refunds; Owner: admitone_owner
ALTER TABLE ONLY refunds.refund_line
    ADD CONSTRAINT refund_line_pkey PRIMARY KEY (organization_id, refund_id, line_key);

-- Name: refund refund_pkey; Type: CONSTRAINT; Schema: refunds; Owner: admitone_owner
ALTER TABLE ONLY refunds.refund
    ADD CONSTRAINT refund_pkey PRIMARY KEY (organization_id, id);

-- Name: sale_line sale_line_pkey; Type: CONSTRAINT; Schema: sales; Owner: admitone_owner
ALTER TABLE ONLY sales.sale_line
    ADD CONSTRAINT sale_line_pkey PRIMARY KEY (organization_id, payment_id, line);

-- Name: sale_summary sale_summary_pkey; Type: CONSTRAINT; Schema: sales; Owner: admitone_owner
ALTER TABLE ONLY sales.sale_summary
    ADD CONSTRAINT sale_summary_pkey PRIMARY KEY (organization_id, payment_id);

-- Name: given_back given_back_pkey; Type: CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.given_back
    ADD CONSTRAINT given_back_pkey PRIMARY KEY (organization_id, hold_id, key, number);

-- Name: pool pool_pkey; Type: CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (organization_id, id);

-- Name: portion portion_pkey; Type: CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.portion
    ADD CONSTRAINT portion_pkey PRIMARY KEY (organization_id, hold_id, number);

-- Name: unit unit_organization_id_pool_id_label_key; Type: CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.unit
    ADD CONSTRAINT unit_organization_id_pool_id_label_key UNIQUE (organization_id, pool_id, label);

-- Name: unit unit_pkey; Type: CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.unit
    ADD CONSTRAINT unit_pkey PRIMARY KEY (organization_id, id);

-- Name: username username_pkey; Type: CONSTRAINT; Schema: usernames; Owner: admitone_owner
ALTER TABLE ONLY usernames.username
    ADD CONSTRAINT username_pkey PRIMARY KEY (name);

-- Name: cursor cursor_pkey; Type: CONSTRAINT; Schema: webhooks; Owner: admitone_owner
ALTER TABLE ONLY webhooks.cursor
    ADD CONSTRAINT cursor_pkey PRIMARY KEY (organization_id, provider);

-- Name: payload payload_pkey; Type: CONSTRAINT; Schema: webhooks; Owner: admitone_owner
ALTER TABLE ONLY webhooks.payload
    ADD CONSTRAINT payload_pkey PRIMARY KEY (organization_id, receipt_id);

-- Name: receipt receipt_external_id_source_key; Type: CONSTRAINT; Schema: webhooks; Owner: admitone_owner
ALTER TABLE ONLY webhooks.receipt
    ADD CONSTRAINT receipt_external_id_source_key UNIQUE (external_id, source);

-- Name: receipt receipt_pkey; Type: CONSTRAINT; Schema: webhooks; Owner: admitone_owner
ALTER TABLE ONLY webhooks.receipt
    ADD CONSTRAINT receipt_pkey PRIMARY KEY (id);

-- Name: branch_by_group; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE INDEX branch_by_group ON authority.branch USING btree (group_id, organization_id);

-- Name: group_member_by_identity; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE INDEX group_member_by_identity ON authority.group_member USING btree (identity_id, organization_id);

-- Name: member_override_by_identity; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE INDEX member_override_by_identity ON authority.member_override USING btree (identity_id, organization_id);

-- Name: service_key_by_digest; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE UNIQUE INDEX service_key_by_digest ON authority.service_key USING btree (digest);

-- Name: session_by_access; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE UNIQUE INDEX session_by_access ON authority.session USING btree (access_digest);

-- Name: session_by_age; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE INDEX session_by_age ON authority.session USING btree (lasts_until);

-- Name: session_by_identity; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE INDEX session_by_identity ON authority.session USING btree (identity_id, id) WHERE (ended_at IS NULL);

-- Name: session_by_refresh; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE UNIQUE INDEX session_by_refresh ON authority.session USING btree (refresh_digest);

-- Name: spent_token_by_age; Type: INDEX; Schema: authority; Owner: admitone_owner
CREATE INDEX spent_token_by_age ON authority.spent_token USING btree (spent_at);

-- Name: campaign_diverged; Type: INDEX; Schema: coupons; Owner: admitone_owner
CREATE INDEX campaign_diverged ON coupons.campaign USING btree (id) WHERE (divergence IS NOT NULL);

-- Name: campaign_due; Type: INDEX; Schema: coupons; Owner: admitone_owner
CREATE INDEX campaign_due ON coupons.campaign USING btree (due_at, id) WHERE (due_at IS NOT NULL);

-- Name: campaign_watched; Type: INDEX; Schema: coupons; Owner: admitone_owner
CREATE INDEX campaign_watched ON coupons.campaign USING btree (watched_until, id);

-- Name: known_token_by_age; Type: INDEX; Schema: coupons; Owner: admitone_owner
CREATE INDEX known_token_by_age ON coupons.known_token USING btree (expires_at);

-- Name: token_by_age; Type: INDEX; Schema: coupons; Owner: admitone_owner
CREATE INDEX token_by_age ON coupons.token USING btree (expires_at);

-- Name: token_by_digest; Type: INDEX; Schema: coupons; Owner: admitone_owner
CREATE UNIQUE INDEX token_by_digest ON coupons.token USING btree (organization_id, digest);

-- Name: token_live; Type: INDEX; Schema: coupons; Owner: admitone_owner
CREATE UNIQUE INDEX token_live ON coupons.token USING btree (organization_id, campaign_id, identity_id) WHERE (status = 'GENERATED'::text);

-- Name: dispute_by_state; Type: INDEX; Schema: disputes; Owner: admitone_owner
CREATE INDEX dispute_by_state ON disputes.dispute USING btree (organization_id, state, id);

-- Name: dispute_everywhere; Type: INDEX; Schema: disputes; Owner: admitone_owner
CREATE INDEX dispute_everywhere ON disputes.dispute USING btree (state, id);

-- Name: dispute_of_payment; Type: INDEX; Schema: disputes; Owner: admitone_owner
CREATE INDEX dispute_of_payment ON disputes.dispute USING btree (organization_id, payment_id);

-- Name: evidence_by_age; Type: INDEX; Schema: disputes; Owner: admitone_owner
CREATE INDEX evidence_by_age ON disputes.evidence USING btree (created_at);

-- Name: checkin_entry; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE UNIQUE INDEX checkin_entry ON entitlements.checkin USING btree (organization_id, entitlement_id, entry, action) WHERE (entry IS NOT NULL);

-- Name: checkin_of_entitlement; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX checkin_of_entitlement ON entitlements.checkin USING btree (organization_id, entitlement_id, id) WHERE (entitlement_id IS NOT NULL);

-- Name: checkin_of_event; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX checkin_of_event ON entitlements.checkin USING btree (organization_id, event_id, id) WHERE (event_id IS NOT NULL);

-- Name: checkin_of_lease; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE UNIQUE INDEX checkin_of_lease ON entitlements.checkin USING btree (organization_id, lease_id, scan_key) WHERE (lease_id IS NOT NULL);

-- Name: entitlement_by_beginning; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX entitlement_by_beginning ON entitlements.entitlement USING btree (valid_from, id) WHERE ((status = 'ACTIVE'::text) AND offline_allowed);

-- Name: entitlement_by_end; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX entitlement_by_end ON entitlements.entitlement USING btree (valid_until, id) WHERE (status = ANY (ARRAY['PENDING'::text, 'ACTIVE'::text, 'SUSPENDED'::text]));

-- Name: entitlement_of_event; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX entitlement_of_event ON entitlements.entitlement USING btree (organization_id, event_id, id) WHERE (event_id IS NOT NULL);

-- Name: entitlement_of_owner; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX entitlement_of_owner ON entitlements.entitlement USING btree (identity_id, valid_until, id);

-- Name: entitlement_of_payment; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX entitlement_of_payment ON entitlements.entitlement USING btree (organization_id, payment_id) WHERE (payment_id IS NOT NULL);

-- Name: entitlement_of_source; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX entitlement_of_source ON entitlements.entitlement USING btree (organization_id, source_type, source_id);

-- Name: lease_by_age; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX lease_by_age ON entitlements.lease USING btree (expires_at);

-- Name: lease_of_event; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX lease_of_event ON entitlements.lease USING btree (organization_id, event_id, expires_at);

-- Name: scanner_closed; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX scanner_closed ON entitlements.scanner USING btree (closed_at) WHERE (closed_at IS NOT NULL);

-- Name: tally_by_age; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX tally_by_age ON entitlements.tally USING btree (minute);

-- Name: token_by_age; Type: INDEX; Schema: entitlements; Owner: admitone_owner
CREATE INDEX token_by_age ON entitlements.token USING btree (valid_until);

-- Name: event_by_start; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX event_by_start ON events.event USING btree (organization_id, starts_at, id) WHERE (starts_at IS NOT NULL);

-- Name: guest_link_by_age; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX guest_link_by_age ON events.guest_link USING btree (expires_at);

-- Name: listing_by_city; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX listing_by_city ON events.listing USING btree (lower(city), starts_at, event_id) WHERE listed;

-- Name: listing_by_end; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX listing_by_end ON events.listing USING btree (ends_at) WHERE listed;

-- Name: listing_by_start; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX listing_by_start ON events.listing USING btree (starts_at, event_id) WHERE listed;

-- Name: listing_of_organization; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX listing_of_organization ON events.listing USING btree (organization_id, starts_at, event_id) WHERE listed;

-- Name: listing_over; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX listing_over ON events.listing USING btree (ends_at);

-- Name: ticket_of_event; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX ticket_of_event ON events.ticket USING btree (organization_id, event_id, id);

-- Name: ticket_of_owner; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX ticket_of_owner ON events.ticket USING btree (identity_id, id);

-- Name: ticket_order_by_key; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX ticket_order_by_key ON events.ticket_order USING btree (billing_key, id) WHERE (billing_key IS NOT NULL);

-- Name: ticket_order_of_buyer; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX ticket_order_of_buyer ON events.ticket_order USING btree (identity_id, id);

-- Name: ticket_order_of_event; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX ticket_order_of_event ON events.ticket_order USING btree (organization_id, event_id, id) WHERE (event_id IS NOT NULL);

-- Name: ticket_type_of_event; Type: INDEX; Schema: events; Owner: admitone_owner
CREATE INDEX ticket_type_of_event ON events.ticket_type USING btree (organization_id, event_id, "position", id) WHERE (event_id IS NOT NULL);

-- Name: operation_by_change; Type: INDEX; Schema: fulfilment; Owner: admitone_owner
CREATE INDEX operation_by_change ON fulfilment.operation USING btree (changed_at);

-- Name: operation_fruitless; Type: INDEX; Schema: fulfilment; Owner: admitone_owner
CREATE INDEX operation_fruitless ON fulfilment.operation USING btree (changed_at) WHERE (state = ANY (ARRAY['RETURNED'::text, 'FAILED'::text]));

-- Name: operation_unfinished; Type: INDEX; Schema: fulfilment; Owner: admitone_owner
CREATE INDEX operation_unfinished ON fulfilment.operation USING btree (state) WHERE (state = ANY (ARRAY['OPEN'::text, 'FAILED'::text]));

-- Name: challenge_by_age; Type: INDEX; Schema: identity; Owner: admitone_owner
CREATE INDEX challenge_by_age ON identity.challenge USING btree (expires_at);

-- Name: challenge_by_email; Type: INDEX; Schema: identity; Owner: admitone_owner
CREATE INDEX challenge_by_email ON identity.challenge USING btree (email_hash) WHERE (email_hash IS NOT NULL);

-- Name: challenge_by_identity; Type: INDEX; Schema: identity; Owner: admitone_owner
CREATE INDEX challenge_by_identity ON identity.challenge USING btree (identity_id) WHERE (identity_id IS NOT NULL);

-- Name: challenge_by_key; Type: INDEX; Schema: identity; Owner: admitone_owner
CREATE UNIQUE INDEX challenge_by_key ON identity.challenge USING btree (key) WHERE (key IS NOT NULL);

-- Name: challenge_by_link; Type: INDEX; Schema: identity; Owner: admitone_owner
CREATE UNIQUE INDEX challenge_by_link ON identity.challenge USING btree (digest) WHERE (purpose = ANY (ARRAY['RESET'::text, 'LINK'::text]));

-- Name: email_hash_by_identity; Type: INDEX; Schema: identity; Owner: admitone_owner
CREATE INDEX email_hash_by_identity ON identity.email_hash USING btree (identity_id);

-- Name: identity_by_user; Type: INDEX; Schema: identity; Owner: admitone_owner
CREATE INDEX identity_by_user ON identity.identity USING btree (merged_into) WHERE (merged_into IS NOT NULL);

-- Name: merge_by_user; Type: INDEX; Schema: identity; Owner: admitone_owner
CREATE INDEX merge_by_user ON identity.merge USING btree (user_id);

-- Name: alert_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX alert_by_age ON kernel.alert USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);

-- Name: alert_open; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE UNIQUE INDEX alert_open ON kernel.alert USING btree (organization_id, rule, subject) WHERE (resolved_at IS NULL);

-- Name: alert_open_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX alert_open_by_age ON kernel.alert USING btree (organization_id, id) WHERE (resolved_at IS NULL);

-- Name: audit_entry_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX audit_entry_by_age ON kernel.audit_entry USING btree (at);

-- Name: audit_entry_by_organization; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX audit_entry_by_organization ON kernel.audit_entry USING btree (organization_id, id);

-- Name: ban_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX ban_by_age ON kernel.ban USING btree (ends_at);

-- Name: bulk_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX bulk_by_age ON kernel.bulk USING btree (finished_at) WHERE (finished_at IS NOT NULL);

-- Name: bulk_by_id; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX bulk_by_id ON kernel.bulk USING btree (id);

-- Name: bulk_by_parent; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX bulk_by_parent ON kernel.bulk USING btree (parent_id, status) WHERE (parent_id IS NOT NULL);

-- Name: dead_letter_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX dead_letter_by_age ON kernel.dead_letter USING btree (died_at);

-- Name: dead_letter_by_correlation; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX dead_letter_by_correlation ON kernel.dead_letter USING btree (correlation_id);

-- Name: dead_letter_open; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX dead_letter_open ON kernel.dead_letter USING btree (id) WHERE (replayed_at IS NULL);

-- Name: dead_letter_open_by_kind; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX dead_letter_open_by_kind ON kernel.dead_letter USING btree (kind, priority, reason, died_at) WHERE (replayed_at IS NULL);

-- Name: event_log_by_correlation; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX event_log_by_correlation ON ONLY kernel.event_log USING btree (correlation_id);

-- Name: fact_key_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX fact_key_by_age ON kernel.fact_key USING btree (created_at);

-- Name: idempotency_key_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX idempotency_key_by_age ON kernel.idempotency_key USING btree (created_at);

-- Name: inbox_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX inbox_by_age ON kernel.inbox USING btree (done_at);

-- Name: job_attempt_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX job_attempt_by_age ON kernel.job_attempt USING btree (at);

-- Name: job_attempt_by_key; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX job_attempt_by_key ON kernel.job_attempt USING btree (organization_id, key);

-- Name: job_key_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX job_key_by_age ON kernel.job_key USING btree (created_at);

-- Name: job_of_worker; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX job_of_worker ON kernel.job USING btree (worker) WHERE (worker IS NOT NULL);

-- Name: job_ready; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX job_ready ON kernel.job USING btree (lane, priority, run_at) WHERE ((worker IS NULL) AND (crashes = 0));

-- Name: job_ready_of_one; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX job_ready_of_one ON kernel.job USING btree (organization_id, lane, priority, run_at) WHERE ((worker IS NULL) AND (crashes < 1));

-- Name: job_suspect; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX job_suspect ON kernel.job USING btree (lane, priority, run_at) WHERE ((worker IS NULL) AND (crashes > 0));

-- Name: outbox_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX outbox_by_age ON kernel.outbox USING btree (published_at) WHERE (published_at IS NOT NULL);

-- Name: outbox_pending; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX outbox_pending ON kernel.outbox USING btree (next_attempt_at) WHERE (published_at IS NULL);

-- Name: plan_by_age; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX plan_by_age ON kernel.plan USING btree (made_at);

-- Name: transfer_credits; Type: INDEX; Schema: ledger; Owner: admitone_owner
CREATE INDEX transfer_credits ON ledger.transfer USING btree (organization_id, credit_account, payee_id, currency, posted_at, id);

-- Name: transfer_debits; Type: INDEX; Schema: ledger; Owner: admitone_owner
CREATE INDEX transfer_debits ON ledger.transfer USING btree (organization_id, debit_account, payee_id, currency, posted_at, id);

-- Name: letter_by_age; Type: INDEX; Schema: mail; Owner: admitone_owner
CREATE INDEX letter_by_age ON mail.letter USING btree (created_at);

-- Name: letter_waiting; Type: INDEX; Schema: mail; Owner: admitone_owner
CREATE INDEX letter_waiting ON mail.letter USING btree (created_at) WHERE ((sent_at IS NULL) AND (refused_at IS NULL));

-- Name: invitation_by_age; Type: INDEX; Schema: organizations; Owner: admitone_owner
CREATE INDEX invitation_by_age ON organizations.invitation USING btree (expires_at);

-- Name: invitation_pending; Type: INDEX; Schema: organizations; Owner: admitone_owner
CREATE UNIQUE INDEX invitation_pending ON organizations.invitation USING btree (organization_id, email_hash) WHERE (state = 'PENDING'::text);

-- Name: free_taking_given_back; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX free_taking_given_back ON payments.free_taking USING btree (organization_id, guard_key, identity_id) WHERE (given_back_at IS NOT NULL);

-- Name: gateway_intent_of_payment; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX gateway_intent_of_payment ON payments.gateway_intent USING btree (organization_id, payment_id);

-- Name: gateway_intent_unsettled; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX gateway_intent_unsettled ON payments.gateway_intent USING btree (created_at, id) WHERE (state = 'OPEN'::text);

-- Name: payment_applied; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE UNIQUE INDEX payment_applied ON payments.payment USING btree (organization_id, source_type, source_id) WHERE applied;

-- Name: payment_by_status; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX payment_by_status ON payments.payment USING btree (organization_id, status, id);

-- Name: payment_failed; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX payment_failed ON payments.payment USING btree (organization_id, source_type, source_id) WHERE (status = 'FAILED'::text);

-- Name: payment_of_identity; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX payment_of_identity ON payments.payment USING btree (identity_id, id);

-- Name: payment_open; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE UNIQUE INDEX payment_open ON payments.payment USING btree (organization_id, source_type, source_id) WHERE (status = ANY (ARRAY['CREATED'::text, 'PENDING'::text, 'REQUIRES_ACTION'::text, 'PROCESSING'::text]));

-- Name: payment_overdue; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX payment_overdue ON payments.payment USING btree (expires_at, id) WHERE ((status = ANY (ARRAY['CREATED'::text, 'PENDING'::text, 'REQUIRES_ACTION'::text, 'PROCESSING'::text, 'FAILED'::text])) AND (expires_at > '-infinity'::timestamp with time zone));

-- Name: payment_without_fee; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX payment_without_fee ON payments.payment USING btree (id) WHERE ((processor_fees_status = 'PENDING'::text) AND (captured_minor > 0));

-- Name: payment_without_fee_of_organization; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX payment_without_fee_of_organization ON payments.payment USING btree (organization_id, id) WHERE ((processor_fees_status = 'PENDING'::text) AND (captured_minor > 0));

-- Name: risk_hold_standing; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE UNIQUE INDEX risk_hold_standing ON payments.risk_hold USING btree (organization_id) WHERE (lifted_at IS NULL);

-- Name: unapplied_receipt_unsettled; Type: INDEX; Schema: payments; Owner: admitone_owner
CREATE INDEX unapplied_receipt_unsettled ON payments.unapplied_receipt USING btree (organization_id, payment_id, capture_key) WHERE (settled_at IS NULL);

-- Name: freeze_that_blocks; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX freeze_that_blocks ON payouts."freeze" USING btree (organization_id, since) WHERE ((lifted_at IS NULL) AND (settlement_model = 'ORG_MOR'::text));

-- Name: obligation_due; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX obligation_due ON payouts.obligation USING btree (organization_id, payee_id, eligible_at) WHERE (state = 'DUE'::text);

-- Name: obligation_kept; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX obligation_kept ON payouts.obligation USING btree (organization_id, payee_id) WHERE ((kept_minor > 0) AND (state = 'PAID'::text));

-- Name: obligation_of_payout; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX obligation_of_payout ON payouts.obligation USING btree (organization_id, payout_id) WHERE (payout_id IS NOT NULL);

-- Name: obligation_open; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX obligation_open ON payouts.obligation USING btree (organization_id, payee_id, currency) WHERE (state = ANY (ARRAY['DUE'::text, 'FROZEN'::text]));

-- Name: payout_by_reference; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE UNIQUE INDEX payout_by_reference ON payouts.payout USING btree (organization_id, provider, reference) WHERE (reference IS NOT NULL);

-- Name: payout_unposted; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX payout_unposted ON payouts.payout USING btree (created_at, id) WHERE (state = ANY (ARRAY['payout_pending'::text, 'processing'::text]));

-- Name: payout_unposted_of_owner; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX payout_unposted_of_owner ON payouts.payout USING btree (organization_id, payee_id, currency) WHERE (state = ANY (ARRAY['payout_pending'::text, 'processing'::text]));

-- Name: reported_by_time; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX reported_by_time ON payouts.reported USING btree (organization_id, at, reference) WHERE (payout_id IS NULL);

-- Name: reported_unreleased; Type: INDEX; Schema: payouts; Owner: admitone_owner
CREATE INDEX reported_unreleased ON payouts.reported USING btree (organization_id, reference) WHERE ((released_at IS NULL) AND (payout_id IS NULL));

-- Name: fee_choice_by_target; Type: INDEX; Schema: pricing; Owner: admitone_owner
CREATE INDEX fee_choice_by_target ON pricing.fee_choice USING btree (organization_id, target, version DESC);

-- Name: fee_policy_by_target; Type: INDEX; Schema: pricing; Owner: admitone_owner
CREATE INDEX fee_policy_by_target ON pricing.fee_policy USING btree (organization_id, target, version DESC);

-- Name: platform_policy_by_target; Type: INDEX; Schema: pricing; Owner: admitone_owner
CREATE INDEX platform_policy_by_target ON pricing.platform_policy USING btree (target, version DESC);

-- Name: verdict_by_green; Type: INDEX; Schema: proof; Owner: admitone_owner
CREATE INDEX verdict_by_green ON proof.verdict USING btree (green_at, organization_id, name);

-- Name: verdict_by_severity; Type: INDEX; Schema: proof; Owner: admitone_owner
CREATE INDEX verdict_by_severity ON proof.verdict USING btree (severity, organization_id, name);

-- Name: issue_by_age; Type: INDEX; Schema: reconciliation; Owner: admitone_owner
CREATE INDEX issue_by_age ON reconciliation.issue USING btree (first_seen_at) WHERE (state = 'OPEN'::text);

-- Name: issue_by_object; Type: INDEX; Schema: reconciliation; Owner: admitone_owner
CREATE INDEX issue_by_object ON reconciliation.issue USING btree (organization_id, kind, reference, currency, first_seen_at);

-- Name: issue_by_state; Type: INDEX; Schema: reconciliation; Owner: admitone_owner
CREATE INDEX issue_by_state ON reconciliation.issue USING btree (organization_id, state, id);

-- Name: issue_of_object; Type: INDEX; Schema: reconciliation; Owner: admitone_owner
CREATE UNIQUE INDEX issue_of_object ON reconciliation.issue USING btree (organization_id, kind, reference, currency) WHERE (state = 'OPEN'::text);

-- Name: issue_unseen; Type: INDEX; Schema: reconciliation; Owner: admitone_owner
CREATE INDEX issue_unseen ON reconciliation.issue USING btree (organization_id, last_seen_at) WHERE (state = 'OPEN'::text);

-- Name: run_at_work; Type: INDEX; Schema: reconciliation; Owner: admitone_owner
CREATE INDEX run_at_work ON reconciliation.run USING btree (organization_id, started_at) WHERE (state = 'RUNNING'::text);

-- Name: standing_by_lag; Type: INDEX; Schema: reconciliation; Owner: admitone_owner
CREATE INDEX standing_by_lag ON reconciliation.standing USING btree (COALESCE(compared_until, known_since), organization_id);

-- Name: refund_by_state; Type: INDEX; Schema: refunds; Owner: admitone_owner
CREATE INDEX refund_by_state ON refunds.refund USING btree (organization_id, state, id);

-- Name: refund_of_cancellation; Type: INDEX; Schema: refunds; Owner: admitone_owner
CREATE UNIQUE INDEX refund_of_cancellation ON refunds.refund USING btree (organization_id, cancellation_id, payment_id) WHERE (cancellation_id IS NOT NULL);

-- Name: refund_of_payment; Type: INDEX; Schema: refunds; Owner: admitone_owner
CREATE INDEX refund_of_payment ON refunds.refund USING btree (organization_id, payment_id);

-- Name: sale_by_source; Type: INDEX; Schema: sales; Owner: admitone_owner
CREATE INDEX sale_by_source ON sales.sale_summary USING btree (organization_id, source_type, source_id, created_at, payment_id);

-- Name: sale_by_status; Type: INDEX; Schema: sales; Owner: admitone_owner
CREATE INDEX sale_by_status ON sales.sale_summary USING btree (organization_id, status, created_at, payment_id);

-- Name: sale_by_time; Type: INDEX; Schema: sales; Owner: admitone_owner
CREATE INDEX sale_by_time ON sales.sale_summary USING btree (organization_id, created_at, payment_id);

-- Name: portion_by_age; Type: INDEX; Schema: stock; Owner: admitone_owner
CREATE INDEX portion_by_age ON stock.portion USING btree (ended_at) WHERE (ended_at IS NOT NULL);

-- Name: portion_by_end; Type: INDEX; Schema: stock; Owner: admitone_owner
CREATE INDEX portion_by_end ON stock.portion USING btree (expires_at, hold_id) WHERE ((status = 'HELD'::text) AND (returned = 0));

-- Name: portion_of_buyer; Type: INDEX; Schema: stock; Owner: admitone_owner
CREATE INDEX portion_of_buyer ON stock.portion USING btree (organization_id, buyer_id) WHERE (leads AND (status = ANY (ARRAY['HELD'::text, 'SOLD'::text])));

-- Name: portion_of_pool; Type: INDEX; Schema: stock; Owner: admitone_owner
CREATE INDEX portion_of_pool ON stock.portion USING btree (organization_id, pool_id, status, expires_at) WHERE (ended_at IS NULL);

-- Name: unit_free; Type: INDEX; Schema: stock; Owner: admitone_owner
CREATE INDEX unit_free ON stock.unit USING btree (organization_id, pool_id, place) WHERE (hold_id IS NULL);

-- Name: username_by_end_of_hold; Type: INDEX; Schema: usernames; Owner: admitone_owner
CREATE INDEX username_by_end_of_hold ON usernames.username USING btree (held_until) WHERE (status = 'HELD'::text);

-- Name: username_held_of_owner; Type: INDEX; Schema: usernames; Owner: admitone_owner
CREATE INDEX username_held_of_owner ON usernames.username USING btree (owner_type, owner_id, held_until) WHERE (status = 'HELD'::text);

-- Name: username_of_owner; Type: INDEX; Schema: usernames; Owner: admitone_owner
CREATE UNIQUE INDEX username_of_owner ON usernames.username USING btree (owner_type, owner_id) WHERE (status = 'LIVE'::text);

-- Name: payload_by_age; Type: INDEX; Schema: webhooks; Owner: admitone_owner
CREATE INDEX payload_by_age ON webhooks.payload USING btree (created_at);

-- Name: receipt_by_state; Type: INDEX; Schema: webhooks; Owner: admitone_owner
CREATE INDEX receipt_by_state ON webhooks.receipt USING btree (state, id);

-- Name: campaign campaign_organization_id_fkey; Type: FK CONSTRAINT; Schema: coupons; Owner: admitone_owner
ALTER TABLE ONLY coupons.campaign
    ADD CONSTRAINT campaign_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: token token_organization_id_fkey; Type: FK CONSTRAINT; Schema: coupons; Owner: admitone_owner
ALTER TABLE ONLY coupons.token
    ADD CONSTRAINT token_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: dispute dispute_organization_id_fkey; Type: FK CONSTRAINT; Schema: disputes; Owner: admitone_owner
ALTER TABLE ONLY disputes.dispute
    ADD CONSTRAINT dispute_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: evidence evidence_organization_id_dispute_id_fkey; Type: FK CONSTRAINT; Schema: disputes; Owner: admitone_owner
ALTER TABLE ONLY disputes.evidence
    ADD CONSTRAINT evidence_organization_id_dispute_id_fkey FOREIGN KEY (organization_id, dispute_id) REFERENCES disputes.dispute(organization_id, id);

-- Name: step step_organization_id_dispute_id_fkey; Type: FK CONSTRAINT; Schema: disputes; Owner: admitone_owner
ALTER TABLE ONLY disputes.step
    ADD CONSTRAINT step_organization_id_dispute_id_fkey FOREIGN KEY (organization_id, dispute_id) REFERENCES disputes.dispute(organization_id, id);

-- Name: change change_organization_id_entitlement_id_fkey; Type: FK CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.change
    ADD CONSTRAINT change_organization_id_entitlement_id_fkey FOREIGN KEY (organization_id, entitlement_id) REFERENCES entitlements.entitlement(organization_id, id);

-- Name: checkin checkin_organization_id_entitlement_id_fkey; Type: FK CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.checkin
    ADD CONSTRAINT checkin_organization_id_entitlement_id_fkey FOREIGN KEY (organization_id, entitlement_id) REFERENCES entitlements.entitlement(organization_id, id);

-- Name: checkin checkin_organization_id_fkey; Type: FK CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.checkin
    ADD CONSTRAINT checkin_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: entitlement entitlement_organization_id_fkey; Type: FK CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.entitlement
    ADD CONSTRAINT entitlement_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: lease lease_organization_id_fkey; Type: FK CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.lease
    ADD CONSTRAINT lease_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: scanner scanner_organization_id_fkey; Type: FK CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.scanner
    ADD CONSTRAINT scanner_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: tally tally_organization_id_fkey; Type: FK CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.tally
    ADD CONSTRAINT tally_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: token token_organization_id_entitlement_id_fkey; Type: FK CONSTRAINT; Schema: entitlements; Owner: admitone_owner
ALTER TABLE ONLY entitlements.token
    ADD CONSTRAINT token_organization_id_entitlement_id_fkey FOREIGN KEY (organization_id, entitlement_id) REFERENCES entitlements.entitlement(organization_id, id);

-- Name: access_policy access_policy_organization_id_event_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.access_policy
    ADD CONSTRAINT access_policy_organization_id_event_id_fkey FOREIGN KEY (organization_id, event_id) REFERENCES events.event(organization_id, id) DEFERRABLE INITIALLY DEFERRED;

-- Name: event event_organization_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.event
    ADD CONSTRAINT event_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: guest_link guest_link_organization_id_order_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.guest_link
    ADD CONSTRAINT guest_link_organization_id_order_id_fkey FOREIGN KEY (organization_id, order_id) REFERENCES events.ticket_order(organization_id, id);

-- Name: order_line order_line_organization_id_order_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.order_line
    ADD CONSTRAINT order_line_organization_id_order_id_fkey FOREIGN KEY (organization_id, order_id) REFERENCES events.ticket_order(organization_id, id);

-- Name: session session_organization_id_event_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.session
    ADD CONSTRAINT session_organization_id_event_id_fkey FOREIGN KEY (organization_id, event_id) REFERENCES events.event(organization_id, id);

-- Name: shared_pool shared_pool_organization_id_event_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.shared_pool
    ADD CONSTRAINT shared_pool_organization_id_event_id_fkey FOREIGN KEY (organization_id, event_id) REFERENCES events.event(organization_id, id);

-- Name: ticket_order ticket_order_organization_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.ticket_order
    ADD CONSTRAINT ticket_order_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: ticket ticket_organization_id_order_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.ticket
    ADD CONSTRAINT ticket_organization_id_order_id_fkey FOREIGN KEY (organization_id, order_id) REFERENCES events.ticket_order(organization_id, id);

-- Name: ticket_type ticket_type_organization_id_event_id_fkey; Type: FK CONSTRAINT; Schema: events; Owner: admitone_owner
ALTER TABLE ONLY events.ticket_type
    ADD CONSTRAINT ticket_type_organization_id_event_id_fkey FOREIGN KEY (organization_id, event_id) REFERENCES events.event(organization_id, id);

-- Name: operation operation_organization_id_fkey; Type: FK CONSTRAINT; Schema: fulfilment; Owner: admitone_owner
ALTER TABLE ONLY fulfilment.operation
    ADD CONSTRAINT operation_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: apple apple_identity_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.apple
    ADD CONSTRAINT apple_identity_id_fkey FOREIGN KEY (identity_id) REFERENCES identity.identity(id);

-- Name: email_hash email_hash_identity_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.email_hash
    ADD CONSTRAINT email_hash_identity_id_fkey FOREIGN KEY (identity_id) REFERENCES identity.identity(id);

-- Name: identity identity_merged_into_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.identity
    ADD CONSTRAINT identity_merged_into_fkey FOREIGN KEY (merged_into) REFERENCES identity.identity(id);

-- Name: merge merge_guest_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.merge
    ADD CONSTRAINT merge_guest_id_fkey FOREIGN KEY (guest_id) REFERENCES identity.identity(id);

-- Name: merge merge_user_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.merge
    ADD CONSTRAINT merge_user_id_fkey FOREIGN KEY (user_id) REFERENCES identity.identity(id);

-- Name: password password_identity_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.password
    ADD CONSTRAINT password_identity_id_fkey FOREIGN KEY (identity_id) REFERENCES identity.identity(id);

-- Name: profile profile_identity_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.profile
    ADD CONSTRAINT profile_identity_id_fkey FOREIGN KEY (identity_id) REFERENCES identity.identity(id);

-- Name: recovery_code recovery_code_identity_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.recovery_code
    ADD CONSTRAINT recovery_code_identity_id_fkey FOREIGN KEY (identity_id) REFERENCES identity.identity(id);

-- Name: totp totp_identity_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: admitone_owner
ALTER TABLE ONLY identity.totp
    ADD CONSTRAINT totp_identity_id_fkey FOREIGN KEY (identity_id) REFERENCES identity.identity(id);

-- Name: alert alert_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.alert
    ADD CONSTRAINT alert_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: bulk bulk_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.bulk
    ADD CONSTRAINT bulk_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: event_log event_log_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.event_log
    ADD CONSTRAINT event_log_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: fact_key fact_key_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.fact_key
    ADD CONSTRAINT fact_key_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: idempotency_key idempotency_key_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.idempotency_key
    ADD CONSTRAINT idempotency_key_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: inbox inbox_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.inbox
    ADD CONSTRAINT inbox_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: outbox outbox_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.outbox
    ADD CONSTRAINT outbox_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: plan plan_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.plan
    ADD CONSTRAINT plan_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: balance_day balance_day_organization_id_fkey; Type: FK CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.balance_day
    ADD CONSTRAINT balance_day_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: balance balance_organization_id_fkey; Type: FK CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.balance
    ADD CONSTRAINT balance_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: delta delta_organization_id_fkey; Type: FK CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.delta
    ADD CONSTRAINT delta_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: seal_member seal_member_organization_id_fkey; Type: FK CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.seal_member
    ADD CONSTRAINT seal_member_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: seal seal_organization_id_fkey; Type: FK CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.seal
    ADD CONSTRAINT seal_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: transfer transfer_organization_id_fkey; Type: FK CONSTRAINT; Schema: ledger; Owner: admitone_owner
ALTER TABLE ONLY ledger.transfer
    ADD CONSTRAINT transfer_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: acceptance acceptance_organization_id_fkey; Type: FK CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.acceptance
    ADD CONSTRAINT acceptance_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: invitation invitation_organization_id_fkey; Type: FK CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.invitation
    ADD CONSTRAINT invitation_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: organization organization_organization_id_fkey; Type: FK CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.organization
    ADD CONSTRAINT organization_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: profile_layout profile_layout_organization_id_fkey; Type: FK CONSTRAINT; Schema: organizations; Owner: admitone_owner
ALTER TABLE ONLY organizations.profile_layout
    ADD CONSTRAINT profile_layout_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: account account_organization_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.account
    ADD CONSTRAINT account_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: free_claim free_claim_organization_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.free_claim
    ADD CONSTRAINT free_claim_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: free_taking free_taking_organization_id_payment_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.free_taking
    ADD CONSTRAINT free_taking_organization_id_payment_id_fkey FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment(organization_id, id);

-- Name: gateway_intent gateway_intent_organization_id_payment_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.gateway_intent
    ADD CONSTRAINT gateway_intent_organization_id_payment_id_fkey FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment(organization_id, id);

-- Name: paid_subject paid_subject_organization_id_payment_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.paid_subject
    ADD CONSTRAINT paid_subject_organization_id_payment_id_fkey FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment(organization_id, id);

-- Name: payment_fact payment_fact_organization_id_payment_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.payment_fact
    ADD CONSTRAINT payment_fact_organization_id_payment_id_fkey FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment(organization_id, id);

-- Name: payment payment_organization_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.payment
    ADD CONSTRAINT payment_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: risk_hold risk_hold_organization_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.risk_hold
    ADD CONSTRAINT risk_hold_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: unapplied_receipt unapplied_receipt_organization_id_payment_id_fkey; Type: FK CONSTRAINT; Schema: payments; Owner: admitone_owner
ALTER TABLE ONLY payments.unapplied_receipt
    ADD CONSTRAINT unapplied_receipt_organization_id_payment_id_fkey FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment(organization_id, id);

-- Name: freeze freeze_organization_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts."freeze"
    ADD CONSTRAINT freeze_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: obligation obligation_organization_id_payee_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.obligation
    ADD CONSTRAINT obligation_organization_id_payee_id_fkey FOREIGN KEY (organization_id, payee_id) REFERENCES payouts.owner(organization_id, payee_id);

-- Name: obligation obligation_organization_id_payout_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.obligation
    ADD CONSTRAINT obligation_organization_id_payout_id_fkey FOREIGN KEY (organization_id, payout_id) REFERENCES payouts.payout(organization_id, id);

-- Name: owner owner_organization_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.owner
    ADD CONSTRAINT owner_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: payout payout_organization_id_payee_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.payout
    ADD CONSTRAINT payout_organization_id_payee_id_fkey FOREIGN KEY (organization_id, payee_id) REFERENCES payouts.owner(organization_id, payee_id);

-- Name: reported reported_organization_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.reported
    ADD CONSTRAINT reported_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: reported reported_organization_id_payout_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.reported
    ADD CONSTRAINT reported_organization_id_payout_id_fkey FOREIGN KEY (organization_id, payout_id) REFERENCES payouts.payout(organization_id, id);

-- Name: schedule schedule_organization_id_payee_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.schedule
    ADD CONSTRAINT schedule_organization_id_payee_id_fkey FOREIGN KEY (organization_id, payee_id) REFERENCES payouts.owner(organization_id, payee_id);

-- Name: statement statement_organization_id_payee_id_fkey; Type: FK CONSTRAINT; Schema: payouts; Owner: admitone_owner
ALTER TABLE ONLY payouts.statement
    ADD CONSTRAINT statement_organization_id_payee_id_fkey FOREIGN KEY (organization_id, payee_id) REFERENCES payouts.owner(organization_id, payee_id);

-- Name: fee_choice fee_choice_organization_id_fkey; Type: FK CONSTRAINT; Schema: pricing; Owner: admitone_owner
ALTER TABLE ONLY pricing.fee_choice
    ADD CONSTRAINT fee_choice_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: fee_policy fee_policy_organization_id_fkey; Type: FK CONSTRAINT; Schema: pricing; Owner: admitone_owner
ALTER TABLE ONLY pricing.fee_policy
    ADD CONSTRAINT fee_policy_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: verdict verdict_organization_id_fkey; Type: FK CONSTRAINT; Schema: proof; Owner: admitone_owner
ALTER TABLE ONLY proof.verdict
    ADD CONSTRAINT verdict_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: issue issue_organization_id_fkey; Type: FK CONSTRAINT; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE ONLY reconciliation.issue
    ADD CONSTRAINT issue_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: run run_organization_id_fkey; Type: FK CONSTRAINT; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE ONLY reconciliation.run
    ADD CONSTRAINT run_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: standing standing_organization_id_fkey; Type: FK CONSTRAINT; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE ONLY reconciliation.standing
    ADD CONSTRAINT standing_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: refund_line refund_line_organization_id_refund_id_fkey; Type: FK CONSTRAINT; Schema: refunds; Owner: admitone_owner
ALTER TABLE ONLY refunds.refund_line
    ADD CONSTRAINT refund_line_organization_id_refund_id_fkey FOREIGN KEY (organization_id, refund_id) REFERENCES refunds.refund(organization_id, id);

-- Name: refund refund_organization_id_payment_id_fkey; Type: FK CONSTRAINT; Schema: refunds; Owner: admitone_owner
ALTER TABLE ONLY refunds.refund
    ADD CONSTRAINT refund_organization_id_payment_id_fkey FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment(organization_id, id);

-- Name: refund refund_stands_for_fkey; Type: FK CONSTRAINT; Schema: refunds; Owner: admitone_owner
ALTER TABLE ONLY refunds.refund
    ADD CONSTRAINT refund_stands_for_fkey FOREIGN KEY (organization_id, stands_for) REFERENCES refunds.refund(organization_id, id);

-- Name: sale_line sale_line_organization_id_payment_id_fkey; Type: FK CONSTRAINT; Schema: sales; Owner: admitone_owner
ALTER TABLE ONLY sales.sale_line
    ADD CONSTRAINT sale_line_organization_id_payment_id_fkey FOREIGN KEY (organization_id, payment_id) REFERENCES sales.sale_summary(organization_id, payment_id);

-- Name: sale_summary sale_summary_organization_id_fkey; Type: FK CONSTRAINT; Schema: sales; Owner: admitone_owner
ALTER TABLE ONLY sales.sale_summary
    ADD CONSTRAINT sale_summary_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: given_back given_back_organization_id_hold_id_number_fkey; Type: FK CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.given_back
    ADD CONSTRAINT given_back_organization_id_hold_id_number_fkey FOREIGN KEY (organization_id, hold_id, number) REFERENCES stock.portion(organization_id, hold_id, number);

-- Name: pool pool_organization_id_fkey; Type: FK CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.pool
    ADD CONSTRAINT pool_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: portion portion_organization_id_pool_id_fkey; Type: FK CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.portion
    ADD CONSTRAINT portion_organization_id_pool_id_fkey FOREIGN KEY (organization_id, pool_id) REFERENCES stock.pool(organization_id, id);

-- Name: unit unit_organization_id_pool_id_fkey; Type: FK CONSTRAINT; Schema: stock; Owner: admitone_owner
ALTER TABLE ONLY stock.unit
    ADD CONSTRAINT unit_organization_id_pool_id_fkey FOREIGN KEY (organization_id, pool_id) REFERENCES stock.pool(organization_id, id);

-- Name: branch app_own; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY app_own ON authority.branch TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: group_member app_own; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY app_own ON authority.group_member TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: member_override app_own; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY app_own ON authority.member_override TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: module_entry app_own; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY app_own ON authority.module_entry TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: service_key app_own; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY app_own ON authority.service_key TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: switch app_own; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY app_own ON authority.switch TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: branch authority_reads; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY authority_reads ON authority.branch FOR SELECT TO admitone_authority USING (true);

-- Name: group_member authority_reads; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY authority_reads ON authority.group_member FOR SELECT TO admitone_authority USING (true);

-- Name: member_override authority_reads; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY authority_reads ON authority.member_override FOR SELECT TO admitone_authority USING (true);

-- Name: module_entry authority_reads; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY authority_reads ON authority.module_entry FOR SELECT TO admitone_authority USING (true);

-- Name: service_key authority_reads; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY authority_reads ON authority.service_key FOR SELECT TO admitone_authority USING (true);

-- Name: session authority_reads; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY authority_reads ON authority.session FOR SELECT TO admitone_authority USING (true);

-- Name: switch authority_reads; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY authority_reads ON authority.switch FOR SELECT TO admitone_authority USING (true);

-- Name: branch; Type: ROW SECURITY; Schema: authority; Owner: admitone_owner
ALTER TABLE authority.branch ENABLE ROW LEVEL SECURITY;

-- Name: group_member; Type: ROW SECURITY; Schema: authority; Owner: admitone_owner
ALTER TABLE authority.group_member ENABLE ROW LEVEL SECURITY;

-- Name: session identity_all; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY identity_all ON authority.session TO admitone_identity USING (true) WITH CHECK (true);

-- Name: spent_token identity_all; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY identity_all ON authority.spent_token TO admitone_identity USING (true) WITH CHECK (true);

-- Name: member_override; Type: ROW SECURITY; Schema: authority; Owner: admitone_owner
ALTER TABLE authority.member_override ENABLE ROW LEVEL SECURITY;

-- Name: module_entry; Type: ROW SECURITY; Schema: authority; Owner: admitone_owner
ALTER TABLE authority.module_entry ENABLE ROW LEVEL SECURITY;

-- Name: session overdue; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY overdue ON authority.session TO admitone_owner USING ((lasts_until < (now() - '30 days'::interval))) WITH CHECK (false);

-- Name: spent_token overdue; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY overdue ON authority.spent_token TO admitone_owner USING ((spent_at < (now() - '100 days'::interval))) WITH CHECK (false);

-- Name: switch owner_by_function; Type: POLICY; Schema: authority; Owner: admitone_owner
CREATE POLICY owner_by_function ON authority.switch FOR SELECT TO admitone_owner USING (true);

-- Name: service_key; Type: ROW SECURITY; Schema: authority; Owner: admitone_owner
ALTER TABLE authority.service_key ENABLE ROW LEVEL SECURITY;

-- Name: session; Type: ROW SECURITY; Schema: authority; Owner: admitone_owner
ALTER TABLE authority.session ENABLE ROW LEVEL SECURITY;

-- Name: spent_token; Type: ROW SECURITY; Schema: authority; Owner: admitone_owner
ALTER TABLE authority.spent_token ENABLE ROW LEVEL SECURITY;

-- Name: switch; Type: ROW SECURITY; Schema: authority; Owner: admitone_owner
ALTER TABLE authority.switch ENABLE ROW LEVEL SECURITY;

-- Name: campaign app_own; Type: POLICY; Schema: coupons; Owner: admitone_owner
CREATE POLICY app_own ON coupons.campaign TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: token app_own; Type: POLICY; Schema: coupons; Owner: admitone_owner
CREATE POLICY app_own ON coupons.token TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: campaign; Type: ROW SECURITY; Schema: coupons; Owner: admitone_owner
ALTER TABLE coupons.campaign ENABLE ROW LEVEL SECURITY;

-- Name: known_token; Type: ROW SECURITY; Schema: coupons; Owner: admitone_owner
ALTER TABLE coupons.known_token ENABLE ROW LEVEL SECURITY;

-- Name: token overdue; Type: POLICY; Schema: coupons; Owner: admitone_owner
CREATE POLICY overdue ON coupons.token TO admitone_owner USING ((expires_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: known_token owner_by_function; Type: POLICY; Schema: coupons; Owner: admitone_owner
CREATE POLICY owner_by_function ON coupons.known_token TO admitone_owner USING (true) WITH CHECK (true);

-- Name: campaign relay_watches; Type: POLICY; Schema: coupons; Owner: admitone_owner
CREATE POLICY relay_watches ON coupons.campaign FOR SELECT TO admitone_relay USING (true);

-- Name: token; Type: ROW SECURITY; Schema: coupons; Owner: admitone_owner
ALTER TABLE coupons.token ENABLE ROW LEVEL SECURITY;

-- Name: dispute app_own; Type: POLICY; Schema: disputes; Owner: admitone_owner
CREATE POLICY app_own ON disputes.dispute TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: evidence app_own; Type: POLICY; Schema: disputes; Owner: admitone_owner
CREATE POLICY app_own ON disputes.evidence TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: step app_own; Type: POLICY; Schema: disputes; Owner: admitone_owner
CREATE POLICY app_own ON disputes.step TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: dispute; Type: ROW SECURITY; Schema: disputes; Owner: admitone_owner
ALTER TABLE disputes.dispute ENABLE ROW LEVEL SECURITY;

-- Name: evidence; Type: ROW SECURITY; Schema: disputes; Owner: admitone_owner
ALTER TABLE disputes.evidence ENABLE ROW LEVEL SECURITY;

-- Name: dispute in_city; Type: POLICY; Schema: disputes; Owner: admitone_owner
CREATE POLICY in_city ON disputes.dispute AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: evidence overdue; Type: POLICY; Schema: disputes; Owner: admitone_owner
CREATE POLICY overdue ON disputes.evidence TO admitone_owner USING ((created_at < (now() - '400 days'::interval))) WITH CHECK (false);

-- Name: dispute relay_watches; Type: POLICY; Schema: disputes; Owner: admitone_owner
CREATE POLICY relay_watches ON disputes.dispute FOR SELECT TO admitone_relay USING (true);

-- Name: step; Type: ROW SECURITY; Schema: disputes; Owner: admitone_owner
ALTER TABLE disputes.step ENABLE ROW LEVEL SECURITY;

-- Name: change app_own; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY app_own ON entitlements.change TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: checkin app_own; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY app_own ON entitlements.checkin TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: entitlement app_own; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY app_own ON entitlements.entitlement TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: lease app_own; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY app_own ON entitlements.lease TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: scanner app_own; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY app_own ON entitlements.scanner TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: tally app_own; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY app_own ON entitlements.tally TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: token app_own; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY app_own ON entitlements.token TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: claimed app_reads; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY app_reads ON entitlements.claimed FOR SELECT TO admitone_app USING (true);

-- Name: entitlement buyer_own; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY buyer_own ON entitlements.entitlement FOR SELECT TO admitone_buyer USING ((identity_id = (NULLIF(current_setting('app.identity_id'::text, true), ''::text))::uuid));

-- Name: change; Type: ROW SECURITY; Schema: entitlements; Owner: admitone_owner
ALTER TABLE entitlements.change ENABLE ROW LEVEL SECURITY;

-- Name: checkin; Type: ROW SECURITY; Schema: entitlements; Owner: admitone_owner
ALTER TABLE entitlements.checkin ENABLE ROW LEVEL SECURITY;

-- Name: claimed; Type: ROW SECURITY; Schema: entitlements; Owner: admitone_owner
ALTER TABLE entitlements.claimed ENABLE ROW LEVEL SECURITY;

-- Name: entitlement; Type: ROW SECURITY; Schema: entitlements; Owner: admitone_owner
ALTER TABLE entitlements.entitlement ENABLE ROW LEVEL SECURITY;

-- Name: lease; Type: ROW SECURITY; Schema: entitlements; Owner: admitone_owner
ALTER TABLE entitlements.lease ENABLE ROW LEVEL SECURITY;

-- Name: lease overdue; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY overdue ON entitlements.lease TO admitone_owner USING ((expires_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: tally overdue; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY overdue ON entitlements.tally TO admitone_owner USING ((minute < (now() - '800 days'::interval))) WITH CHECK (false);

-- Name: token overdue; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY overdue ON entitlements.token TO admitone_owner USING ((valid_until < (now() - '30 days'::interval))) WITH CHECK (false);

-- Name: claimed relay_all; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY relay_all ON entitlements.claimed TO admitone_relay USING (true) WITH CHECK (true);

-- Name: entitlement relay_sweeps; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY relay_sweeps ON entitlements.entitlement FOR SELECT TO admitone_relay USING (true);

-- Name: scanner relay_watches; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY relay_watches ON entitlements.scanner FOR SELECT TO admitone_relay USING (true);

-- Name: tally relay_watches; Type: POLICY; Schema: entitlements; Owner: admitone_owner
CREATE POLICY relay_watches ON entitlements.tally FOR SELECT TO admitone_relay USING (true);

-- Name: scanner; Type: ROW SECURITY; Schema: entitlements; Owner: admitone_owner
ALTER TABLE entitlements.scanner ENABLE ROW LEVEL SECURITY;

-- Name: tally; Type: ROW SECURITY; Schema: entitlements; Owner: admitone_owner
ALTER TABLE entitlements.tally ENABLE ROW LEVEL SECURITY;

-- Name: token; Type: ROW SECURITY; Schema: entitlements; Owner: admitone_owner
ALTER TABLE entitlements.token ENABLE ROW LEVEL SECURITY;

-- Name: access_policy; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.access_policy ENABLE ROW LEVEL SECURITY;

-- Name: access_policy app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.access_policy TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: event app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.event TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: guest_link app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.guest_link TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: order_line app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.order_line TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: session app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.session TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: shared_pool app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.shared_pool TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: ticket app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.ticket TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: ticket_order app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.ticket_order TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: ticket_type app_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_own ON events.ticket_type TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: house app_reads; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_reads ON events.house FOR SELECT TO admitone_app USING (true);

-- Name: listing app_reads; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY app_reads ON events.listing FOR SELECT TO admitone_app USING (true);

-- Name: ticket buyer_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY buyer_own ON events.ticket FOR SELECT TO admitone_buyer USING ((identity_id = (NULLIF(current_setting('app.identity_id'::text, true), ''::text))::uuid));

-- Name: ticket_order buyer_own; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY buyer_own ON events.ticket_order FOR SELECT TO admitone_buyer USING ((identity_id = (NULLIF(current_setting('app.identity_id'::text, true), ''::text))::uuid));

-- Name: event; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.event ENABLE ROW LEVEL SECURITY;

-- Name: guest_link; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.guest_link ENABLE ROW LEVEL SECURITY;

-- Name: house; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.house ENABLE ROW LEVEL SECURITY;

-- Name: listing; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.listing ENABLE ROW LEVEL SECURITY;

-- Name: order_line; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.order_line ENABLE ROW LEVEL SECURITY;

-- Name: guest_link overdue; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY overdue ON events.guest_link TO admitone_owner USING ((expires_at < (now() - '30 days'::interval))) WITH CHECK (false);

-- Name: listing relay_lists; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY relay_lists ON events.listing TO admitone_relay USING (true) WITH CHECK (true);

-- Name: house relay_opens; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY relay_opens ON events.house TO admitone_relay USING (true) WITH CHECK (true);

-- Name: ticket_order relay_rotates; Type: POLICY; Schema: events; Owner: admitone_owner
CREATE POLICY relay_rotates ON events.ticket_order FOR SELECT TO admitone_relay USING (true);

-- Name: session; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.session ENABLE ROW LEVEL SECURITY;

-- Name: shared_pool; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.shared_pool ENABLE ROW LEVEL SECURITY;

-- Name: ticket; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.ticket ENABLE ROW LEVEL SECURITY;

-- Name: ticket_order; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.ticket_order ENABLE ROW LEVEL SECURITY;

-- Name: ticket_type; Type: ROW SECURITY; Schema: events; Owner: admitone_owner
ALTER TABLE events.ticket_type ENABLE ROW LEVEL SECURITY;

-- Name: operation app_own; Type: POLICY; Schema: fulfilment; Owner: admitone_owner
CREATE POLICY app_own ON fulfilment.operation TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: operation; Type: ROW SECURITY; Schema: fulfilment; Owner: admitone_owner
ALTER TABLE fulfilment.operation ENABLE ROW LEVEL SECURITY;

-- Name: operation relay_watches; Type: POLICY; Schema: fulfilment; Owner: admitone_owner
CREATE POLICY relay_watches ON fulfilment.operation FOR SELECT TO admitone_relay USING (true);

-- Name: apple; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.apple ENABLE ROW LEVEL SECURITY;

-- Name: profile buyer_own; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY buyer_own ON identity.profile FOR SELECT TO admitone_buyer USING ((identity_id = (NULLIF(current_setting('app.identity_id'::text, true), ''::text))::uuid));

-- Name: challenge; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.challenge ENABLE ROW LEVEL SECURITY;

-- Name: email_hash; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.email_hash ENABLE ROW LEVEL SECURITY;

-- Name: identity; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.identity ENABLE ROW LEVEL SECURITY;

-- Name: apple identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.apple TO admitone_identity USING (true) WITH CHECK (true);

-- Name: challenge identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.challenge TO admitone_identity USING (true) WITH CHECK (true);

-- Name: email_hash identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.email_hash TO admitone_identity USING (true) WITH CHECK (true);

-- Name: identity identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.identity TO admitone_identity USING (true) WITH CHECK (true);

-- Name: merge identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.merge TO admitone_identity USING (true) WITH CHECK (true);

-- Name: password identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.password TO admitone_identity USING (true) WITH CHECK (true);

-- Name: profile identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.profile TO admitone_identity USING (true) WITH CHECK (true);

-- Name: recovery_code identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.recovery_code TO admitone_identity USING (true) WITH CHECK (true);

-- Name: totp identity_all; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY identity_all ON identity.totp TO admitone_identity USING (true) WITH CHECK (true);

-- Name: merge; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.merge ENABLE ROW LEVEL SECURITY;

-- Name: challenge overdue; Type: POLICY; Schema: identity; Owner: admitone_owner
CREATE POLICY overdue ON identity.challenge TO admitone_owner USING ((expires_at < (now() - '7 days'::interval))) WITH CHECK (false);

-- Name: password; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.password ENABLE ROW LEVEL SECURITY;

-- Name: profile; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.profile ENABLE ROW LEVEL SECURITY;

-- Name: recovery_code; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.recovery_code ENABLE ROW LEVEL SECURITY;

-- Name: totp; Type: ROW SECURITY; Schema: identity; Owner: admitone_owner
ALTER TABLE identity.totp ENABLE ROW LEVEL SECURITY;

-- Name: alert; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.alert ENABLE ROW LEVEL SECURITY;

-- Name: alert app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.alert TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: ban app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.ban TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: bulk app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.bulk TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: dead_letter app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.dead_letter TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: event_log app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.event_log TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: fact_key app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.fact_key TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: idempotency_key app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.idempotency_key TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: inbox app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.inbox TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: job app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.job TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: job_key app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.job_key TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: outbox app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.outbox TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: plan app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.plan TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: tenant app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.tenant TO admitone_app USING ((id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: audit_entry app_reads; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_reads ON kernel.audit_entry FOR SELECT TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: audit_entry app_records; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_records ON kernel.audit_entry FOR INSERT TO admitone_app WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: audit_entry; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.audit_entry ENABLE ROW LEVEL SECURITY;

-- Name: breaker authority_breaks; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY authority_breaks ON kernel.breaker TO admitone_authority USING (true) WITH CHECK (true);

-- Name: limit_counter authority_counts; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY authority_counts ON kernel.limit_counter TO admitone_authority USING (true) WITH CHECK (true);

-- Name: streak authority_counts; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY authority_counts ON kernel.streak TO admitone_authority USING (true) WITH CHECK (true);

-- Name: ban authority_reads; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY authority_reads ON kernel.ban FOR SELECT TO admitone_authority USING (true);

-- Name: ban; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.ban ENABLE ROW LEVEL SECURITY;

-- Name: breaker; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.breaker ENABLE ROW LEVEL SECURITY;

-- Name: bulk; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.bulk ENABLE ROW LEVEL SECURITY;

-- Name: city; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.city ENABLE ROW LEVEL SECURITY;

-- Name: dead_letter; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.dead_letter ENABLE ROW LEVEL SECURITY;

-- Name: event_log; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.event_log ENABLE ROW LEVEL SECURITY;

-- Name: city everybody_reads; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY everybody_reads ON kernel.city FOR SELECT TO admitone_app, admitone_buyer, admitone_identity, admitone_authority USING (true);

-- Name: fact_key; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.fact_key ENABLE ROW LEVEL SECURITY;

-- Name: idempotency_key; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.idempotency_key ENABLE ROW LEVEL SECURITY;

-- Name: idempotency_key identity_answers; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY identity_answers ON kernel.idempotency_key TO admitone_identity USING ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid)) WITH CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: job identity_enqueues; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY identity_enqueues ON kernel.job TO admitone_identity USING ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid)) WITH CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: job_key identity_enqueues; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY identity_enqueues ON kernel.job_key TO admitone_identity USING ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid)) WITH CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: audit_entry identity_records; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY identity_records ON kernel.audit_entry FOR INSERT TO admitone_identity WITH CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: event_log identity_tells; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY identity_tells ON kernel.event_log TO admitone_identity USING ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid)) WITH CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: fact_key identity_tells; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY identity_tells ON kernel.fact_key TO admitone_identity USING ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid)) WITH CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: outbox identity_tells; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY identity_tells ON kernel.outbox TO admitone_identity USING ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid)) WITH CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: inbox; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.inbox ENABLE ROW LEVEL SECURITY;

-- Name: job; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.job ENABLE ROW LEVEL SECURITY;

-- Name: job_attempt; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.job_attempt ENABLE ROW LEVEL SECURITY;

-- Name: job_key; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.job_key ENABLE ROW LEVEL SECURITY;

-- Name: limit_counter; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.limit_counter ENABLE ROW LEVEL SECURITY;

-- Name: migration; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.migration ENABLE ROW LEVEL SECURITY;

-- Name: migration migration_owner; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY migration_owner ON kernel.migration TO admitone_owner USING (true) WITH CHECK (true);

-- Name: outbox; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.outbox ENABLE ROW LEVEL SECURITY;

-- Name: alert overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.alert TO admitone_owner USING ((resolved_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: audit_entry overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.audit_entry TO admitone_owner USING ((at < (now() - '730 days'::interval))) WITH CHECK (false);

-- Name: ban overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.ban TO admitone_owner USING ((ends_at < (now() - '1 day'::interval))) WITH CHECK (false);

-- Name: bulk overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.bulk TO admitone_owner USING ((finished_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: dead_letter overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.dead_letter TO admitone_owner USING ((died_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: event_log overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.event_log TO admitone_owner USING ((created_at < (now() - '180 days'::interval))) WITH CHECK (false);

-- Name: fact_key overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.fact_key TO admitone_owner USING ((created_at < (now() - '180 days'::interval))) WITH CHECK (false);

-- Name: idempotency_key overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.idempotency_key TO admitone_owner USING ((created_at < (now() - '3 days'::interval))) WITH CHECK (false);

-- Name: inbox overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.inbox TO admitone_owner USING ((done_at < (now() - '190 days'::interval))) WITH CHECK (false);

-- Name: job_attempt overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.job_attempt TO admitone_owner USING ((at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: job_key overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.job_key TO admitone_owner USING ((created_at < (now() - '190 days'::interval))) WITH CHECK (false);

-- Name: limit_counter overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.limit_counter TO admitone_owner USING ((ends_at < (now() - '1 day'::interval))) WITH CHECK (false);

-- Name: outbox overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.outbox TO admitone_owner USING ((published_at < (now() - '30 days'::interval))) WITH CHECK (false);

-- Name: plan overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.plan TO admitone_owner USING ((made_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: streak overdue; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY overdue ON kernel.streak TO admitone_owner USING ((ends_at < (now() - '1 day'::interval))) WITH CHECK (false);

-- Name: plan; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.plan ENABLE ROW LEVEL SECURITY;

-- Name: job platform_hands_on; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY platform_hands_on ON kernel.job FOR INSERT TO admitone_app WITH CHECK (((NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: job_key platform_hands_on; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY platform_hands_on ON kernel.job_key FOR INSERT TO admitone_app WITH CHECK (((NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: dead_letter relay_buries; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_buries ON kernel.dead_letter TO admitone_relay USING (true) WITH CHECK (true);

-- Name: outbox relay_delivers; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_delivers ON kernel.outbox TO admitone_relay USING (true) WITH CHECK (true);

-- Name: job_key relay_enqueues; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_enqueues ON kernel.job_key TO admitone_relay USING (true) WITH CHECK (true);

-- Name: schedule relay_fires; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_fires ON kernel.schedule TO admitone_relay USING (true) WITH CHECK (true);

-- Name: worker relay_keeps; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_keeps ON kernel.worker TO admitone_relay USING (true) WITH CHECK (true);

-- Name: tenant relay_lists; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_lists ON kernel.tenant FOR SELECT TO admitone_relay USING (true);

-- Name: event_log relay_reads; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_reads ON kernel.event_log FOR SELECT TO admitone_relay USING (true);

-- Name: job_attempt relay_records; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_records ON kernel.job_attempt TO admitone_relay USING (true) WITH CHECK (true);

-- Name: job relay_runs; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_runs ON kernel.job TO admitone_relay USING (true) WITH CHECK (true);

-- Name: bulk relay_watches; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY relay_watches ON kernel.bulk TO admitone_relay USING (true) WITH CHECK (true);

-- Name: schedule; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.schedule ENABLE ROW LEVEL SECURITY;

-- Name: streak; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.streak ENABLE ROW LEVEL SECURITY;

-- Name: tenant; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.tenant ENABLE ROW LEVEL SECURITY;

-- Name: worker; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.worker ENABLE ROW LEVEL SECURITY;

-- Name: balance app_own; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY app_own ON ledger.balance TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: balance_day app_own; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY app_own ON ledger.balance_day TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: delta app_own; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY app_own ON ledger.delta TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: seal app_own; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY app_own ON ledger.seal TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: seal_member app_own; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY app_own ON ledger.seal_member TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: transfer app_own; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY app_own ON ledger.transfer TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: balance; Type: ROW SECURITY; Schema: ledger; Owner: admitone_owner
ALTER TABLE ledger.balance ENABLE ROW LEVEL SECURITY;

-- Name: balance_day; Type: ROW SECURITY; Schema: ledger; Owner: admitone_owner
ALTER TABLE ledger.balance_day ENABLE ROW LEVEL SECURITY;

-- Name: delta; Type: ROW SECURITY; Schema: ledger; Owner: admitone_owner
ALTER TABLE ledger.delta ENABLE ROW LEVEL SECURITY;

-- Name: balance in_city; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY in_city ON ledger.balance AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: balance_day in_city; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY in_city ON ledger.balance_day AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: delta in_city; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY in_city ON ledger.delta AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: transfer in_city; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY in_city ON ledger.transfer AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: delta relay_finds; Type: POLICY; Schema: ledger; Owner: admitone_owner
CREATE POLICY relay_finds ON ledger.delta FOR SELECT TO admitone_relay USING (true);

-- Name: seal; Type: ROW SECURITY; Schema: ledger; Owner: admitone_owner
ALTER TABLE ledger.seal ENABLE ROW LEVEL SECURITY;

-- Name: seal_member; Type: ROW SECURITY; Schema: ledger; Owner: admitone_owner
ALTER TABLE ledger.seal_member ENABLE ROW LEVEL SECURITY;

-- Name: transfer; Type: ROW SECURITY; Schema: ledger; Owner: admitone_owner
ALTER TABLE ledger.transfer ENABLE ROW LEVEL SECURITY;

-- Name: letter app_own; Type: POLICY; Schema: mail; Owner: admitone_owner
CREATE POLICY app_own ON mail.letter TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: letter identity_posts; Type: POLICY; Schema: mail; Owner: admitone_owner
CREATE POLICY identity_posts ON mail.letter FOR INSERT TO admitone_identity WITH CHECK ((organization_id = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: letter; Type: ROW SECURITY; Schema: mail; Owner: admitone_owner
ALTER TABLE mail.letter ENABLE ROW LEVEL SECURITY;

-- Name: letter overdue; Type: POLICY; Schema: mail; Owner: admitone_owner
CREATE POLICY overdue ON mail.letter TO admitone_owner USING ((created_at < (now() - '7 days'::interval))) WITH CHECK (false);

-- Name: letter relay_counts; Type: POLICY; Schema: mail; Owner: admitone_owner
CREATE POLICY relay_counts ON mail.letter FOR SELECT TO admitone_relay USING (true);

-- Name: acceptance; Type: ROW SECURITY; Schema: organizations; Owner: admitone_owner
ALTER TABLE organizations.acceptance ENABLE ROW LEVEL SECURITY;

-- Name: acceptance app_own; Type: POLICY; Schema: organizations; Owner: admitone_owner
CREATE POLICY app_own ON organizations.acceptance TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: invitation app_own; Type: POLICY; Schema: organizations; Owner: admitone_owner
CREATE POLICY app_own ON organizations.invitation TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: organization app_own; Type: POLICY; Schema: organizations; Owner: admitone_owner
CREATE POLICY app_own ON organizations.organization TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: profile_layout app_own; Type: POLICY; Schema: organizations; Owner: admitone_owner
CREATE POLICY app_own ON organizations.profile_layout TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: organization authority_reads; Type: POLICY; Schema: organizations; Owner: admitone_owner
CREATE POLICY authority_reads ON organizations.organization FOR SELECT TO admitone_authority USING (true);

-- Name: invitation; Type: ROW SECURITY; Schema: organizations; Owner: admitone_owner
ALTER TABLE organizations.invitation ENABLE ROW LEVEL SECURITY;

-- Name: organization; Type: ROW SECURITY; Schema: organizations; Owner: admitone_owner
ALTER TABLE organizations.organization ENABLE ROW LEVEL SECURITY;

-- Name: invitation overdue; Type: POLICY; Schema: organizations; Owner: admitone_owner
CREATE POLICY overdue ON organizations.invitation TO admitone_owner USING ((expires_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: profile_layout; Type: ROW SECURITY; Schema: organizations; Owner: admitone_owner
ALTER TABLE organizations.profile_layout ENABLE ROW LEVEL SECURITY;

-- Name: account; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.account ENABLE ROW LEVEL SECURITY;

-- Name: account app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.account TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: free_claim app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.free_claim TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: free_taking app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.free_taking TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: gateway_intent app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.gateway_intent TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: paid_subject app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.paid_subject TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: payment app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.payment TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: payment_fact app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.payment_fact TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: risk_hold app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.risk_hold TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: unapplied_receipt app_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY app_own ON payments.unapplied_receipt TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: payment buyer_own; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY buyer_own ON payments.payment FOR SELECT TO admitone_buyer USING ((identity_id = (NULLIF(current_setting('app.identity_id'::text, true), ''::text))::uuid));

-- Name: free_claim; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.free_claim ENABLE ROW LEVEL SECURITY;

-- Name: free_taking; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.free_taking ENABLE ROW LEVEL SECURITY;

-- Name: gateway_intent; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.gateway_intent ENABLE ROW LEVEL SECURITY;

-- Name: payment in_city; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY in_city ON payments.payment AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: unapplied_receipt in_city; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY in_city ON payments.unapplied_receipt AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: provider_ref owner_by_function; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY owner_by_function ON payments.provider_ref TO admitone_owner USING (true) WITH CHECK (true);

-- Name: paid_subject; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.paid_subject ENABLE ROW LEVEL SECURITY;

-- Name: payment; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.payment ENABLE ROW LEVEL SECURITY;

-- Name: payment_fact; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.payment_fact ENABLE ROW LEVEL SECURITY;

-- Name: provider_ref; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.provider_ref ENABLE ROW LEVEL SECURITY;

-- Name: gateway_intent relay_sweeps; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY relay_sweeps ON payments.gateway_intent FOR SELECT TO admitone_relay USING (true);

-- Name: payment relay_sweeps; Type: POLICY; Schema: payments; Owner: admitone_owner
CREATE POLICY relay_sweeps ON payments.payment FOR SELECT TO admitone_relay USING (true);

-- Name: risk_hold; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.risk_hold ENABLE ROW LEVEL SECURITY;

-- Name: unapplied_receipt; Type: ROW SECURITY; Schema: payments; Owner: admitone_owner
ALTER TABLE payments.unapplied_receipt ENABLE ROW LEVEL SECURITY;

-- Name: freeze app_own; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY app_own ON payouts."freeze" TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: obligation app_own; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY app_own ON payouts.obligation TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: owner app_own; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY app_own ON payouts.owner TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: payout app_own; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY app_own ON payouts.payout TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: reported app_own; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY app_own ON payouts.reported TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: schedule app_own; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY app_own ON payouts.schedule TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: statement app_own; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY app_own ON payouts.statement TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: freeze; Type: ROW SECURITY; Schema: payouts; Owner: admitone_owner
ALTER TABLE payouts."freeze" ENABLE ROW LEVEL SECURITY;

-- Name: obligation in_city; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY in_city ON payouts.obligation AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: payout in_city; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY in_city ON payouts.payout AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: obligation; Type: ROW SECURITY; Schema: payouts; Owner: admitone_owner
ALTER TABLE payouts.obligation ENABLE ROW LEVEL SECURITY;

-- Name: owner; Type: ROW SECURITY; Schema: payouts; Owner: admitone_owner
ALTER TABLE payouts.owner ENABLE ROW LEVEL SECURITY;

-- Name: payout; Type: ROW SECURITY; Schema: payouts; Owner: admitone_owner
ALTER TABLE payouts.payout ENABLE ROW LEVEL SECURITY;

-- Name: obligation relay_finds; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY relay_finds ON payouts.obligation FOR SELECT TO admitone_relay USING (true);

-- Name: reported relay_finds; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY relay_finds ON payouts.reported FOR SELECT TO admitone_relay USING (true);

-- Name: payout relay_sweeps; Type: POLICY; Schema: payouts; Owner: admitone_owner
CREATE POLICY relay_sweeps ON payouts.payout FOR SELECT TO admitone_relay USING (true);

-- Name: reported; Type: ROW SECURITY; Schema: payouts; Owner: admitone_owner
ALTER TABLE payouts.reported ENABLE ROW LEVEL SECURITY;

-- Name: schedule; Type: ROW SECURITY; Schema: payouts; Owner: admitone_owner
ALTER TABLE payouts.schedule ENABLE ROW LEVEL SECURITY;

-- Name: statement; Type: ROW SECURITY; Schema: payouts; Owner: admitone_owner
ALTER TABLE payouts.statement ENABLE ROW LEVEL SECURITY;

-- Name: fee_choice app_own; Type: POLICY; Schema: pricing; Owner: admitone_owner
CREATE POLICY app_own ON pricing.fee_choice TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: fee_policy app_own; Type: POLICY; Schema: pricing; Owner: admitone_owner
CREATE POLICY app_own ON pricing.fee_policy TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: platform_policy app_own; Type: POLICY; Schema: pricing; Owner: admitone_owner
CREATE POLICY app_own ON pricing.platform_policy FOR INSERT TO admitone_app WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: platform_policy everybody_reads; Type: POLICY; Schema: pricing; Owner: admitone_owner
CREATE POLICY everybody_reads ON pricing.platform_policy FOR SELECT TO admitone_app USING (true);

-- Name: fee_choice; Type: ROW SECURITY; Schema: pricing; Owner: admitone_owner
ALTER TABLE pricing.fee_choice ENABLE ROW LEVEL SECURITY;

-- Name: fee_policy; Type: ROW SECURITY; Schema: pricing; Owner: admitone_owner
ALTER TABLE pricing.fee_policy ENABLE ROW LEVEL SECURITY;

-- Name: platform_policy; Type: ROW SECURITY; Schema: pricing; Owner: admitone_owner
ALTER TABLE pricing.platform_policy ENABLE ROW LEVEL SECURITY;

-- Name: verdict app_own; Type: POLICY; Schema: proof; Owner: admitone_owner
CREATE POLICY app_own ON proof.verdict TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: verdict relay_sums; Type: POLICY; Schema: proof; Owner: admitone_owner
CREATE POLICY relay_sums ON proof.verdict FOR SELECT TO admitone_relay USING (true);

-- Name: verdict; Type: ROW SECURITY; Schema: proof; Owner: admitone_owner
ALTER TABLE proof.verdict ENABLE ROW LEVEL SECURITY;

-- Name: issue app_own; Type: POLICY; Schema: reconciliation; Owner: admitone_owner
CREATE POLICY app_own ON reconciliation.issue TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: run app_own; Type: POLICY; Schema: reconciliation; Owner: admitone_owner
CREATE POLICY app_own ON reconciliation.run TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: standing app_own; Type: POLICY; Schema: reconciliation; Owner: admitone_owner
CREATE POLICY app_own ON reconciliation.standing TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: issue; Type: ROW SECURITY; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE reconciliation.issue ENABLE ROW LEVEL SECURITY;

-- Name: issue relay_counts; Type: POLICY; Schema: reconciliation; Owner: admitone_owner
CREATE POLICY relay_counts ON reconciliation.issue FOR SELECT TO admitone_relay USING (true);

-- Name: standing relay_watches; Type: POLICY; Schema: reconciliation; Owner: admitone_owner
CREATE POLICY relay_watches ON reconciliation.standing FOR SELECT TO admitone_relay USING (true);

-- Name: run; Type: ROW SECURITY; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE reconciliation.run ENABLE ROW LEVEL SECURITY;

-- Name: standing; Type: ROW SECURITY; Schema: reconciliation; Owner: admitone_owner
ALTER TABLE reconciliation.standing ENABLE ROW LEVEL SECURITY;

-- Name: refund app_own; Type: POLICY; Schema: refunds; Owner: admitone_owner
CREATE POLICY app_own ON refunds.refund TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: refund_line app_own; Type: POLICY; Schema: refunds; Owner: admitone_owner
CREATE POLICY app_own ON refunds.refund_line TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: refund in_city; Type: POLICY; Schema: refunds; Owner: admitone_owner
CREATE POLICY in_city ON refunds.refund AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: refund; Type: ROW SECURITY; Schema: refunds; Owner: admitone_owner
ALTER TABLE refunds.refund ENABLE ROW LEVEL SECURITY;

-- Name: refund_line; Type: ROW SECURITY; Schema: refunds; Owner: admitone_owner
ALTER TABLE refunds.refund_line ENABLE ROW LEVEL SECURITY;

-- Name: sale_line app_own; Type: POLICY; Schema: sales; Owner: admitone_owner
CREATE POLICY app_own ON sales.sale_line TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: sale_summary app_own; Type: POLICY; Schema: sales; Owner: admitone_owner
CREATE POLICY app_own ON sales.sale_summary TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: sale_line in_city; Type: POLICY; Schema: sales; Owner: admitone_owner
CREATE POLICY in_city ON sales.sale_line AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: sale_summary in_city; Type: POLICY; Schema: sales; Owner: admitone_owner
CREATE POLICY in_city ON sales.sale_summary AS RESTRICTIVE TO admitone_app USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));

-- Name: sale_line; Type: ROW SECURITY; Schema: sales; Owner: admitone_owner
ALTER TABLE sales.sale_line ENABLE ROW LEVEL SECURITY;

-- Name: sale_summary; Type: ROW SECURITY; Schema: sales; Owner: admitone_owner
ALTER TABLE sales.sale_summary ENABLE ROW LEVEL SECURITY;

-- Name: given_back app_own; Type: POLICY; Schema: stock; Owner: admitone_owner
CREATE POLICY app_own ON stock.given_back TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: pool app_own; Type: POLICY; Schema: stock; Owner: admitone_owner
CREATE POLICY app_own ON stock.pool TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: portion app_own; Type: POLICY; Schema: stock; Owner: admitone_owner
CREATE POLICY app_own ON stock.portion TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: unit app_own; Type: POLICY; Schema: stock; Owner: admitone_owner
CREATE POLICY app_own ON stock.unit TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: given_back; Type: ROW SECURITY; Schema: stock; Owner: admitone_owner
ALTER TABLE stock.given_back ENABLE ROW LEVEL SECURITY;

-- Name: portion overdue; Type: POLICY; Schema: stock; Owner: admitone_owner
CREATE POLICY overdue ON stock.portion TO admitone_owner USING ((ended_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: pool; Type: ROW SECURITY; Schema: stock; Owner: admitone_owner
ALTER TABLE stock.pool ENABLE ROW LEVEL SECURITY;

-- Name: portion; Type: ROW SECURITY; Schema: stock; Owner: admitone_owner
ALTER TABLE stock.portion ENABLE ROW LEVEL SECURITY;

-- Name: pool relay_compares; Type: POLICY; Schema: stock; Owner: admitone_owner
CREATE POLICY relay_compares ON stock.pool FOR SELECT TO admitone_relay USING (true);

-- Name: portion relay_sweeps; Type: POLICY; Schema: stock; Owner: admitone_owner
CREATE POLICY relay_sweeps ON stock.portion FOR SELECT TO admitone_relay USING (true);

-- Name: unit; Type: ROW SECURITY; Schema: stock; Owner: admitone_owner
ALTER TABLE stock.unit ENABLE ROW LEVEL SECURITY;

-- Name: username owner_by_function; Type: POLICY; Schema: usernames; Owner: admitone_owner
CREATE POLICY owner_by_function ON usernames.username TO admitone_owner USING (true) WITH CHECK (true);

-- Name: username; Type: ROW SECURITY; Schema: usernames; Owner: admitone_owner
ALTER TABLE usernames.username ENABLE ROW LEVEL SECURITY;

-- Name: cursor app_own; Type: POLICY; Schema: webhooks; Owner: admitone_owner
CREATE POLICY app_own ON webhooks.cursor TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: payload app_own; Type: POLICY; Schema: webhooks; Owner: admitone_owner
CREATE POLICY app_own ON webhooks.payload TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: receipt app_sees_own; Type: POLICY; Schema: webhooks; Owner: admitone_owner
CREATE POLICY app_sees_own ON webhooks.receipt FOR SELECT TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: receipt app_settles_own; Type: POLICY; Schema: webhooks; Owner: admitone_owner
CREATE POLICY app_settles_own ON webhooks.receipt FOR UPDATE TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: cursor; Type: ROW SECURITY; Schema: webhooks; Owner: admitone_owner
ALTER TABLE webhooks.cursor ENABLE ROW LEVEL SECURITY;

-- Name: payload overdue; Type: POLICY; Schema: webhooks; Owner: admitone_owner
CREATE POLICY overdue ON webhooks.payload TO admitone_owner USING ((created_at < (now() - '90 days'::interval))) WITH CHECK (false);

-- Name: payload; Type: ROW SECURITY; Schema: webhooks; Owner: admitone_owner
ALTER TABLE webhooks.payload ENABLE ROW LEVEL SECURITY;

-- Name: receipt platform_keeps; Type: POLICY; Schema: webhooks; Owner: admitone_owner
CREATE POLICY platform_keeps ON webhooks.receipt TO admitone_app USING (((NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid = '00000000-0000-7000-8000-000000000001'::uuid)) WITH CHECK (((NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid = '00000000-0000-7000-8000-000000000001'::uuid));

-- Name: receipt; Type: ROW SECURITY; Schema: webhooks; Owner: admitone_owner
ALTER TABLE webhooks.receipt ENABLE ROW LEVEL SECURITY;

-- Name: receipt relay_mourns; Type: POLICY; Schema: webhooks; Owner: admitone_owner
CREATE POLICY relay_mourns ON webhooks.receipt TO admitone_relay USING (true) WITH CHECK (true);

-- Name: SCHEMA authority; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA authority TO admitone_app;
GRANT USAGE ON SCHEMA authority TO admitone_authority;
GRANT USAGE ON SCHEMA authority TO admitone_identity;

-- Name: SCHEMA coupons; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA coupons TO admitone_app;
GRANT USAGE ON SCHEMA coupons TO admitone_relay;
GRANT USAGE ON SCHEMA coupons TO admitone_maintenance;

-- Name: SCHEMA disputes; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA disputes TO admitone_app;
GRANT USAGE ON SCHEMA disputes TO admitone_relay;

-- Name: SCHEMA entitlements; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA entitlements TO admitone_app;
GRANT USAGE ON SCHEMA entitlements TO admitone_buyer;
GRANT USAGE ON SCHEMA entitlements TO admitone_relay;

-- Name: SCHEMA events; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA events TO admitone_app;
GRANT USAGE ON SCHEMA events TO admitone_buyer;
GRANT USAGE ON SCHEMA events TO admitone_relay;

-- Name: SCHEMA fulfilment; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA fulfilment TO admitone_app;
GRANT USAGE ON SCHEMA fulfilment TO admitone_relay;

-- Name: SCHEMA identity; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA identity TO admitone_identity;
GRANT USAGE ON SCHEMA identity TO admitone_buyer;

-- Name: SCHEMA kernel; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA kernel TO admitone_app;
GRANT USAGE ON SCHEMA kernel TO admitone_buyer;
GRANT USAGE ON SCHEMA kernel TO admitone_identity;
GRANT USAGE ON SCHEMA kernel TO admitone_authority;
GRANT USAGE ON SCHEMA kernel TO admitone_relay;
GRANT USAGE ON SCHEMA kernel TO admitone_maintenance;

-- Name: SCHEMA ledger; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA ledger TO admitone_app;
GRANT USAGE ON SCHEMA ledger TO admitone_relay;

-- Name: SCHEMA mail; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA mail TO admitone_app;
GRANT USAGE ON SCHEMA mail TO admitone_identity;
GRANT USAGE ON SCHEMA mail TO admitone_relay;

-- Name: SCHEMA organizations; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA organizations TO admitone_app;
GRANT USAGE ON SCHEMA organizations TO admitone_authority;

-- Name: SCHEMA payments; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA payments TO admitone_app;
GRANT USAGE ON SCHEMA payments TO admitone_buyer;
GRANT USAGE ON SCHEMA payments TO admitone_relay;

-- Name: SCHEMA payouts; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA payouts TO admitone_app;
GRANT USAGE ON SCHEMA payouts TO admitone_relay;

-- Name: SCHEMA pricing; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA pricing TO admitone_app;

-- Name: SCHEMA proof; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA proof TO admitone_app;
GRANT USAGE ON SCHEMA proof TO admitone_relay;

-- Name: SCHEMA reconciliation; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA reconciliation TO admitone_app;
GRANT USAGE ON SCHEMA reconciliation TO admitone_relay;

-- Name: SCHEMA refunds; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA refunds TO admitone_app;

-- Name: SCHEMA sales; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA sales TO admitone_app;

-- Name: SCHEMA stock; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA stock TO admitone_app;
GRANT USAGE ON SCHEMA stock TO admitone_relay;

-- Name: SCHEMA usernames; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA usernames TO admitone_app;
GRANT USAGE ON SCHEMA usernames TO admitone_identity;
GRANT USAGE ON SCHEMA usernames TO admitone_maintenance;

-- Name: SCHEMA webhooks; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA webhooks TO admitone_app;
GRANT USAGE ON SCHEMA webhooks TO admitone_relay;

-- Name: FUNCTION stopped(asking uuid, keys text[], at timestamp with time zone); Type: ACL; Schema: authority; Owner: admitone_owner
REVOKE ALL ON FUNCTION authority.stopped(asking uuid, keys text[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION authority.stopped(asking uuid, keys text[], at timestamp with time zone) TO admitone_app;

-- Name: FUNCTION forget(most integer, at timestamp with time zone); Type: ACL; Schema: coupons; Owner: admitone_owner
REVOKE ALL ON FUNCTION coupons.forget(most integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION coupons.forget(most integer, at timestamp with time zone) TO admitone_maintenance;

-- Name: FUNCTION know(own uuid, digests bytea[], ends timestamp with time zone[]); Type: ACL; Schema: coupons; Owner: admitone_owner
REVOKE ALL ON FUNCTION coupons.know(own uuid, digests bytea[], ends timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION coupons.know(own uuid, digests bytea[], ends timestamp with time zone[]) TO admitone_app;

-- Name: FUNCTION known(digests bytea[]); Type: ACL; Schema: coupons; Owner: admitone_owner
REVOKE ALL ON FUNCTION coupons.known(digests bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION coupons.known(digests bytea[]) TO admitone_app;

-- Name: FUNCTION add_partitions(since timestamp with time zone, until timestamp with time zone); Type: ACL; Schema: kernel; Owner: admitone_owner
REVOKE ALL ON FUNCTION kernel.add_partitions(since timestamp with time zone, until timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION kernel.add_partitions(since timestamp with time zone, until timestamp with time zone) TO admitone_maintenance;

-- Name: FUNCTION drop_partition(target text); Type: ACL; Schema: kernel; Owner: admitone_owner
REVOKE ALL ON FUNCTION kernel.drop_partition(target text) FROM PUBLIC;
GRANT ALL ON FUNCTION kernel.drop_partition(target text) TO admitone_maintenance;

-- Name: FUNCTION purge(target text, most integer, since timestamp with time zone, OUT purged bigint, OUT reached timestamp with time zone); Type: ACL; Schema: kernel; Owner: admitone_owner
REVOKE ALL ON FUNCTION kernel.purge(target text, most integer, since timestamp with time zone, OUT purged bigint, OUT reached timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION kernel.purge(target text, most integer, since timestamp with time zone, OUT purged bigint, OUT reached timestamp with time zone) TO admitone_maintenance;

-- Name: FUNCTION retention_of(target regclass, OUT aged_by text, OUT days integer); Type: ACL; Schema: kernel; Owner: admitone_owner
REVOKE ALL ON FUNCTION kernel.retention_of(target regclass, OUT aged_by text, OUT days integer) FROM PUBLIC;

-- Name: FUNCTION find_refs(asking uuid, of_provider text, types text[], ids text[], OUT object_type text, OUT object_id text, OUT organization_id uuid, OUT payment_id uuid); Type: ACL; Schema: payments; Owner: admitone_owner
REVOKE ALL ON FUNCTION payments.find_refs(asking uuid, of_provider text, types text[], ids text[], OUT object_type text, OUT object_id text, OUT organization_id uuid, OUT payment_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION payments.find_refs(asking uuid, of_provider text, types text[], ids text[], OUT object_type text, OUT object_id text, OUT organization_id uuid, OUT payment_id uuid) TO admitone_app;

-- Name: FUNCTION put_refs(organization uuid, providers text[], types text[], ids text[], payment_ids uuid[], claims integer[], at timestamp with time zone); Type: ACL; Schema: payments; Owner: admitone_owner
REVOKE ALL ON FUNCTION payments.put_refs(organization uuid, providers text[], types text[], ids text[], payment_ids uuid[], claims integer[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION payments.put_refs(organization uuid, providers text[], types text[], ids text[], payment_ids uuid[], claims integer[], at timestamp with time zone) TO admitone_app;

-- Name: FUNCTION claim(kind text, owners uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.claim(kind text, owners uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION claim_for_organization(organization uuid, names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.claim_for_organization(organization uuid, names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION usernames.claim_for_organization(organization uuid, names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) TO admitone_app;

-- Name: FUNCTION claim_for_people(people uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.claim_for_people(people uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION usernames.claim_for_people(people uuid[], names text[], at timestamp with time zone, OUT place bigint, OUT outcome text, OUT until timestamp with time zone) TO admitone_identity;

-- Name: FUNCTION forget(most integer, at timestamp with time zone); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.forget(most integer, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION usernames.forget(most integer, at timestamp with time zone) TO admitone_maintenance;

-- Name: FUNCTION hold_still(kind text, owners uuid[], names text[]); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.hold_still(kind text, owners uuid[], names text[]) FROM PUBLIC;

-- Name: FUNCTION leave(kind text, owners uuid[], at timestamp with time zone); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.leave(kind text, owners uuid[], at timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION names_of(kind text, owners uuid[], OUT owner_id uuid, OUT name text); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.names_of(kind text, owners uuid[], OUT owner_id uuid, OUT name text) FROM PUBLIC;
GRANT ALL ON FUNCTION usernames.names_of(kind text, owners uuid[], OUT owner_id uuid, OUT name text) TO admitone_app;
GRANT ALL ON FUNCTION usernames.names_of(kind text, owners uuid[], OUT owner_id uuid, OUT name text) TO admitone_identity;

-- Name: FUNCTION release_of_organization(organization uuid, at timestamp with time zone); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.release_of_organization(organization uuid, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION usernames.release_of_organization(organization uuid, at timestamp with time zone) TO admitone_app;

-- Name: FUNCTION release_of_people(people uuid[], at timestamp with time zone); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.release_of_people(people uuid[], at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION usernames.release_of_people(people uuid[], at timestamp with time zone) TO admitone_identity;

-- Name: FUNCTION require_own(organization uuid); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.require_own(organization uuid) FROM PUBLIC;

-- Name: FUNCTION resolve(names text[], at timestamp with time zone, OUT name text, OUT owner_type text, OUT owner_id uuid); Type: ACL; Schema: usernames; Owner: admitone_owner
REVOKE ALL ON FUNCTION usernames.resolve(names text[], at timestamp with time zone, OUT name text, OUT owner_type text, OUT owner_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION usernames.resolve(names text[], at timestamp with time zone, OUT name text, OUT owner_type text, OUT owner_id uuid) TO admitone_identity;

-- Name: TABLE branch; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE authority.branch TO admitone_app;
GRANT SELECT ON TABLE authority.branch TO admitone_authority;

-- Name: TABLE group_member; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE authority.group_member TO admitone_app;
GRANT SELECT ON TABLE authority.group_member TO admitone_authority;

-- Name: TABLE member_override; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE authority.member_override TO admitone_app;
GRANT SELECT ON TABLE authority.member_override TO admitone_authority;

-- Name: TABLE module_entry; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE authority.module_entry TO admitone_app;
GRANT SELECT ON TABLE authority.module_entry TO admitone_authority;

-- Name: TABLE service_key; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE authority.service_key TO admitone_app;
GRANT SELECT ON TABLE authority.service_key TO admitone_authority;

-- Name: COLUMN service_key.revoked_at; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT UPDATE(revoked_at) ON TABLE authority.service_key TO admitone_app;

-- Name: TABLE session; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE authority.session TO admitone_identity;
GRANT SELECT ON TABLE authority.session TO admitone_authority;

-- Name: TABLE spent_token; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE authority.spent_token TO admitone_identity;

-- Name: TABLE switch; Type: ACL; Schema: authority; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE authority.switch TO admitone_app;
GRANT SELECT ON TABLE authority.switch TO admitone_authority;

-- Name: TABLE campaign; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.organization_id; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE coupons.campaign TO admitone_relay;

-- Name: COLUMN campaign.id; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT SELECT(id) ON TABLE coupons.campaign TO admitone_relay;

-- Name: COLUMN campaign.redeemed; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(redeemed) ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.state; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE coupons.campaign TO admitone_app;
GRANT SELECT(state) ON TABLE coupons.campaign TO admitone_relay;

-- Name: COLUMN campaign.payment_id; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(payment_id) ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.activated_at; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(activated_at) ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.ends_at; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(ends_at) ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.ended_at; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(ended_at) ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.ended_for; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(ended_for) ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.earned_weeks; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(earned_weeks) ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.earned_minor; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(earned_minor) ON TABLE coupons.campaign TO admitone_app;

-- Name: COLUMN campaign.due_at; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(due_at) ON TABLE coupons.campaign TO admitone_app;
GRANT SELECT(due_at) ON TABLE coupons.campaign TO admitone_relay;

-- Name: COLUMN campaign.watched_until; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(watched_until) ON TABLE coupons.campaign TO admitone_app;
GRANT SELECT(watched_until) ON TABLE coupons.campaign TO admitone_relay;

-- Name: COLUMN campaign.divergence; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(divergence) ON TABLE coupons.campaign TO admitone_app;
GRANT SELECT(divergence) ON TABLE coupons.campaign TO admitone_relay;

-- Name: TABLE token; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE coupons.token TO admitone_app;

-- Name: COLUMN token.status; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE coupons.token TO admitone_app;

-- Name: COLUMN token.redeemed_at; Type: ACL; Schema: coupons; Owner: admitone_owner
GRANT UPDATE(redeemed_at) ON TABLE coupons.token TO admitone_app;

-- Name: TABLE dispute; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE disputes.dispute TO admitone_app;
GRANT SELECT ON TABLE disputes.dispute TO admitone_relay;

-- Name: COLUMN dispute.state; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.reason; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(reason) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.amount_minor; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(amount_minor) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.currency; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(currency) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.fee_minor; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(fee_minor) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.opened_at; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(opened_at) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.due_at; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(due_at) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.told_at; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(told_at) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.assignee_id; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(assignee_id) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.evidence; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(evidence) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.filed; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(filed) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.submission; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(submission) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.submitted_at; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(submitted_at) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.closed_at; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(closed_at) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.version; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(version) ON TABLE disputes.dispute TO admitone_app;

-- Name: COLUMN dispute.changed_at; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE disputes.dispute TO admitone_app;

-- Name: TABLE evidence; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE disputes.evidence TO admitone_app;

-- Name: TABLE step; Type: ACL; Schema: disputes; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE disputes.step TO admitone_app;

-- Name: TABLE change; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE entitlements.change TO admitone_app;

-- Name: TABLE checkin; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE entitlements.checkin TO admitone_app;

-- Name: TABLE claimed; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT ON TABLE entitlements.claimed TO admitone_app;
GRANT SELECT,INSERT ON TABLE entitlements.claimed TO admitone_relay;

-- Name: TABLE entitlement; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE entitlements.entitlement TO admitone_app;
GRANT SELECT ON TABLE entitlements.entitlement TO admitone_buyer;

-- Name: COLUMN entitlement.organization_id; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.id; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT(id) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.payment_id; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(payment_id) ON TABLE entitlements.entitlement TO admitone_app;
GRANT SELECT(payment_id) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.identity_id; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(identity_id) ON TABLE entitlements.entitlement TO admitone_app;
GRANT SELECT(identity_id) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.offline_allowed; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT(offline_allowed) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.status; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE entitlements.entitlement TO admitone_app;
GRANT SELECT(status) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.held_for; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(held_for) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.revoked_for; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(revoked_for) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.valid_from; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(valid_from) ON TABLE entitlements.entitlement TO admitone_app;
GRANT SELECT(valid_from) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.valid_until; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(valid_until) ON TABLE entitlements.entitlement TO admitone_app;
GRANT SELECT(valid_until) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.methods; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(methods) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.max_entries; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(max_entries) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.reentry_minutes; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(reentry_minutes) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.undo_minutes; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(undo_minutes) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.entries; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(entries) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.entered; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(entered) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.duplicates; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(duplicates) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.consumed_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(consumed_at) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.last_entry_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(last_entry_at) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.epoch; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(epoch) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.coded_until; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(coded_until) ON TABLE entitlements.entitlement TO admitone_app;
GRANT SELECT(coded_until) ON TABLE entitlements.entitlement TO admitone_relay;

-- Name: COLUMN entitlement.version; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(version) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: COLUMN entitlement.changed_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE entitlements.entitlement TO admitone_app;

-- Name: TABLE lease; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE entitlements.lease TO admitone_app;

-- Name: COLUMN lease.expires_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(expires_at) ON TABLE entitlements.lease TO admitone_app;

-- Name: COLUMN lease.synced_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(synced_at) ON TABLE entitlements.lease TO admitone_app;

-- Name: COLUMN lease.entries_allowed; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(entries_allowed) ON TABLE entitlements.lease TO admitone_app;

-- Name: COLUMN lease.entries_used; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(entries_used) ON TABLE entitlements.lease TO admitone_app;

-- Name: COLUMN lease.revoked_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(revoked_at) ON TABLE entitlements.lease TO admitone_app;

-- Name: TABLE scanner; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE entitlements.scanner TO admitone_app;
GRANT SELECT ON TABLE entitlements.scanner TO admitone_relay;

-- Name: COLUMN scanner.warned_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(warned_at) ON TABLE entitlements.scanner TO admitone_app;

-- Name: COLUMN scanner.closed_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(closed_at) ON TABLE entitlements.scanner TO admitone_app;

-- Name: COLUMN scanner.opened_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(opened_at) ON TABLE entitlements.scanner TO admitone_app;

-- Name: TABLE tally; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE entitlements.tally TO admitone_app;
GRANT SELECT ON TABLE entitlements.tally TO admitone_relay;

-- Name: COLUMN tally.admitted; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(admitted) ON TABLE entitlements.tally TO admitone_app;

-- Name: COLUMN tally.undone; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(undone) ON TABLE entitlements.tally TO admitone_app;

-- Name: COLUMN tally.duplicate; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(duplicate) ON TABLE entitlements.tally TO admitone_app;

-- Name: COLUMN tally.denied; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(denied) ON TABLE entitlements.tally TO admitone_app;

-- Name: TABLE token; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE entitlements.token TO admitone_app;

-- Name: COLUMN token.revoked_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(revoked_at) ON TABLE entitlements.token TO admitone_app;

-- Name: COLUMN token.redeemed_at; Type: ACL; Schema: entitlements; Owner: admitone_owner
GRANT UPDATE(redeemed_at) ON TABLE entitlements.token TO admitone_app;

-- Name: TABLE access_policy; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE events.access_policy TO admitone_app;

-- Name: TABLE event; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.title; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(title) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.description; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(description) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.status; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.starts_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(starts_at) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.ends_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(ends_at) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.time_zone; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(time_zone) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.venue; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(venue) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.address; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(address) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.city; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(city) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.country; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(country) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.least_age; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(least_age) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.hold_minutes; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(hold_minutes) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.allows_zero; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(allows_zero) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.pricing_mode; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(pricing_mode) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.policy_version; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(policy_version) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.first_sold_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(first_sold_at) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.published_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(published_at) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.cancelled_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(cancelled_at) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.version; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(version) ON TABLE events.event TO admitone_app;

-- Name: COLUMN event.changed_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE events.event TO admitone_app;

-- Name: TABLE guest_link; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE events.guest_link TO admitone_app;

-- Name: COLUMN guest_link.expires_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(expires_at) ON TABLE events.guest_link TO admitone_app;

-- Name: COLUMN guest_link.revoked_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(revoked_at) ON TABLE events.guest_link TO admitone_app;

-- Name: TABLE house; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE events.house TO admitone_relay;
GRANT SELECT ON TABLE events.house TO admitone_app;

-- Name: TABLE listing; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE events.listing TO admitone_relay;
GRANT SELECT ON TABLE events.listing TO admitone_app;

-- Name: TABLE order_line; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE events.order_line TO admitone_app;

-- Name: TABLE session; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE ON TABLE events.session TO admitone_app;

-- Name: COLUMN session.label; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(label) ON TABLE events.session TO admitone_app;

-- Name: COLUMN session.starts_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(starts_at) ON TABLE events.session TO admitone_app;

-- Name: COLUMN session.ends_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(ends_at) ON TABLE events.session TO admitone_app;

-- Name: TABLE shared_pool; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE events.shared_pool TO admitone_app;

-- Name: COLUMN shared_pool.label; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(label) ON TABLE events.shared_pool TO admitone_app;

-- Name: TABLE ticket; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE events.ticket TO admitone_app;
GRANT SELECT ON TABLE events.ticket TO admitone_buyer;

-- Name: COLUMN ticket.identity_id; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(identity_id) ON TABLE events.ticket TO admitone_app;

-- Name: COLUMN ticket.status; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE events.ticket TO admitone_app;

-- Name: COLUMN ticket.version; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(version) ON TABLE events.ticket TO admitone_app;

-- Name: COLUMN ticket.changed_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE events.ticket TO admitone_app;

-- Name: TABLE ticket_order; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE events.ticket_order TO admitone_app;
GRANT SELECT ON TABLE events.ticket_order TO admitone_buyer;

-- Name: COLUMN ticket_order.organization_id; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE events.ticket_order TO admitone_relay;

-- Name: COLUMN ticket_order.id; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT(id) ON TABLE events.ticket_order TO admitone_relay;

-- Name: COLUMN ticket_order.identity_id; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(identity_id) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.key; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(key) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.state; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.billing; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(billing) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.expires_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(expires_at) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.payment_id; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(payment_id) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.fulfilled_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(fulfilled_at) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.version; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(version) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.changed_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE events.ticket_order TO admitone_app;

-- Name: COLUMN ticket_order.billing_key; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT(billing_key) ON TABLE events.ticket_order TO admitone_relay;

-- Name: TABLE ticket_type; Type: ACL; Schema: events; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.name; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(name) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.description; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(description) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.price_minor; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(price_minor) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.allows_zero; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(allows_zero) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.free_per_person; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(free_per_person) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.shared_pools; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(shared_pools) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.sales_from; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(sales_from) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.sales_until; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(sales_until) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.most_per_order; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(most_per_order) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.most_per_buyer; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(most_per_buyer) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.status; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.sessions; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(sessions) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type."position"; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE("position") ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.version; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(version) ON TABLE events.ticket_type TO admitone_app;

-- Name: COLUMN ticket_type.changed_at; Type: ACL; Schema: events; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE events.ticket_type TO admitone_app;

-- Name: TABLE operation; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE fulfilment.operation TO admitone_app;

-- Name: COLUMN operation.organization_id; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE fulfilment.operation TO admitone_relay;

-- Name: COLUMN operation.payment_id; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT SELECT(payment_id) ON TABLE fulfilment.operation TO admitone_relay;

-- Name: COLUMN operation.state; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE fulfilment.operation TO admitone_app;
GRANT SELECT(state) ON TABLE fulfilment.operation TO admitone_relay;

-- Name: COLUMN operation.scenario; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT UPDATE(scenario) ON TABLE fulfilment.operation TO admitone_app;

-- Name: COLUMN operation.key; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT UPDATE(key) ON TABLE fulfilment.operation TO admitone_app;

-- Name: COLUMN operation.steps; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT UPDATE(steps) ON TABLE fulfilment.operation TO admitone_app;

-- Name: COLUMN operation.reason; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT UPDATE(reason) ON TABLE fulfilment.operation TO admitone_app;
GRANT SELECT(reason) ON TABLE fulfilment.operation TO admitone_relay;

-- Name: COLUMN operation.refund_id; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT UPDATE(refund_id) ON TABLE fulfilment.operation TO admitone_app;

-- Name: COLUMN operation.attempts; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT UPDATE(attempts) ON TABLE fulfilment.operation TO admitone_app;

-- Name: COLUMN operation.correlation_id; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT SELECT(correlation_id) ON TABLE fulfilment.operation TO admitone_relay;

-- Name: COLUMN operation.changed_at; Type: ACL; Schema: fulfilment; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE fulfilment.operation TO admitone_app;
GRANT SELECT(changed_at) ON TABLE fulfilment.operation TO admitone_relay;

-- Name: TABLE apple; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE ON TABLE identity.apple TO admitone_identity;

-- Name: TABLE challenge; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE identity.challenge TO admitone_identity;

-- Name: TABLE email_hash; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE ON TABLE identity.email_hash TO admitone_identity;

-- Name: TABLE identity; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE identity.identity TO admitone_identity;

-- Name: TABLE merge; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE identity.merge TO admitone_identity;

-- Name: TABLE password; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.password TO admitone_identity;

-- Name: TABLE profile; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.profile TO admitone_identity;
GRANT SELECT ON TABLE identity.profile TO admitone_buyer;

-- Name: TABLE recovery_code; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.recovery_code TO admitone_identity;

-- Name: TABLE totp; Type: ACL; Schema: identity; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.totp TO admitone_identity;

-- Name: TABLE alert; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.alert TO admitone_app;

-- Name: COLUMN alert.detail; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(detail) ON TABLE kernel.alert TO admitone_app;

-- Name: COLUMN alert.last_seen_at; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(last_seen_at) ON TABLE kernel.alert TO admitone_app;

-- Name: COLUMN alert.times; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(times) ON TABLE kernel.alert TO admitone_app;

-- Name: COLUMN alert.resolved_at; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(resolved_at) ON TABLE kernel.alert TO admitone_app;

-- Name: TABLE audit_entry; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.audit_entry TO admitone_app;
GRANT INSERT ON TABLE kernel.audit_entry TO admitone_identity;

-- Name: TABLE ban; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.ban TO admitone_app;
GRANT SELECT ON TABLE kernel.ban TO admitone_authority;

-- Name: TABLE breaker; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE kernel.breaker TO admitone_authority;

-- Name: TABLE bulk; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE kernel.bulk TO admitone_app;
GRANT SELECT ON TABLE kernel.bulk TO admitone_relay;

-- Name: COLUMN bulk.status; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE kernel.bulk TO admitone_relay;

-- Name: COLUMN bulk.updated_at; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(updated_at) ON TABLE kernel.bulk TO admitone_relay;

-- Name: COLUMN bulk.finished_at; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(finished_at) ON TABLE kernel.bulk TO admitone_relay;

-- Name: COLUMN bulk.error; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(error) ON TABLE kernel.bulk TO admitone_relay;

-- Name: TABLE city; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT ON TABLE kernel.city TO admitone_app;
GRANT SELECT ON TABLE kernel.city TO admitone_buyer;
GRANT SELECT ON TABLE kernel.city TO admitone_identity;
GRANT SELECT ON TABLE kernel.city TO admitone_authority;

-- Name: TABLE dead_letter; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT ON TABLE kernel.dead_letter TO admitone_app;
GRANT SELECT,INSERT ON TABLE kernel.dead_letter TO admitone_relay;

-- Name: COLUMN dead_letter.replayed_at; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(replayed_at) ON TABLE kernel.dead_letter TO admitone_app;

-- Name: COLUMN dead_letter.replayed_by; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(replayed_by) ON TABLE kernel.dead_letter TO admitone_app;

-- Name: COLUMN dead_letter.replay_reason; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(replay_reason) ON TABLE kernel.dead_letter TO admitone_app;

-- Name: TABLE event_log; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.event_log TO admitone_app;
GRANT SELECT ON TABLE kernel.event_log TO admitone_relay;
GRANT SELECT,INSERT ON TABLE kernel.event_log TO admitone_identity;

-- Name: TABLE fact_key; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.fact_key TO admitone_app;
GRANT SELECT,INSERT ON TABLE kernel.fact_key TO admitone_identity;

-- Name: TABLE idempotency_key; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.idempotency_key TO admitone_app;
GRANT SELECT,INSERT ON TABLE kernel.idempotency_key TO admitone_identity;

-- Name: TABLE inbox; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.inbox TO admitone_app;

-- Name: TABLE job; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE ON TABLE kernel.job TO admitone_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.job TO admitone_relay;
GRANT SELECT,INSERT ON TABLE kernel.job TO admitone_identity;

-- Name: TABLE job_attempt; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.job_attempt TO admitone_relay;

-- Name: TABLE job_key; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.job_key TO admitone_app;
GRANT SELECT,INSERT ON TABLE kernel.job_key TO admitone_relay;
GRANT SELECT,INSERT ON TABLE kernel.job_key TO admitone_identity;

-- Name: TABLE limit_counter; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE kernel.limit_counter TO admitone_authority;

-- Name: TABLE outbox; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.outbox TO admitone_app;
GRANT SELECT ON TABLE kernel.outbox TO admitone_relay;
GRANT SELECT,INSERT ON TABLE kernel.outbox TO admitone_identity;

-- Name: COLUMN outbox.published_at; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(published_at) ON TABLE kernel.outbox TO admitone_relay;

-- Name: COLUMN outbox.attempts; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(attempts) ON TABLE kernel.outbox TO admitone_relay;

-- Name: COLUMN outbox.next_attempt_at; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(next_attempt_at) ON TABLE kernel.outbox TO admitone_relay;

-- Name: TABLE plan; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.plan TO admitone_app;

-- Name: COLUMN plan.status; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE kernel.plan TO admitone_app;

-- Name: COLUMN plan.applied_at; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(applied_at) ON TABLE kernel.plan TO admitone_app;

-- Name: COLUMN plan.applied_by; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT UPDATE(applied_by) ON TABLE kernel.plan TO admitone_app;

-- Name: TABLE schedule; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE kernel.schedule TO admitone_relay;

-- Name: TABLE streak; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE kernel.streak TO admitone_authority;

-- Name: TABLE tenant; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.tenant TO admitone_app;
GRANT SELECT ON TABLE kernel.tenant TO admitone_relay;

-- Name: TABLE worker; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kernel.worker TO admitone_relay;

-- Name: TABLE balance; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE ledger.balance TO admitone_app;

-- Name: TABLE balance_day; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE ledger.balance_day TO admitone_app;

-- Name: TABLE delta; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE ON TABLE ledger.delta TO admitone_app;

-- Name: COLUMN delta.organization_id; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE ledger.delta TO admitone_relay;

-- Name: COLUMN delta.posted_at; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT UPDATE(posted_at) ON TABLE ledger.delta TO admitone_app;

-- Name: TABLE transfer; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE ledger.transfer TO admitone_app;

-- Name: TABLE journal_line; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT ON TABLE ledger.journal_line TO admitone_app;

-- Name: TABLE ledger_entry; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT ON TABLE ledger.ledger_entry TO admitone_app;

-- Name: TABLE seal; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE ledger.seal TO admitone_app;

-- Name: TABLE seal_member; Type: ACL; Schema: ledger; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE ledger.seal_member TO admitone_app;

-- Name: TABLE letter; Type: ACL; Schema: mail; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE mail.letter TO admitone_app;
GRANT INSERT ON TABLE mail.letter TO admitone_identity;

-- Name: COLUMN letter.sealed; Type: ACL; Schema: mail; Owner: admitone_owner
GRANT UPDATE(sealed) ON TABLE mail.letter TO admitone_app;

-- Name: COLUMN letter.created_at; Type: ACL; Schema: mail; Owner: admitone_owner
GRANT SELECT(created_at) ON TABLE mail.letter TO admitone_relay;

-- Name: COLUMN letter.sent_at; Type: ACL; Schema: mail; Owner: admitone_owner
GRANT UPDATE(sent_at) ON TABLE mail.letter TO admitone_app;
GRANT SELECT(sent_at) ON TABLE mail.letter TO admitone_relay;

-- Name: COLUMN letter.refused_at; Type: ACL; Schema: mail; Owner: admitone_owner
GRANT UPDATE(refused_at) ON TABLE mail.letter TO admitone_app;
GRANT SELECT(refused_at) ON TABLE mail.letter TO admitone_relay;

-- Name: TABLE acceptance; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE organizations.acceptance TO admitone_app;

-- Name: TABLE invitation; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE organizations.invitation TO admitone_app;

-- Name: COLUMN invitation.email_sealed; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT UPDATE(email_sealed) ON TABLE organizations.invitation TO admitone_app;

-- Name: COLUMN invitation.email_hash; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT UPDATE(email_hash) ON TABLE organizations.invitation TO admitone_app;

-- Name: COLUMN invitation.state; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE organizations.invitation TO admitone_app;

-- Name: COLUMN invitation.accepted_by; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT UPDATE(accepted_by) ON TABLE organizations.invitation TO admitone_app;

-- Name: TABLE organization; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE organizations.organization TO admitone_app;

-- Name: COLUMN organization.organization_id; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE organizations.organization TO admitone_authority;

-- Name: COLUMN organization.display_name; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT SELECT(display_name) ON TABLE organizations.organization TO admitone_authority;

-- Name: COLUMN organization.time_zone; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT SELECT(time_zone) ON TABLE organizations.organization TO admitone_authority;

-- Name: COLUMN organization.status; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT SELECT(status) ON TABLE organizations.organization TO admitone_authority;

-- Name: TABLE profile_layout; Type: ACL; Schema: organizations; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE organizations.profile_layout TO admitone_app;

-- Name: TABLE account; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE payments.account TO admitone_app;

-- Name: TABLE free_claim; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payments.free_claim TO admitone_app;

-- Name: COLUMN free_claim.taken; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(taken) ON TABLE payments.free_claim TO admitone_app;

-- Name: COLUMN free_claim.changed_at; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE payments.free_claim TO admitone_app;

-- Name: TABLE free_taking; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payments.free_taking TO admitone_app;

-- Name: COLUMN free_taking.given_back_at; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(given_back_at) ON TABLE payments.free_taking TO admitone_app;

-- Name: TABLE gateway_intent; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payments.gateway_intent TO admitone_app;

-- Name: COLUMN gateway_intent.organization_id; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE payments.gateway_intent TO admitone_relay;

-- Name: COLUMN gateway_intent.id; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(id) ON TABLE payments.gateway_intent TO admitone_relay;

-- Name: COLUMN gateway_intent.payment_id; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(payment_id) ON TABLE payments.gateway_intent TO admitone_relay;

-- Name: COLUMN gateway_intent.action; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(action) ON TABLE payments.gateway_intent TO admitone_relay;

-- Name: COLUMN gateway_intent.state; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE payments.gateway_intent TO admitone_app;
GRANT SELECT(state) ON TABLE payments.gateway_intent TO admitone_relay;

-- Name: COLUMN gateway_intent.reason; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(reason) ON TABLE payments.gateway_intent TO admitone_app;

-- Name: COLUMN gateway_intent.answer; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(answer) ON TABLE payments.gateway_intent TO admitone_app;

-- Name: COLUMN gateway_intent.unanswered; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(unanswered) ON TABLE payments.gateway_intent TO admitone_app;
GRANT SELECT(unanswered) ON TABLE payments.gateway_intent TO admitone_relay;

-- Name: COLUMN gateway_intent.created_at; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(created_at) ON TABLE payments.gateway_intent TO admitone_relay;

-- Name: COLUMN gateway_intent.settled_at; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(settled_at) ON TABLE payments.gateway_intent TO admitone_app;

-- Name: COLUMN gateway_intent.fee_minor; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(fee_minor) ON TABLE payments.gateway_intent TO admitone_relay;

-- Name: COLUMN gateway_intent.refused; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(refused) ON TABLE payments.gateway_intent TO admitone_app;

-- Name: TABLE paid_subject; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payments.paid_subject TO admitone_app;

-- Name: TABLE payment; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payments.payment TO admitone_app;
GRANT SELECT ON TABLE payments.payment TO admitone_buyer;

-- Name: COLUMN payment.organization_id; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE payments.payment TO admitone_relay;

-- Name: COLUMN payment.id; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(id) ON TABLE payments.payment TO admitone_relay;

-- Name: COLUMN payment.flow; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(flow) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.method; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(method) ON TABLE payments.payment TO admitone_relay;

-- Name: COLUMN payment.status; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE payments.payment TO admitone_app;
GRANT SELECT(status) ON TABLE payments.payment TO admitone_relay;

-- Name: COLUMN payment.refund_state; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(refund_state) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.manual_reason; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(manual_reason) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.applied; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(applied) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.captured_minor; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(captured_minor) ON TABLE payments.payment TO admitone_app;
GRANT SELECT(captured_minor) ON TABLE payments.payment TO admitone_relay;

-- Name: COLUMN payment.refunded_minor; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(refunded_minor) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.failed_attempts; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(failed_attempts) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.processor_fees_status; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(processor_fees_status) ON TABLE payments.payment TO admitone_app;
GRANT SELECT(processor_fees_status) ON TABLE payments.payment TO admitone_relay;

-- Name: COLUMN payment.processor_fees_actual; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(processor_fees_actual) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.charge_id; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(charge_id) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.version; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(version) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.changed_at; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE payments.payment TO admitone_app;

-- Name: COLUMN payment.expires_at; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT(expires_at) ON TABLE payments.payment TO admitone_relay;

-- Name: COLUMN payment.unreadable_status; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(unreadable_status) ON TABLE payments.payment TO admitone_app;

-- Name: TABLE payment_fact; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payments.payment_fact TO admitone_app;

-- Name: TABLE risk_hold; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payments.risk_hold TO admitone_app;

-- Name: COLUMN risk_hold.lifted_by; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(lifted_by) ON TABLE payments.risk_hold TO admitone_app;

-- Name: COLUMN risk_hold.lifted_at; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(lifted_at) ON TABLE payments.risk_hold TO admitone_app;

-- Name: TABLE unapplied_receipt; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payments.unapplied_receipt TO admitone_app;

-- Name: COLUMN unapplied_receipt.state; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE payments.unapplied_receipt TO admitone_app;

-- Name: COLUMN unapplied_receipt.settled_at; Type: ACL; Schema: payments; Owner: admitone_owner
GRANT UPDATE(settled_at) ON TABLE payments.unapplied_receipt TO admitone_app;

-- Name: TABLE "freeze"; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payouts."freeze" TO admitone_app;

-- Name: COLUMN "freeze".since; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(since) ON TABLE payouts."freeze" TO admitone_app;

-- Name: COLUMN "freeze".lifted_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(lifted_at) ON TABLE payouts."freeze" TO admitone_app;

-- Name: TABLE obligation; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payouts.obligation TO admitone_app;

-- Name: COLUMN obligation.organization_id; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE payouts.obligation TO admitone_relay;

-- Name: COLUMN obligation.payee_id; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT(payee_id) ON TABLE payouts.obligation TO admitone_relay;

-- Name: COLUMN obligation.amount_minor; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(amount_minor) ON TABLE payouts.obligation TO admitone_app;

-- Name: COLUMN obligation.eligible_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT(eligible_at) ON TABLE payouts.obligation TO admitone_relay;

-- Name: COLUMN obligation.state; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE payouts.obligation TO admitone_app;
GRANT SELECT(state) ON TABLE payouts.obligation TO admitone_relay;

-- Name: COLUMN obligation.payout_id; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(payout_id) ON TABLE payouts.obligation TO admitone_app;

-- Name: COLUMN obligation.changed_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE payouts.obligation TO admitone_app;

-- Name: COLUMN obligation.kept_minor; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(kept_minor) ON TABLE payouts.obligation TO admitone_app;

-- Name: COLUMN obligation.is_returned; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(is_returned) ON TABLE payouts.obligation TO admitone_app;

-- Name: TABLE owner; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payouts.owner TO admitone_app;

-- Name: COLUMN owner.created_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(created_at) ON TABLE payouts.owner TO admitone_app;

-- Name: TABLE payout; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payouts.payout TO admitone_app;

-- Name: COLUMN payout.organization_id; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE payouts.payout TO admitone_relay;

-- Name: COLUMN payout.id; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT(id) ON TABLE payouts.payout TO admitone_relay;

-- Name: COLUMN payout.gross_minor; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(gross_minor) ON TABLE payouts.payout TO admitone_app;

-- Name: COLUMN payout.recovered_minor; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(recovered_minor) ON TABLE payouts.payout TO admitone_app;

-- Name: COLUMN payout.amount_minor; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(amount_minor) ON TABLE payouts.payout TO admitone_app;

-- Name: COLUMN payout.state; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE payouts.payout TO admitone_app;
GRANT SELECT(state) ON TABLE payouts.payout TO admitone_relay;

-- Name: COLUMN payout.reference; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(reference) ON TABLE payouts.payout TO admitone_app;

-- Name: COLUMN payout.code; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(code) ON TABLE payouts.payout TO admitone_app;

-- Name: COLUMN payout.created_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT(created_at) ON TABLE payouts.payout TO admitone_relay;

-- Name: COLUMN payout.asked_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(asked_at) ON TABLE payouts.payout TO admitone_app;
GRANT SELECT(asked_at) ON TABLE payouts.payout TO admitone_relay;

-- Name: COLUMN payout.changed_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE payouts.payout TO admitone_app;

-- Name: TABLE reported; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payouts.reported TO admitone_app;

-- Name: COLUMN reported.organization_id; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE payouts.reported TO admitone_relay;

-- Name: COLUMN reported.reference; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT(reference) ON TABLE payouts.reported TO admitone_relay;

-- Name: COLUMN reported.status; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE payouts.reported TO admitone_app;

-- Name: COLUMN reported.amount_minor; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(amount_minor) ON TABLE payouts.reported TO admitone_app;

-- Name: COLUMN reported.currency; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(currency) ON TABLE payouts.reported TO admitone_app;

-- Name: COLUMN reported.code; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(code) ON TABLE payouts.reported TO admitone_app;

-- Name: COLUMN reported.at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(at) ON TABLE payouts.reported TO admitone_app;

-- Name: COLUMN reported.payout_id; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(payout_id) ON TABLE payouts.reported TO admitone_app;
GRANT SELECT(payout_id) ON TABLE payouts.reported TO admitone_relay;

-- Name: COLUMN reported.released_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(released_at) ON TABLE payouts.reported TO admitone_app;
GRANT SELECT(released_at) ON TABLE payouts.reported TO admitone_relay;

-- Name: TABLE schedule; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE ON TABLE payouts.schedule TO admitone_app;

-- Name: COLUMN schedule.frequency; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(frequency) ON TABLE payouts.schedule TO admitone_app;

-- Name: COLUMN schedule.day_of_week; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(day_of_week) ON TABLE payouts.schedule TO admitone_app;

-- Name: COLUMN schedule.day_of_month; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(day_of_month) ON TABLE payouts.schedule TO admitone_app;

-- Name: COLUMN schedule.min_threshold_minor; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(min_threshold_minor) ON TABLE payouts.schedule TO admitone_app;

-- Name: COLUMN schedule.hold_days; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(hold_days) ON TABLE payouts.schedule TO admitone_app;

-- Name: COLUMN schedule.version; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(version) ON TABLE payouts.schedule TO admitone_app;

-- Name: COLUMN schedule.changed_at; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT UPDATE(changed_at) ON TABLE payouts.schedule TO admitone_app;

-- Name: TABLE statement; Type: ACL; Schema: payouts; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE payouts.statement TO admitone_app;

-- Name: TABLE fee_choice; Type: ACL; Schema: pricing; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE pricing.fee_choice TO admitone_app;

-- Name: TABLE fee_policy; Type: ACL; Schema: pricing; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE pricing.fee_policy TO admitone_app;

-- Name: TABLE platform_policy; Type: ACL; Schema: pricing; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE pricing.platform_policy TO admitone_app;

-- Name: TABLE verdict; Type: ACL; Schema: proof; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE proof.verdict TO admitone_app;
GRANT SELECT ON TABLE proof.verdict TO admitone_relay;

-- Name: TABLE issue; Type: ACL; Schema: reconciliation; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE reconciliation.issue TO admitone_app;

-- Name: COLUMN issue.organization_id; Type: ACL; Schema: reconciliation; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE reconciliation.issue TO admitone_relay;

-- Name: COLUMN issue.state; Type: ACL; Schema: reconciliation; Owner: admitone_owner
GRANT SELECT(state) ON TABLE reconciliation.issue TO admitone_relay;

-- Name: COLUMN issue.first_seen_at; Type: ACL; Schema: reconciliation; Owner: admitone_owner
GRANT SELECT(first_seen_at) ON TABLE reconciliation.issue TO admitone_relay;

-- Name: TABLE run; Type: ACL; Schema: reconciliation; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE reconciliation.run TO admitone_app;

-- Name: TABLE standing; Type: ACL; Schema: reconciliation; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE reconciliation.standing TO admitone_app;
GRANT SELECT ON TABLE reconciliation.standing TO admitone_relay;

-- Name: TABLE refund; Type: ACL; Schema: refunds; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE refunds.refund TO admitone_app;

-- Name: COLUMN refund.state; Type: ACL; Schema: refunds; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE refunds.refund TO admitone_app;

-- Name: COLUMN refund.failure; Type: ACL; Schema: refunds; Owner: admitone_owner
GRANT UPDATE(failure) ON TABLE refunds.refund TO admitone_app;

-- Name: COLUMN refund.settled_at; Type: ACL; Schema: refunds; Owner: admitone_owner
GRANT UPDATE(settled_at) ON TABLE refunds.refund TO admitone_app;

-- Name: TABLE refund_line; Type: ACL; Schema: refunds; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE refunds.refund_line TO admitone_app;

-- Name: TABLE sale_line; Type: ACL; Schema: sales; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sales.sale_line TO admitone_app;

-- Name: TABLE sale_summary; Type: ACL; Schema: sales; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sales.sale_summary TO admitone_app;

-- Name: TABLE given_back; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE stock.given_back TO admitone_app;

-- Name: TABLE pool; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE stock.pool TO admitone_app;

-- Name: COLUMN pool.organization_id; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE stock.pool TO admitone_relay;

-- Name: COLUMN pool.id; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT(id) ON TABLE stock.pool TO admitone_relay;

-- Name: COLUMN pool.capacity; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(capacity) ON TABLE stock.pool TO admitone_app;

-- Name: COLUMN pool.held; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(held) ON TABLE stock.pool TO admitone_app;

-- Name: COLUMN pool.sold; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(sold) ON TABLE stock.pool TO admitone_app;

-- Name: TABLE portion; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE stock.portion TO admitone_app;

-- Name: COLUMN portion.organization_id; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT(organization_id) ON TABLE stock.portion TO admitone_relay;

-- Name: COLUMN portion.hold_id; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT(hold_id) ON TABLE stock.portion TO admitone_relay;

-- Name: COLUMN portion.status; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(status) ON TABLE stock.portion TO admitone_app;
GRANT SELECT(status) ON TABLE stock.portion TO admitone_relay;

-- Name: COLUMN portion.returned; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(returned) ON TABLE stock.portion TO admitone_app;
GRANT SELECT(returned) ON TABLE stock.portion TO admitone_relay;

-- Name: COLUMN portion.units; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(units) ON TABLE stock.portion TO admitone_app;

-- Name: COLUMN portion.expires_at; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT(expires_at) ON TABLE stock.portion TO admitone_relay;
GRANT UPDATE(expires_at) ON TABLE stock.portion TO admitone_app;

-- Name: COLUMN portion.ended_at; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(ended_at) ON TABLE stock.portion TO admitone_app;

-- Name: TABLE unit; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT SELECT,INSERT,DELETE ON TABLE stock.unit TO admitone_app;

-- Name: COLUMN unit.place; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(place) ON TABLE stock.unit TO admitone_app;

-- Name: COLUMN unit.hold_id; Type: ACL; Schema: stock; Owner: admitone_owner
GRANT UPDATE(hold_id) ON TABLE stock.unit TO admitone_app;

-- Name: TABLE cursor; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE webhooks.cursor TO admitone_app;

-- Name: COLUMN cursor."position"; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT UPDATE("position") ON TABLE webhooks.cursor TO admitone_app;

-- Name: COLUMN cursor.since; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT UPDATE(since) ON TABLE webhooks.cursor TO admitone_app;

-- Name: TABLE payload; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE webhooks.payload TO admitone_app;

-- Name: TABLE receipt; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE webhooks.receipt TO admitone_app;
GRANT SELECT ON TABLE webhooks.receipt TO admitone_relay;

-- Name: COLUMN receipt.organization_id; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT UPDATE(organization_id) ON TABLE webhooks.receipt TO admitone_app;
GRANT UPDATE(organization_id) ON TABLE webhooks.receipt TO admitone_relay;

-- Name: COLUMN receipt.state; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT UPDATE(state) ON TABLE webhooks.receipt TO admitone_app;
GRANT UPDATE(state) ON TABLE webhooks.receipt TO admitone_relay;

-- Name: COLUMN receipt.reason; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT UPDATE(reason) ON TABLE webhooks.receipt TO admitone_app;
GRANT UPDATE(reason) ON TABLE webhooks.receipt TO admitone_relay;

-- Name: COLUMN receipt.payment_id; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT UPDATE(payment_id) ON TABLE webhooks.receipt TO admitone_app;

-- Name: COLUMN receipt.round; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT UPDATE(round) ON TABLE webhooks.receipt TO admitone_app;

-- Name: COLUMN receipt.settled_at; Type: ACL; Schema: webhooks; Owner: admitone_owner
GRANT UPDATE(settled_at) ON TABLE webhooks.receipt TO admitone_app;
GRANT UPDATE(settled_at) ON TABLE webhooks.receipt TO admitone_relay;
