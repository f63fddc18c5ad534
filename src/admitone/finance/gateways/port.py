"""The port: what finance asks of every provider, and the provider of each answer; and, for entry points, the sandbox.

Promise: a call is made with no transaction open, through `kernel.outbound` (or, for the sandbox, in process); it
gives an answer or says which kind of trouble it had, and never raises for what the world does. The one exception is
`UnknownStatus`: what a provider has is in a state for which we have no word, and somebody must look.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol, runtime_checkable

from admitone.finance.gateways.model import (
    Ability,
    Account,
    AccountLink,
    AccountOrder,
    Charge,
    ChargeOrder,
    Dispute,
    Envelope,
    EventPage,
    EvidenceOrder,
    HandedOn,
    HandOnOrder,
    Method,
    MovementPage,
    Payout,
    PayoutOrder,
    Provider,
    ProviderEvent,
    Refund,
    RefundOrder,
    Reversal,
    ReversalOrder,
    Trouble,
)
from admitone.finance.gateways.sandbox.charges import Terms
from admitone.finance.gateways.sandbox.courier import Courier
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.journal import Journal
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.gateways.sandbox.site import Site
from admitone.finance.gateways.settings import gateways_of, own_sandbox_port, runs_own_sandbox, sandbox_keys
from admitone.kernel.ids import OrganizationId
from admitone.kernel.ports import Port
from admitone.kernel.scope import Caller

__all__ = (
    "GATEWAYS",
    "Courier",
    "Faults",
    "Gateway",
    "Gateways",
    "Journal",
    "Keys",
    "Renewing",
    "SandboxGateway",
    "Simulator",
    "Site",
    "Terms",
    "gateways_of",
    "own_sandbox_port",
    "runs_own_sandbox",
    "sandbox_keys",
)


class Gateway(Protocol):
    """One provider. Orders are idempotent by their key: repeated, they give what they gave."""

    @property
    def provider(self) -> Provider: ...
    @property
    def livemode(self) -> bool: ...
    @property
    def methods(self) -> frozenset[Method]: ...
    @property
    def abilities(self) -> frozenset[Ability]: ...

    async def open_charge(self, order: ChargeOrder) -> Charge | Trouble: ...

    async def find_charge(self, caller: Caller, charge: str) -> Charge | Trouble | None:
        """By its id at the provider, as it is now."""
        ...

    async def find_ordered(self, order: ChargeOrder) -> Charge | Trouble | None:
        """The charge that this order made, if it made one: how an unknown outcome is resolved."""
        ...

    async def cancel_charge(self, caller: Caller, charge: str) -> Charge | Trouble:
        """Close it, if nothing was captured; the answer says which of the two it is."""
        ...

    async def refund(self, order: RefundOrder) -> Refund | Trouble: ...

    async def find_refund(self, order: RefundOrder) -> Refund | Trouble | None: ...

    async def find_dispute(self, caller: Caller, dispute: str) -> Dispute | Trouble | None:
        """As the provider has it on file."""
        ...

    async def answer_dispute(self, order: EvidenceOrder) -> Dispute | Trouble:
        """Put evidence on file, and submit it if so ordered."""
        ...

    async def take_back(self, order: ReversalOrder) -> Reversal | Trouble:
        """What went on to an organisation's account with money that a dispute took: the provider takes such money from
        the platform, and leaves it to us to have it back."""
        ...

    async def hand_on(self, order: HandOnOrder) -> HandedOn | Trouble:
        """What an organisation's account gave for a refund that had arrived and came back: the provider leaves such
        money with the platform, and it to us to give it to whose it is."""
        ...

    async def open_account(self, order: AccountOrder) -> Account | Trouble: ...

    async def link_account(self, caller: Caller, account: str, return_url: str) -> AccountLink | Trouble:
        """Where the organisation tells the provider who it is."""
        ...

    async def find_account(self, caller: Caller, account: str) -> Account | Trouble | None: ...

    async def pay_out(self, order: PayoutOrder) -> Payout | Trouble: ...

    async def find_payout(self, order: PayoutOrder) -> Payout | Trouble | None: ...

    async def list_events(self, caller: Caller, cursor: str | None, since: datetime) -> EventPage | Trouble:
        """Events from an instant on, oldest first, a page at a time: what a lost webhook would have told, on whatever
        route."""
        ...

    async def list_movements(
        self, caller: Caller, organization: OrganizationId, cursor: str | None, since: datetime | None = None
    ) -> MovementPage | Trouble:
        """What it moved for this organisation, oldest first, a page at a time; from an instant on, or all of it."""
        ...

    def verify(self, body: bytes, headers: Mapping[str, str], route: str, now: datetime) -> Envelope | None:
        """What arrived, if its signature over these very bytes is ours, for this route, and not older than five
        minutes; else nothing. A body that is signed and cannot be understood raises `Malformed`. The route has its
        query, if there was one: some providers sign that. What a provider does not sign is not believed: not of its
        body, and where it signs no time, a replay is known by its id alone."""
        ...

    def open_envelope(self, payload: bytes, source: str) -> Envelope:
        """What is known of a payload from `list_events` before it is understood; `Malformed` if it is none."""
        ...

    def read(self, payload: bytes, source: str) -> ProviderEvent:
        """What a verified payload, or one from `list_events`, means. A list has the events of every route in it: where
        an event belongs to an organisation's account, its envelope names the source that would have brought it."""
        ...


@runtime_checkable
class Renewing(Protocol):
    """A provider that signs with keys of its own, and changes them: who does not recognise its signature may have
    old ones."""

    async def renew(self, headers: Mapping[str, str], route: str, caller: Caller, now: datetime) -> bool:
        """Fetch its keys, if this may be its own and if they were not asked for within a minute: whether it is worth
        while to verify once more."""
        ...


class Gateways:
    """Those of this installation, in the order in which they are preferred."""

    def __init__(self, gateways: Sequence[Gateway]) -> None:
        self._by_provider = {gateway.provider: gateway for gateway in gateways}

    def get(self, provider: Provider | str) -> Gateway:
        return self._by_provider[Provider(provider)]

    def find_for(self, method: Method, *, direct: bool = False) -> Gateway | None:
        """Who takes it; `direct`: for an account that an organisation has there itself."""
        takers = (each for each in self.all() if method in each.methods)
        return next((each for each in takers if not direct or Ability.ACCOUNTS in each.abilities), None)

    def find_with_accounts(self, preferred: Gateway) -> Gateway | None:
        """Where organisations are paid what came through this one: there, or else where they have accounts."""
        holders = (each for each in (preferred, *self.all()) if Ability.ACCOUNTS in each.abilities)
        return next(holders, None)

    def all(self) -> Sequence[Gateway]:
        return tuple(self._by_provider.values())


GATEWAYS: Final = Port[Gateways]("finance.gateways")
