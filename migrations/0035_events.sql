-- why: events, what is sold for them, who ordered it and what they got
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA events;
GRANT USAGE ON SCHEMA events TO admitone_app, admitone_buyer, admitone_relay;

-- TENANT: an event. It was published once and for all: a published one never becomes a draft again (EVT-002).
CREATE TABLE events.event (
    organization_id  uuid        NOT NULL REFERENCES kernel.tenant (id),
    id               uuid        NOT NULL,
    title            text        NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    description      text        NOT NULL CHECK (length(description) <= 20000),
    status           text        NOT NULL CHECK (status IN ('DRAFT', 'PUBLISHED', 'CANCELLED')),
    starts_at        timestamptz NOT NULL,
    ends_at          timestamptz NOT NULL CHECK (ends_at > starts_at),
    -- As people there read their clocks (EVT-006).
    time_zone        text        NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
    currency         text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    venue            text        NOT NULL CHECK (length(venue) <= 200),
    address          text        NOT NULL CHECK (length(address) <= 300),
    city             text        NOT NULL CHECK (length(city) <= 100),
    country          text        NOT NULL CHECK (country ~ '^([A-Z]{2})?$'),
    -- Whoever buys says that they are that old (EVT-008); none: nobody is asked.
    least_age        smallint    CHECK (least_age BETWEEN 1 AND 99),
    -- How long what somebody ordered is kept for them.
    hold_minutes     smallint    NOT NULL CHECK (hold_minutes BETWEEN 1 AND 60),
    allows_zero      boolean     NOT NULL,
    pricing_mode     text        NOT NULL CHECK (pricing_mode IN ('STANDARD', 'FREE_ONLY')),
    -- Of the policy in force.
    policy_version   integer     NOT NULL CHECK (policy_version > 0),
    -- From then on the policy may only relax (EVT-017).
    first_sold_at    timestamptz,
    published_at     timestamptz,
    cancelled_at     timestamptz,
    version          integer     NOT NULL CHECK (version > 0),
    created_at       timestamptz NOT NULL,
    changed_at       timestamptz NOT NULL,
    CHECK ((status = 'DRAFT') = (published_at IS NULL) OR status = 'CANCELLED'),
    CHECK ((status = 'CANCELLED') = (cancelled_at IS NOT NULL)),
    CHECK (status <> 'DRAFT' OR first_sold_at IS NULL)
);
CREATE INDEX event_by_start ON events.event (organization_id, starts_at, id);
ALTER TABLE events.event ADD PRIMARY KEY (organization_id, id);
ALTER TABLE events.event ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.event FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.event TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON events.event TO admitone_app;
GRANT UPDATE (title, description, status, starts_at, ends_at, time_zone, venue, address, city, country, least_age, hold_minutes, allows_zero,
              pricing_mode, policy_version, first_sold_at, published_at, cancelled_at, version, changed_at)
    ON events.event TO admitone_app;


-- TENANT: a part of an event with an entry of its own. An event without any is one session by itself.
CREATE TABLE events.session (
    organization_id uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    id              uuid        NOT NULL,
    label           text        NOT NULL CHECK (length(label) BETWEEN 1 AND 100),
    starts_at       timestamptz NOT NULL,
    ends_at         timestamptz NOT NULL CHECK (ends_at > starts_at),
    PRIMARY KEY (organization_id, event_id, id),
    FOREIGN KEY (organization_id, event_id) REFERENCES events.event (organization_id, id)
);
ALTER TABLE events.session ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.session FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.session TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON events.session TO admitone_app;
GRANT UPDATE (label, starts_at, ends_at) ON events.session TO admitone_app;


-- TENANT: a pool that several ticket types of an event draw from, beside their own. How much is in it is for the stock to say.
CREATE TABLE events.shared_pool (
    organization_id uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    id              uuid        NOT NULL,
    label           text        NOT NULL CHECK (length(label) BETWEEN 1 AND 100),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, event_id, id),
    FOREIGN KEY (organization_id, event_id) REFERENCES events.event (organization_id, id)
);
ALTER TABLE events.shared_pool ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.shared_pool FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.shared_pool TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON events.shared_pool TO admitone_app;
GRANT UPDATE (label) ON events.shared_pool TO admitone_app;


