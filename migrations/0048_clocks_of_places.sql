-- why: everybody in an organisation reads its clocks by the same zone, which is told with the place
-- lock: ACCESS SHARE on organizations.organization; rights are catalogue rows
-- phase: expand

GRANT SELECT (time_zone) ON organizations.organization TO admitone_authority;
