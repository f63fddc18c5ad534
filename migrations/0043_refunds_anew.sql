-- why: what a cancellation could not give back is ordered anew, and the cancellation should say what became of it
-- lock: ACCESS EXCLUSIVE on refunds.refund, for a moment: the column is empty
-- phase: expand

ALTER TABLE refunds.refund
    ADD COLUMN stands_for uuid CONSTRAINT refund_stands_for_check CHECK (stands_for IS NULL OR cancellation_id IS NULL),
    ADD CONSTRAINT refund_stands_for_fkey
        FOREIGN KEY (organization_id, stands_for) REFERENCES refunds.refund (organization_id, id);
