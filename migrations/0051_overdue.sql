-- why: in a rush nobody has counted the open payments yet, and the planner looked for one of them among all that were open (record 9)
-- lock: SHARE on payments.payment while the index is built: nobody pays meanwhile; then ACCESS EXCLUSIVE for a moment
-- phase: expand

-- For those who say so, too, and for nobody who asks by source. The former goes last: whoever only reads does not wait for the new one.
CREATE INDEX payment_overdue_said ON payments.payment (expires_at, id)
    WHERE status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED') AND expires_at > '-infinity';
DROP INDEX payments.payment_overdue;
ALTER INDEX payments.payment_overdue_said RENAME TO payment_overdue;
