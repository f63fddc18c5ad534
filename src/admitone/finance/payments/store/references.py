"""Whose an object at a provider is: the registry, through its functions."""

from collections.abc import Collection, Sequence

import msgspec

from admitone.finance.gateways.api import ObjectType, Provider, Ref
from admitone.finance.payments.model import Owner
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.statements import columns

PUT_REFS = """
    SELECT payments.put_refs($1, $2::text[], $3::text[], $4::text[], $5::uuid[], $6::integer[], $7) AS claim
"""


FIND_REFS = """
    SELECT object_type, object_id, organization_id, payment_id
      FROM payments.find_refs($1, $2, $3::text[], $4::text[])
"""


class Belonging(msgspec.Struct, frozen=True):
    """An object at a provider, and which payment it is of; accounts are of none."""

    provider: Provider
    ref: Ref
    payment: PaymentId | None

    @property
    def type(self) -> ObjectType:
        return self.ref.type

    @property
    def id(self) -> str:
        return self.ref.id


async def claim_refs(tx: Tx, claims: Sequence[Collection[Belonging]]) -> set[int]:
    """Which of the claims name what is another payment's, or another organisation's. Of those nothing is written; the
    rest is kept."""
    numbered = [(number, each) for number, claim in enumerate(claims) for each in sorted(claim, key=lambda b: b.ref)]
    if not numbered:
        return set()
    belongings = columns([each for _, each in numbered], "provider", "type", "id", "payment")
    rows = await tx.fetch(PUT_REFS, *belongings, [number for number, _ in numbered], tx.now)
    return {row["claim"] for row in rows}


async def put_refs(tx: Tx, belongings: Collection[Belonging]) -> set[Ref]:
    """Those that are another payment's, or another organisation's, and stay so."""
    ordered = [*belongings]
    return {ordered[number].ref for number in await claim_refs(tx, [[each] for each in ordered])}


async def find_refs(tx: Tx, provider: Provider, refs: Sequence[Ref]) -> dict[Ref, Owner]:
    """Seen from the platform's own scope, anybody's; from another, its own."""
    rows = await tx.fetch(FIND_REFS, provider.value, *columns(refs, "type", "id"))
    return {
        Ref(ObjectType(row["object_type"]), row["object_id"]): Owner(
            OrganizationId(row["organization_id"]), PaymentId(row["payment_id"]) if row["payment_id"] else None
        )
        for row in rows
    }
