"""Stripe as a gateway.

Promise: every order carries its key to Stripe, which gives the same answer to the same order for a day. What is ordered
after that is looked for first, wherever Stripe can be asked for it: money goes back or out once, however late an order
is repeated. What we look for by its order is found in a search that is a minute behind: who finds nothing there repeats
the order under its key, which makes it once and finds it ever after.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.gateways import model, signature
from admitone.finance.gateways.model import (
    NOT_OFFERED,
    Ability,
    AccountLink,
    AccountOrder,
    ChargeOrder,
    Envelope,
    EventPage,
    EvidenceOrder,
    HandOnOrder,
    Method,
    MovementPage,
    PayoutOrder,
    Provider,
    ProviderEvent,
    RefundOrder,
    Refused,
    ReversalOrder,
    Trouble,
)
from admitone.finance.gateways.stripe import parameters, reading
from admitone.finance.gateways.stripe.events import read_event
from admitone.finance.gateways.stripe.keys import CONNECT, Keys, source_of
from admitone.finance.gateways.stripe.listing import listed, listed_events, read_all, read_forward
from admitone.finance.gateways.stripe.movements import EXPANDED, movements_of
from admitone.finance.gateways.stripe.objects import (
    Account,
    Attempt,
    Dispute,
    Intent,
    Link,
    Page,
    Refund,
    Session,
    Transaction,
    Transfer,
)
from admitone.finance.gateways.stripe.reading import Whole
from admitone.finance.gateways.stripe.refunding import OTHER_ORDER, Refunding
from admitone.finance.gateways.stripe.way import Seen, Way, is_missing
from admitone.finance.gateways.words import envelope_of, second
from admitone.finance.sources.api import SettlementModel
from admitone.kernel.ids import OrganizationId
from admitone.kernel.outbound import Outbound
from admitone.kernel.scope import Caller

LATEST: Final = "latest_charge.balance_transaction"
FEE_TOO_LARGE: Final = "application_fee_too_large"
ACCOUNT_MISSING: Final = "account_missing"
SESSIONS: Final = "cs_"
OVER: Final = ("succeeded", "canceled")


class StripeGateway:
    """One account at Stripe, and those connected to it."""

    provider: Final = Provider.STRIPE
    methods: Final = frozenset(Method)
    abilities: Final = frozenset(Ability) - {Ability.ACCOUNT_EVENTS}

    def __init__(self, keys: Keys, url: str, outbound: Outbound) -> None:
        self._keys = keys
        self._way = Way(keys, url, outbound)
        self._v1 = self._way.v1
        self._refunding = Refunding(self._way)

    @property
    def livemode(self) -> bool:
        return self._keys.livemode

    # -- Charges

    async def open_charge(self, order: ChargeOrder) -> model.Charge | Trouble:
        """A page of Stripe's where there is an address to come back to; else an intent for a page of the shop's own."""
        if not 0 <= order.application_fee_minor <= order.amount_minor:
            return Refused(FEE_TOO_LARGE)
        if order.settlement is SettlementModel.ORG_MOR and order.account is None:
            return Refused(ACCOUNT_MISSING)  # It would be a charge of our own, of all of it.
        if order.currency in parameters.COUNTED_OTHERWISE:
            return Refused(NOT_OFFERED, order.currency)
        options = _under(order.key)
        if order.method is Method.CARD and order.return_url is not None:
            session = self._v1.checkout.sessions.create_async(parameters.session_parameters(order), options)
            opened = await self._way.hear(order.caller, session, Session)
            return reading.session_charge_of(opened.it, None, opened.at) if isinstance(opened, Seen) else opened
        asked = parameters.pix_parameters if order.method is Method.PIX else parameters.intent_parameters
        made = await self._way.hear(order.caller, self._v1.payment_intents.create_async(asked(order), options), Intent)
        return reading.charge_of(Whole(made.it), made.at) if isinstance(made, Seen) else made

    async def find_charge(self, caller: Caller, charge: str) -> model.Charge | Trouble | None:
        if charge.startswith(SESSIONS):
            expanded: Any = {"expand": [f"payment_intent.{LATEST}"]}
            found = await self._way.hear(caller, self._v1.checkout.sessions.retrieve_async(charge, expanded), Session)
            return None if is_missing(found) else await self._whole_session(caller, found)
        seen = await self._intent(caller, charge)
        return None if is_missing(seen) else await self._whole(caller, seen)

    async def find_ordered(self, order: ChargeOrder) -> model.Charge | Trouble | None:
        """Of a session, from when its customer first tried. Nothing found says nothing while an order is young."""
        asked: Any = {"query": f"metadata['order_key']:'{order.key}'", "limit": 1}
        found = await self._way.hear(order.caller, self._v1.payment_intents.search_async(asked), Page[Intent])
        if not isinstance(found, Seen):
            return found
        return await self.find_charge(order.caller, found.it.data[0].id) if found.it.data else None

    async def cancel_charge(self, caller: Caller, charge: str) -> model.Charge | Trouble:
        if charge.startswith(SESSIONS):
            return await self._expire(caller, charge)
        said = await self._way.hear(caller, self._v1.payment_intents.cancel_async(charge), Intent)
        if isinstance(said, Seen):
            return await self._whole(caller, said)
        if not isinstance(said, Refused) or is_missing(said):
            return said
        seen = await self._intent(caller, charge)
        if isinstance(seen, Seen) and seen.it.status not in OVER:
            return await self._expire_of(caller, charge, said)
        return await self._whole(caller, seen)

    async def _expire_of(self, caller: Caller, intent: str, refused: Refused) -> model.Charge | Trouble:
        """The intent of a session is closed by closing its page."""
        asked: Any = {"payment_intent": intent, "limit": 1}
        found = await self._way.hear(caller, self._v1.checkout.sessions.list_async(asked), Page[Session])
        if not isinstance(found, Seen):
            return found
        return await self._expire(caller, found.it.data[0].id) if found.it.data else refused

    async def _expire(self, caller: Caller, session: str) -> model.Charge | Trouble:
        said = await self._way.hear(caller, self._v1.checkout.sessions.expire_async(session), Session)
        if not isinstance(said, Seen) and (not isinstance(said, Refused) or is_missing(said)):
            return said
        found = await self.find_charge(caller, session)
        return Refused("resource_missing") if found is None else found

    async def _intent(self, caller: Caller, name: str) -> Seen[Intent] | Trouble:
        asked: Any = {"expand": [LATEST]}
        return await self._way.hear(caller, self._v1.payment_intents.retrieve_async(name, asked), Intent)

    async def _whole_session(self, caller: Caller, seen: Seen[Session] | Trouble) -> model.Charge | Trouble:
        if not isinstance(seen, Seen):
            return seen
        if not isinstance(seen.it.payment_intent, Intent):
            return reading.session_charge_of(seen.it, None, seen.at)
        whole = await self._completed(caller, seen.it.payment_intent)
        return reading.session_charge_of(seen.it, whole, seen.at) if isinstance(whole, Whole) else whole

    async def _whole(self, caller: Caller, seen: Seen[Intent] | Trouble) -> model.Charge | Trouble:
        if not isinstance(seen, Seen):
            return seen
        whole = await self._completed(caller, seen.it)
        return reading.charge_of(whole, seen.at) if isinstance(whole, Whole) else whole

    async def _completed(self, caller: Caller, intent: Intent) -> Whole | Trouble:
        """With what stands in lists of its own: of what was captured, what went back; else, how it failed."""
        latest = intent.latest_charge
        if latest is None:
            return Whole(intent)
        about: Any = {"payment_intent": intent.id}
        if intent.status != "succeeded":
            attempts = await read_all(listed(self._way, caller, self._v1.charges.list_async, Attempt, **about))
            return Whole(intent, attempts=tuple(attempts)) if isinstance(attempts, list) else attempts
        is_disputed = isinstance(latest, Attempt) and latest.disputed
        booked = {"expand": ["data.balance_transaction", "data.failure_balance_transaction"]}
        refunds, disputes = await asyncio.gather(
            read_all(listed(self._way, caller, self._v1.refunds.list_async, Refund, **about, **booked)),
            read_all(listed(self._way, caller, self._v1.disputes.list_async, Dispute, **about))
            if is_disputed
            else _none(),
        )
        if not isinstance(refunds, list):
            return refunds
        if not isinstance(disputes, list):
            return disputes
        return Whole(intent, refunds=tuple(refunds), disputes=tuple(disputes))

    # -- Refunds and disputes

    async def refund(self, order: RefundOrder) -> model.Refund | Trouble:
        return await self._refunding.refund(order)

    async def find_refund(self, order: RefundOrder) -> model.Refund | Trouble | None:
        return await self._refunding.find(order)

    async def take_back(self, order: ReversalOrder) -> model.Reversal | Trouble:
        return await self._refunding.take_back(order)

    async def hand_on(self, order: HandOnOrder) -> model.HandedOn | Trouble:
        return await self._refunding.hand_on(order)

    async def find_dispute(self, caller: Caller, dispute: str) -> model.Dispute | Trouble | None:
        found = await self._way.hear(caller, self._v1.disputes.retrieve_async(dispute), Dispute)
        if is_missing(found):
            return None
        return reading.dispute_of(found.it) if isinstance(found, Seen) else found

    async def answer_dispute(self, order: EvidenceOrder) -> model.Dispute | Trouble:
        given, options = parameters.evidence_parameters(order), _under(order.key)
        call = self._v1.disputes.update_async(order.dispute, given, options)
        answered = await self._way.hear(order.caller, call, Dispute)
        return reading.dispute_of(answered.it) if isinstance(answered, Seen) else answered

    # -- Accounts and payouts

    async def open_account(self, order: AccountOrder) -> model.Account | Trouble:
        call = self._v1.accounts.create_async(parameters.account_parameters(order), _under(order.key))
        return self._account(await self._way.hear(order.caller, call, Account))

    async def link_account(self, caller: Caller, account: str, return_url: str) -> AccountLink | Trouble:
        call = self._v1.account_links.create_async(parameters.link_parameters(account, return_url))
        link = await self._way.hear(caller, call, Link)
        return AccountLink(link.it.url, second(link.it.expires_at)) if isinstance(link, Seen) else link

    async def find_account(self, caller: Caller, account: str) -> model.Account | Trouble | None:
        found = await self._way.hear(caller, self._v1.accounts.retrieve_async(account), Account)
        return None if _is_unknown_account(found) else self._account(found)

    def _account(self, seen: Seen[Account] | Trouble) -> model.Account | Trouble:
        return reading.account_of(seen.it, livemode=self.livemode) if isinstance(seen, Seen) else seen

    async def pay_out(self, order: PayoutOrder) -> model.Payout | Trouble:
        """A transfer to the organisation's account, from which Stripe pays its owner by itself."""
        if order.currency in parameters.COUNTED_OTHERWISE:
            return Refused(NOT_OFFERED, order.currency)
        found = await self._transfer(order)
        if not isinstance(found, Seen):
            return found
        if found.it.data:
            return _as_ordered(found.it.data[0], order)
        call = self._v1.transfers.create_async(parameters.transfer_parameters(order), _under(order.key))
        made = await self._way.hear(order.caller, call, Transfer)
        return reading.transfer_of(made.it) if isinstance(made, Seen) else made

    async def find_payout(self, order: PayoutOrder) -> model.Payout | Trouble | None:
        found = await self._transfer(order)
        if not isinstance(found, Seen):
            return found
        return reading.transfer_of(found.it.data[0]) if found.it.data else None

    async def _transfer(self, order: PayoutOrder) -> Seen[Page[Transfer]] | Trouble:
        asked: Any = {"transfer_group": str(order.key), "limit": 1}
        return await self._way.hear(order.caller, self._v1.transfers.list_async(asked), Page[Transfer])

    # -- What it tells

    async def list_events(self, caller: Caller, cursor: str | None, since: datetime) -> EventPage | Trouble:
        """Of the platform's own account. Those of organisations' accounts Stripe lists one account at a time."""
        page = await read_forward(listed_events(self._way, caller), cursor, since)
        if isinstance(page, Trouble):
            return page
        return EventPage(tuple(each.payload for each in page.rows), page.next_cursor)

    async def list_movements(
        self, caller: Caller, organization: OrganizationId, cursor: str | None, since: datetime | None = None
    ) -> MovementPage | Trouble:
        """Stripe's books are the platform's: all of them are read, and what is this organisation's is kept."""
        books = self._v1.balance_transactions.list_async
        page = await read_forward(listed(self._way, caller, books, Transaction, expand=EXPANDED), cursor, since)
        if isinstance(page, Trouble):
            return page
        try:
            moved = tuple(each for row in page.rows for each in movements_of(row, organization))
        except msgspec.ValidationError:
            return model.Unknown("answered what cannot be read")
        return MovementPage(moved, page.next_cursor)

    def verify(self, body: bytes, headers: Mapping[str, str], route: str, now: datetime) -> Envelope | None:
        source = source_of(route)
        header = next((value for name, value in headers.items() if name.lower() == signature.HEADER), "")
        if not signature.verify(body, header, self._keys.signing(source), now):
            return None
        return self.open_envelope(body, source)

    def open_envelope(self, payload: bytes, source: str) -> Envelope:
        return envelope_of(payload, source, CONNECT)[0]

    def read(self, payload: bytes, source: str) -> ProviderEvent:
        return read_event(payload, source)


async def _none() -> list[Dispute]:
    return []


def _under(key: UUID) -> Any:
    return {"idempotency_key": str(key)}


def _is_unknown_account(said: object) -> bool:
    """Of an account that is not there Stripe says that it may not be seen."""
    return is_missing(said) or (isinstance(said, Refused) and said.code == "account_invalid")


def _as_ordered(transfer: Transfer, order: PayoutOrder) -> model.Payout | Trouble:
    ordered = (order.amount_minor, order.currency.lower(), order.account)
    if (transfer.amount, transfer.currency, transfer.destination) != ordered:
        return Refused(OTHER_ORDER)
    return reading.transfer_of(transfer)