-- TENANT: what can be bought for an event. How many there are is for its pools to say: its own, and those that it shares.
CREATE TABLE events.ticket_type (
    organization_id uuid        NOT NULL,
    id              uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    name            text        NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    description     text        NOT NULL CHECK (length(description) <= 1000),
    price_minor     bigint      NOT NULL CHECK (price_minor BETWEEN 0 AND 1000000000000),
    -- A price of nothing is somebody's decision (FIN-085): the event's when it was priced, or its own.
    allows_zero     boolean     NOT NULL,
    free_per_person integer     NOT NULL CHECK (free_per_person BETWEEN 1 AND 100),
    pool_id         uuid        NOT NULL,
    shared_pools    uuid[]      NOT NULL CHECK (cardinality(shared_pools) <= 5),
    seated          boolean     NOT NULL,
    sales_from      timestamptz,
    sales_until     timestamptz,
    most_per_order  integer     NOT NULL CHECK (most_per_order BETWEEN 1 AND 100),
    most_per_buyer  integer     CHECK (most_per_buyer BETWEEN 1 AND 10000),
    status          text        NOT NULL CHECK (status IN ('ON_SALE', 'HIDDEN', 'ARCHIVED')),
    -- Which sessions it is good for; none: the whole event.
    sessions        uuid[]      NOT NULL CHECK (cardinality(sessions) <= 100),
    position        integer     NOT NULL,
    version         integer     NOT NULL CHECK (version > 0),
    created_at      timestamptz NOT NULL,
    changed_at      timestamptz NOT NULL,
    CHECK (price_minor > 0 OR allows_zero),
    CHECK (sales_until > sales_from),
    FOREIGN KEY (organization_id, event_id) REFERENCES events.event (organization_id, id)
);
CREATE INDEX ticket_type_of_event ON events.ticket_type (organization_id, event_id, position, id);
ALTER TABLE events.ticket_type ADD PRIMARY KEY (organization_id, id);
ALTER TABLE events.ticket_type ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.ticket_type FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.ticket_type TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON events.ticket_type TO admitone_app;
GRANT UPDATE (name, description, price_minor, allows_zero, free_per_person, shared_pools, sales_from, sales_until, most_per_order,
              most_per_buyer, status, sessions, position, version, changed_at)
    ON events.ticket_type TO admitone_app;


-- TENANT: who may buy and how people are let in, version after version. Append-only (EVT-016).
CREATE TABLE events.access_policy (
    organization_id        uuid        NOT NULL,
    event_id               uuid        NOT NULL,
    version                integer     NOT NULL CHECK (version > 0),
    mode                   text        NOT NULL CHECK (mode IN ('PUBLIC', 'INVITE_ONLY', 'UNLISTED')),
    guest_checkout_allowed boolean     NOT NULL,
    login_required         boolean     NOT NULL,
    invite_token_allowed   boolean     NOT NULL,
    invite_identity_match  text        NOT NULL CHECK (invite_identity_match IN ('EMAIL', 'USERNAME', 'BOTH')),
    invite_token_hours     integer     CHECK (invite_token_hours BETWEEN 1 AND 8760),
    requires_entitlement   boolean     NOT NULL,
    scanner_required       boolean     NOT NULL,
    methods                text[]      NOT NULL CHECK (methods <@ ARRAY['QR_TICKET', 'QR_REGISTRATION', 'QR_BOOKING', 'MANUAL']
                                                       AND cardinality(methods) > 0),
    allow_reentry          boolean     NOT NULL,
    reentry_minutes        integer     NOT NULL CHECK (reentry_minutes BETWEEN 0 AND 10080),
    max_entries            integer     NOT NULL CHECK (max_entries BETWEEN 1 AND 1000),
    undo_minutes           integer     NOT NULL CHECK (undo_minutes BETWEEN 0 AND 1440),
    created_at             timestamptz NOT NULL,
    actor_id               uuid,
    -- A token is bound to an e-mail (EVT-011), and ends some day.
    CHECK (NOT invite_token_allowed OR (invite_identity_match IN ('EMAIL', 'BOTH') AND invite_token_hours IS NOT NULL)),
    -- Whoever must sign in cannot come as a guest, and was invited (EVT-015).
    CHECK (NOT login_required OR (NOT guest_checkout_allowed AND mode = 'INVITE_ONLY')),
    PRIMARY KEY (organization_id, event_id, version),
    FOREIGN KEY (organization_id, event_id) REFERENCES events.event (organization_id, id) DEFERRABLE INITIALLY DEFERRED
);
ALTER TABLE events.access_policy ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.access_policy FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.access_policy TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON events.access_policy TO admitone_app;


