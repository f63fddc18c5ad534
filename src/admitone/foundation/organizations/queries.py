"""What can be asked about organisations and teams. What concerns many organisations goes by authority's role."""

from typing import Final
from uuid import UUID

import msgspec

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Denial, Level, Membership, OrganizationModule, membership_in
from admitone.foundation.organizations.errors import BranchNotFound
from admitone.foundation.organizations.layout import (
    BlockStanding,
    LayoutVersion,
    ProfileBlock,
    filled_by_itself,
    standing_of,
)
from admitone.foundation.organizations.model import Organization
from admitone.foundation.organizations.port import SHOWCASES
from admitone.foundation.organizations.store import layouts
from admitone.foundation.organizations.store import organizations as store
from admitone.foundation.organizations.store.organizations import Card
from admitone.foundation.usernames.api import find_own
from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import PeopleScope, PlatformScope, Role

ACROSS: Final = PlatformScope("see a group, of which each organisation sees only its own part", Role.AUTHORITY)
PEOPLE: Final = PeopleScope("what members are called")
MOST_BRANCHES: Final = 1000
FIRST: Final = UUID(int=0)
LAST: Final = UUID(int=2**128 - 1)


class Place(msgspec.Struct, frozen=True):
    """An organisation in which somebody is something."""

    card: Card
    group: OrganizationId
    membership: Membership


class Member(msgspec.Struct, frozen=True):
    """Somebody in a team: what the group says, what the branch says instead, and what that comes to."""

    identity: IdentityId
    member: Membership | None
    override: Membership | Denial | None
    effective: Membership | None


async def list_places(tx: PlatformTx, identity: IdentityId, after: UUID, limit: int) -> tuple[list[Place], UUID | None]:
    """And where the next page begins: also whoever is kept out somewhere was looked for there."""
    found = await authority.list_organizations(tx, identity.uuid, after, limit + 1)
    page = found[:limit]
    cards = await store.find_cards(tx, [organization for organization, *_ in page])
    places = [
        Place(cards[organization], OrganizationId(group), membership)
        for organization, group, member, override in page
        if organization in cards and (membership := membership_in(organization, member, override))
    ]
    return places, page[-1][0] if len(found) > limit else None


async def list_branches(tx: PlatformTx, group: OrganizationId, after: UUID, limit: int) -> list[Card]:
    """The mother among them."""
    found = await authority.list_branches(tx, group.uuid, after, limit)
    cards = await store.find_cards(tx, found)
    return [cards[each] for each in found if each in cards]


async def check_branches(tx: PlatformTx, group: OrganizationId, branches: tuple[OrganizationId, ...]) -> None:
    known = {*await authority.list_branches(tx, group.uuid, FIRST, MOST_BRANCHES)}
    strange = next((branch for branch in branches if branch.uuid not in known), None)
    if strange is not None:
        raise BranchNotFound(branch=strange)


async def list_team(
    tx: PlatformTx, group: OrganizationId, organization: OrganizationId, after: UUID, limit: int
) -> list[Member]:
    found = await authority.list_members(tx, group.uuid, organization.uuid, after, limit)
    return [
        Member(IdentityId(who), member, override, membership_in(organization.uuid, member, override))
        for who, member, override in found
    ]


def belongs(member: Member, level: Level) -> bool:
    """The mother lists everybody of the group, a branch those who are, or are kept from being, something there."""
    return level is Level.GROUP or member.effective is not None or member.override is not None


class Profile(msgspec.Struct, frozen=True):
    """An organisation as strangers meet it, and why not more of it."""

    organization: Organization
    username: str | None
    modules: tuple[OrganizationModule, ...]
    """Those that are on."""
    latest: LayoutVersion
    standings: dict[ProfileBlock, BlockStanding]
    """Of every block, in the order of all profiles."""

    def that_are(self, standing: BlockStanding) -> list[ProfileBlock]:
        return [block for block, each in self.standings.items() if each is standing]


async def find_profile(tx: Tx) -> Profile:
    organization = await store.get_organization(tx)
    latest = await layouts.find_layout(tx)
    switched = await authority.list_modules(tx)
    modules = tuple(module for module in OrganizationModule if switched.get(module))
    filled = {
        *filled_by_itself(organization, latest.layout),
        *[block for block, has_content in SHOWCASES().items() if await has_content(tx)],
    }
    standings = {block: standing_of(block, latest.layout.blocks, modules, filled) for block in ProfileBlock}
    return Profile(organization, await find_own(tx), modules, latest, standings)
