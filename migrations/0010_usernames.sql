-- why: one namespace of public names for people and organisations, written through these functions only
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA usernames;
GRANT USAGE ON SCHEMA usernames TO admitone_app, admitone_identity, admitone_maintenance;

-- REGISTRY: who goes by a name, or left it not long ago. The names are in the form that `policy.normalise` gives; what
-- the server can tell of it without knowing a language stands here too. A held name is its former holder's alone
-- until `held_until`; after that the row means nothing.
CREATE TABLE usernames.username (
    name       text        PRIMARY KEY CHECK (length(name) BETWEEN 4 AND 15),
    owner_type text        NOT NULL CHECK (owner_type IN ('USER', 'ORGANIZATION')),
    owner_id   uuid        NOT NULL,
    status     text        NOT NULL CHECK (status IN ('LIVE', 'HELD')),
    claimed_at timestamptz NOT NULL,
    held_until timestamptz,
    CHECK (name IS NFC NORMALIZED),
    -- By the letters that are the same in every locale: what the server knows of others differs from one to the next.
    CHECK (name = lower(name COLLATE "C")),
    CHECK (name !~ '\s'),
    CHECK ((status = 'HELD') = (held_until IS NOT NULL))
);
CREATE UNIQUE INDEX username_of_owner ON usernames.username (owner_type, owner_id) WHERE status = 'LIVE';
CREATE INDEX username_held_of_owner ON usernames.username (owner_type, owner_id, held_until) WHERE status = 'HELD';
CREATE INDEX username_by_end_of_hold ON usernames.username (held_until) WHERE status = 'HELD';
ALTER TABLE usernames.username ENABLE ROW LEVEL SECURITY;
ALTER TABLE usernames.username FORCE ROW LEVEL SECURITY;
-- The owner reaches the registry through these functions only: nobody logs in as the owner at run time.
CREATE POLICY owner_by_function ON usernames.username TO admitone_owner USING (true) WITH CHECK (true);


-- Whoever changes an owner's name or takes a name holds both until the end of the transaction: also names and owners
-- that have no row yet. In one order for everybody, so that two who swap their names cannot deadlock.
CREATE FUNCTION usernames.hold_still(kind text, owners uuid[], names text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(number)
       FROM (SELECT DISTINCT hashtextextended('usernames ' || thing, 0) AS number
               FROM (SELECT kind || ' ' || owner FROM unnest(owners) AS owner
                      UNION ALL
                     SELECT name FROM unnest(names) AS name) AS things(thing)
              ORDER BY number) AS sorted;
END
$$;
REVOKE EXECUTE ON FUNCTION usernames.hold_still(text, uuid[], text[]) FROM PUBLIC;


-- The names that owners leave are held for 15 days to the instant (hours, because a day in March has 23).
CREATE FUNCTION usernames.leave(kind text, owners uuid[], at timestamptz) RETURNS SETOF uuid
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE usernames.username
       SET status = 'HELD', held_until = at + interval '360 hours'
     WHERE owner_type = kind
       AND owner_id = ANY (owners)
       AND status = 'LIVE'
    RETURNING owner_id
$$;
REVOKE EXECUTE ON FUNCTION usernames.leave(text, uuid[], timestamptz) FROM PUBLIC;


-- One after another, as if each were alone: KEPT (had it before), TAKEN (another's, or held for another), COOLDOWN (left
-- another name within the days of its hold, the last of which ends at `until`), or CLAIMED.
CREATE FUNCTION usernames.claim(
    kind text, owners uuid[], names text[], at timestamptz,
    OUT place bigint, OUT outcome text, OUT until timestamptz)
RETURNS SETOF record LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
REVOKE EXECUTE ON FUNCTION usernames.claim(text, uuid[], text[], timestamptz) FROM PUBLIC;


-- What an organisation does, it does in its own name: the one of the transaction's scope.
CREATE FUNCTION usernames.require_own(organization uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF organization IS DISTINCT FROM NULLIF(current_setting('app.organization_id', true), '')::uuid THEN
        RAISE EXCEPTION 'another organisation''s username' USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION usernames.require_own(uuid) FROM PUBLIC;

CREATE FUNCTION usernames.claim_for_organization(
    organization uuid, names text[], at timestamptz, OUT place bigint, OUT outcome text, OUT until timestamptz)
RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM usernames.require_own(organization);
    RETURN QUERY SELECT c.place, c.outcome, c.until
                   FROM usernames.claim(
                        'ORGANIZATION', array_fill(organization, ARRAY[cardinality(names)]), names, at) AS c;
END
$$;
REVOKE EXECUTE ON FUNCTION usernames.claim_for_organization(uuid, text[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usernames.claim_for_organization(uuid, text[], timestamptz) TO admitone_app;

CREATE FUNCTION usernames.claim_for_people(
    people uuid[], names text[], at timestamptz, OUT place bigint, OUT outcome text, OUT until timestamptz)
RETURNS SETOF record LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.place, c.outcome, c.until FROM usernames.claim('USER', people, names, at) AS c
$$;
REVOKE EXECUTE ON FUNCTION usernames.claim_for_people(uuid[], text[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usernames.claim_for_people(uuid[], text[], timestamptz) TO admitone_identity;


-- Who of them had a name to release.
CREATE FUNCTION usernames.release_of_organization(organization uuid, at timestamptz) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM usernames.require_own(organization), usernames.hold_still('ORGANIZATION', ARRAY[organization], '{}');
    RETURN QUERY SELECT l FROM usernames.leave('ORGANIZATION', ARRAY[organization], at) AS l;
END
$$;
REVOKE EXECUTE ON FUNCTION usernames.release_of_organization(uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usernames.release_of_organization(uuid, timestamptz) TO admitone_app;

CREATE FUNCTION usernames.release_of_people(people uuid[], at timestamptz) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM usernames.hold_still('USER', people, '{}');
    RETURN QUERY SELECT l FROM usernames.leave('USER', people, at) AS l;
END
$$;
REVOKE EXECUTE ON FUNCTION usernames.release_of_people(uuid[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usernames.release_of_people(uuid[], timestamptz) TO admitone_identity;


-- Whose the names are. Of a held one it is told that it is held, and not for whom.
CREATE FUNCTION usernames.resolve(
    names text[], at timestamptz, OUT name text, OUT owner_type text, OUT owner_id uuid)
RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT u.name,
           CASE WHEN u.status = 'LIVE' THEN u.owner_type END,
           CASE WHEN u.status = 'LIVE' THEN u.owner_id END
      FROM usernames.username AS u
     WHERE u.name = ANY (names)
       AND (u.status = 'LIVE' OR u.held_until > at)
$$;
REVOKE EXECUTE ON FUNCTION usernames.resolve(text[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usernames.resolve(text[], timestamptz) TO admitone_identity;

-- What names they go by. No other table has a username, so whoever shows one asks here.
CREATE FUNCTION usernames.names_of(kind text, owners uuid[], OUT owner_id uuid, OUT name text)
RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT u.owner_id, u.name
      FROM usernames.username AS u
     WHERE u.owner_type = kind
       AND u.owner_id = ANY (owners)
       AND u.status = 'LIVE'
$$;
REVOKE EXECUTE ON FUNCTION usernames.names_of(text, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usernames.names_of(text, uuid[]) TO admitone_app, admitone_identity;


-- Forgets who had names whose hold is over, the oldest first and at most so many: how many there were.
CREATE FUNCTION usernames.forget(most integer, at timestamptz) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
REVOKE EXECUTE ON FUNCTION usernames.forget(integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usernames.forget(integer, timestamptz) TO admitone_maintenance;
