"""The public profile of an organisation: what it is made of, and which of it is shown.

Promise (SRC-023, ORG-013): blocks stand in one order, whoever's they are. A block is shown if the organisation wants
it, its module (where it has one) is on, and there is something in it; what a block that is not shown would say is not
told either. The first button leads to the first of a list of blocks that are shown (SRC-022).
"""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.organizations.model import Organization
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller


class ProfileBlock(StrEnum):
    """In the order in which every profile has them."""

    HERO = "HERO"
    ABOUT = "ABOUT"
    EVENTS_AGENDA = "EVENTS_AGENDA"
    STORE = "STORE"
    SERVICES = "SERVICES"
    FORMS = "FORMS"
    GALLERY = "GALLERY"
    FAQ = "FAQ"
    CONTACT = "CONTACT"


class BlockStanding(StrEnum):
    """Whether a block is shown, and if not, why."""

    SHOWN = "SHOWN"
    NOT_CHOSEN = "NOT_CHOSEN"
    MODULE_OFF = "MODULE_OFF"
    EMPTY = "EMPTY"


Block = ProfileBlock

ALWAYS: Final = frozenset({Block.HERO})
"""Nobody is asked whether they want these."""
MODULE_OF: Final = {
    Block.EVENTS_AGENDA: OrganizationModule.EVENTOS,
    Block.STORE: OrganizationModule.LOJA,
    Block.SERVICES: OrganizationModule.RESERVAS,
}
"""Which module a block goes with; the others go with none."""
PRIMARY: Final = (Block.EVENTS_AGENDA, Block.SERVICES, Block.STORE, Block.CONTACT)
"""Where the first button may lead: to see events, to book, to see the store, or to ask."""


class Question(msgspec.Struct, frozen=True):
    """What people ask, and what they are told."""

    question: str
    answer: str


class Layout(msgspec.Struct, frozen=True):
    """What an organisation wants its profile to show, and what it says there in its own words."""

    blocks: frozenset[ProfileBlock] = frozenset(ProfileBlock)
    tagline: str | None = None
    about: str | None = None
    faq: tuple[Question, ...] = ()
    website: str | None = None
    phone: str | None = None
    address: str | None = None


class LayoutVersion(msgspec.Struct, frozen=True):
    """A layout as it was written down. The one before the first is what everybody has who never said anything."""

    version: int = 0
    layout: Layout = Layout()
    changed_by: IdentityId | None = None
    changed_at: datetime | None = None


class LayoutChange(msgspec.Struct, frozen=True):
    """What a profile is to be, by somebody who has seen this version of it."""

    caller: Caller
    version: int
    layout: Layout


def standing_of(
    block: ProfileBlock,
    chosen: Collection[ProfileBlock],
    modules: Collection[OrganizationModule],
    filled: Collection[ProfileBlock],
) -> BlockStanding:
    """The first reason not to show it, in the order in which its organisation can do something about it."""
    if block not in ALWAYS and block not in chosen:
        return BlockStanding.NOT_CHOSEN
    if block in MODULE_OF and MODULE_OF[block] not in modules:
        return BlockStanding.MODULE_OFF
    return BlockStanding.SHOWN if block in filled else BlockStanding.EMPTY


def filled_by_itself(organization: Organization, layout: Layout) -> frozenset[ProfileBlock]:
    """The blocks in which there is something that the organisation said itself."""
    reachable = organization.settings.legal_name or organization.official.verified_at
    said = {
        Block.HERO: organization.settings.display_name,
        Block.ABOUT: layout.about,
        Block.FAQ: layout.faq,
        Block.CONTACT: reachable or layout.website or layout.phone or layout.address,
    }
    return frozenset(block for block, content in said.items() if content)


def told_of(layout: Layout, shown: Collection[ProfileBlock]) -> Layout:
    """What strangers are told of it: nothing of a block that they are not shown."""
    about = layout if Block.ABOUT in shown else Layout()
    faq = layout if Block.FAQ in shown else Layout()
    contact = layout if Block.CONTACT in shown else Layout()
    return Layout(
        frozenset(shown), layout.tagline, about.about, faq.faq, contact.website, contact.phone, contact.address
    )


def primary_of(shown: Collection[ProfileBlock]) -> ProfileBlock | None:
    return next((block for block in PRIMARY if block in shown), None)
