"""The wallet: what somebody may do, wherever they bought it, and the code that shows it.

Promise (ENT-009): whoever asks is shown the code that is good now, and told when to ask for the next; a code is made
when it is asked for, goes to the owner of what is ACTIVE and to nobody else, and is kept by nobody on the way. What is
somebody else's and what never was is the same: not found.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from admitone.entitlements import pictures, queries
from admitone.entitlements.codes import PREFIX
from admitone.entitlements.commands.attending import Attendance, attend
from admitone.entitlements.errors import (
    EntitlementNotActive,
    EntitlementNotFound,
    PresenceNotConfirmable,
)
from admitone.entitlements.model import QR_METHODS, Entitlement, EntitlementId, Hold, Revocation, Status
from admitone.entitlements.policy import may_confirm
from admitone.entitlements.queries import Section
from admitone.entitlements.routes.doors import NOBODY, SOME_ENTITLEMENT, VerdictAnswer
from admitone.entitlements.showing import show
from admitone.finance.sources.api import SourceType
from admitone.kernel.authority import FeatureDisabled
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Count,
    Example,
    File,
    IdempotencyKey,
    Instant,
    Page,
    PageRequest,
    Wire,
    Writes,
    page_of,
)
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import Scope

CODES_PER_PERSON: Final = Limit("wallet.codes_per_person", 120, 60, Per.IDENTITY)
"""A family at the door, with a picture and a text for each, and once more because the net is bad."""
PRESENCES_PER_PERSON: Final = Limit("wallet.presences_per_person", 20, 60, Per.IDENTITY)
LIMITS: Final = (CODES_PER_PERSON, PRESENCES_PER_PERSON)


class Withheld(StrEnum):
    """Why a right is suspended, as its owner is told: what we suspect is nobody's business yet."""

    DISPUTE = "DISPUTE"
    REVIEW = "REVIEW"


TOLD: Final = {
    Hold.DISPUTE: Withheld.DISPUTE,
    Hold.INVESTIGATION: Withheld.REVIEW,
    Hold.FRAUD: Withheld.REVIEW,
}


class WalletItem(Wire):
    entitlement_id: EntitlementId
    organization_id: OrganizationId
    source_type: SourceType
    source_id: str
    event_id: str | None
    session_id: str | None
    label: str
    status: Status
    suspended_for: list[Withheld]
    revoked_for: Revocation | None
    valid_from: Instant
    valid_until: Instant
    entries: Count
    max_entries: Count
    consumed_at: Instant | None
    last_entry_at: Instant | None
    policy_version_applied: Count | None
    has_code: bool
    """Whether a code of it opens anything."""
    can_confirm_presence: bool

    @classmethod
    def of(cls, right: Entitlement) -> "WalletItem":
        is_held, is_usable = right.status is Status.SUSPENDED, right.status is Status.ACTIVE
        return cls(
            entitlement_id=right.id,
            organization_id=right.organization,
            source_type=right.source.type,
            source_id=right.source.id,
            event_id=right.event_id,
            session_id=right.session_id,
            label=right.label,
            status=right.status,
            suspended_for=sorted({TOLD[each] for each in right.held_for}) if is_held else [],
            revoked_for=right.revoked_for,
            valid_from=right.valid_from,
            valid_until=right.valid_until,
            entries=right.entries,
            max_entries=right.max_entries,
            consumed_at=right.consumed_at,
            last_entry_at=right.last_entry_at,
            policy_version_applied=right.policy_version,
            has_code=is_usable and not QR_METHODS.isdisjoint(right.methods),
            can_confirm_presence=is_usable and may_confirm(right) and right.entries < right.max_entries,
        )


def contract(number: str, summary: str, **more: Any) -> Contract:
    usual: dict[str, Any] = {
        "version": "1.0.0",
        "owner": "entitlements",
        "consumers": ("web", "mobile"),
        "audience": Audience.PERSON,
        "order_key": "none",
    }
    return Contract(id=f"C03.WALLET{number}", summary=summary, **(usual | more))


# -- What there is


class WalletRequest(PageRequest):
    section: Section = Section.ACTIVE


wallet = contract(
    "",
    "Your own rights in all organisations: those to come, or those that are over.",
    get="/api/me/wallet",
    takes=WalletRequest,
    gives=Page[WalletItem],
    examples=(Example("Nothing yet", takes=WalletRequest(), gives=Page[WalletItem](items=[], next_cursor=None)),),
)


@wallet.serves
async def show_wallet(call: Call, request: WalletRequest) -> Page[WalletItem]:
    after = request.after(tuple[datetime, UUID])
    rights = await call.read(queries.list_wallet, request.section, after, request.limit + 1)
    items = [WalletItem.of(each) for each in rights]
    return page_of(items, request.limit, key=lambda item: (item.valid_until, item.entitlement_id.uuid))


class OwnRequest(Wire):
    entitlement_id: EntitlementId


NOT_THERE: Final = Example(
    "Somebody else's", takes=OwnRequest(entitlement_id=SOME_ENTITLEMENT), refuses=EntitlementNotFound()
)

one = contract(
    ".ONE",
    "One of your own rights.",
    get="/api/me/entitlements/{entitlementId}",
    takes=OwnRequest,
    gives=WalletItem,
    refuses=(EntitlementNotFound,),
    examples=(NOT_THERE,),
)


