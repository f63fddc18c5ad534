-- why: what was sent to an address is found by it, also what was sent before there was an account; a link that was followed
--      is no recent proof; wrong second factors are counted
-- lock: ACCESS EXCLUSIVE on identity.challenge, identity.totp and authority.session, for a moment; the index is built while
--       codes wait: challenges live for three weeks at most
-- phase: expand

-- Under the newest key of its day. Challenges outlive no key that made them, so whoever looks asks under every live one.
ALTER TABLE identity.challenge ADD COLUMN email_hash bytea CHECK (octet_length(email_hash) = 32);
CREATE INDEX challenge_by_email ON identity.challenge (email_hash) WHERE email_hash IS NOT NULL;

-- Codes that were shown and wrong, since the last right one.
ALTER TABLE identity.totp ADD COLUMN missed smallint NOT NULL DEFAULT 0 CHECK (missed >= 0);

-- Nothing: the session was opened by something that may have lain in a mailbox for days.
ALTER TABLE authority.session ALTER COLUMN authenticated_at DROP NOT NULL;
