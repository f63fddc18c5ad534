"""Which blocks of a public profile are shown, decided without touching anything: every combination."""

from datetime import UTC, datetime
from itertools import combinations

import msgspec
import pytest

from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.organizations.layout import (
    MODULE_OF,
    BlockStanding,
    Layout,
    ProfileBlock,
    Question,
    filled_by_itself,
    primary_of,
    standing_of,
    told_of,
)
from admitone.foundation.organizations.model import OfficialEmail, Organization, OrganizationStatus, Settings
from admitone.kernel.ids import OrganizationId

Block = ProfileBlock
SHOWN, NOT_CHOSEN, MODULE_OFF, EMPTY = BlockStanding
THEN = datetime(2026, 5, 1, tzinfo=UTC)
ALL = Layout(
    tagline="Music",
    about="A club.",
    faq=(Question("When?", "Now."),),
    website="https://clube.example/",
    phone="+351 220 000 000",
    address="Porto",
)

# Chosen, its module on, something in it: what becomes of a block with a module, of one without, and of the hero.
TABLE = [
    (True, True, True, SHOWN, SHOWN, SHOWN),
    (True, True, False, EMPTY, EMPTY, EMPTY),
    (True, False, True, MODULE_OFF, SHOWN, SHOWN),
    (True, False, False, MODULE_OFF, EMPTY, EMPTY),
    (False, True, True, NOT_CHOSEN, NOT_CHOSEN, SHOWN),
    (False, True, False, NOT_CHOSEN, NOT_CHOSEN, EMPTY),
    (False, False, True, NOT_CHOSEN, NOT_CHOSEN, SHOWN),
    (False, False, False, NOT_CHOSEN, NOT_CHOSEN, EMPTY),
]


@pytest.mark.covers("ORG-013", "SRC-023")
@pytest.mark.parametrize(("chosen", "on", "filled", "with_module", "without", "hero"), TABLE)
@pytest.mark.parametrize("block", ProfileBlock)
def test_a_block_is_shown_if_it_is_chosen_its_module_is_on_and_something_is_in_it(
    block: ProfileBlock,
    chosen: bool,
    on: bool,
    filled: bool,
    with_module: BlockStanding,
    without: BlockStanding,
    hero: BlockStanding,
):
    modules = set(OrganizationModule) if on else set(OrganizationModule) - {MODULE_OF.get(block)}
    others = set(ProfileBlock) - {block}
    standing = standing_of(block, others | ({block} if chosen else set()), modules, {block} if filled else others)
    expected = hero if block is Block.HERO else with_module if block in MODULE_OF else without
    assert standing is expected


@pytest.mark.covers("ORG-013")
def test_what_is_sold_goes_with_the_module_that_sells_it():
    assert MODULE_OF == {
        Block.EVENTS_AGENDA: OrganizationModule.EVENTOS,
        Block.STORE: OrganizationModule.LOJA,
        Block.SERVICES: OrganizationModule.RESERVAS,
    }


@pytest.mark.covers("SRC-023")
def test_the_order_of_blocks_is_the_same_for_everybody():
    order = "HERO ABOUT EVENTS_AGENDA STORE SERVICES FORMS GALLERY FAQ CONTACT"
    assert [block.value for block in ProfileBlock] == order.split()


@pytest.mark.covers("SRC-022")
@pytest.mark.parametrize("number", range(5))
def test_the_first_button_leads_to_events_then_to_services_then_to_the_store_then_to_whoever_answers(number: int):
    wanted = [Block.EVENTS_AGENDA, Block.SERVICES, Block.STORE, Block.CONTACT]
    others = set(ProfileBlock) - set(wanted)
    for shown in combinations(wanted, number):
        assert primary_of(others | set(shown)) is (shown[0] if shown else None)


TOLD = {Block.ABOUT: ("about",), Block.FAQ: ("faq",), Block.CONTACT: ("website", "phone", "address")}


@pytest.mark.covers("ORG-013")
@pytest.mark.parametrize("hidden", ProfileBlock)
def test_nothing_is_told_of_a_block_that_is_not_shown(hidden: ProfileBlock):
    shown = frozenset(ProfileBlock) - {hidden}
    gone = dict.fromkeys(TOLD.get(hidden, ()), None)
    expected = msgspec.structs.replace(ALL, blocks=shown, **{name: () if name == "faq" else None for name in gone})
    assert told_of(ALL, shown) == expected


def an_organization(legal_name: str | None = None, verified_at: datetime | None = None) -> Organization:
    own = OrganizationId.new()
    official = OfficialEmail(own, "geral@clube.example", verified_at)
    return Organization(own, Settings("Clube", legal_name), official, OrganizationStatus.ACTIVE, 1, THEN)


@pytest.mark.covers("ORG-013")
@pytest.mark.parametrize(
    ("organization", "layout", "filled"),
    [
        (an_organization(), Layout(), ""),
        (an_organization(), Layout(tagline="Music"), ""),
        (an_organization(), Layout(about="A club."), "ABOUT"),
        (an_organization(), Layout(faq=ALL.faq), "FAQ"),
        (an_organization(), Layout(website=ALL.website), "CONTACT"),
        (an_organization(), Layout(phone=ALL.phone), "CONTACT"),
        (an_organization(), Layout(address=ALL.address), "CONTACT"),
        (an_organization(legal_name="Clube, Lda."), Layout(), "CONTACT"),
        (an_organization(verified_at=THEN), Layout(), "CONTACT"),
        (an_organization(), ALL, "ABOUT FAQ CONTACT"),
    ],
)
def test_an_organisation_fills_what_it_has_words_for(organization: Organization, layout: Layout, filled: str):
    assert filled_by_itself(organization, layout) == {Block.HERO, *map(Block, filled.split())}
