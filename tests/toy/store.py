"""The toy's statements."""

from collections.abc import Sequence
from uuid import NAMESPACE_OID, uuid5

from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import IdentityTx, PlatformTx, Record, Tx
from admitone.kernel.money import Money
from admitone.kernel.statements import Insert, Lock
from tests.toy.errors import CounterNotFound, CounterNotOpen
from tests.toy.model import COUNTER, Added, Counter, CounterStatus, Heard, Increment, Move, Note

LOCK_COUNTERS = Lock(
    """
    SELECT name, value, ceiling, status
      FROM toy.counter
     WHERE organization_id = $1
       AND name = ANY($2::text[])
     ORDER BY name
    """,
    key="name",
)

ADD = """
    UPDATE toy.counter AS c
       SET value = c.value + v.amount
      FROM unnest($2::text[], $3::bigint[]) AS v(name, amount)
     WHERE c.organization_id = $1
       AND c.name = ANY($2::text[])
       AND c.name = v.name
       AND c.status = 'OPEN'
       AND c.value + v.amount <= c.ceiling
"""

MOVE = """
    UPDATE toy.counter
       SET status = $3
     WHERE organization_id = $1
       AND name = ANY($2::text[])
       AND status = ANY($4::text[])
"""

WRITE_NOTES = """
    UPDATE toy.counter AS c
       SET secret_note = v.sealed
      FROM unnest($2::text[], $3::bytea[]) AS v(name, sealed)
     WHERE c.organization_id = $1
       AND c.name = ANY($2::text[])
       AND c.name = v.name
"""

FIND_COUNTER = """
    SELECT name, value, ceiling, status, price_minor, price_currency, secret_note
      FROM toy.counter
     WHERE organization_id = $1
       AND name = $2
"""

INSERT_HEARD = Insert("toy.heard", {"id": "uuid", "key": "text", "number": "bigint"})

INSERT_INCREMENTS = Insert(
    "toy.increment",
    {"id": "uuid", "counter": "text", "amount": "bigint", "identity_id": "uuid", "at": "timestamptz"},
)

INSERT_COUNTERS = Insert(
    "toy.counter",
    {
        "name": "text",
        "value": "bigint",
        "ceiling": "bigint",
        "labels": "text[]",
        "note": "jsonb",
        "status": "text",
        "price_minor": "bigint",
        "price_currency": "text",
    },
    on_conflict="DO NOTHING",
    returning="name",
)

LIST_COUNTERS = """
    SELECT name, value, ceiling, labels, note
      FROM toy.counter
     WHERE organization_id = $1
       AND name > $2
     ORDER BY name
     LIMIT $3
"""

# Not unless it is open, and once more each time: a row that bulk work visits twice shows.
RECOUNT = """
    UPDATE toy.counter
       SET recounts = recounts + 1
     WHERE organization_id = $1
       AND name = ANY($2::text[])
       AND status = 'OPEN'
"""

COUNT_COUNTERS = "SELECT count(*) AS counters FROM toy.counter WHERE organization_id = $1"

LIST_ABOVE = """
    SELECT name, value
      FROM toy.counter
     WHERE organization_id = $1
       AND value > $2
       AND status = 'OPEN'
     ORDER BY name
     LIMIT $3
"""

CLOSE_AS_SEEN = """
    UPDATE toy.counter AS c
       SET status = 'CLOSED'
      FROM unnest($2::text[], $3::bigint[]) AS v(name, value)
     WHERE c.organization_id = $1
       AND c.name = ANY($2::text[])
       AND c.name = v.name
       AND c.value = v.value
       AND c.status = 'OPEN'
"""

LIST_OWN_INCREMENTS = """
    SELECT organization_id, counter, amount
      FROM toy.increment
     WHERE identity_id = $1
     ORDER BY id DESC
     LIMIT 100
"""

CLAIM_NICKNAME = "SELECT toy.claim_nickname($1, $2)"

OPEN_TENANT = "INSERT INTO kernel.tenant (id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING"

FIND_CREDENTIALS = """
    SELECT digest, identity_id, organization_id, permissions
      FROM toy.credential
     WHERE digest = ANY($1::bytea[])
"""

