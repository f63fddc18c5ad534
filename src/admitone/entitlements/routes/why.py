"""Why is this code valid? For staff who may let in and signed in: the chain behind a verdict, to read and to take away.

Promise: a scanner's key asks at the door, where what is refused is counted, and nowhere else (ENT-034).
"""

from typing import Annotated, Final

from msgspec import Meta

from admitone.entitlements.codes import digest_of
from admitone.entitlements.errors import EntitlementNotFound, PeopleOnly
from admitone.entitlements.explaining import Chain, Money, explain, find_shown
from admitone.entitlements.model import Changed, EntitlementId, Place, Reason, Token, TokenState
from admitone.entitlements.routes.doors import CHECKIN_RW, SOME_ENTITLEMENT, DoorId, QrPayload, contract
from admitone.entitlements.routes.lists import A_RIGHT, SEARCHES_PER_PERSON, LoggedAnswer, RightAnswer, refuse_devices
from admitone.entitlements.routes.live import BEGINNING
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import Call, Count, Example, File, Instant, Wire, Writes
from admitone.kernel.contracts.wire import to_json
from admitone.kernel.ids import IdentityId

Epoch = Annotated[int, Meta(ge=1)]


class VerdictNow(Wire):
    """What the door would say; nothing was used by asking."""

    event_id: str
    session_id: str | None
    allow_by_code: bool
    why_not_by_code: Reason | None
    allow_by_hand: bool
    why_not_by_hand: Reason | None
    epoch: Epoch | None
    """Of the code that is asked about."""


class PolicyAnswer(Wire):
    """As it was copied to the right when it was granted."""

    policy_version_applied: Count | None
    methods: list[str]
    max_entries: Count
    reentry_minutes: Count
    undo_minutes: Count


class TrailAnswer(Wire):
    number: Count
    change: str
    from_status: str | None
    to_status: str
    reason: str | None
    holder_id: IdentityId
    at: Instant
    actor_id: IdentityId | None
    caused_by: str | None
    """The fact that made it so."""
    correlation_id: str

    @classmethod
    def of(cls, line: Changed) -> "TrailAnswer":
        return cls(
            number=line.number,
            change=line.kind,
            from_status=line.from_status,
            to_status=line.to_status,
            reason=line.reason,
            holder_id=IdentityId(line.identity_id),
            at=line.at,
            actor_id=IdentityId(line.actor_id) if line.actor_id else None,
            caused_by=str(line.cause_id) if line.cause_id else None,
            correlation_id=str(line.correlation_id),
        )


class CodeAnswer(Wire):
    """Never the code, nor what it is known by."""

    epoch: Epoch
    state: TokenState
    valid_from: Instant
    valid_until: Instant
    revoked_at: Instant | None
    redeemed_at: Instant | None


class DisputeAnswer(Wire):
    opened_at: Instant
    reason: str
    won_at: Instant | None
    lost_at: Instant | None


class PiecesAnswer(Wire):
    line_key: str
    quantity: Count


class RefundAnswer(Wire):
    state: str
    reason: str
    asked_at: Instant
    settled_at: Instant | None
    pieces: list[PiecesAnswer]
    """None, if it is of all that was left."""


class MoneyAnswer(Wire):
    """What became of the money; how much it was is for whoever may see finance."""

    payment_id: PaymentId
    status: str
    refund_state: str
    began_at: Instant
    changed_at: Instant
    disputes: list[DisputeAnswer]
    refunds: list[RefundAnswer]

    @classmethod
    def of(cls, money: Money | None) -> "MoneyAnswer | None":
        if money is None:
            return None
        payment = money.payment
        return cls(
            payment_id=payment.id,
            status=payment.status,
            refund_state=payment.refund_state,
            began_at=payment.created_at,
            changed_at=payment.changed_at,
            disputes=[
                DisputeAnswer(opened_at=each.opened_at, reason=each.reason, won_at=each.won_at, lost_at=each.lost_at)
                for each in money.disputes
            ],
            refunds=[
                RefundAnswer(
                    state=refund.state,
                    reason=refund.reason,
                    asked_at=refund.created_at,
                    settled_at=refund.settled_at,
                    pieces=[PiecesAnswer(line_key=each.line_key, quantity=each.quantity) for each in lines],
                )
                for refund, lines in money.refunds
            ],
        )


class WhyAnswer(Wire):
    at: Instant
    now: VerdictNow
    right: RightAnswer
    line_key: str
    policy: PolicyAnswer
    trail: list[TrailAnswer]
    codes: list[CodeAnswer]
    scans: list[LoggedAnswer]
    money: MoneyAnswer | None

    @classmethod
    def of(cls, chain: Chain) -> "WhyAnswer":
        right = chain.right
        return cls(
            at=chain.at,
            now=_now(chain),
            right=RightAnswer.of(right),
            line_key=right.line_key,
            policy=PolicyAnswer(
                policy_version_applied=right.policy_version,
                methods=sorted(right.methods),
                max_entries=right.max_entries,
                reentry_minutes=right.reentry_minutes,
                undo_minutes=right.undo_minutes,
            ),
            trail=[TrailAnswer.of(each) for each in chain.trail],
            codes=[_code(each, chain) for each in chain.codes],
            scans=[LoggedAnswer.of(each) for each in chain.scans],
            money=MoneyAnswer.of(chain.money),
        )


