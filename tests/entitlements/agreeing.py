"""What must agree whatever happened at doors: the rights, the log and the counts."""

from tests.entitlements.rights import Hall, all_of

OF_RIGHTS = """
    SELECT e.id, e.entries, e.entered, e.duplicates, e.max_entries, e.consumed_at, e.last_entry_at,
           l.admitted, l.undone, l.duplicate, l.first_at, l.last_at
      FROM entitlements.entitlement AS e
     CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE c.admitted) AS admitted,
                  count(*) FILTER (WHERE c.action = 'UNDO') AS undone,
                  count(*) FILTER (WHERE c.action = 'ENTRY' AND NOT c.admitted
                                     AND c.reason_code = 'CHECKIN_DUPLICATE') AS duplicate,
                  min(c.at) FILTER (WHERE c.admitted AND u.id IS NULL) AS first_at,
                  max(c.at) FILTER (WHERE c.admitted AND u.id IS NULL) AS last_at
             FROM entitlements.checkin AS c
             LEFT JOIN entitlements.checkin AS u
               ON u.organization_id = c.organization_id AND u.refers_to = c.id AND u.action = 'UNDO'
            WHERE c.organization_id = e.organization_id AND c.entitlement_id = e.id) AS l
     WHERE e.organization_id = $1
"""
OF_LOG = """
    SELECT event_id, gate, COALESCE(session_id, '') AS session_id, device, date_trunc('minute', at) AS minute,
           count(*) FILTER (WHERE admitted) AS admitted,
           count(*) FILTER (WHERE action = 'UNDO') AS undone,
           count(*) FILTER (WHERE action = 'ENTRY' AND NOT admitted AND reason_code = 'CHECKIN_DUPLICATE') AS duplicate,
           count(*) FILTER (WHERE action = 'ENTRY' AND NOT admitted AND reason_code <> 'CHECKIN_DUPLICATE') AS denied
      FROM entitlements.checkin
     WHERE organization_id = $1 AND event_id IS NOT NULL
     GROUP BY 1, 2, 3, 4, 5
"""
OF_COUNTS = """
    SELECT event_id, gate, session_id, device, minute, admitted, undone, duplicate, denied
      FROM entitlements.tally WHERE organization_id = $1
"""


async def agree(hall: Hall) -> int:
    """How many came in and were not taken back."""
    inside = 0
    for row in await all_of(hall, OF_RIGHTS):
        assert (row["entries"], row["entered"]) == (row["admitted"] - row["undone"], row["admitted"])
        assert 0 <= row["entries"] <= row["max_entries"]
        assert (row["consumed_at"], row["last_entry_at"]) == (row["first_at"], row["last_at"])
        assert row["duplicates"] == row["duplicate"]
        inside += row["entries"]
    log, counts = await all_of(hall, OF_LOG), await all_of(hall, OF_COUNTS)
    assert {tuple(row) for row in log} == {tuple(row) for row in counts}, "the counts are sums of the log"
    assert sum(row["admitted"] - row["undone"] for row in counts) == inside
    return inside
