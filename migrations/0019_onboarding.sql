-- why: what a provider says of an account has a time, so that what is older undoes nothing
-- lock: ACCESS EXCLUSIVE on payments.account, for a moment: nothing wrote to it before
-- phase: expand

ALTER TABLE payments.account ADD COLUMN told_at timestamptz NOT NULL;