-- TENANT: what somebody wants, kept for them until they have paid, under a hold of the same id. A key places one order of one
-- person for ever.
CREATE TABLE events.ticket_order (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    identity_id     uuid        NOT NULL,
    key             text        NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    request_hash    bytea       NOT NULL,
    state           text        NOT NULL CHECK (state IN ('OPEN', 'FULFILLED', 'CANCELLED', 'RETURNED')),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    -- What the lines cost before discounts, taxes and fees.
    amount_minor    bigint      NOT NULL CHECK (amount_minor >= 0),
    is_guest        boolean     NOT NULL,
    language        text        NOT NULL CHECK (length(language) BETWEEN 2 AND 10),
    age_confirmed   boolean     NOT NULL,
    -- Name and tax number for the invoice, sealed.
    billing         bytea,
    expires_at      timestamptz NOT NULL,
    payment_id      uuid,
    fulfilled_at    timestamptz,
    version         integer     NOT NULL CHECK (version > 0),
    created_at      timestamptz NOT NULL,
    changed_at      timestamptz NOT NULL,
    UNIQUE (organization_id, identity_id, key),
    CHECK (state <> 'FULFILLED' OR (payment_id IS NOT NULL AND fulfilled_at IS NOT NULL))
) WITH (fillfactor = 85);
CREATE INDEX ticket_order_of_event ON events.ticket_order (organization_id, event_id, id);
CREATE INDEX ticket_order_of_buyer ON events.ticket_order (identity_id, id);
ALTER TABLE events.ticket_order ADD PRIMARY KEY (organization_id, id);
ALTER TABLE events.ticket_order ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.ticket_order FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.ticket_order TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY buyer_own ON events.ticket_order FOR SELECT TO admitone_buyer
    USING (identity_id = NULLIF(current_setting('app.identity_id', true), '')::uuid);
GRANT SELECT, INSERT ON events.ticket_order TO admitone_app;
GRANT UPDATE (identity_id, key, state, billing, expires_at, payment_id, fulfilled_at, version, changed_at) ON events.ticket_order TO admitone_app;
GRANT SELECT ON events.ticket_order TO admitone_buyer;


-- TENANT: so many of a type, at the price that it had then. Append-only.
CREATE TABLE events.order_line (
    organization_id  uuid    NOT NULL,
    order_id         uuid    NOT NULL,
    ticket_type_id   uuid    NOT NULL,
    name             text    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    quantity         integer NOT NULL CHECK (quantity BETWEEN 1 AND 100),
    unit_price_minor bigint  NOT NULL CHECK (unit_price_minor >= 0),
    PRIMARY KEY (organization_id, order_id, ticket_type_id),
    FOREIGN KEY (organization_id, order_id) REFERENCES events.ticket_order (organization_id, id)
);
ALTER TABLE events.order_line ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.order_line FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.order_line TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON events.order_line TO admitone_app;


