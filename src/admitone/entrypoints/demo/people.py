"""Whom the demonstration has: those who run the platform, the staff of two houses, and people who buy.

Promise: all of them have the same password, which is printed, because everybody may know it. Whoever has an account
stays who they are.
"""

from collections.abc import Mapping
from typing import Final

from admitone.foundation.authority.api import PACKS, MemberRole, Membership, RolePack
from admitone.foundation.identity.api import NewAccount, Profile, create_accounts, hash_of
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller, PeopleScope
from admitone.kernel.words import Language

PASSWORD: Final = "an open door 2026"  # noqa: S105  Of the demonstration, for everybody.
PLATFORM_ADMIN: Final = "admin@admitone.example"
BUYER: Final = "buyer@admitone.example"
PURPOSE: Final = "demo"
NAMES: Final = ("Ana", "Bruno", "Carla", "Diogo", "Eva", "Filipe", "Gil", "Helena", "Irene", "Joana")
FAMILIES: Final = ("Almeida", "Barros", "Costa", "Dias")
CROWD: Final = {f"{name}.{family}@people.example".lower(): f"{name} {family}" for name in NAMES for family in FAMILIES}
"""Who bought in the month before, and what they are called, by address."""


def staff_of(house: str) -> dict[str, Membership]:
    """Whom a house has, by address: every role once, and every pack once."""
    by_role = {f"{_word(role)}@{house}.example": Membership(role) for role in MemberRole}
    by_pack = {f"{_word(pack)}@{house}.example": Membership(PACKS[pack][0], pack) for pack in RolePack}
    return {**by_role, **by_pack}


def _word(name: str) -> str:
    return name.lower().replace("_", "")


async def introduce(database: Database, names: Mapping[str, str]) -> dict[str, IdentityId]:
    """Everybody of these, by address."""
    hashed = await hash_of(PASSWORD)
    accounts = [
        NewAccount(Caller(), Profile(email, name, Language.ENGLISH), hashed, is_verified=True)
        for email, name in names.items()
    ]
    identities = await database.run(PeopleScope(PURPOSE), lambda tx: create_accounts(tx, accounts))
    return {email: who for email, who in zip(names, identities, strict=True) if isinstance(who, IdentityId)}


def name_of(email: str) -> str:
    who, _, house = email.removesuffix(".example").partition("@")
    return f"{who.title()} of {house.title()}"
