-- why: identity: people and guests, their addresses as hashes, profiles that can be scrubbed, and how they prove themselves
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA identity;
GRANT USAGE ON SCHEMA identity TO admitone_identity, admitone_buyer;

-- IDENTITY: who owns tickets and bookings. Nothing personal stands here, so it outlives the person's data.
CREATE TABLE identity.identity (
    id                uuid        PRIMARY KEY,
    type              text        NOT NULL CHECK (type IN ('USER', 'GUEST_EMAIL')),
    status            text        NOT NULL CHECK (status IN ('ACTIVE', 'TOMBSTONE', 'ERASED')),
    merged_into       uuid        REFERENCES identity.identity (id),
    email_verified_at timestamptz,
    created_at        timestamptz NOT NULL,
    -- A guest who proved the address lives on in a user; a user is never merged away.
    CHECK ((status = 'TOMBSTONE') = (merged_into IS NOT NULL)),
    CHECK (status <> 'TOMBSTONE' OR type = 'GUEST_EMAIL'),
    CHECK (type = 'USER' OR email_verified_at IS NULL)
);
CREATE INDEX identity_by_user ON identity.identity (merged_into) WHERE merged_into IS NOT NULL;

-- IDENTITY: whose address it is, as keyed hashes: one row for each key that was live when it was written, so that no
-- address is taken twice while keys change (GAP-18). One user and one guest at most have the same address.
CREATE TABLE identity.email_hash (
    type        text     NOT NULL CHECK (type IN ('USER', 'GUEST_EMAIL')),
    hash        bytea    NOT NULL CHECK (octet_length(hash) = 32),
    key_version smallint NOT NULL CHECK (key_version BETWEEN 1 AND 255),
    identity_id uuid     NOT NULL REFERENCES identity.identity (id),
    PRIMARY KEY (type, hash)
);
CREATE INDEX email_hash_by_identity ON identity.email_hash (identity_id);

-- IDENTITY: what erasing a person scrubs.
CREATE TABLE identity.profile (
    identity_id  uuid        PRIMARY KEY REFERENCES identity.identity (id),
    email_sealed bytea       NOT NULL,
    display_name text        CHECK (length(display_name) BETWEEN 1 AND 100),
    language     text        NOT NULL CHECK (language IN ('en', 'pt_PT', 'pt_BR')),
    created_at   timestamptz NOT NULL,
    changed_at   timestamptz NOT NULL
);

-- IDENTITY: passwords as argon2 hashes.
CREATE TABLE identity.password (
    identity_id uuid        PRIMARY KEY REFERENCES identity.identity (id),
    hash        text        NOT NULL CHECK (hash LIKE '$argon2id$%' AND length(hash) <= 200),
    changed_at  timestamptz NOT NULL
);

-- IDENTITY: something that was sent to an address and must come back: a code of six digits beside the challenge's id, or
-- a link. The address and what is to become of it are sealed.
CREATE TABLE identity.challenge (
    id            uuid        PRIMARY KEY,
    purpose       text        NOT NULL CHECK (purpose IN ('SIGN_IN', 'RESET', 'LINK', 'CHANGE_EMAIL', 'STEP_UP')),
    digest        bytea       NOT NULL CHECK (octet_length(digest) = 32),
    identity_id   uuid,
    sealed        bytea       NOT NULL,
    attempts_left smallint    NOT NULL CHECK (attempts_left >= 0),
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL CHECK (expires_at > created_at),
    used_at       timestamptz,
    key           text        CHECK (length(key) BETWEEN 1 AND 200)
);
CREATE UNIQUE INDEX challenge_by_link ON identity.challenge (digest) WHERE purpose IN ('RESET', 'LINK');
CREATE UNIQUE INDEX challenge_by_key ON identity.challenge (key) WHERE key IS NOT NULL;
CREATE INDEX challenge_by_identity ON identity.challenge (identity_id) WHERE identity_id IS NOT NULL;
CREATE INDEX challenge_by_age ON identity.challenge (expires_at);

-- IDENTITY: which guest became which user (the merge record). Append-only.
CREATE TABLE identity.merge (
    guest_id      uuid        PRIMARY KEY REFERENCES identity.identity (id),
    user_id       uuid        NOT NULL REFERENCES identity.identity (id),
    email_hash    bytea       NOT NULL CHECK (octet_length(email_hash) = 32),
    batch_version integer     NOT NULL CHECK (batch_version > 0),
    at            timestamptz NOT NULL,
    UNIQUE (email_hash, user_id, batch_version)
);
CREATE INDEX merge_by_user ON identity.merge (user_id);

-- IDENTITY: Apple's name for a person, as a keyed hash.
CREATE TABLE identity.apple (
    subject_hash bytea       PRIMARY KEY CHECK (octet_length(subject_hash) = 32),
    identity_id  uuid        NOT NULL UNIQUE REFERENCES identity.identity (id),
    linked_at    timestamptz NOT NULL
);

-- IDENTITY: the second factor. Each step of time is worth one code.
CREATE TABLE identity.totp (
    identity_id   uuid        PRIMARY KEY REFERENCES identity.identity (id),
    secret_sealed bytea       NOT NULL,
    created_at    timestamptz NOT NULL,
    confirmed_at  timestamptz,
    last_step     bigint      NOT NULL DEFAULT 0
);
CREATE TABLE identity.recovery_code (
    identity_id uuid        NOT NULL REFERENCES identity.identity (id),
    digest      bytea       NOT NULL CHECK (octet_length(digest) = 32),
    created_at  timestamptz NOT NULL,
    used_at     timestamptz,
    PRIMARY KEY (identity_id, digest)
);

ALTER TABLE identity.identity ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.identity FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.email_hash ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.email_hash FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.profile ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.profile FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.password ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.password FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.challenge ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.challenge FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.merge ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.merge FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.apple ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.apple FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.totp ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.totp FORCE ROW LEVEL SECURITY;
ALTER TABLE identity.recovery_code ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.recovery_code FORCE ROW LEVEL SECURITY;

CREATE POLICY identity_all ON identity.identity TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY identity_all ON identity.email_hash TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY identity_all ON identity.profile TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY identity_all ON identity.password TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY identity_all ON identity.challenge TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY identity_all ON identity.merge TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY identity_all ON identity.apple TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY identity_all ON identity.totp TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY identity_all ON identity.recovery_code TO admitone_identity USING (true) WITH CHECK (true);
CREATE POLICY buyer_own ON identity.profile FOR SELECT TO admitone_buyer
    USING (identity_id = NULLIF(current_setting('app.identity_id', true), '')::uuid);
CREATE POLICY overdue ON identity.challenge TO admitone_owner
    USING (expires_at < now() - interval '7 days') WITH CHECK (false);

GRANT SELECT, INSERT, UPDATE ON identity.identity TO admitone_identity;
GRANT SELECT, INSERT, DELETE ON identity.email_hash TO admitone_identity;
GRANT SELECT, INSERT, UPDATE, DELETE ON identity.profile, identity.password, identity.totp TO admitone_identity;
GRANT SELECT, INSERT, UPDATE, DELETE ON identity.recovery_code TO admitone_identity;
GRANT SELECT, INSERT, UPDATE ON identity.challenge TO admitone_identity;
GRANT SELECT, INSERT ON identity.merge TO admitone_identity;
GRANT SELECT, INSERT, DELETE ON identity.apple TO admitone_identity;
GRANT SELECT ON identity.profile TO admitone_buyer;
