"""Checks, findings, and what differs."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller

MOST_SHOWN: Final = 20
"""Differences that a finding names; it counts them all."""


class Check(StrEnum):
    TRIAL_BALANCE = "TRIAL_BALANCE"
    """Debits equal credits in every currency."""
    BALANCES = "BALANCES"
    """Balances are the fold of the transfers."""
    PROVIDER = "PROVIDER"
    """The provider's journal says what the ledger says."""
    CHAIN = "CHAIN"
    """Every transfer is what was sealed."""


class Verdict(StrEnum):
    GREEN = "GREEN"
    RED = "RED"
    UNKNOWN = "UNKNOWN"
    """Somebody who had to be asked did not answer."""

    @property
    def severity(self) -> int:
        """The lower, the worse."""
        return (Verdict.RED, Verdict.UNKNOWN, Verdict.GREEN).index(self)


class Word(StrEnum):
    """In what way something differs."""

    UNBALANCED = "UNBALANCED"
    BALANCE = "BALANCE"
    DELTA = "DELTA"
    MISSING_HERE = "MISSING_HERE"
    """The provider moved it, and we do not have it."""
    MISSING_THERE = "MISSING_THERE"
    """We have it, and the provider never moved it."""
    AMOUNT = "AMOUNT"
    CURRENCY = "CURRENCY"
    CHANGED = "CHANGED"
    MISSING = "MISSING"
    BROKEN_SEAL = "BROKEN_SEAL"
    BROKEN_LINK = "BROKEN_LINK"
    STRAY = "STRAY"
    OLD_TAIL = "OLD_TAIL"
    """Transfers wait to be sealed for longer than anything should."""


class Difference(msgspec.Struct, frozen=True):
    """One thing that is not as it should be: which row, what stands there, and what should."""

    word: Word
    where: str
    found: int | None = None
    expected: int | None = None
    currency: str | None = None


class Both(msgspec.Struct, frozen=True):
    """The two sides of a comparison, in one currency: debits and credits, or here and there."""

    left_minor: int
    right_minor: int


class Figures(msgspec.Struct, frozen=True):
    """What was looked at, and what differs."""

    counts: dict[str, int]
    sides: dict[str, Both] = {}
    """By currency."""
    differences: tuple[Difference, ...] = ()
    head: str | None = None
    """The hash of the last seal: who keeps it can show later that nothing before it was rewritten."""
    reason: str | None = None
    """Why it is unknown."""


class Finding(msgspec.Struct, frozen=True):
    """What came of a check."""

    check: Check
    verdict: Verdict
    differing: int
    figures: Figures

    @classmethod
    def of(cls, check: Check, differences: "Differences", figures: Figures) -> "Finding":
        shown = msgspec.structs.replace(figures, differences=tuple(differences.shown))
        return cls(check, Verdict.RED if differences.count else Verdict.GREEN, differences.count, shown)

    @classmethod
    def unknown(cls, check: Check, reason: str, counts: dict[str, int]) -> "Finding":
        return cls(check, Verdict.UNKNOWN, 0, Figures(counts, reason=reason))


class Differences:
    """Counts all of them, and keeps the first."""

    def __init__(self) -> None:
        self.count = 0
        self.shown: list[Difference] = []

    def add(self, differences: Iterable[Difference]) -> None:
        for each in differences:
            self.count += 1
            if len(self.shown) < MOST_SHOWN:
                self.shown.append(each)


class Noted(msgspec.Struct, frozen=True):
    """A finding as it is kept."""

    finding: Finding
    checked_at: datetime
    organization: OrganizationId


class Proved(msgspec.Struct, frozen=True):
    """Findings of one recomputation, to be kept."""

    caller: Caller
    findings: tuple[Finding, ...]


class Total(msgspec.Struct, frozen=True):
    """One check over all organisations."""

    check: Check
    organizations: dict[Verdict, int]
    differing: int
    oldest: datetime


class Overall(msgspec.Struct, frozen=True):
    totals: tuple[Total, ...]
    sides: dict[str, Both]
    """Debits and credits of all organisations together."""
