"""Releasing: what providers paid out themselves, from an organisation's account to its bank, is shown as released.

Promise: it is a read model and says so: nothing is asked of, or changed at, any provider (FIN-006, FIN-090). A payout
is released once, by its own id; of an organisation whose payouts are blocked none is, until nothing of what it sold
is disputed.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import msgspec

from admitone.finance.gateways.api import PayoutStatus
from admitone.finance.payouts.alerts import BLOCKED, NOT_PAID, of_owner
from admitone.finance.payouts.store import obligations as obligation_store
from admitone.finance.payouts.store import payouts as store
from admitone.finance.payouts.store import sweeping
from admitone.finance.payouts.store.sweeping import FIRST, SWEEPING
from admitone.kernel.alerts import ALERTS, Alert, Resolution, raise_alerts, resolve_alerts
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller, Scope

AT_A_TIME: Final = 500
ORGANIZATIONS: Final = 500


class Releasing(msgspec.Struct, frozen=True):
    """Show what is reported of an organisation as released."""

    caller: Caller


class Released(msgspec.Struct, frozen=True):
    paid: int = 0
    failed: int = 0
    """Released too: the provider will try again, or the organisation must mend its account."""
    held: int = 0
    """Not shown as released, because payouts are blocked."""

    def __add__(self, other: "Released") -> "Released":
        return Released(self.paid + other.paid, self.failed + other.failed, self.held + other.held)


@command()
async def release_reported(tx: Tx, releasings: Sequence[Releasing]) -> list[Released | Refusal]:
    """Of one organisation; whoever comes second finds nothing left."""
    outcomes: list[Released | Refusal] = []
    for _ in releasings:
        if await obligation_store.find_block(tx) is not None:
            outcomes.append(Released(held=await store.count_unreleased(tx)))
            continue
        statuses = await store.release_reported(tx, AT_A_TIME)
        failed = sum(each is PayoutStatus.FAILED for each in statuses)
        outcomes.append(Released(len(statuses) - failed, failed))
    return outcomes


class Run:
    """Through every organisation that has something to release, on behalf of a call or of a job."""

    def __init__(self, read: Callable[..., Awaitable[Any]], submit: Callable[..., Awaitable[Any]]) -> None:
        self._read = read
        self._submit = submit

    async def release(self, caller: Caller) -> Released:
        total, after = Released(), FIRST
        while page := await self._read(sweeping.list_organizations_unreleased, after, ORGANIZATIONS, scope=SWEEPING):
            for organization in page:
                scope = Scope(organization, "release payouts")
                released = await self._submit(release_reported, Releasing(caller), scope=scope)
                await self._tell(organization, released, caller)
                total += released
            after = page[-1].uuid
        return total

    async def _tell(self, organization: OrganizationId, released: Released, caller: Caller) -> None:
        subject, entities = of_owner(organization, organization.uuid), {"orgId": str(organization)}
        if released.failed:
            detail = f"{released.failed} of the provider's own payouts failed"
            await self._submit(
                raise_alerts, Alert(NOT_PAID, subject, detail, organization, entities, caller), scope=ALERTS
            )
        elif released.paid:
            await self._submit(resolve_alerts, Resolution(NOT_PAID, subject), scope=ALERTS)
        if released.held:
            blocked = Alert(BLOCKED, str(organization), f"{released.held} held", organization, entities, caller)
            await self._submit(raise_alerts, blocked, scope=ALERTS)
