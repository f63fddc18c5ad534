-- why: circuit breakers, shared by all processes
-- lock: none, every object is new
-- phase: expand

-- PLATFORM: what stands between us and those we depend on, one row for each that ever failed. Without a row it is CLOSED.
CREATE TABLE kernel.breaker (
    dependency text          PRIMARY KEY CHECK (dependency ~ '^[a-z0-9_]+$' AND length(dependency) <= 50),
    state      text          NOT NULL CHECK (state IN ('CLOSED', 'OPEN', 'HALF_OPEN')),
    failures   timestamptz[] NOT NULL CHECK (cardinality(failures) <= 100),
    openings   integer       NOT NULL CHECK (openings >= 0),
    until      timestamptz,
    probe      uuid,
    CHECK ((state = 'CLOSED') = (until IS NULL)),
    CHECK ((state = 'CLOSED') = (openings = 0)),
    CHECK ((state = 'HALF_OPEN') = (probe IS NOT NULL))
) WITH (fillfactor = 50);
ALTER TABLE kernel.breaker ENABLE ROW LEVEL SECURITY;
ALTER TABLE kernel.breaker FORCE ROW LEVEL SECURITY;
CREATE POLICY authority_breaks ON kernel.breaker TO admitone_authority USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON kernel.breaker TO admitone_authority;
