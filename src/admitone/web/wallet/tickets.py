"""One ticket: its code, large, and what its owner should know about it.

Promise: the code that is shown is the one that is good now. It is asked for when the page is, stands in no address and
is kept by no cache. What is somebody else's and what never was is the same: not found.
"""

from typing import Final

from admitone.entitlements.api import EntitlementId
from admitone.entitlements.routes import wallet
from admitone.entitlements.routes.wallet import OwnRequest, PresenceRequest, WalletItem
from admitone.finance.sources.api import SourceType
from admitone.foundation.identity.routes import sessions
from admitone.kernel.contracts import Audience, Call, Html, Redirect, ValidationFailed, Wire
from admitone.kernel.errors import NotFound
from admitone.verticals.events.routes import orders
from admitone.verticals.events.routes.orders import OwnAnswer
from admitone.verticals.events.routes.orders import OwnRequest as OwnOrderRequest
from admitone.web.code import Code
from admitone.web.form import Typed, filled
from admitone.web.page import page, show
from admitone.web.wallet.looks import Look, look_at

TICKET: Final = "wallet/ticket.html"
LARGE: Final = "wallet/code.html"
REFUND_WORDS: Final[dict[str, str]] = {
    "PENDING": "Money is on its way back to you.",
    "FAILED": "Money could not be sent back yet. We see to it.",
}


class TicketPage(Wire):
    entitlement_id: EntitlementId


class PresenceForm(Wire):
    entitlement_id: EntitlementId
    key: Typed = ""


ticket_page = page(
    "WALLET.TICKET", "One of my tickets.", get="/wallet/{entitlementId}", takes=TicketPage, audience=Audience.PERSON
)
code_page = page(
    "WALLET.CODE",
    "The code of a ticket, as large as the screen.",
    get="/wallet/{entitlementId}/code",
    takes=TicketPage,
    audience=Audience.PERSON,
)
presence = page(
    "WALLET.PRESENCE",
    "Confirm that I was there.",
    post="/wallet/{entitlementId}/presence",
    takes=PresenceForm,
    audience=Audience.PERSON,
)


@ticket_page.serves
async def show_ticket(call: Call, request: TicketPage) -> Html:
    item, look, code = await _seen(call, request.entitlement_id)
    return show(
        call,
        TICKET,
        look=look,
        code=code,
        zone=look.zone,
        me=await call.ask(sessions.me),
        order=await _order(call, item),
        is_order=item.source_type is SourceType.TICKET_ORDER,
        refund_words=REFUND_WORDS,
        key=f"presence:{item.entitlement_id}:{item.entries}",
    )


@code_page.serves
async def show_large(call: Call, request: TicketPage) -> Html | Redirect:
    """Whatever has no code is told about on its own page."""
    _, look, code = await _seen(call, request.entitlement_id)
    back = f"/wallet/{request.entitlement_id}"
    if code is None:
        return Redirect(back)
    return show(call, LARGE, title=look.title, label=look.item.label, zone=look.zone, back=back, code=code)


async def _seen(call: Call, own: EntitlementId) -> tuple[WalletItem, Look, Code | None]:
    item = await call.ask(wallet.one, OwnRequest(entitlement_id=own))
    [look] = await look_at(call, [item])
    shows_code = item.has_code and not look.is_spent
    return item, look, await _code(call, own) if shows_code else None


async def _code(call: Call, own: EntitlementId) -> Code:
    request = OwnRequest(entitlement_id=own)
    drawn = await call.ask(wallet.code_svg, request)
    answer = await call.ask(wallet.code, request)
    return Code.of(answer, drawn)


async def _order(call: Call, item: WalletItem) -> OwnAnswer | None:
    """How it was paid, if this account ordered it: what a guest bought, or somebody passed on, it did not."""
    if item.source_type is not SourceType.TICKET_ORDER:
        return None
    try:
        found: OwnAnswer = await call.ask(orders.show_order, filled(OwnOrderRequest, order_id=item.source_id))
    except (NotFound, ValidationFailed):
        return None
    return found


@presence.serves
async def confirm_presence(call: Call, form: PresenceForm) -> Redirect:
    wanted = filled(PresenceRequest, entitlement_id=form.entitlement_id, idempotency_key=form.key)
    await call.ask(wallet.presence, wanted)
    return Redirect(f"/wallet/{form.entitlement_id}")


CONTRACTS: Final = (ticket_page, code_page, presence)
