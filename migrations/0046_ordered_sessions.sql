-- why: late money buys the sessions that were ordered, or goes back; what is offered by then may be others
-- lock: ACCESS EXCLUSIVE on events.order_line, for a moment: the column is empty
-- phase: expand

-- None: all of them. Not known of what was ordered before.
ALTER TABLE events.order_line
    ADD COLUMN sessions uuid[] CONSTRAINT order_line_sessions_check CHECK (cardinality(sessions) <= 100);
