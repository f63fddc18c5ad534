"""A form that could not be taken, because whoever sent it had to sign in first, or to prove that it is them.

Promise: they find it again as they sent it, and it says that nothing was done yet; nothing is done before they send it
once more. Until then their own browser keeps it and nobody else: for minutes, in a cookie that no script reads, that
goes to this one page and that only we can open, and only for the person who sent it. It is taken away as soon as it is
shown. No password and no code is kept, and nothing that was typed stands in an address or in a log.
"""

import base64
import zlib
from binascii import Error as NotBase64
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from uuid import UUID

import msgspec

from admitone.kernel.contracts import Audience, Call, Cookie, Html, Looking, NotDoneYet, Redirect, Rehearsal, Sent, Wire
from admitone.kernel.contracts.wire import to_wire
from admitone.kernel.crypto import KEYRING, CannotOpen, Place
from admitone.kernel.errors import Unauthenticated
from admitone.kernel.ids import IdentityId, InvalidId
from admitone.web.form import Address, Secret, Typed
from admitone.web.page import SIGNED_IN, page, show

PATH: Final = "/unsent"
TYPED: Final = "typed"
TEN_MINUTES_SECONDS: Final = 10 * 60
MOST: Final = 4_000
"""Browsers forget what is larger than 4096 bytes, its name among them."""
MOST_UNPACKED: Final = 200_000
NOBODY: Final = UUID(int=0)
"""Whose a form is that strangers may send: the browser's."""


class Kept(msgspec.Struct, frozen=True):
    contract: str
    typed: dict[str, Any]
    at: int
    """In seconds of the epoch."""


class UnsentPage(Wire):
    came_from: Address = "/"
    lost: Typed = ""
    """Said where the browser could not keep what was typed."""
    guest: Typed = ""
    """Said where whoever does not sign in after all may go on."""


unsent_page = page(
    "UNSENT",
    "A form that could not be taken before one signed in, or proved that it is them.",
    get=PATH,
    takes=UnsentPage,
    recognizes=True,
    sets_cookies=(TYPED,),
)


def keep(sent: Sent, looking: Looking) -> tuple[str, tuple[Cookie, ...]]:
    """Where it is shown again, and the cookie until then."""
    whose = sent.caller or _known_by(looking)
    is_open = sent.contract.audience is Audience.PUBLIC
    value = _sealed(sent, whose) if (whose or is_open) and not _has_secrets(sent) else ""
    said = {"cameFrom": looking.here}
    if not value or len(value) > MOST:
        return f"{PATH}?{urlencode(said | {'lost': 'yes'})}", ()
    back = f"{PATH}?{urlencode(said | ({'guest': 'yes'} if is_open else {}))}"
    return back, (Cookie(TYPED, value, TEN_MINUTES_SECONDS, path=PATH),)


def forgotten() -> Cookie:
    """Takes it away."""
    return Cookie(TYPED, "", 0, path=PATH)


def _known_by(looking: Looking) -> IdentityId | None:
    """Who was signed in here last: the session that ran out was theirs."""
    try:
        return IdentityId.parse(looking.cookies.get(SIGNED_IN, ""))
    except InvalidId:
        return None


def _has_secrets(sent: Sent) -> bool:
    secret = [each.name for each in sent.contract.fields.values() if each.type == Secret]
    return any(getattr(sent.request, name) for name in secret)


def _sealed(sent: Sent, whose: IdentityId | None) -> str:
    typed = msgspec.to_builtins(sent.request, enc_hook=to_wire) if sent.request is not None else {}
    kept = Kept(sent.contract.id, typed, int(datetime.now(UTC).timestamp()))
    sealed = KEYRING().seal(zlib.compress(msgspec.json.encode(kept), 9), _place(whose))
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def _place(whose: IdentityId | None) -> Place:
    return Place("web.unsent", TYPED, None, whose.uuid if whose else NOBODY)


@unsent_page.serves
async def show_unsent(call: Call, request: UnsentPage) -> Html | Redirect:
    back = Redirect.within(request.came_from)
    if request.lost:
        return show(call, "unsent.html", back=back.location, lost=True)
    value = call.cookies.get(TYPED)
    if not value:  # Shown before, and looked at again.
        return back
    if call.identity is None and SIGNED_IN in call.cookies:  # There is a session, which only has to be renewed.
        return Redirect(f"/sign-in?next={quote(call.here, safe='')}")
    kept = _opened(value, call.identity)
    if kept is None and call.identity is None:
        raise Unauthenticated
    call.set_cookie(forgotten())
    if kept is None:
        return back
    try:
        shown: Html | Redirect = await call.rehearse(Rehearsal(kept.contract, kept.typed, back.location))
    except NotDoneYet:
        return show(call, "unsent.html", back=back.location, lost=False)
    return Html(shown.text) if isinstance(shown, Html) else shown  # Nothing went wrong: it is what was asked for.


def _opened(value: str, whose: IdentityId | None) -> Kept | None:
    """What was kept for this person, or for whoever has this browser; what we did not write is nothing."""
    try:
        sealed = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
    except (NotBase64, ValueError):
        return None
    for place in {_place(whose), _place(None)}:
        try:
            plain = zlib.decompressobj().decompress(KEYRING().open(sealed, place), MOST_UNPACKED)
        except CannotOpen:
            continue
        kept = msgspec.json.decode(plain, type=Kept)
        return kept if kept.at + TEN_MINUTES_SECONDS >= datetime.now(UTC).timestamp() else None
    return None


def without_signing_in(towards: str) -> str:
    """The way on for whoever does not sign in after all, if there is one."""
    asked = urlsplit(towards)
    return towards if asked.path == PATH and "guest" in parse_qs(asked.query) else ""


CONTRACTS: Final = (unsent_page,)
