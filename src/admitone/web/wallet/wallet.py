"""The wallet: what is to come, and what was."""

from enum import StrEnum
from typing import Final

from admitone.entitlements.routes import wallet
from admitone.entitlements.routes.wallet import WalletRequest
from admitone.foundation.identity.routes import sessions
from admitone.kernel.contracts import Audience, Call, Cursor, Html, Wire
from admitone.web.form import Typed, filled
from admitone.web.page import page, show
from admitone.web.wallet.looks import Look, look_at

TEMPLATE: Final = "wallet/wallet.html"
MOST_SHOWN: Final = 20


class Tab(StrEnum):
    """As it stands in the address."""

    ACTIVE = "active"
    HISTORY = "history"


class WalletPage(Wire):
    tab: Tab = Tab.ACTIVE
    cursor: Cursor | None = None
    claimed: Typed = ""
    """Whether somebody comes from proving an address: what was bought with it may just have become theirs."""


wallet_page = page("WALLET", "My tickets.", get="/wallet", takes=WalletPage, audience=Audience.PERSON)


@wallet_page.serves
async def show_wallet(call: Call, request: WalletPage) -> Html:
    wanted = filled(WalletRequest, section=request.tab.upper(), cursor=request.cursor, limit=MOST_SHOWN)
    found = await call.ask(wallet.wallet, wanted)
    more = f"/wallet?tab={request.tab}&cursor={found.next_cursor}" if found.next_cursor else ""
    return show(
        call,
        TEMPLATE,
        me=await call.ask(sessions.me),
        tab=request.tab.value,
        looks=_usable_first(await look_at(call, found.items)),
        more=more,
        claimed=bool(request.claimed),
    )


def _usable_first(looks: list[Look]) -> list[Look]:
    """What opens no door any more stands below what does, in the order that each has."""
    return sorted(looks, key=lambda look: look.is_gone)


CONTRACTS: Final = (wallet_page,)
