-- why: an organisation that has events switched off is in no list of what is on (ORG-013)
-- lock: none; a new table
-- phase: expand

-- PLATFORM: whether lists show what an organisation has on; those that are not here are shown. Written from facts, and looked
-- at anew every night; pages and orders ask the organisation itself.
CREATE TABLE events.house (
    organization_id uuid        NOT NULL,
    is_open         boolean     NOT NULL,
    -- When it was looked at: who looked earlier never covers who looked later.
    seen_at         timestamptz NOT NULL
);
ALTER TABLE events.house ADD PRIMARY KEY (organization_id);
ALTER TABLE events.house ENABLE ROW LEVEL SECURITY;
ALTER TABLE events.house FORCE ROW LEVEL SECURITY;
CREATE POLICY relay_opens ON events.house TO admitone_relay USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON events.house TO admitone_relay;
-- What everybody sees is everybody's to read.
CREATE POLICY app_reads ON events.house FOR SELECT TO admitone_app USING (true);
GRANT SELECT ON events.house TO admitone_app;
