"""The secrets of one sandbox: of its API, and of the two routes on which it tells us what happened."""

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Final, Self

from admitone.finance.gateways.words import CONNECT_ROUTE

ACCOUNT: Final = "sandbox"
CONNECT: Final = "sandbox_connect"
CARD_ROUTE: Final = "/api/stripe/webhook"
PIX_ROUTE: Final = "/webhooks/pix"


@dataclass(frozen=True, slots=True)
class Keys:
    """Made from one secret, each for one purpose: who learns one of them learns no other."""

    api: str = field(repr=False)
    account: str = field(repr=False)
    connect: str = field(repr=False)

    @classmethod
    def of(cls, secret: str) -> Self:
        def made(purpose: str) -> str:
            return hmac.new(secret.encode(), f"sandbox:{purpose}".encode(), hashlib.sha256).hexdigest()

        return cls(f"sk_test_{made('api')}", f"whsec_{made('account')}", f"whsec_{made('connect')}")

    def signing(self, source: str) -> str:
        return self.connect if source == CONNECT else self.account


def source_of(route: str) -> str:
    """Whose secret signs on this route."""
    return CONNECT if route.partition("?")[0].rstrip("/") == CONNECT_ROUTE else ACCOUNT


def route_of(event: str, account: str | None) -> str:
    """Where an event is told."""
    if account:
        return CONNECT_ROUTE
    return PIX_ROUTE if event.startswith("pix.") else CARD_ROUTE
