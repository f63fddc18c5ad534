"""Organisations: found one, find mine, see and change what one says of itself, found branches."""

from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Level, MemberRole, OrganizationModule
from admitone.foundation.identity.api import InvalidEmail
from admitone.foundation.organizations import queries
from admitone.foundation.organizations.commands import founding
from admitone.foundation.organizations.commands.settings import change_settings
from admitone.foundation.organizations.errors import (
    CityNotFound,
    InvoicingIncomplete,
    NotAMother,
    OfficialEmailRequired,
    OrganizationExists,
    OrganizationNotFound,
    SettingsOvertaken,
    TaxIdIncomplete,
)
from admitone.foundation.organizations.model import Founded, Founding, OrganizationStatus, Settings, SettingsChange
from admitone.foundation.organizations.queries import ACROSS, FIRST
from admitone.foundation.organizations.routes.wires import (
    CLUB,
    SETTINGS_R,
    SETTINGS_RW,
    SHOWN,
    SOME,
    THEN,
    Currency,
    DisplayName,
    Modules,
    OrganizationAnswer,
    SettingsWire,
    ZoneName,
    here,
    me,
)
from admitone.foundation.organizations.store import organizations as store
from admitone.kernel.clock import zone
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    IdempotencyKey,
    Instant,
    Page,
    PageRequest,
    Wire,
    cursor_of,
    page_of,
)
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import Scope
from admitone.kernel.words import Language

FOUNDED_PER_IDENTITY: Final = Limit("organizations.founded_per_identity", 10, 86_400, Per.IDENTITY)


class FoundRequest(Wire):
    display_name: DisplayName
    idempotency_key: IdempotencyKey
    modules: Modules = frozenset()
    """Beside those that are on from the start: the team and the settings."""
    default_currency: Currency = "EUR"
    time_zone: ZoneName = "Europe/Lisbon"
    language: Language = Language.PORTUGUESE

    def settings(self) -> Settings:
        zone(self.time_zone)
        return Settings(
            self.display_name,
            default_currency=self.default_currency,
            time_zone=self.time_zone,
            language=self.language,
        )


class FoundAnswer(Wire):
    id: OrganizationId
    group: OrganizationId
    """Its own id, unless it is a branch: then its mother's."""
    display_name: str
    modules: list[str]
    created_at: Instant

    @classmethod
    def of(cls, founded: Founded) -> "FoundAnswer":
        return cls(
            id=founded.id,
            group=founded.group,
            display_name=founded.display_name,
            modules=list(founded.modules),
            created_at=founded.created_at,
        )


ASKED: Final = FoundRequest(
    display_name="Clube do Porto", modules=frozenset({OrganizationModule.TORNEIOS}), idempotency_key="found-club-1"
)
ANSWERED: Final = FoundAnswer(
    id=SOME, group=SOME, display_name="Clube do Porto", modules=["DEFINICOES", "STAFF", "TORNEIOS"], created_at=THEN
)


found = Contract(
    id="ORG.01",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Found an organisation, and be its owner.",
    post="/api/organizations",
    takes=FoundRequest,
    gives=FoundAnswer,
    refuses=(OrganizationExists,),
    status=201,
    audience=Audience.PERSON,
    limits=(FOUNDED_PER_IDENTITY,),
    stoppable=True,
    verified_only=True,
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=(Example("founded", takes=ASKED, gives=ANSWERED),),
)


@found.serves
async def start(call: Call, request: FoundRequest) -> FoundAnswer:
    own = founding.new_id(call.caller, request.idempotency_key)
    wanted = Founding(call.caller, own, request.settings(), request.modules)
    return FoundAnswer.of(await call.batch(founding.found, wanted, scope=Scope(own, "found it")))


class PlaceAnswer(Wire):
    id: OrganizationId
    display_name: str
    status: OrganizationStatus
    time_zone: str
    """By which clocks are read there, by everybody who is something there."""
    group: OrganizationId
    role: str
    pack: str | None
    level: Level
    """Whether one is this in the whole group, or in this branch."""
    scopes: list[str]
    """What one may there, by role, pack and single scopes; what its modules forbid is forbidden all the same."""


mine = Contract(
    id="ORG.02",
    version="1.1.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="The organisations in which I am something.",
    get="/api/organizations",
    takes=PageRequest,
    gives=Page[PlaceAnswer],
    audience=Audience.PERSON,
    order_key="id",
    examples=(
        Example(
            "owner",
            takes=PageRequest(limit=1),
            gives=Page(
                items=[
                    PlaceAnswer(
                        id=SOME,
                        display_name="Clube do Porto",
                        status=OrganizationStatus.ACTIVE,
                        time_zone="Europe/Lisbon",
                        group=SOME,
                        role=MemberRole.OWNER,
                        pack=None,
                        level=Level.GROUP,
                        scopes=["EVENTS_*", "TEAM_*"],
                    )
                ],
                next_cursor=None,
            ),
        ),
    ),
)


