"""The tickets of a guest, behind the link of their mail.

Promise: whoever has the link sees these tickets and nothing else of the person; the page tells nobody its address: it
has no way out to elsewhere, and nothing that it leads to is told where somebody came from. A link that leads nowhere
says what may have become of it, and the same whether it ever was one.
"""

from typing import Annotated, Final

from msgspec import Meta

from admitone.entitlements.api import EntitlementId, EntitlementNotActive
from admitone.kernel.contracts import Call, Html, Redirect, Wire, status_of
from admitone.verticals.events.api import OrderNotFound
from admitone.verticals.events.routes import guests
from admitone.verticals.events.routes.guests import GuestAnswer, GuestCodeRequest, GuestRequest
from admitone.web.code import Code
from admitone.web.page import page, show

WORDS: Final[dict[str, str]] = {
    "PENDING": "Not good yet",
    "ACTIVE": "Good",
    "SUSPENDED": "Suspended",
    "EXPIRED": "Expired",
    "REVOKED": "No longer valid",
}
WHY_WORDS: Final[dict[str, str]] = {
    "PENDING": "It lets somebody in as soon as its code is shown here.",
    "SUSPENDED": "The payment is disputed at the bank. Until that is decided, it opens no door.",
    "EXPIRED": "Its time is over.",
    "REVOKED": "Its money went back, or the bank took it back: it opens no door.",
}
SHAPES: Final = {"PENDING": "waiting", "ACTIVE": "good", "SUSPENDED": "waiting", "EXPIRED": "plain", "REVOKED": "bad"}
SHOWS_CODE: Final = "ACTIVE"


class GuestPage(Wire):
    token: Annotated[str, Meta(min_length=1, max_length=120)]


class GuestCodePage(GuestPage):
    entitlement_id: EntitlementId


guest_page = page("PAY.GUEST", "The tickets behind a guest's link.", get="/guest/tickets/{token}", takes=GuestPage)
code_page = page(
    "PAY.GUEST.CODE",
    "The code of one of them, as large as the screen.",
    get="/guest/tickets/{token}/{entitlementId}",
    takes=GuestCodePage,
)


@guest_page.serves
async def show_guest(call: Call, request: GuestPage) -> Html:
    try:
        found: GuestAnswer = await call.ask(guests.tickets, GuestRequest(token=request.token))
    except OrderNotFound as refusal:
        return show(call, "checkout/guest-gone.html", status=status_of(type(refusal)))
    return show(
        call,
        "checkout/guest.html",
        accent=found.organizer.accent_color,
        found=found,
        token=request.token,
        ticket_words=WORDS,
        why=WHY_WORDS,
        shapes=SHAPES,
        shows_code=SHOWS_CODE,
    )


@code_page.serves
async def show_code(call: Call, request: GuestCodePage) -> Html | Redirect:
    """Whatever has no code is told about among the others."""
    back = f"/guest/tickets/{request.token}"
    asked = GuestCodeRequest(token=request.token, entitlement_id=request.entitlement_id)
    try:
        found: GuestAnswer = await call.ask(guests.tickets, GuestRequest(token=request.token))
        code = await call.ask(guests.code, asked)
        drawn = await call.ask(guests.code_svg, asked)
    except (OrderNotFound, EntitlementNotActive):
        return Redirect(back)
    label = next(each.label for each in found.tickets if each.entitlement_id == request.entitlement_id)
    return show(
        call,
        "checkout/guest-code.html",
        accent=found.organizer.accent_color,
        title=found.title,
        label=label,
        zone=found.time_zone,
        back=back,
        code=Code.of(code, drawn),
    )


CONTRACTS: Final = (guest_page, code_page)
