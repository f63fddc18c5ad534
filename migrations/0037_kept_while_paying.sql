-- why: what is kept for somebody who pays is kept until they have paid or cannot any more (PAY-002, U-24), and never for ever
-- lock: ACCESS EXCLUSIVE on stock.portion and events.ticket_order for a moment; what is there is read under a weaker lock
-- phase: expand

-- However often somebody begins to pay: until then, and then it is anybody's. What has none is kept as long as was said at first.
ALTER TABLE stock.portion ADD COLUMN keepable_until timestamptz;
ALTER TABLE stock.portion ADD CONSTRAINT portion_keepable_check CHECK (expires_at <= keepable_until) NOT VALID;
ALTER TABLE stock.portion VALIDATE CONSTRAINT portion_keepable_check;
GRANT UPDATE (expires_at) ON stock.portion TO admitone_app;

ALTER TABLE events.ticket_order
    ADD CONSTRAINT ticket_order_kept_check CHECK (expires_at <= created_at + interval '95 minutes') NOT VALID;
ALTER TABLE events.ticket_order VALIDATE CONSTRAINT ticket_order_kept_check;
