"""The pager: an alert leaves the house.

Promise: every alert that is opened is told to whoever takes pages or tickets, as JSON, signed so that nobody else can
wake people; at least once (its id tells repetitions apart). Without an address it is an error in the log, and nothing
is lost by that: the alert stands in the database.

The signature is `t=<seconds>,v1=<hex>`: HMAC-SHA-256, under the shared secret, of `<seconds>.<body>`.
"""

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

import msgspec

from admitone.kernel.alerts.facts import AlertRaised
from admitone.kernel.alerts.model import AlertClass
from admitone.kernel.breaker import Dependency
from admitone.kernel.config import Config, ConfigurationProblem, Key, at_least
from admitone.kernel.ids import to_text
from admitone.kernel.jobs import NOTIFICATIONS, Delivered, Desk, Lane, Priority, Subscription, errand
from admitone.kernel.outbound import Answer, NotSent, Outbound, Request
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger

LANE: Final = Lane("pager", places=4)
SIGNATURE: Final = "X-Admitone-Signature"


def _web_address(value: str) -> bool:
    return value.startswith(("https://", "http://"))


PAGER_URL = Key(
    "ADMITONE_PAGER_URL", "the address that takes alerts that wake somebody", check=_web_address, secret=True
)
TICKET_URL = Key(
    "ADMITONE_TICKET_URL", "the address that takes alerts for the morning", check=_web_address, secret=True
)
PAGER_SECRET = Key(
    "ADMITONE_PAGER_SECRET", "at least 32 characters, to sign alerts with", check=at_least(32), secret=True
)

DEPENDENCIES: Final = {AlertClass.PAGER: Dependency("pager"), AlertClass.TICKET: Dependency("tickets")}


class NotTaken(Exception):
    """Whoever takes alerts did not say that it took this one."""


@dataclass(frozen=True, slots=True)
class Pager:
    """Where alerts go."""

    outbound: Outbound
    addresses: Mapping[AlertClass, str] = field(default_factory=dict, repr=False)
    secret: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, config: Config, outbound: Outbound) -> Self:
        keys = {AlertClass.PAGER: PAGER_URL, AlertClass.TICKET: TICKET_URL}
        addresses = {alert_class: url for alert_class, key in keys.items() if (url := config.find(key))}
        secret = config.find(PAGER_SECRET)
        if addresses and not secret:
            raise ConfigurationProblem([f"{PAGER_SECRET.name} is missing: expected {PAGER_SECRET.help}."])
        return cls(outbound, addresses, (secret or "").encode())

    async def tell(self, alert: AlertRaised, caller: Caller) -> None:
        address = self.addresses.get(alert.alert_class)
        if address is None:
            logger().error("alert.nobody_to_tell", **msgspec.to_builtins(alert, enc_hook=to_text))
            return
        body = msgspec.json.encode(alert, enc_hook=to_text)
        headers = {"Content-Type": "application/json", SIGNATURE: signature(self.secret, int(time.time()), body)}
        request = Request(method="POST", url=address, user_given=False, headers=headers, body=body)
        outcome = await self.outbound.call(DEPENDENCIES[alert.alert_class], request, caller)
        if isinstance(outcome, NotSent):
            raise outcome.refusal  # Behind an open breaker it waits, and spends no attempt.
        if not isinstance(outcome, Answer) or not 200 <= outcome.status < 300:
            raise NotTaken(outcome.kind)  # Perhaps it was: then it is told again, under the same id.


def signature(secret: bytes, seconds: int, body: bytes) -> str:
    digest = hmac.new(secret, f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


@errand("ops.page", lane=LANE, retry=NOTIFICATIONS, priority=Priority.CRITICAL)
async def page(desk: Desk, told: Delivered[AlertRaised]) -> None:
    await desk.get(Pager).tell(told.payload, told.caller)


SUBSCRIPTION: Final = Subscription(AlertRaised, page)
