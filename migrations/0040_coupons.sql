-- why: prepaid campaigns of organisations, and the codes by which people redeem what they promise
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA coupons;
GRANT USAGE ON SCHEMA coupons TO admitone_app, admitone_relay, admitone_maintenance;

-- TENANT: a campaign. What it costs is copied from the price list when it is made; a week that has begun is paid for.
-- `due_at` is the next instant at which somebody must see to it: the end of a week that is earned then, or its own end.
CREATE TABLE coupons.campaign (
    organization_id  uuid        NOT NULL REFERENCES kernel.tenant (id),
    id               uuid        NOT NULL,
    name             text        NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
    days             integer     NOT NULL CHECK (days BETWEEN 15 AND 364),
    weeks            integer     NOT NULL CHECK (weeks = (days + 6) / 7),
    weekly_fee_minor bigint      NOT NULL CHECK (weekly_fee_minor BETWEEN 1 AND 1000000000),
    cost_minor       bigint      NOT NULL CHECK (cost_minor = weekly_fee_minor * weeks),
    currency         text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    redemption_limit integer     NOT NULL CHECK (redemption_limit BETWEEN 1 AND 10000000),
    redeemed         integer     NOT NULL DEFAULT 0 CHECK (redeemed BETWEEN 0 AND redemption_limit),
    state            text        NOT NULL CHECK (state IN ('PENDING_PAYMENT', 'ACTIVE', 'ENDED')),
    identity_id      uuid        NOT NULL,
    key              text        NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    request_hash     bytea       NOT NULL CHECK (octet_length(request_hash) = 32),
    payment_id       uuid,
    created_at       timestamptz NOT NULL,
    activated_at     timestamptz,
    ends_at          timestamptz,
    ended_at         timestamptz,
    ended_for        text        CHECK (ended_for IN ('OVER', 'EXHAUSTED', 'REVERSED')),
    earned_weeks     integer     NOT NULL DEFAULT 0 CHECK (earned_weeks BETWEEN 0 AND weeks),
    earned_minor     bigint      NOT NULL DEFAULT 0 CHECK (earned_minor BETWEEN 0 AND cost_minor),
    due_at           timestamptz,
    watched_until    timestamptz NOT NULL,
    divergence       text        CHECK (divergence IN ('PAID_NOT_ACTIVE', 'ACTIVE_NOT_PAID', 'BOOKS_DIFFER')),
    UNIQUE (organization_id, key),
    -- Nothing is active that was not paid for, and nothing for less than fifteen days unless it was used up or undone.
    CHECK ((state = 'PENDING_PAYMENT') = (activated_at IS NULL)),
    CHECK ((activated_at IS NULL) = (ends_at IS NULL)),
    CHECK ((activated_at IS NULL) = (payment_id IS NULL)),
    CHECK (ends_at - activated_at >= interval '360 hours'),
    CHECK ((state = 'ENDED') = (ended_at IS NOT NULL)),
    CHECK ((state = 'ENDED') = (ended_for IS NOT NULL)),
    CHECK (ended_for <> 'OVER' OR ended_at >= ends_at),
    CHECK ((ended_for = 'EXHAUSTED') IS NOT TRUE OR redeemed = redemption_limit),
    -- The last redemption ends it, in the same statement.
    CHECK (state <> 'ACTIVE' OR redeemed < redemption_limit),
    CHECK (state <> 'PENDING_PAYMENT' OR (redeemed = 0 AND earned_weeks = 0 AND earned_minor = 0 AND due_at IS NULL))
);
-- Over all organisations: whose time has come, what is compared with its money, what differs.
CREATE INDEX campaign_due ON coupons.campaign (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX campaign_watched ON coupons.campaign (watched_until, id);
CREATE INDEX campaign_diverged ON coupons.campaign (id) WHERE divergence IS NOT NULL;
-- Last, so that the planner takes it before anybody has counted rows.
ALTER TABLE coupons.campaign ADD PRIMARY KEY (organization_id, id);
ALTER TABLE coupons.campaign ENABLE ROW LEVEL SECURITY;
ALTER TABLE coupons.campaign FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON coupons.campaign TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_watches ON coupons.campaign FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON coupons.campaign TO admitone_app;
GRANT UPDATE (redeemed, state, payment_id, activated_at, ends_at, ended_at, ended_for, earned_weeks, earned_minor, due_at,
              watched_until, divergence) ON coupons.campaign TO admitone_app;
GRANT SELECT (organization_id, id, state, due_at, watched_until, divergence) ON coupons.campaign TO admitone_relay;


-- TENANT: a code, by the digest of what its QR says. It is good for 300 seconds and for one use; a person has one live
-- code of a campaign at a time. EXPIRED is written when the next one is made: until then its time alone says so.
CREATE TABLE coupons.token (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    campaign_id     uuid        NOT NULL,
    identity_id     uuid        NOT NULL,
    digest          bytea       NOT NULL CHECK (octet_length(digest) = 32),
    key_version     smallint    NOT NULL,
    status          text        NOT NULL CHECK (status IN ('GENERATED', 'REDEEMED', 'EXPIRED')),
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    redeemed_at     timestamptz,
    CHECK (expires_at - created_at = interval '300 seconds'),
    CHECK ((status = 'REDEEMED') = (redeemed_at IS NOT NULL)),
    CHECK (redeemed_at >= created_at AND redeemed_at < expires_at)
);
CREATE UNIQUE INDEX token_live ON coupons.token (organization_id, campaign_id, identity_id) WHERE status = 'GENERATED';
CREATE UNIQUE INDEX token_by_digest ON coupons.token (organization_id, digest);
CREATE INDEX token_by_age ON coupons.token (expires_at);
ALTER TABLE coupons.token ADD PRIMARY KEY (organization_id, id);
ALTER TABLE coupons.token ENABLE ROW LEVEL SECURITY;
ALTER TABLE coupons.token FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON coupons.token TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY overdue ON coupons.token TO admitone_owner
    USING (expires_at < now() - interval '90 days') WITH CHECK (false);
GRANT SELECT, INSERT ON coupons.token TO admitone_app;
GRANT UPDATE (status, redeemed_at) ON coupons.token TO admitone_app;


-- REGISTRY: which digests were ever made: a code of another merchant is told from a guess, and no two are the same.
CREATE TABLE coupons.known_token (
    digest      bytea       PRIMARY KEY CHECK (octet_length(digest) = 32),
    merchant_id uuid        NOT NULL,
    expires_at  timestamptz NOT NULL
);
CREATE INDEX known_token_by_age ON coupons.known_token (expires_at);
ALTER TABLE coupons.known_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE coupons.known_token FORCE ROW LEVEL SECURITY;
-- The owner reaches the registry through these functions only: nobody logs in as the owner at run time.
CREATE POLICY owner_by_function ON coupons.known_token TO admitone_owner USING (true) WITH CHECK (true);


CREATE FUNCTION coupons.know(own uuid, digests bytea[], ends timestamptz[]) RETURNS SETOF bytea
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO coupons.known_token (digest, merchant_id, expires_at)
    SELECT v.digest, own, v.expires_at
      FROM unnest(digests, ends) AS v(digest, expires_at)
     ORDER BY v.digest
    RETURNING digest
$$;
REVOKE EXECUTE ON FUNCTION coupons.know(uuid, bytea[], timestamptz[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION coupons.know(uuid, bytea[], timestamptz[]) TO admitone_app;


-- Which of these were ever made, by whomever: nothing else is said. A guess and a stranger's code cost the same.
CREATE FUNCTION coupons.known(digests bytea[]) RETURNS SETOF bytea
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.digest FROM coupons.known_token AS k WHERE k.digest = ANY (digests)
$$;
REVOKE EXECUTE ON FUNCTION coupons.known(bytea[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION coupons.known(bytea[]) TO admitone_app;


-- Forgets what was over ninety days ago, as the tokens themselves are, the oldest first and at most so many: how many.
CREATE FUNCTION coupons.forget(most integer, at timestamptz) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
REVOKE EXECUTE ON FUNCTION coupons.forget(integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION coupons.forget(integer, timestamptz) TO admitone_maintenance;
