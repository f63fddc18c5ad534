"""What operators see and do: receipts by state, and looking at them again.

Promise: nothing here answers but to the internal secret and to the platform's own people, and nothing of what an event
said is shown; a replay names who asked and why, is audited, and runs once. People prove anew who they are, and give a
code for the trail: what is looked at again moves money.
"""

from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from admitone.finance.sources.api import PaymentId
from admitone.finance.webhooks import store
from admitone.finance.webhooks.commands.replaying import Replay, Replayed, replay_each
from admitone.finance.webhooks.model import PLATFORM, ReceiptId, ReceiptState
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    Instant,
    Page,
    PageRequest,
    ReasonCode,
    ShortText,
    Wire,
)
from admitone.kernel.db import Record
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.statements import ListOrder

SEE, MEND = "PLATFORM_WEBHOOKS_R", "PLATFORM_WEBHOOKS_RW"
SOME_RECEIPT = ReceiptId.parse("whr_0198c9a40000700080000000000000aa")
SOME_CALL = UUID("0198c9a4-0000-7000-8000-0000000000ae")


class Receipt(Wire):
    id: ReceiptId
    source: str
    stripe_event_id: str
    type: str
    stripe_account_id: str | None
    state: ReceiptState
    reason: str | None
    organization_id: OrganizationId | None
    payment_id: PaymentId | None
    replays: int
    correlation_id: UUID
    received_at: Instant
    settled_at: Instant | None


class ReceiptsRequest(PageRequest):
    state: ReceiptState = ReceiptState.ORG_UNRESOLVED
    order: ListOrder = ListOrder.OLDEST


class ReplayRequest(Wire):
    ids: Annotated[list[ReceiptId], Meta(min_length=1, max_length=100)]
    by: ShortText
    """Who wants it: the secret does not tell."""
    reason: ShortText


class ReplayOutcome(Wire):
    id: ReceiptId
    error_code: str | None


class ReplayAnswer(Wire):
    outcomes: list[ReplayOutcome]


def _receipt(row: Record) -> Receipt:
    return Receipt(
        id=ReceiptId(row["id"]),
        source=row["source"],
        stripe_event_id=row["external_id"],
        type=row["type"],
        stripe_account_id=row["account"],
        state=ReceiptState(row["state"]),
        reason=row["reason"],
        organization_id=OrganizationId(row["organization_id"]) if row["organization_id"] else None,
        payment_id=PaymentId(row["payment_id"]) if row["payment_id"] else None,
        replays=row["round"],
        correlation_id=row["correlation_id"],
        received_at=row["received_at"],
        settled_at=row["settled_at"],
    )


A_RECEIPT = Receipt(
    id=SOME_RECEIPT,
    source="stripe",
    stripe_event_id="evt_1",
    type="payment_intent.succeeded",
    stripe_account_id=None,
    state=ReceiptState.ORG_UNRESOLVED,
    reason="NotYetResolved: Nobody knows whose event this is.",
    organization_id=None,
    payment_id=None,
    replays=0,
    correlation_id=SOME_CALL,
    received_at="2026-11-16T10:00:00Z",  # type: ignore[arg-type]
    settled_at="2026-11-16T10:00:31Z",  # type: ignore[arg-type]
)


def _lists(number: str, path: str, **who: Any) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="finance",
        consumers=("operations",),
        summary="What providers told us, by what became of it, the oldest first unless the newest are asked for.",
        get=path,
        takes=ReceiptsRequest,
        gives=Page[Receipt],
        order_key="none",
        examples=(Example("one", takes=ReceiptsRequest(), gives=Page(items=[A_RECEIPT], next_cursor=None)),),
        **who,
    )


receipts = _lists("C10.RECEIPTS", "/api/internal/webhooks", audience=Audience.INTERNAL)
receipts_for_people = _lists("C10.RECEIPTS.ADMIN", "/api/admin/webhooks", audience=Audience.ADMIN, permission=SEE)


@receipts.serves
@receipts_for_people.serves
async def list_receipts(call: Call, request: ReceiptsRequest) -> Page[Receipt]:
    (place,) = request.after(tuple[UUID]) or (None,)
    rows = await call.read(store.list_receipts, request.state, place, request.limit + 1, request.order, scope=PLATFORM)
    return request.page([_receipt(row) for row in rows], key=lambda receipt: (receipt.id.uuid,))


def _looks_again(number: str, path: str) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="finance",
        consumers=("operations",),
        summary="Look at events again, after what was in their way was mended.",
        post=path,
        takes=ReplayRequest,
        gives=ReplayAnswer,
        audience=Audience.INTERNAL,
        repeats="an event is looked at again only while it is to be mended; the second time it says so",
        order_key="none",
        examples=(
            Example(
                "mended",
                takes=ReplayRequest(ids=[SOME_RECEIPT], by="ana", reason="the account is connected now"),
                gives=ReplayAnswer(outcomes=[ReplayOutcome(id=SOME_RECEIPT, error_code=None)]),
            ),
        ),
    )


replay = _looks_again("C10.REPLAY", "/api/internal/webhooks/replay")
replay_too = _looks_again("C10.REPROCESS.EVENT", "/api/internal/reprocess/stripe-event")


class LookAgainRequest(Wire):
    ids: Annotated[list[ReceiptId], Meta(min_length=1, max_length=100)]
    reason: ShortText
    """In words."""
    reason_code: ReasonCode


replay_by_people = Contract(
    id="C10.REPLAY.ADMIN",
    version="1.0.0",
    owner="finance",
    consumers=("operations",),
    summary="Look at events again, after what was in their way was mended.",
    post="/api/admin/webhooks/replay",
    takes=LookAgainRequest,
    gives=ReplayAnswer,
    audience=Audience.ADMIN,
    permission=MEND,
    step_up=True,
    repeats="an event is looked at again only while it is to be mended; the second time it says so",
    order_key="none",
    examples=(
        Example(
            "mended",
            takes=LookAgainRequest(
                ids=[SOME_RECEIPT], reason="the account is connected now", reason_code="ACCOUNT_CONNECTED"
            ),
            gives=ReplayAnswer(outcomes=[ReplayOutcome(id=SOME_RECEIPT, error_code=None)]),
        ),
    ),
)


@replay_by_people.serves
async def look_again_for(call: Call, request: LookAgainRequest) -> ReplayAnswer:
    by, reason, code = str(call.identity), request.reason, request.reason_code
    return await _look_again(call, [Replay(call.caller, each, by, reason, code) for each in request.ids])


@replay.serves
@replay_too.serves
async def look_again(call: Call, request: ReplayRequest) -> ReplayAnswer:
    return await _look_again(call, [Replay(call.caller, each, request.by, request.reason) for each in request.ids])


async def _look_again(call: Call, wanted: list[Replay]) -> ReplayAnswer:
    async def submit(command: Any, scope: Any, each: Any) -> Any:
        return await call.batch(command, each, scope=scope)

    async def read(scope: Any, query: Any, *said: Any) -> Any:
        return await call.read(query, *said, scope=scope)

    outcomes = await replay_each(submit, read, wanted)
    return ReplayAnswer(outcomes=[_outcome(each, outcome) for each, outcome in zip(wanted, outcomes, strict=True)])


def _outcome(each: Replay, outcome: Replayed | Refusal) -> ReplayOutcome:
    return ReplayOutcome(id=each.receipt, error_code=outcome.code if isinstance(outcome, Refusal) else None)


CONTRACTS = (receipts, receipts_for_people, replay, replay_too, replay_by_people)
