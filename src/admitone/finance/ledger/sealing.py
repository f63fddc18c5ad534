"""Seals: how it shows that a ledger was changed behind our back.

Promise: a transfer has one form in bytes, which says everything about it; its digest is the hash of that form, and a
seal is the hash of the seal before it and of the digests under it, in their order. So one changed bit, one transfer
less, or one in another place breaks a seal and every one after it, and the digests tell which transfer it was. Who can
rewrite all seals from there on can only be found out by somebody who kept a later one. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger.model import Transfer, TransferId

GENESIS: Final = bytes(32)
"""What the first seal of an organisation stands on."""
SEAL_SIZE: Final = 5_000
"""Transfers under one seal at most, so that checking one is a small thing."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


class Seal(msgspec.Struct, frozen=True):
    """One link of the chain."""

    number: int
    previous_hash: bytes
    hash: bytes
    transfers: int
    total: int
    """With those under every seal before it."""
    sealed_at: datetime


class SealMember(msgspec.Struct, frozen=True):
    """One transfer under a seal."""

    seal: int
    ordinal: int
    transfer_id: UUID
    digest: bytes


class FaultKind(StrEnum):
    CHANGED = "CHANGED"
    """The transfer is not what was sealed."""
    MISSING = "MISSING"
    """The transfer was sealed, or is about to be, and is gone."""
    BROKEN_SEAL = "BROKEN_SEAL"
    """What is listed under the seal does not hash to it."""
    BROKEN_LINK = "BROKEN_LINK"
    """The seal does not stand on the one before it, or does not count on from it."""
    STRAY = "STRAY"
    """The transfer is under no seal, and nobody is about to seal it: it was not posted by us."""
    MISFIT = "MISFIT"
    """What an open delta says was moved is not what its transfers say, so that nobody can seal them."""


class Fault(msgspec.Struct, frozen=True):
    """What is wrong, and where."""

    kind: FaultKind
    seal: int | None
    transfer: TransferId | None = None


def canonical(organization: UUID, transfer: Transfer) -> bytes:
    """A JSON array in UTF-8, no blanks, keys in order: ids as the database prints them, the time in microseconds."""
    return msgspec.json.encode(
        (
            organization,
            transfer.id.uuid,
            transfer.transaction_id,
            transfer.city_code,
            transfer.payee_id,
            transfer.entry_type,
            transfer.event,
            transfer.flow,
            transfer.line,
            transfer.debit_account,
            transfer.credit_account,
            transfer.amount_minor,
            transfer.currency,
            transfer.payment_id.uuid if transfer.payment_id else None,
            transfer.source_type,
            transfer.source_id,
            transfer.causation_id,
            transfer.correlation_id,
            transfer.reference,
            transfer.metadata,
            (transfer.posted_at - EPOCH) // MICROSECOND,
        ),
        order="sorted",
    )


def digest_of(organization: UUID, transfer: Transfer) -> bytes:
    return sha256(canonical(organization, transfer)).digest()


def seal_hash(previous: bytes, digests: Sequence[bytes]) -> bytes:
    return sha256(b"".join((previous, *digests))).digest()


def seal(
    organization: UUID, last: Seal | None, transfers: Sequence[Transfer], at: datetime
) -> tuple[list[Seal], list[SealMember]]:
    """The next seals after the last one, and what is under them."""
    seals: list[Seal] = []
    members: list[SealMember] = []
    previous, number, total = (last.hash, last.number, last.total) if last else (GENESIS, 0, 0)
    for start in range(0, len(transfers), SEAL_SIZE):
        number += 1
        under = [
            SealMember(number, ordinal, each.id.uuid, digest_of(organization, each))
            for ordinal, each in enumerate(transfers[start : start + SEAL_SIZE], 1)
        ]
        total += len(under)
        made = Seal(number, previous, seal_hash(previous, [each.digest for each in under]), len(under), total, at)
        previous = made.hash
        seals.append(made)
        members += under
    return seals, members


def faults_of(
    organization: UUID,
    before: Seal | None,
    seals: Sequence[Seal],
    members: Mapping[int, Sequence[SealMember]],
    transfers: Mapping[UUID, Transfer],
) -> Iterator[Fault]:
    """What is wrong with these seals, which follow the one before."""
    for each in seals:
        under = members.get(each.number, ())
        number, stands_on, counted = (before.number, before.hash, before.total) if before else (0, GENESIS, 0)
        if (each.number, each.previous_hash, each.total) != (number + 1, stands_on, counted + each.transfers):
            yield Fault(FaultKind.BROKEN_LINK, each.number)
        hashed = seal_hash(each.previous_hash, [member.digest for member in under])
        if (len(under), hashed) != (each.transfers, each.hash):
            yield Fault(FaultKind.BROKEN_SEAL, each.number)
        for member in under:
            there = transfers.get(member.transfer_id)
            if there is None:
                yield Fault(FaultKind.MISSING, each.number, TransferId(member.transfer_id))
            elif digest_of(organization, there) != member.digest:
                yield Fault(FaultKind.CHANGED, each.number, there.id)
        before = each