@mine.serves
async def list_mine(call: Call, request: PageRequest) -> Page[PlaceAnswer]:
    (after,) = request.after(tuple[UUID]) or (FIRST,)
    places, last = await call.read(queries.list_places, me(call), after, request.limit, scope=ACROSS)
    items = [
        PlaceAnswer(
            id=place.card.id,
            display_name=place.card.display_name,
            status=place.card.status,
            time_zone=place.card.time_zone,
            group=place.group,
            role=place.membership.role,
            pack=place.membership.pack,
            level=place.membership.level,
            scopes=sorted(authority.scopes_of(place.membership)),
        )
        for place in places
    ]
    return Page(items=items, next_cursor=cursor_of((last,)) if last else None)


show = Contract(
    id="ORG.03",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="What an organisation says of itself.",
    get="/api/org/{organizationId}",
    gives=OrganizationAnswer,
    refuses=(OrganizationNotFound,),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_R,
    order_key="none",
    examples=(Example("club", gives=SHOWN),),
)


@show.serves
async def see(call: Call) -> OrganizationAnswer:
    return OrganizationAnswer.of(await call.read(store.get_organization))


class SettingsRequest(Wire):
    settings: SettingsWire
    version: Annotated[int, Meta(ge=1, le=2**53 - 1)]
    """As it was seen: who changed it meanwhile is not overwritten."""


change = Contract(
    id="ORG.04",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Change what an organisation says of itself; legal identity and invoicing need a verified official e-mail.",
    put="/api/org/{organizationId}/settings",
    takes=SettingsRequest,
    gives=OrganizationAnswer,
    refuses=(
        OrganizationNotFound,
        SettingsOvertaken,
        TaxIdIncomplete,
        CityNotFound,
        InvoicingIncomplete,
        OfficialEmailRequired,
        InvalidEmail,
    ),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_RW,
    repeats="the version is another after the first time, and the second is refused",
    order_key="organizationId",
    examples=(Example("changed", takes=SettingsRequest(settings=CLUB, version=2), gives=SHOWN),),
)


@change.serves
async def say(call: Call, request: SettingsRequest) -> OrganizationAnswer:
    wanted = SettingsChange(call.caller, request.version, request.settings.settings())
    return OrganizationAnswer.of(await call.batch(change_settings, wanted))


class BranchAnswer(Wire):
    id: OrganizationId
    display_name: str
    status: OrganizationStatus


branches = Contract(
    id="ORG.05",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="The organisations of the group, the mother among them.",
    get="/api/org/{organizationId}/branches",
    takes=PageRequest,
    gives=Page[BranchAnswer],
    refuses=(OrganizationNotFound,),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_R,
    order_key="id",
    examples=(
        Example(
            "one",
            takes=PageRequest(limit=1),
            gives=Page(
                items=[BranchAnswer(id=SOME, display_name="Clube do Porto", status=OrganizationStatus.ACTIVE)],
                next_cursor=None,
            ),
        ),
    ),
)


@branches.serves
async def list_group(call: Call, request: PageRequest) -> Page[BranchAnswer]:
    (after,) = request.after(tuple[UUID]) or (FIRST,)
    cards = await call.read(queries.list_branches, await group_of(call), after, request.limit + 1, scope=ACROSS)
    answers = [BranchAnswer(id=card.id, display_name=card.display_name, status=card.status) for card in cards]
    return page_of(answers, request.limit, key=lambda answer: (answer.id.uuid,))


branch_out = Contract(
    id="ORG.06",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Found a branch of this organisation: it belongs to the same group, and its members work there too.",
    post="/api/org/{organizationId}/branches",
    takes=FoundRequest,
    gives=FoundAnswer,
    refuses=(OrganizationExists, OrganizationNotFound, NotAMother),
    status=201,
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_RW,
    limits=(FOUNDED_PER_IDENTITY,),
    stoppable=True,
    verified_only=True,
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=(Example("founded", takes=ASKED, gives=ANSWERED),),
)


@branch_out.serves
async def start_branch(call: Call, request: FoundRequest) -> FoundAnswer:
    mother = here(call)
    if await group_of(call) != mother:
        raise NotAMother
    own = founding.new_id(call.caller, request.idempotency_key, mother)
    wanted = Founding(call.caller, mother, request.settings(), request.modules)
    return FoundAnswer.of(await call.batch(founding.found, wanted, scope=Scope(own, "found a branch")))


async def group_of(call: Call) -> OrganizationId:
    """To which group the organisation of this call belongs. It never changes."""
    group = await call.read(authority.find_group)
    if group is None:
        raise OrganizationNotFound
    return OrganizationId(group)


CONTRACTS = (found, mine, show, change, branches, branch_out)