def _now(chain: Chain) -> VerdictNow:
    said = chain.verdicts
    return VerdictNow(
        event_id=said.place.event_id,
        session_id=said.place.session_id,
        allow_by_code=said.by_code is None,
        why_not_by_code=said.by_code,
        allow_by_hand=said.by_hand is None,
        why_not_by_hand=said.by_hand,
        epoch=chain.shown.epoch if chain.shown else None,
    )


def _code(token: Token, chain: Chain) -> CodeAnswer:
    return CodeAnswer(
        epoch=token.epoch,
        state=token.state(chain.at),
        valid_from=token.valid_from,
        valid_until=token.valid_until,
        revoked_at=token.revoked_at,
        redeemed_at=token.redeemed_at,
    )


A_CHAIN: Final = WhyAnswer(
    at=BEGINNING,
    now=VerdictNow(
        event_id="evt-1",
        session_id=None,
        allow_by_code=True,
        why_not_by_code=None,
        allow_by_hand=False,
        why_not_by_hand=Reason.METHOD_NOT_ALLOWED,
        epoch=1,
    ),
    right=A_RIGHT,
    line_key="standing",
    policy=PolicyAnswer(
        policy_version_applied=1, methods=["QR_TICKET"], max_entries=1, reentry_minutes=15, undo_minutes=10
    ),
    trail=[],
    codes=[],
    scans=[],
    money=None,
)


class WhyRequest(Wire):
    entitlement_id: EntitlementId
    event_id: DoorId | None = None
    """At whose door; its own, if none is named."""
    session_id: DoorId | None = None

    @property
    def place(self) -> Place | None:
        return Place(self.event_id, self.session_id) if self.event_id else None


why = contract(
    "C03.WHY",
    "Why a right opens a door, or does not: everything that led there.",
    get="/api/org/{organizationId}/checkin/entitlements/{entitlementId}/why",
    consumers=("web",),
    permission=CHECKIN_RW,
    takes=WhyRequest,
    gives=WhyAnswer,
    refuses=(EntitlementNotFound, PeopleOnly),
    order_key="entitlementId",
    examples=(Example("A good ticket", takes=WhyRequest(entitlement_id=SOME_ENTITLEMENT), gives=A_CHAIN),),
)


@why.serves
async def see_why(call: Call, request: WhyRequest) -> WhyAnswer:
    await refuse_devices(call)
    return WhyAnswer.of(await _chain(call, request.entitlement_id, None, request.place))


why_file = contract(
    "C03.WHYFILE",
    "The same, to take away.",
    get="/api/org/{organizationId}/checkin/entitlements/{entitlementId}/why.json",
    consumers=("web",),
    permission=CHECKIN_RW,
    takes=WhyRequest,
    writes=Writes.FILE,
    refuses=(EntitlementNotFound, PeopleOnly),
    order_key="entitlementId",
    examples=(Example("A good ticket", takes=WhyRequest(entitlement_id=SOME_ENTITLEMENT)),),
)


@why_file.serves
async def take_why(call: Call, request: WhyRequest) -> File:
    await refuse_devices(call)
    answer = WhyAnswer.of(await _chain(call, request.entitlement_id, None, request.place))
    return File(to_json(answer), "application/json", download_name=f"why-{request.entitlement_id}.json")


class WhyCodeRequest(Wire):
    qr_payload: QrPayload
    event_id: DoorId | None = None
    session_id: DoorId | None = None


why_code = contract(
    "C03.WHYCODE",
    "Why a code opens a door, or does not; the code stands in no address, and nothing is used by asking.",
    post="/api/org/{organizationId}/checkin/why",
    consumers=("web",),
    permission=CHECKIN_RW,
    takes=WhyCodeRequest,
    gives=WhyAnswer,
    refuses=(EntitlementNotFound, PeopleOnly),
    limits=(SEARCHES_PER_PERSON,),
    repeats="it changes nothing",
    order_key="none",
    examples=(
        Example("A code that never was", takes=WhyCodeRequest(qr_payload="A1:AAAA"), refuses=EntitlementNotFound()),
    ),
)


@why_code.serves
async def see_why_code(call: Call, request: WhyCodeRequest) -> WhyAnswer:
    await refuse_devices(call)
    shown: Token | None = await call.read(find_shown, digest_of(request.qr_payload))
    if shown is None:  # Also what is good at another organisation: to this one it never was (ENT-026).
        raise EntitlementNotFound
    place = Place(request.event_id, request.session_id) if request.event_id else None
    return WhyAnswer.of(await _chain(call, shown.entitlement, shown, place))


async def _chain(call: Call, own: EntitlementId, shown: Token | None, place: Place | None) -> Chain:
    chain: Chain | None = await call.read(explain, own, shown, place)
    if chain is None:
        raise EntitlementNotFound
    return chain


CONTRACTS: Final = (why, why_file, why_code)