@one.serves
async def show_one(call: Call, request: OwnRequest) -> WalletItem:
    return WalletItem.of(await _own(call, request.entitlement_id))


async def _own(call: Call, own: EntitlementId) -> Entitlement:
    found = await call.read(queries.find_own, own)
    if found is None:
        raise EntitlementNotFound
    return found


# -- Its code


class CodeAnswer(Wire):
    entitlement_id: EntitlementId
    payload: str
    """What the QR says."""
    refresh_at: Instant
    """Ask again from then on: there is another then, and both are good until this one ends."""
    valid_until: Instant
    """Shown no longer than this."""


REFUSES: Final = (EntitlementNotFound, EntitlementNotActive)
SOME_DAY: Final = datetime(2026, 8, 1, 20, 0, tzinfo=UTC)

code = contract(
    ".CODE",
    "The code that shows one of your rights, until when it is good, and when to ask for the next.",
    get="/api/me/entitlements/{entitlementId}/code",
    takes=OwnRequest,
    gives=CodeAnswer,
    refuses=REFUSES,
    limits=(CODES_PER_PERSON,),
    examples=(
        NOT_THERE,
        Example(
            "A ticket for tonight",
            takes=OwnRequest(entitlement_id=SOME_ENTITLEMENT),
            gives=CodeAnswer(
                entitlement_id=SOME_ENTITLEMENT,
                payload=PREFIX + "A" * 32,
                refresh_at=SOME_DAY.replace(hour=19, minute=30),
                valid_until=SOME_DAY,
            ),
        ),
    ),
)


@code.serves
async def show_code(call: Call, request: OwnRequest) -> CodeAnswer:
    right = await _own(call, request.entitlement_id)
    shown = await show(call, right)
    return CodeAnswer(
        entitlement_id=right.id,
        payload=shown.payload,
        refresh_at=shown.refresh_at,
        valid_until=shown.valid_until,
    )


def picture(number: str, ending: str) -> Contract:
    return contract(
        number,
        f"The same code as a picture ({ending.upper()}).",
        get=f"/api/me/entitlements/{{entitlementId}}/code.{ending}",
        takes=OwnRequest,
        writes=Writes.FILE,
        refuses=REFUSES,
        limits=(CODES_PER_PERSON,),
        examples=(NOT_THERE,),
    )


code_svg, code_png = picture(".CODE.SVG", "svg"), picture(".CODE.PNG", "png")


@code_svg.serves
async def show_svg(call: Call, request: OwnRequest) -> File:
    return File(pictures.svg((await show_code(call, request)).payload), "image/svg+xml")


@code_png.serves
async def show_png(call: Call, request: OwnRequest) -> File:
    return File(pictures.png((await show_code(call, request)).payload), "image/png")


# -- Without a code


class PresenceRequest(Wire):
    entitlement_id: EntitlementId
    idempotency_key: IdempotencyKey


presence = contract(
    ".PRESENCE",
    "Confirm that you were there: for bookings, which need no code.",
    post="/api/me/entitlements/{entitlementId}/presence",
    takes=PresenceRequest,
    gives=VerdictAnswer,
    refuses=(EntitlementNotFound, PresenceNotConfirmable),
    limits=(PRESENCES_PER_PERSON,),
    idempotent_by="idempotencyKey",
    order_key="entitlementId",
    examples=(
        Example(
            "An hour of padel",
            takes=PresenceRequest(entitlement_id=SOME_ENTITLEMENT, idempotency_key="there-1"),
            gives=NOBODY,
        ),
    ),
)


@presence.serves
async def confirm_presence(call: Call, request: PresenceRequest) -> VerdictAnswer:
    assert call.identity is not None
    right = await _own(call, request.entitlement_id)
    asked = Attendance(call.caller, right.id, call.identity)
    return VerdictAnswer.of(await call.batch(attend, asked, scope=Scope(right.organization, "confirm presence")), call)


# -- Later (ENT-011): declared, so that nothing else takes their place, and off whatever a switch says.

phone_pass = contract(
    ".PASS",
    "A pass for the wallet of a phone.",
    get="/api/me/entitlements/{entitlementId}/pass",
    takes=OwnRequest,
    writes=Writes.FILE,
    refuses=(EntitlementNotFound,),
    gate="wallet.passes",
    examples=(NOT_THERE,),
)


@phone_pass.serves
async def show_pass(call: Call, request: OwnRequest) -> File:  # noqa: ARG001
    raise FeatureDisabled


offline_code = contract(
    ".OFFLINE",
    "A signed code that is checked without a connection.",
    get="/api/me/entitlements/{entitlementId}/offline-code",
    takes=OwnRequest,
    gives=CodeAnswer,
    refuses=(EntitlementNotFound,),
    gate="checkin.offline_codes",
    examples=(NOT_THERE,),
)


@offline_code.serves
async def show_offline_code(call: Call, request: OwnRequest) -> CodeAnswer:  # noqa: ARG001
    raise FeatureDisabled


CONTRACTS: Final = (wallet, one, code, code_svg, code_png, presence, phone_pass, offline_code)
