"""The secrets of one Stripe account: of its API, and of the two routes on which it tells us what happened."""

from dataclasses import dataclass, field
from typing import Final

from admitone.finance.gateways.words import CONNECT_ROUTE

ACCOUNT: Final = "stripe"
CONNECT: Final = "stripe_connect"
LIVE: Final = ("sk_live_", "rk_live_")
TEST: Final = ("sk_test_", "rk_test_")


@dataclass(frozen=True, slots=True)
class Keys:
    api: str = field(repr=False)
    account: str = field(repr=False)
    connect: str = field(repr=False)

    @property
    def livemode(self) -> bool:
        return self.api.startswith(LIVE)

    def signing(self, source: str) -> str:
        return self.connect if source == CONNECT else self.account


def source_of(route: str) -> str:
    """Whose secret signs on this route."""
    return CONNECT if route.partition("?")[0].rstrip("/") == CONNECT_ROUTE else ACCOUNT
