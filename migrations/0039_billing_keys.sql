-- why: whom an invoice is for is written under the newest key every night, so that an older one can go (GAP-18)
-- lock: ACCESS EXCLUSIVE on events.ticket_order while it is written anew with the column, then SHARE while the index is built
-- phase: expand

-- Under which key it is sealed: of all that is sealed the relay reads that alone.
ALTER TABLE events.ticket_order ADD COLUMN billing_key smallint GENERATED ALWAYS AS (get_byte(billing, 0)) STORED;
CREATE INDEX ticket_order_by_key ON events.ticket_order (billing_key, id) WHERE billing_key IS NOT NULL;
CREATE POLICY relay_rotates ON events.ticket_order FOR SELECT TO admitone_relay USING (true);
GRANT SELECT (organization_id, id, billing_key) ON events.ticket_order TO admitone_relay;