-- TENANT: one piece of an order that was paid. Its right to enter is an entitlement; this is what was sold.
CREATE TABLE events.ticket (
    organization_id  uuid        NOT NULL,
    id               uuid        NOT NULL,
    order_id         uuid        NOT NULL,
    event_id         uuid        NOT NULL,
    ticket_type_id   uuid        NOT NULL,
    emission_index   integer     NOT NULL CHECK (emission_index >= 0),
    identity_id      uuid        NOT NULL,
    status           text        NOT NULL CHECK (status IN ('ACTIVE', 'RESALE_LISTED', 'TRANSFERRED', 'REFUNDED', 'DISPUTED',
                                                            'CHARGEBACK_LOST', 'CANCELLED')),
    price_minor      bigint      NOT NULL CHECK (price_minor >= 0),
    unit_id          uuid,
    seat             text        CHECK (length(seat) <= 64),
    version          integer     NOT NULL CHECK (version > 0),
    created_at       timestamptz NOT NULL,
    changed_at       timestamptz NOT NULL,
    -- FUL-002: whoever issues twice issues once.
    UNIQUE (organization_id, order_id, ticket_type_id, emission_index),
    FOREIGN KEY (organization_id, order_id) REFERENCES events.ticket_order (organization_id, id)
) WITH (fillfactor = 85);
CREATE INDEX ticket_of_event ON events.ticket (organization_id, event_id, id);
CREATE INDEX ticket_of_owner ON events.ticket (identity_id, id);
ALTER TABLE events.ticket ADD PRIMARY KEY (organization_id, id);
ALTER TABLE events.ticket ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.ticket FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.ticket TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY buyer_own ON events.ticket FOR SELECT TO admitone_buyer
    USING (identity_id = NULLIF(current_setting('app.identity_id', true), '')::uuid);
GRANT SELECT, INSERT ON events.ticket TO admitone_app;
GRANT UPDATE (identity_id, status, version, changed_at) ON events.ticket TO admitone_app;
GRANT SELECT ON events.ticket TO admitone_buyer;


-- TENANT: a link by which a guest sees the tickets of an order, as its digest (EVT-025).
CREATE TABLE events.guest_link (
    organization_id uuid        NOT NULL,
    digest          bytea       NOT NULL CHECK (length(digest) = 32),
    order_id        uuid        NOT NULL,
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    revoked_at      timestamptz,
    UNIQUE (organization_id, order_id, digest),
    FOREIGN KEY (organization_id, order_id) REFERENCES events.ticket_order (organization_id, id)
);
CREATE INDEX guest_link_by_age ON events.guest_link (expires_at);
ALTER TABLE events.guest_link ADD PRIMARY KEY (organization_id, digest);
ALTER TABLE events.guest_link ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.guest_link FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON events.guest_link TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY overdue ON events.guest_link TO admitone_owner
    USING (expires_at < now() - interval '30 days') WITH CHECK (false);
GRANT SELECT, INSERT ON events.guest_link TO admitone_app;
GRANT UPDATE (expires_at, revoked_at) ON events.guest_link TO admitone_app;


-- PLATFORM: events that were published, over all organisations: where each is kept, and what lists of them show. Written from
-- facts; nothing is decided by it.
CREATE TABLE events.listing (
    event_id        uuid        NOT NULL,
    organization_id uuid        NOT NULL,
    event_version   integer     NOT NULL,
    -- In lists too, not by its link alone; no more once it is over, so that lists never read past what is over.
    listed          boolean     NOT NULL,
    title           text        NOT NULL,
    starts_at       timestamptz NOT NULL,
    ends_at         timestamptz NOT NULL,
    time_zone       text        NOT NULL,
    venue           text        NOT NULL,
    city            text        NOT NULL,
    country         text        NOT NULL,
    changed_at      timestamptz NOT NULL
);
CREATE INDEX listing_by_start ON events.listing (starts_at, event_id) WHERE listed;
CREATE INDEX listing_by_city ON events.listing (lower(city), starts_at, event_id) WHERE listed;
CREATE INDEX listing_by_end ON events.listing (ends_at) WHERE listed;
CREATE INDEX listing_of_organization ON events.listing (organization_id, starts_at, event_id) WHERE listed;
ALTER TABLE events.listing ADD PRIMARY KEY (event_id);
ALTER TABLE events.listing ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.listing FORCE ROW LEVEL SECURITY;
CREATE POLICY relay_lists ON events.listing TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON events.listing TO admitone_relay;
-- What is published is everybody's to read.
CREATE POLICY app_reads ON events.listing FOR SELECT TO admitone_app USING (true);
GRANT SELECT ON events.listing TO admitone_app;
