"""What providers told us, by what became of it, and looking at it again."""

from typing import Final

from admitone.finance.webhooks.api import ReceiptId
from admitone.finance.webhooks.routes import operating
from admitone.finance.webhooks.routes.operating import LookAgainRequest, ReceiptsRequest
from admitone.kernel.contracts import Call, Html, Redirect, Stream, Wire
from admitone.kernel.errors import Refusal
from admitone.web.console.desk import States, refused
from admitone.web.form import Form, Typed, filled
from admitone.web.lists import OLDEST_WORDS, Listing, ListPage, Source, link
from admitone.web.ops.room import ops_page, show_in_room

RECEIPT_WORDS: Final[dict[str, str]] = {
    "ORG_UNRESOLVED": "Nobody's",
    "DEAD": "Dead",
    "RECEIVED": "Received",
    "PROCESSED": "Done",
    "IGNORED": "Not for us",
}
RECEIPTS: Final = States(
    RECEIPT_WORDS,
    {"ORG_UNRESOLVED": "bad", "DEAD": "bad", "RECEIVED": "waiting", "PROCESSED": "good", "IGNORED": "plain"},
)
TOLD: Final = Source(
    operating.receipts_for_people,
    OLDEST_WORDS,
    (
        *("id", "source", "stripe_event_id", "type", "stripe_account_id", "state", "reason", "organization_id"),
        *("payment_id", "replays", "correlation_id", "received_at", "settled_at"),
    ),
    name="webhooks",
    rows=50,
)
MENDABLE: Final = ("ORG_UNRESOLVED", "DEAD")


class ReceiptsPage(ListPage):
    state: Typed = "ORG_UNRESOLVED"
    said: Typed = ""


class ReplayForm(Wire):
    id: ReceiptId
    state: Typed = ""
    reason: Typed = ""
    reason_code: Typed = ""


receipts_page = ops_page(".WEBHOOKS", "What providers told us.", "/webhooks", ReceiptsPage)
replay = ops_page(".WEBHOOK.REPLAY", "Look at an event again.", "/webhooks/{id}/replay", ReplayForm, post=True)


@receipts_page.serves
async def show_receipts(call: Call, request: ReceiptsPage) -> Html | Stream:
    return await _receipts(call, request, Form.of(request))


async def _receipts(call: Call, request: ReceiptsPage, form: Form) -> Html | Stream:
    found = await TOLD.read(call, request, TOLD.asked(ReceiptsRequest, request, state=request.state))
    if isinstance(found, Stream):
        return found
    return show_in_room(
        call,
        "webhooks",
        "ops/webhooks.html",
        status=form.status,
        form=form,
        state=request.state or "ORG_UNRESOLVED",
        receipts=found.items,
        listing=Listing.of(request, "/ops/webhooks", OLDEST_WORDS, found, but="said"),
        states=RECEIPTS,
        mendable=MENDABLE,
        said=request.said,
    )


@replay.serves
async def look_again(call: Call, form: ReplayForm) -> Html | Stream | Redirect:
    try:
        why = {"reason": form.reason.strip(), "reason_code": form.reason_code.strip()}
        asked = filled(LookAgainRequest, ids=[str(form.id)], **why)
        answer = await call.ask(operating.replay_by_people, asked)
    except Refusal as refusal:
        return await _receipts(call, ReceiptsPage(state=form.state), refused(call, form, refusal))
    [outcome] = answer.outcomes
    return Redirect(link("/ops/webhooks", state=form.state, said=outcome.error_code or "done"))


CONTRACTS: Final = (receipts_page, replay)
