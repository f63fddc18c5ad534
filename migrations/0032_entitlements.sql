-- why: the one proof of access: rights, the codes that show them, what happened at doors
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA entitlements;
GRANT USAGE ON SCHEMA entitlements TO admitone_app, admitone_buyer, admitone_relay;

-- TENANT: one right of one person to one thing. Where it came from is the vertical's word and the payment; how it is let in
-- is the copy of the policy that stood when it was granted. Whether it was used is no state: `entries` counts what stands.
CREATE TABLE entitlements.entitlement (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    -- Whoever grants twice under one key grants once.
    emission_key    text        NOT NULL CHECK (length(emission_key) BETWEEN 1 AND 200),
    source_type     text        NOT NULL CHECK (source_type IN ('TICKET_ORDER', 'BOOKING', 'PADEL_REGISTRATION', 'STORE_ORDER',
                                                                'STAY_RESERVATION', 'COUPON_CAMPAIGN')),
    source_id       text        NOT NULL CHECK (length(source_id) BETWEEN 1 AND 64),
    -- Which line of the price, so that what goes back of a line takes so many with it.
    line_key        text        NOT NULL CHECK (length(line_key) BETWEEN 1 AND 64),
    -- Which piece of that line it is a part of, such as one day of a pass; by itself, if none is named.
    piece           integer     CHECK (piece >= 0),
    payment_id      uuid,
    event_id        text        CHECK (length(event_id) BETWEEN 1 AND 64),
    session_id      text        CHECK (length(session_id) BETWEEN 1 AND 64),
    -- What the door reads out: the vertical's words for it, nobody's name.
    label           text        NOT NULL CHECK (length(label) <= 120),
    identity_id        uuid        NOT NULL,
    kind            text        NOT NULL CHECK (kind ~ '^[a-z][a-z_]{1,31}$'),
    offline_allowed boolean     NOT NULL,
    status          text        NOT NULL CHECK (status IN ('PENDING', 'ACTIVE', 'REVOKED', 'EXPIRED', 'SUSPENDED')),
    -- Why it is suspended, each reason by itself: one that ends leaves the others. What is pending or over is held too, and is
    -- suspended when it is given or comes back.
    held_for        text[]      NOT NULL CHECK (held_for <@ ARRAY['DISPUTE', 'INVESTIGATION', 'FRAUD']),
    revoked_for     text        CHECK (revoked_for IN ('REFUND', 'CHARGEBACK', 'CANCELLATION', 'ADMIN', 'VIOLATION')),
    valid_from      timestamptz NOT NULL,
    valid_until     timestamptz NOT NULL CHECK (valid_until > valid_from),
    policy_version  integer     CHECK (policy_version > 0),
    methods         text[]      NOT NULL CHECK (methods <@ ARRAY['QR_TICKET', 'QR_REGISTRATION', 'QR_BOOKING', 'MANUAL']),
    max_entries     integer     NOT NULL CHECK (max_entries BETWEEN 1 AND 1000),
    reentry_minutes integer     NOT NULL CHECK (reentry_minutes BETWEEN 0 AND 10080),
    undo_minutes    integer     NOT NULL CHECK (undo_minutes BETWEEN 0 AND 1440),
    -- Entries that stand; what was undone does not. Never more than the policy lets in (INV-I09).
    entries         integer     NOT NULL CHECK (entries BETWEEN 0 AND max_entries),
    -- All that ever were: each has its number for ever.
    entered         integer     NOT NULL CHECK (entered >= entries),
    duplicates      integer     NOT NULL CHECK (duplicates >= 0),
    consumed_at     timestamptz,
    last_entry_at   timestamptz,
    -- Of the code that was made last; none was made before the first.
    epoch           integer     NOT NULL CHECK (epoch >= 0),
    -- Until when that code is good.
    coded_until     timestamptz,
    version         integer     NOT NULL CHECK (version > 0),
    created_at      timestamptz NOT NULL,
    changed_at      timestamptz NOT NULL,
    UNIQUE (organization_id, emission_key),
    CHECK (event_id IS NULL OR policy_version IS NOT NULL),
    CHECK (session_id IS NULL OR event_id IS NOT NULL),
    CHECK (status <> 'SUSPENDED' OR cardinality(held_for) > 0),
    CHECK (status NOT IN ('ACTIVE', 'REVOKED') OR cardinality(held_for) = 0),
    CHECK ((status = 'REVOKED') = (revoked_for IS NOT NULL)),
    CHECK ((entries > 0) = (consumed_at IS NOT NULL)),
    CHECK ((consumed_at IS NULL) = (last_entry_at IS NULL)),
    CHECK ((epoch = 0) = (coded_until IS NULL)),
    CHECK (status <> 'PENDING' OR (epoch = 0 AND entries = 0))
) WITH (fillfactor = 80);
CREATE INDEX entitlement_of_source ON entitlements.entitlement (organization_id, source_type, source_id);
CREATE INDEX entitlement_of_payment ON entitlements.entitlement (organization_id, payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX entitlement_of_event ON entitlements.entitlement (organization_id, event_id, id) WHERE event_id IS NOT NULL;
-- Of one person, over all organisations: what is still to come, and what was.
CREATE INDEX entitlement_of_owner ON entitlements.entitlement (identity_id, valid_until, id);
-- Whose time is over, and whose is near, over all organisations.
CREATE INDEX entitlement_by_end ON entitlements.entitlement (valid_until, id) WHERE status IN ('PENDING', 'ACTIVE', 'SUSPENDED');
CREATE INDEX entitlement_by_beginning ON entitlements.entitlement (valid_from, id) WHERE status = 'ACTIVE' AND offline_allowed;
-- Last, so that the planner takes it before anybody has counted rows.
ALTER TABLE entitlements.entitlement ADD PRIMARY KEY (organization_id, id);
ALTER TABLE entitlements.entitlement ENABLE ROW LEVEL SECURITY;
ALTER TABLE entitlements.entitlement FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON entitlements.entitlement TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY buyer_own ON entitlements.entitlement FOR SELECT TO admitone_buyer
    USING (identity_id = NULLIF(current_setting('app.identity_id', true), '')::uuid);
CREATE POLICY relay_sweeps ON entitlements.entitlement FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON entitlements.entitlement TO admitone_app;
GRANT UPDATE (identity_id, payment_id, methods, max_entries, reentry_minutes, undo_minutes, status, held_for, revoked_for, valid_from, valid_until, entries, entered, duplicates,
              consumed_at, last_entry_at, epoch, coded_until, version, changed_at)
    ON entitlements.entitlement TO admitone_app;
GRANT SELECT ON entitlements.entitlement TO admitone_buyer;
GRANT SELECT (organization_id, id, identity_id, payment_id, status, valid_from, valid_until, coded_until, offline_allowed) ON entitlements.entitlement TO admitone_relay;


-- TENANT: a code that shows a right, as its digest: the code itself is derived when it is shown and stands nowhere.
CREATE TABLE entitlements.token (
    organization_id uuid        NOT NULL,
    digest          bytea       NOT NULL CHECK (length(digest) = 16),
    entitlement_id  uuid        NOT NULL,
    epoch           integer     NOT NULL CHECK (epoch > 0),
    key_version     smallint    NOT NULL CHECK (key_version > 0),
    valid_from      timestamptz NOT NULL,
    valid_until     timestamptz NOT NULL CHECK (valid_until > valid_from),
    revoked_at      timestamptz,
    -- Of kinds that are good for one use: when it was used.
    redeemed_at     timestamptz,
    UNIQUE (organization_id, entitlement_id, epoch),
    FOREIGN KEY (organization_id, entitlement_id) REFERENCES entitlements.entitlement (organization_id, id)
);
CREATE INDEX token_by_age ON entitlements.token (valid_until);
ALTER TABLE entitlements.token ADD PRIMARY KEY (organization_id, digest);
ALTER TABLE entitlements.token ENABLE ROW LEVEL SECURITY;
ALTER TABLE entitlements.token FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON entitlements.token TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY overdue ON entitlements.token TO admitone_owner
    USING (valid_until < now() - interval '30 days') WITH CHECK (false);
GRANT SELECT, INSERT ON entitlements.token TO admitone_app;
GRANT UPDATE (revoked_at, redeemed_at) ON entitlements.token TO admitone_app;


-- TENANT: what became of a right, one after another: its trail. Append-only.
CREATE TABLE entitlements.change (
    organization_id uuid        NOT NULL,
    entitlement_id  uuid        NOT NULL,
    number          integer     NOT NULL CHECK (number > 0),
    kind            text        NOT NULL CHECK (kind IN ('GRANTED', 'ACTIVATED', 'SUSPENDED', 'RELEASED', 'REVOKED', 'EXPIRED',
                                                         'TRANSFERRED', 'CLAIMED', 'RESCHEDULED', 'RELAXED',
                                                         'CODES_REVOKED')),
    from_status     text,
    to_status       text        NOT NULL,
    reason          text        CHECK (length(reason) <= 100),
    identity_id        uuid        NOT NULL,
    at              timestamptz NOT NULL,
    actor_id        uuid,
    -- The fact that made it so, where one did.
    cause_id        uuid,
    correlation_id  uuid        NOT NULL,
    PRIMARY KEY (organization_id, entitlement_id, number),
    FOREIGN KEY (organization_id, entitlement_id) REFERENCES entitlements.entitlement (organization_id, id)
);
ALTER TABLE entitlements.change ENABLE ROW LEVEL SECURITY;
ALTER TABLE entitlements.change FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON entitlements.change TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON entitlements.change TO admitone_app;


-- TENANT: a device may admit so many people without asking, for a while. What all devices may do together is the most that can
-- go wrong, and staff see it before.
CREATE TABLE entitlements.lease (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    device          text        NOT NULL CHECK (length(device) BETWEEN 1 AND 128),
    event_id        text        NOT NULL CHECK (length(event_id) BETWEEN 1 AND 64),
    session_id      text        CHECK (length(session_id) BETWEEN 1 AND 64),
    gate            text        NOT NULL CHECK (length(gate) <= 64),
    issued_by       uuid,
    issued_at       timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL CHECK (expires_at > issued_at),
    synced_at       timestamptz NOT NULL,
    entries_allowed integer     NOT NULL CHECK (entries_allowed BETWEEN 1 AND 10000),
    entries_used    integer     NOT NULL CHECK (entries_used >= 0),
    revoked_at      timestamptz
);
CREATE INDEX lease_of_event ON entitlements.lease (organization_id, event_id, expires_at);
CREATE INDEX lease_by_age ON entitlements.lease (expires_at);
ALTER TABLE entitlements.lease ADD PRIMARY KEY (organization_id, id);
ALTER TABLE entitlements.lease ENABLE ROW LEVEL SECURITY;
ALTER TABLE entitlements.lease FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON entitlements.lease TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY overdue ON entitlements.lease TO admitone_owner
    USING (expires_at < now() - interval '90 days') WITH CHECK (false);
GRANT SELECT, INSERT ON entitlements.lease TO admitone_app;
GRANT UPDATE (expires_at, synced_at, entries_allowed, entries_used, revoked_at) ON entitlements.lease TO admitone_app;


-- TENANT: everything that happened at a door, also what was refused: CheckinLog. Append-only.
CREATE TABLE entitlements.checkin (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    entitlement_id  uuid,
    event_id        text        CHECK (length(event_id) BETWEEN 1 AND 64),
    session_id      text        CHECK (length(session_id) BETWEEN 1 AND 64),
    source_type     text        CHECK (source_type IN ('TICKET_ORDER', 'BOOKING', 'PADEL_REGISTRATION', 'STORE_ORDER',
                                                       'STAY_RESERVATION', 'COUPON_CAMPAIGN')),
    action          text        NOT NULL CHECK (action IN ('ENTRY', 'UNDO')),
    admitted        boolean     NOT NULL,
    reason_code     text        CHECK (reason_code ~ '^[A-Z][A-Z0-9_]{2,63}$'),
    -- Which entry it was, by count of all that ever were; an undo names the entry that it undoes.
    entry           integer     CHECK (entry > 0),
    method          text        NOT NULL CHECK (method IN ('QR', 'MANUAL')),
    gate            text        NOT NULL CHECK (length(gate) <= 64),
    device          text        NOT NULL CHECK (length(device) <= 128),
    scanner_id      uuid,
    -- When it was at the door, and when we heard of it.
    at              timestamptz NOT NULL,
    recorded_at     timestamptz NOT NULL,
    policy_version  integer,
    epoch           integer,
    -- The entry that it repeats, or that it undoes.
    refers_to       uuid,
    lease_id        uuid,
    scan_key        text        CHECK (length(scan_key) BETWEEN 1 AND 64),
    correlation_id  uuid        NOT NULL,
    CHECK (NOT admitted OR (entitlement_id IS NOT NULL AND entry IS NOT NULL)),
    CHECK (admitted OR action = 'UNDO' OR reason_code IS NOT NULL),
    CHECK (action <> 'UNDO' OR (NOT admitted AND refers_to IS NOT NULL AND reason_code IS NOT NULL)),
    CHECK ((lease_id IS NULL) = (scan_key IS NULL)),
    FOREIGN KEY (organization_id, entitlement_id) REFERENCES entitlements.entitlement (organization_id, id)
);
CREATE INDEX checkin_of_event ON entitlements.checkin (organization_id, event_id, id) WHERE event_id IS NOT NULL;
CREATE UNIQUE INDEX checkin_of_lease ON entitlements.checkin (organization_id, lease_id, scan_key) WHERE lease_id IS NOT NULL;
-- No entry of a right is ever written twice, and none is undone twice.
CREATE UNIQUE INDEX checkin_entry ON entitlements.checkin (organization_id, entitlement_id, entry, action) WHERE entry IS NOT NULL;
CREATE INDEX checkin_of_entitlement ON entitlements.checkin (organization_id, entitlement_id, id) WHERE entitlement_id IS NOT NULL;
ALTER TABLE entitlements.checkin ADD PRIMARY KEY (organization_id, id);
ALTER TABLE entitlements.checkin ENABLE ROW LEVEL SECURITY;
ALTER TABLE entitlements.checkin FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON entitlements.checkin TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON entitlements.checkin TO admitone_app;


-- TENANT: what happened at doors, counted by device and minute: live counts, ratios and anomalies are sums of it.
CREATE TABLE entitlements.tally (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    event_id        text        NOT NULL CHECK (length(event_id) BETWEEN 1 AND 64),
    device          text        NOT NULL CHECK (length(device) <= 128),
    minute          timestamptz NOT NULL,
    gate            text        NOT NULL CHECK (length(gate) <= 64),
    session_id      text        NOT NULL CHECK (length(session_id) <= 64),
    admitted        integer     NOT NULL CHECK (admitted >= 0),
    undone          integer     NOT NULL CHECK (undone >= 0),
    duplicate       integer     NOT NULL CHECK (duplicate >= 0),
    denied          integer     NOT NULL CHECK (denied >= 0),
    PRIMARY KEY (organization_id, event_id, device, minute, gate, session_id)
) WITH (fillfactor = 80);
CREATE INDEX tally_by_age ON entitlements.tally (minute);
ALTER TABLE entitlements.tally ENABLE ROW LEVEL SECURITY;
ALTER TABLE entitlements.tally FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON entitlements.tally TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_watches ON entitlements.tally FOR SELECT TO admitone_relay USING (true);
CREATE POLICY overdue ON entitlements.tally TO admitone_owner
    USING (minute < now() - interval '800 days') WITH CHECK (false);
GRANT SELECT, INSERT ON entitlements.tally TO admitone_app;
GRANT UPDATE (admitted, undone, duplicate, denied) ON entitlements.tally TO admitone_app;
GRANT SELECT ON entitlements.tally TO admitone_relay;


-- TENANT: a scanner of which something is remembered, because of what it was shown at an event (SAF-016): that somebody was
-- warned, that it was closed, that staff opened it again.
CREATE TABLE entitlements.scanner (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    event_id        text        NOT NULL CHECK (length(event_id) BETWEEN 1 AND 64),
    device          text        NOT NULL CHECK (length(device) BETWEEN 1 AND 128),
    warned_at       timestamptz,
    closed_at       timestamptz,
    -- What it was shown before is forgiven.
    opened_at       timestamptz,
    CHECK (closed_at IS NULL OR opened_at IS NULL)
);
-- Those that are closed, of everybody.
CREATE INDEX scanner_closed ON entitlements.scanner (closed_at) WHERE closed_at IS NOT NULL;
ALTER TABLE entitlements.scanner ADD PRIMARY KEY (organization_id, event_id, device);
ALTER TABLE entitlements.scanner ENABLE ROW LEVEL SECURITY;
ALTER TABLE entitlements.scanner FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON entitlements.scanner TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_watches ON entitlements.scanner FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON entitlements.scanner TO admitone_app;
GRANT SELECT ON entitlements.scanner TO admitone_relay;
GRANT UPDATE (warned_at, closed_at, opened_at) ON entitlements.scanner TO admitone_app;


-- PLATFORM: guests who are somebody by now: what is granted to one after that is the user's at once.
CREATE TABLE entitlements.claimed (
    guest_id   uuid        PRIMARY KEY,
    user_id    uuid        NOT NULL,
    claimed_at timestamptz NOT NULL
);
ALTER TABLE entitlements.claimed ENABLE ROW LEVEL SECURITY;
ALTER TABLE entitlements.claimed FORCE ROW LEVEL SECURITY;
CREATE POLICY app_reads ON entitlements.claimed FOR SELECT TO admitone_app USING (true);
CREATE POLICY relay_all ON entitlements.claimed TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT ON entitlements.claimed TO admitone_app;
GRANT SELECT, INSERT ON entitlements.claimed TO admitone_relay;
