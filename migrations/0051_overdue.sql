-- why: in a rush nobody has counted the open payments yet, and the planner looked for one of them among all that were open (record 9)
-- lock: SHARE on payments.payment while the index is built: nobody pays meanwhile
-- phase: expand

-- For those who say so, too, and for nobody who asks by source.
DROP INDEX payments.payment_overdue;
CREATE INDEX payment_overdue ON payments.payment (expires_at, id)
    WHERE status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED') AND expires_at > '-infinity';
