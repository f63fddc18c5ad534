-- why: an invitation that is over needs nobody's address any more
-- lock: ACCESS EXCLUSIVE on organizations.invitation, for as long as its rows are read once; a row lives for 97 days
-- phase: expand

ALTER TABLE organizations.invitation
    ALTER COLUMN email_sealed DROP NOT NULL,
    ALTER COLUMN email_hash DROP NOT NULL;

-- The owner sees only what is overdue; for this statement, all.
ALTER TABLE organizations.invitation NO FORCE ROW LEVEL SECURITY;
UPDATE organizations.invitation SET email_sealed = NULL, email_hash = NULL WHERE state <> 'PENDING';
ALTER TABLE organizations.invitation FORCE ROW LEVEL SECURITY;

ALTER TABLE organizations.invitation
    ADD CONSTRAINT invitation_address_while_pending
        CHECK (num_nonnulls(email_sealed, email_hash) = CASE WHEN state = 'PENDING' THEN 2 ELSE 0 END);
GRANT UPDATE (email_sealed, email_hash) ON organizations.invitation TO admitone_app;
