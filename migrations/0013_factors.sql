-- why: an authenticator is replaced only when the new one was confirmed; Apple's names stand under every live key
-- lock: ACCESS EXCLUSIVE on identity.totp and identity.apple, for a moment: nothing wrote to either before
-- phase: expand

-- A secret that was shown and not confirmed yet waits beside the one that counts.
ALTER TABLE identity.totp
    ALTER COLUMN secret_sealed DROP NOT NULL,
    ADD COLUMN pending_sealed bytea,
    ADD COLUMN pending_at timestamptz,
    ADD CONSTRAINT totp_counts_when_confirmed CHECK ((secret_sealed IS NULL) = (confirmed_at IS NULL)),
    ADD CONSTRAINT totp_pending_since CHECK ((pending_sealed IS NULL) = (pending_at IS NULL)),
    ADD CONSTRAINT totp_not_empty CHECK (num_nonnulls(secret_sealed, pending_sealed) > 0);

-- One row for each key that was live, as addresses have it: no name is linked twice while keys change.
ALTER TABLE identity.apple
    ADD COLUMN key_version smallint NOT NULL CHECK (key_version BETWEEN 1 AND 255),
    DROP CONSTRAINT apple_identity_id_key,
    ADD CONSTRAINT apple_once_under_a_key UNIQUE (identity_id, key_version);