FIND_GATES = "SELECT name FROM toy.gate WHERE name = ANY($1::text[])"


async def lock_counters(tx: Tx, inputs: Sequence[Increment | Move | Note]) -> list[Counter]:
    rows = await tx.lock(LOCK_COUNTERS, inputs, lambda each: each.counter)
    return [
        Counter(row["name"], row["value"], row["ceiling"], status=CounterStatus(row["status"])) for row in rows.values()
    ]


async def add(tx: Tx, amounts: Sequence[tuple[str, int]]) -> None:
    names, totals = [name for name, _ in amounts], [total for _, total in amounts]
    await tx.execute_exactly(len(amounts), ADD, names, totals)


async def move(tx: Tx, names: Sequence[str], to: CounterStatus) -> None:
    await tx.execute_exactly(len(names), MOVE, names, to, COUNTER.leaving(to))


async def write_notes(tx: Tx, notes: Sequence[Note]) -> None:
    sealed = [KEYRING().seal(note.text.encode(), place_of_note(tx, note.counter)) for note in notes]
    await tx.execute_exactly(len(notes), WRITE_NOTES, [note.counter for note in notes], sealed)


async def get_counter(tx: Tx, name: str) -> Counter:
    row = await tx.find(FIND_COUNTER, name)
    if row is None:
        raise CounterNotFound
    price = None if row["price_minor"] is None else Money(row["price_minor"], row["price_currency"])
    sealed = row["secret_note"]
    note = None if sealed is None else KEYRING().open(sealed, place_of_note(tx, name)).decode()
    status = CounterStatus(row["status"])
    return Counter(name, row["value"], row["ceiling"], status=status, price=price, secret_note=note)


def place_of_note(tx: Tx, counter: str) -> Place:
    """A row is named by an id there; a counter is named by its name, so the id is made of it."""
    return Place("toy.counter", "secret_note", tx.scope.organization.uuid, uuid5(NAMESPACE_OID, counter))


async def insert_increments(tx: Tx, added: Sequence[Added]) -> None:
    await tx.insert_exactly(INSERT_INCREMENTS, added)


async def insert_counters(tx: Tx, counters: Sequence[Counter]) -> set[str]:
    """The names that were free."""
    return {row["name"] for row in await tx.insert_many(INSERT_COUNTERS, counters)}


async def open_tenant(tx: Tx) -> None:
    await tx.execute(OPEN_TENANT, tx.now)


async def list_counters(tx: Tx, after: str, limit: int) -> list[Counter]:
    rows = await tx.fetch(LIST_COUNTERS, after, limit)
    return [Counter(row["name"], row["value"], row["ceiling"], tuple(row["labels"] or ()), row["note"]) for row in rows]


async def list_own_increments(tx: IdentityTx) -> list[Record]:
    return await tx.fetch(LIST_OWN_INCREMENTS)


async def find_credentials(tx: PlatformTx, digests: Sequence[bytes]) -> dict[bytes, Record]:
    return {row["digest"]: row for row in await tx.fetch(FIND_CREDENTIALS, digests)}


async def find_gates(tx: PlatformTx, names: Sequence[str]) -> set[str]:
    return {row["name"] for row in await tx.fetch(FIND_GATES, names)} if names else set()


async def insert_heard(tx: Tx, heard: Sequence[Heard]) -> None:
    await tx.insert_exactly(INSERT_HEARD, heard)


async def recount(tx: Tx, names: Sequence[str]) -> None:
    if await tx.execute(RECOUNT, names) != len(names):
        raise CounterNotOpen(status="PAUSED")


async def count_counters(tx: Tx) -> int:
    row = await tx.find(COUNT_COUNTERS)
    assert row is not None
    return int(row["counters"])


async def list_above(tx: Tx, value: int, limit: int) -> list[tuple[str, int]]:
    return [(row["name"], row["value"]) for row in await tx.fetch(LIST_ABOVE, value, limit)]


async def close_as_seen(tx: Tx, seen: Sequence[tuple[str, int]]) -> None:
    await tx.execute_exactly(len(seen), CLOSE_AS_SEEN, [name for name, _ in seen], [value for _, value in seen])
