"""What differs, and in what way: pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from admitone.finance.gateways.api import MovementKind
from admitone.finance.reconciliation.comparing.likeness import FEES
from admitone.finance.reconciliation.comparing.sums import Object
from admitone.finance.reconciliation.comparing.suspects import Seen
from admitone.finance.sources.api import PaymentId


class DifferenceClass(StrEnum):
    MISSING_HERE = "MISSING_HERE"
    """The provider moved it, and we do not have it."""
    MISSING_THERE = "MISSING_THERE"
    """We have it, and the provider never moved it."""
    AMOUNT = "AMOUNT"
    FEE = "FEE"
    """Another amount of what the provider takes for itself."""
    CURRENCY = "CURRENCY"
    DUPLICATE = "DUPLICATE"
    """The same, but that it stands twice on one side."""
    STAYED = "STAYED"
    """Money on an account that must have returned to zero."""


class Difference(msgspec.Struct, frozen=True):
    """One thing that is not the same here and there."""

    difference: DifferenceClass
    kind: str
    """Of the movement; of what stayed, the account."""
    reference: str
    currency: str
    """There, if it is known there."""
    here_minor: int
    there_minor: int
    moved_at: datetime
    """When it first was told of, on either side."""
    here_currency: str | None = None
    """Where it is another than there."""
    payment: PaymentId | None = None
    rounded_minor: int = 0
    """The part of what is here that an earlier comparison added."""

    @property
    def name(self) -> tuple[str, str, str]:
        """By what it is found again."""
        return self.kind, self.reference, self.currency

    @property
    def where(self) -> str:
        where = f"{self.kind} {self.reference or 'without a reference'}"
        return f"{where}: {self.here_currency} here, {self.currency} there" if self.here_currency else where


def differences_of(differing: Mapping[Object, Seen]) -> Iterator[Difference]:
    """One for each object; of one that is there in one currency and here in another, one for both."""
    by_reference: dict[tuple[MovementKind, str], list[Object]] = {}
    for about in sorted(differing):
        by_reference.setdefault((about.kind, about.reference), []).append(about)
    for objects in by_reference.values():
        if len(objects) == 2 and len({bool(differing[each].there) for each in objects}) == 2:
            there = next(each for each in objects if differing[each].there)
            here = next(each for each in objects if each != there)
            yield _of_two(there, differing[there], here, differing[here])
            continue
        for each in objects:
            yield _of(each, differing[each])


def _of_two(about: Object, there: Seen, other: Object, here: Seen) -> Difference:
    return Difference(
        DifferenceClass.CURRENCY,
        about.kind.value,
        about.reference,
        about.currency,
        here.here,
        there.there,
        min(there.first, here.first),
        other.currency,
        there.payment or here.payment,
    )


def _of(about: Object, seen: Seen) -> Difference:
    return Difference(
        _class_of(about, seen),
        about.kind.value,
        about.reference,
        about.currency,
        seen.here,
        seen.there,
        seen.first,
        payment=seen.payment,
        rounded_minor=seen.rounded,
    )


def _class_of(about: Object, seen: Seen) -> DifferenceClass:
    if not seen.here:
        return DifferenceClass.MISSING_HERE
    if not seen.there:
        return DifferenceClass.MISSING_THERE
    if seen.is_repeated:
        return DifferenceClass.DUPLICATE
    return DifferenceClass.FEE if about.kind in FEES else DifferenceClass.AMOUNT
