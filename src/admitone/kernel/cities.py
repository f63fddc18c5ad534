"""The cities there are: the same for every organisation, and each may ask."""

from collections.abc import Iterable

from admitone.kernel.db import Tx

# The organisation is in it because a `Tx` binds it to every statement; the cities are the same for all.
FIND_CITIES = """
    SELECT c.code
      FROM kernel.tenant AS t
     CROSS JOIN kernel.city AS c
     WHERE t.id = $1
       AND c.code = ANY($2::text[])
"""


async def find_cities(tx: Tx, codes: Iterable[str]) -> set[str]:
    """Those of them that there are, GLOBAL among them."""
    return {row["code"] for row in await tx.fetch(FIND_CITIES, sorted(set(codes)))}
