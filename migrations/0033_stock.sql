-- why: how much there is of a thing, who keeps some of it for a while, and who has which numbered unit
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA stock;
GRANT USAGE ON SCHEMA stock TO admitone_app, admitone_relay;

-- TENANT: so much there is of something. The counters are what the portions add up to, so that a batch decides under one lock
-- without adding up; every night they are compared.
CREATE TABLE stock.pool (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    capacity        integer     NOT NULL CHECK (capacity BETWEEN 0 AND 1000000000),
    held            integer     NOT NULL CHECK (held >= 0),
    sold            integer     NOT NULL CHECK (sold >= 0),
    -- Each of it has a number, and a row in `unit`.
    seated          boolean     NOT NULL,
    created_at      timestamptz NOT NULL,
    -- Never oversold, whatever the code above believes.
    CHECK (held + sold <= capacity),
    PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 50);
ALTER TABLE stock.pool ENABLE ROW LEVEL SECURITY;
ALTER TABLE stock.pool FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON stock.pool TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_compares ON stock.pool FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON stock.pool TO admitone_app;
GRANT UPDATE (capacity, held, sold) ON stock.pool TO admitone_app;
GRANT SELECT (organization_id, id) ON stock.pool TO admitone_relay;


-- TENANT: so many of one pool, for one item, under one hold: a hold is all portions that have its id. Whoever changes one has
-- locked its pool, and no other: so a portion whose time has passed can go to somebody else whatever else its hold keeps.
CREATE TABLE stock.portion (
    organization_id uuid        NOT NULL,
    hold_id         uuid        NOT NULL,
    number          smallint    NOT NULL CHECK (number >= 0),
    pool_id         uuid        NOT NULL,
    -- What is sold, in the vertical's words, and for what.
    item            text        NOT NULL CHECK (length(item) BETWEEN 1 AND 64),
    subject         text        NOT NULL CHECK (length(subject) BETWEEN 1 AND 64),
    buyer_id        uuid        NOT NULL,
    quantity        integer     NOT NULL CHECK (quantity BETWEEN 1 AND 1000000),
    -- An item that counts in several pools counts for its buyer once: by the portion that leads.
    leads           boolean     NOT NULL,
    -- How many of the item one buyer may have, as it was when this was kept.
    most            integer     CHECK (most >= 0),
    status          text        NOT NULL CHECK (status IN ('HELD', 'SOLD', 'RELEASED', 'EXPIRED')),
    -- Of what was sold, how much was given back.
    returned        integer     NOT NULL CHECK (returned BETWEEN 0 AND quantity),
    -- Of a seated pool: those that it has, or had when it ended.
    units           uuid[],
    kept_at         timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    ended_at        timestamptz,
    CHECK ((status IN ('RELEASED', 'EXPIRED')) = (ended_at IS NOT NULL)),
    CHECK (returned = 0 OR status = 'SOLD'),
    CHECK (cardinality(units) = quantity - returned),
    PRIMARY KEY (organization_id, hold_id, number),
    FOREIGN KEY (organization_id, pool_id) REFERENCES stock.pool (organization_id, id)
) WITH (fillfactor = 80);
-- A planner that has counted nothing yet takes any index that could serve, the newest first, and keeps to it. So each of these says by
-- its predicate whom it serves, and those who ask for a hold have the key alone, in which no pool and no item stands.
CREATE INDEX portion_by_end ON stock.portion (expires_at, hold_id) WHERE status = 'HELD' AND returned = 0;
CREATE INDEX portion_by_age ON stock.portion (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX portion_of_pool ON stock.portion (organization_id, pool_id, status, expires_at) WHERE ended_at IS NULL;
CREATE INDEX portion_of_buyer ON stock.portion (organization_id, buyer_id) WHERE leads AND status IN ('HELD', 'SOLD');
ALTER TABLE stock.portion ENABLE ROW LEVEL SECURITY;
ALTER TABLE stock.portion FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON stock.portion TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_sweeps ON stock.portion FOR SELECT TO admitone_relay USING (true);
-- What ended and came to nothing; what was sold is kept.
CREATE POLICY overdue ON stock.portion TO admitone_owner
    USING (ended_at < now() - interval '90 days') WITH CHECK (false);
GRANT SELECT, INSERT ON stock.portion TO admitone_app;
GRANT UPDATE (status, returned, units, ended_at) ON stock.portion TO admitone_app;
GRANT SELECT (organization_id, hold_id, status, returned, expires_at) ON stock.portion TO admitone_relay;


-- TENANT: what came back of a portion that was sold, and under which key. Append-only.
CREATE TABLE stock.given_back (
    organization_id uuid        NOT NULL,
    hold_id         uuid        NOT NULL,
    key             text        NOT NULL CHECK (length(key) BETWEEN 1 AND 100),
    -- Which portion of the hold.
    number          smallint    NOT NULL,
    quantity        integer     NOT NULL CHECK (quantity > 0),
    units           uuid[],
    at              timestamptz NOT NULL,
    CHECK (cardinality(units) = quantity),
    PRIMARY KEY (organization_id, hold_id, key, number),
    FOREIGN KEY (organization_id, hold_id, number) REFERENCES stock.portion (organization_id, hold_id, number)
);
ALTER TABLE stock.given_back ENABLE ROW LEVEL SECURITY;
ALTER TABLE stock.given_back FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON stock.given_back TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON stock.given_back TO admitone_app;


-- TENANT: one numbered unit, such as a seat. It has one owner or none: a column has no room for two.
CREATE TABLE stock.unit (
    organization_id uuid    NOT NULL,
    id              uuid    NOT NULL,
    pool_id         uuid    NOT NULL,
    label           text    NOT NULL CHECK (length(label) BETWEEN 1 AND 64),
    -- The best is 0; neighbours follow each other.
    place           integer NOT NULL CHECK (place >= 0),
    hold_id         uuid,
    UNIQUE (organization_id, pool_id, label),
    FOREIGN KEY (organization_id, pool_id) REFERENCES stock.pool (organization_id, id)
) WITH (fillfactor = 80);
-- Last of those that serve all, so that the planner takes it before anybody has counted rows.
ALTER TABLE stock.unit ADD PRIMARY KEY (organization_id, id);
CREATE INDEX unit_free ON stock.unit (organization_id, pool_id, place) WHERE hold_id IS NULL;
ALTER TABLE stock.unit ENABLE ROW LEVEL SECURITY;
ALTER TABLE stock.unit FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON stock.unit TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON stock.unit TO admitone_app;
GRANT UPDATE (place, hold_id) ON stock.unit TO admitone_app;
