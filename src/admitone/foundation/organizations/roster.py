"""A team as somebody wants to read it: by name or by role, those of one role, those who are called so.

Promise: names stand with people and are sealed in no index of a team, so they are put in order here, of a whole team at
once; one that is too large for that is refused and not half shown. Whoever has no name comes last.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.foundation.authority.api import MemberRole
from admitone.foundation.organizations.queries import Member
from admitone.kernel.texts import is_called, parts_of

MOST: Final = 5_000
"""Members that are put in order at once."""
LETTERS: Final = 60
"""Of a name that count for its place: so a cursor has room for it."""
RANKS: Final = {role: rank for rank, role in enumerate(MemberRole)}
NOBODYS: Final = "\U0010ffff"


class TeamOrder(StrEnum):
    ID = "ID"
    """As they became known to us, page by page however many they are."""
    NAME = "NAME"
    ROLE = "ROLE"
    """By rank, and of one rank by name."""

    @property
    def key(self) -> type[tuple[Any, ...]]:
        """What a place in this order is made of."""
        kinds: dict[TeamOrder, Any] = {
            TeamOrder.ID: tuple[UUID],
            TeamOrder.NAME: tuple[str, UUID],
            TeamOrder.ROLE: tuple[int, str, UUID],
        }
        found: type[tuple[Any, ...]] = kinds[self]
        return found


class Named(msgspec.Struct, frozen=True):
    """A member with what they are called, if they said so."""

    member: Member
    name: str | None

    def place(self, order: TeamOrder) -> tuple[Any, ...]:
        own = self.member.identity.uuid
        if order is TeamOrder.ID:
            return (own,)
        called = " ".join(parts_of(self.name or ""))[:LETTERS] or NOBODYS
        return (called, own) if order is TeamOrder.NAME else (self._rank, called, own)

    @property
    def _rank(self) -> int:
        """Of whoever is nothing here, after all others."""
        effective = self.member.effective
        return RANKS[MemberRole(effective.role)] if effective else len(RANKS)


class Wanted(msgspec.Struct, frozen=True):
    """Which of a team."""

    search: str = ""
    """Beginnings of a name, as at the door."""
    role: MemberRole | None = None

    def wants(self, each: Named) -> bool:
        effective = each.member.effective
        return (self.role is None or (effective is not None and effective.role == self.role)) and (
            not self.search.strip() or (each.name is not None and is_called(each.name, parts_of(self.search)))
        )


def rest_of(team: Sequence[Named], order: TeamOrder, after: tuple[Any, ...] | None) -> list[Named]:
    """Those who come after that place, in order."""
    placed = sorted(team, key=lambda each: each.place(order))
    return placed if after is None else [each for each in placed if each.place(order) > after]
