"""Modules, legal documents, the audit trail."""

from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import Meta

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.organizations.commands.settings import accept_documents, switch_modules
from admitone.foundation.organizations.errors import DocumentNotOnOffer, ModuleNeeded, OrganizationNotFound
from admitone.foundation.organizations.model import Acceptance, Accepted, LegalDocument, ModuleSwitch
from admitone.foundation.organizations.queries import LAST
from admitone.foundation.organizations.routes.wires import (
    PLATFORM_AUDIT_R,
    SETTINGS_R,
    SETTINGS_RW,
    SOME,
    SOMEBODY,
    THEN,
)
from admitone.foundation.organizations.store import organizations as store
from admitone.kernel import audit
from admitone.kernel.contracts import Audience, Call, Contract, Example, Instant, Page, PageRequest, Wire, page_of
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId
from admitone.kernel.scope import Scope

# -- Modules


class ModuleAnswer(Wire):
    module: OrganizationModule
    enabled: bool


modules = Contract(
    id="ORG.07",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Which modules are on.",
    get="/api/org/{organizationId}/modules",
    gives=list[ModuleAnswer],
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_R,
    order_key="none",
    examples=(Example("one", gives=[ModuleAnswer(module=OrganizationModule.TORNEIOS, enabled=True)]),),
)


@modules.serves
async def list_modules(call: Call) -> list[ModuleAnswer]:
    known = await call.read(authority.list_modules)
    return [ModuleAnswer(module=module, enabled=known.get(module, False)) for module in OrganizationModule]


class SwitchRequest(Wire):
    module: OrganizationModule
    enabled: bool


switch = Contract(
    id="ORG.08",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Switch a module on or off. What is off is refused to everybody from the next call on.",
    put="/api/org/{organizationId}/modules/{module}",
    takes=SwitchRequest,
    gives=ModuleAnswer,
    refuses=(ModuleNeeded, OrganizationNotFound),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_RW,
    repeats="what is on stays on",
    order_key="module",
    examples=(
        Example(
            "on",
            takes=SwitchRequest(module=OrganizationModule.TORNEIOS, enabled=True),
            gives=ModuleAnswer(module=OrganizationModule.TORNEIOS, enabled=True),
        ),
    ),
)


@switch.serves
async def flip(call: Call, request: SwitchRequest) -> ModuleAnswer:
    switched = await call.batch(switch_modules, ModuleSwitch(call.caller, request.module, request.enabled))
    return ModuleAnswer(module=OrganizationModule(switched.module), enabled=switched.enabled)


# -- Legal documents


class AcceptRequest(Wire):
    document: LegalDocument
    version: Annotated[str, Meta(pattern=r"^[0-9A-Za-z][0-9A-Za-z.-]*$(?!\n)", max_length=40)]


class AcceptanceAnswer(Wire):
    document: LegalDocument
    version: str
    accepted_by: IdentityId
    at: Instant

    @classmethod
    def of(cls, accepted: Accepted) -> "AcceptanceAnswer":
        return cls(
            document=accepted.document, version=accepted.version, accepted_by=accepted.accepted_by, at=accepted.at
        )


AGREED: Final = AcceptanceAnswer(document=LegalDocument.PAYMENT_TERMS, version="2026-01", accepted_by=SOMEBODY, at=THEN)


acceptances = Contract(
    id="ORG.09",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile", "finance"),
    summary="What the organisation agreed to.",
    get="/api/org/{organizationId}/acceptances",
    gives=list[AcceptanceAnswer],
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_R,
    order_key="document, version",
    examples=(Example("one", gives=[AGREED]),),
)


@acceptances.serves
async def list_agreed(call: Call) -> list[AcceptanceAnswer]:
    return [AcceptanceAnswer.of(accepted) for accepted in await call.read(store.list_acceptances)]


accept = Contract(
    id="ORG.10",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Agree to a version of a document, for the organisation.",
    post="/api/org/{organizationId}/acceptances",
    takes=AcceptRequest,
    gives=AcceptanceAnswer,
    refuses=(OrganizationNotFound, DocumentNotOnOffer),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_RW,
    verified_only=True,
    repeats="a version is agreed to once, and whoever repeats it is told by whom",
    order_key="none",
    examples=(
        Example("agreed", takes=AcceptRequest(document=LegalDocument.PAYMENT_TERMS, version="2026-01"), gives=AGREED),
    ),
)


@accept.serves
async def agree(call: Call, request: AcceptRequest) -> AcceptanceAnswer:
    wanted = Acceptance(call.caller, request.document, request.version)
    return AcceptanceAnswer.of(await call.batch(accept_documents, wanted))


# -- The audit trail


class EntryAnswer(Wire):
    id: UUID
    at: Instant
    actor: IdentityId | None
    action: str
    subject: str
    reason_code: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    correlation_id: UUID

    @classmethod
    def of(cls, entry: audit.Entry) -> "EntryAnswer":
        assert entry.at is not None
        return cls(
            id=entry.id,
            at=entry.at,
            actor=entry.actor_id,
            action=entry.action,
            subject=entry.subject,
            reason_code=entry.reason_code,
            before=dict(entry.before) if entry.before is not None else None,
            after=dict(entry.after) if entry.after is not None else None,
            correlation_id=entry.correlation_id,
        )


trail = Contract(
    id="ORG.11",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Who did what here, or was refused what, the newest first.",
    get="/api/org/{organizationId}/audit",
    takes=PageRequest,
    gives=Page[EntryAnswer],
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_R,
    order_key="time, newest first",
    examples=(
        Example(
            "one",
            takes=PageRequest(limit=1),
            gives=Page(
                items=[
                    EntryAnswer(
                        id=SOME.uuid,
                        at=THEN,
                        actor=SOMEBODY,
                        action="organization.switch_module",
                        subject=str(SOME),
                        reason_code=None,
                        before={"TORNEIOS": False},
                        after={"TORNEIOS": True},
                        correlation_id=SOME.uuid,
                    )
                ],
                next_cursor=None,
            ),
        ),
    ),
)


@trail.serves
async def list_trail(call: Call, request: PageRequest) -> Page[EntryAnswer]:
    (after,) = request.after(tuple[UUID]) or (LAST,)
    entries = await call.read(audit.list_entries, after, request.limit + 1)
    return page_of([EntryAnswer.of(entry) for entry in entries], request.limit, key=lambda entry: (entry.id,))


platform_trail = Contract(
    id="ORG.14",
    version="1.0.0",
    owner="organizations",
    consumers=("console",),
    summary="Who did what on the platform itself, what people did to their accounts, and strangers who were refused.",
    get="/api/admin/audit",
    takes=PageRequest,
    gives=Page[EntryAnswer],
    audience=Audience.ADMIN,
    permission=PLATFORM_AUDIT_R,
    order_key="time, newest first",
    examples=trail.examples,
)


@platform_trail.serves
async def list_platform_trail(call: Call, request: PageRequest) -> Page[EntryAnswer]:
    (after,) = request.after(tuple[UUID]) or (LAST,)
    entries = await call.read(audit.list_entries, after, request.limit + 1, scope=Scope(PLATFORM_ORGANIZATION))
    return page_of([EntryAnswer.of(entry) for entry in entries], request.limit, key=lambda entry: (entry.id,))


CONTRACTS = (modules, switch, acceptances, accept, trail, platform_trail)
