"""The sandbox as a gateway: the same adapter in process and over HTTP.

Promise: 2xx is the answer; 402 is a decline, which is a fact of the charge; other 4xx is a refusal under the provider's
own code, but for those that are none (`UNSAID`); these, 5xx, an answer that cannot be read and one that never came are
unknown. Nothing here is ever live.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from admitone.finance.gateways import model, signature
from admitone.finance.gateways.model import (
    UNSAID,
    Ability,
    AccountLink,
    AccountOrder,
    ChargeOrder,
    Envelope,
    EventPage,
    EvidenceOrder,
    HandOnOrder,
    Method,
    Movement,
    MovementKind,
    MovementPage,
    PayoutOrder,
    Provider,
    ProviderEvent,
    RefundOrder,
    Refused,
    ReversalOrder,
    Trouble,
)
from admitone.finance.gateways.sandbox import reading
from admitone.finance.gateways.sandbox.charges import UNEXPECTED_STATE
from admitone.finance.gateways.sandbox.keys import CONNECT, Keys, source_of
from admitone.finance.gateways.sandbox.objects import (
    MILLION,
    Account,
    Dispute,
    Failure,
    Intent,
    MovementRow,
    Payout,
    Refund,
)
from admitone.finance.gateways.sandbox.parameters import (
    AccountParameters,
    ChargeParameters,
    EvidenceParameters,
    HandOnParameters,
    LinkParameters,
    PayoutParameters,
    RefundParameters,
    ReversalParameters,
)
from admitone.finance.gateways.sandbox.simulator import Lost, Simulator, Unreachable
from admitone.finance.gateways.words import envelope_of
from admitone.finance.sources.api import PaymentId
from admitone.kernel.breaker import Dependency
from admitone.kernel.db import in_transaction
from admitone.kernel.ids import OrganizationId
from admitone.kernel.outbound import (
    Answer,
    CallInsideTransaction,
    DependencyUnreachable,
    NotSent,
    Outbound,
    Outcome,
    Request,
    Unknown,
)
from admitone.kernel.scope import Caller

KINDS: Final = {kind.value: kind for kind in MovementKind}
DEPENDENCY: Final = Dependency("gateway_sandbox")

Send = Callable[[Request, Caller], Awaitable[Outcome]]
Read = TypeVar("Read")


class InProcess:
    """A way to a simulator in this process, as bad as its faults say."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    async def __call__(self, request: Request, caller: Caller) -> Outcome:  # noqa: ARG002  As over HTTP.
        if in_transaction():
            raise CallInsideTransaction("the sandbox was to be called while a transaction is open")
        path = request.url.removeprefix(self._simulator.url)
        try:
            status, body = await self._simulator.reach(request.method, path, request.body, request.headers)
        except Unreachable:
            return NotSent("unreachable", DependencyUnreachable())
        except Lost:
            return Unknown("lost")
        return Answer(status, {}, body)


class SandboxGateway:
    """One sandbox, wherever it is."""

    provider: Final = Provider.SANDBOX
    livemode: Final = False
    methods: Final = frozenset(Method)
    abilities: Final = frozenset(Ability)

    def __init__(self, keys: Keys, url: str, send: Send) -> None:
        self._keys = keys
        self._url = url.rstrip("/")
        self._send = send

    @classmethod
    def in_process(cls, simulator: Simulator) -> "SandboxGateway":
        return cls(simulator.keys, simulator.url, InProcess(simulator))

    @classmethod
    def over_http(cls, keys: Keys, url: str, outbound: Outbound) -> "SandboxGateway":
        return cls(keys, url, partial(outbound.call, DEPENDENCY))

    # -- Charges

    async def open_charge(self, order: ChargeOrder) -> model.Charge | Trouble:
        said = await self._post(order.caller, "/v1/payment_intents", _charge_parameters(order), order.key)
        return _read_charge(said)

    async def find_charge(self, caller: Caller, charge: str) -> model.Charge | Trouble | None:
        said = await self._get(caller, f"/v1/payment_intents/{quote(charge, safe='')}")
        return None if _is_missing(said) else _read_charge(said)

    async def find_ordered(self, order: ChargeOrder) -> model.Charge | Trouble | None:
        found = _read(await self._get(order.caller, "/v1/payment_intents", order_key=str(order.key)), _Intents)
        if not isinstance(found, _Intents):
            return found
        return reading.charge_of(found.data[0]) if found.data else None

    async def cancel_charge(self, caller: Caller, charge: str) -> model.Charge | Trouble:
        return _read_charge(await self._post(caller, f"/v1/payment_intents/{quote(charge, safe='')}/cancel", None))

    async def refund(self, order: RefundOrder) -> model.Refund | Trouble:
        given = RefundParameters(
            payment_intent=order.charge,
            amount=order.amount_minor,
            order_key=str(order.key),
            refund_application_fee=order.application_fee_minor,
            reverse_transfer=order.reverse_transfer,
        )
        refund = _read(await self._post(order.caller, "/v1/refunds", given, order.key), Refund)
        return reading.refund_of(refund) if isinstance(refund, Refund) else refund

    async def find_refund(self, order: RefundOrder) -> model.Refund | Trouble | None:
        said = await self._get(order.caller, f"/v1/payment_intents/{quote(order.charge, safe='')}")
        if _is_missing(said):
            return None
        intent = _read(said, Intent)
        if not isinstance(intent, Intent):
            return intent
        refunds = [refund for attempt in intent.charges for refund in attempt.refunds]
        made = next((each for each in refunds if each.metadata.get("order_key") == str(order.key)), None)
        return reading.refund_of(made) if made else None

    # -- Disputes

    async def find_dispute(self, caller: Caller, dispute: str) -> model.Dispute | Trouble | None:
        said = await self._get(caller, f"/v1/disputes/{quote(dispute, safe='')}")
        return None if _is_missing(said) else _read_dispute(said)

    async def answer_dispute(self, order: EvidenceOrder) -> model.Dispute | Trouble:
        given = EvidenceParameters(evidence=dict(order.texts), submit=order.submit)
        return _read_dispute(
            await self._post(order.caller, f"/v1/disputes/{quote(order.dispute, safe='')}", given, order.key)
        )

    async def take_back(self, order: ReversalOrder) -> model.Reversal | Trouble:
        path, given = (
            f"/v1/disputes/{quote(order.dispute, safe='')}/reversal",
            ReversalParameters(amount=order.amount_minor),
        )
        made = _read(await self._post(order.caller, path, given), Dispute)
        return model.Reversal(made.id, made.taken_back, order.currency) if isinstance(made, Dispute) else made

    async def hand_on(self, order: HandOnOrder) -> model.HandedOn | Trouble:
        path, given = (
            f"/v1/payment_intents/{quote(order.charge, safe='')}/hand_on",
            HandOnParameters(refund=order.refund, amount=order.amount_minor),
        )
        made = _read(await self._post(order.caller, path, given), Refund)
        return model.HandedOn(made.id, made.handed_on, order.currency) if isinstance(made, Refund) else made

    # -- Accounts and payouts

    async def open_account(self, order: AccountOrder) -> model.Account | Trouble:
        given = AccountParameters(
            type="standard",
            country=order.country,
            email=order.email,
            order_key=str(order.key),
            metadata={"orgId": str(order.organization)},
        )
        account = _read(await self._post(order.caller, "/v1/accounts", given, order.key), Account)
        return reading.account_of(account) if isinstance(account, Account) else account

    async def link_account(self, caller: Caller, account: str, return_url: str) -> AccountLink | Trouble:
        given = LinkParameters(account=account, return_url=return_url)
        link = _read(await self._post(caller, "/v1/account_links", given), _Link)
        return AccountLink(link.url, reading.moment(link.expires_at * MILLION)) if isinstance(link, _Link) else link

    async def find_account(self, caller: Caller, account: str) -> model.Account | Trouble | None:
        said = await self._get(caller, f"/v1/accounts/{quote(account, safe='')}")
        if _is_missing(said):
            return None
        found = _read(said, Account)
        return reading.account_of(found) if isinstance(found, Account) else found

    async def pay_out(self, order: PayoutOrder) -> model.Payout | Trouble:
        given = PayoutParameters(
            destination=order.account,
            amount=order.amount_minor,
            currency=order.currency.lower(),
            order_key=str(order.key),
            metadata={"orgId": str(order.organization)},
        )
        payout = _read(await self._post(order.caller, "/v1/payouts", given, order.key), Payout)
        return reading.payout_of(payout) if isinstance(payout, Payout) else payout

    async def find_payout(self, order: PayoutOrder) -> model.Payout | Trouble | None:
        found = _read(await self._get(order.caller, "/v1/payouts", order_key=str(order.key)), _Payouts)
        if not isinstance(found, _Payouts):
            return found
        return reading.payout_of(found.data[0]) if found.data else None

    # -- What it tells

    async def list_events(self, caller: Caller, cursor: str | None, since: datetime) -> EventPage | Trouble:
        asked = {"after": cursor or "0", "since": str(max(0, int(since.timestamp())))}
        page = _read(await self._get(caller, "/v1/events", **asked), _Page)
        return EventPage(tuple(bytes(each) for each in page.data), page.next) if isinstance(page, _Page) else page

    async def list_movements(
        self, caller: Caller, organization: OrganizationId, cursor: str | None, since: datetime | None = None
    ) -> MovementPage | Trouble:
        asked = {"organization": str(organization), "after": cursor or "0"}
        if since is not None:
            asked["since"] = str(max(0, int(since.timestamp())))
        page = _read(await self._get(caller, "/v1/movements", **asked), _Movements)
        if not isinstance(page, _Movements):
            return page
        own = str(organization)
        return MovementPage(
            tuple(_movement(row, organization if row.organization == own else None) for row in page.data), page.next
        )

    def verify(self, body: bytes, headers: Mapping[str, str], route: str, now: datetime) -> Envelope | None:
        source = source_of(route)
        header = next((value for name, value in headers.items() if name.lower() == signature.HEADER), "")
        if not signature.verify(body, header, self._keys.signing(source), now):
            return None
        return envelope_of(body, source, CONNECT)[0]

    def open_envelope(self, payload: bytes, source: str) -> Envelope:
        return envelope_of(payload, source, CONNECT)[0]

    def read(self, payload: bytes, source: str) -> ProviderEvent:
        return reading.read_event(payload, source)

    # -- The way

    async def _post(self, caller: Caller, path: str, given: Any, key: object = None) -> Outcome:
        body = msgspec.json.encode(given) if given is not None else b""
        return await self._call(caller, "POST", path, body, {"idempotency-key": str(key)} if key else {})

    async def _get(self, caller: Caller, path: str, **asked: str) -> Outcome:
        return await self._call(caller, "GET", f"{path}?{urlencode(asked)}" if asked else path, b"", {})

    async def _call(self, caller: Caller, method: str, path: str, body: bytes, headers: dict[str, str]) -> Outcome:
        authorization = {"authorization": f"Bearer {self._keys.api}", "content-type": "application/json"}
        request = Request(
            method=method,
            url=f"{self._url}{path}",
            user_given=False,
            headers=authorization | headers,
            body=body,
            connect_seconds=5,
            read_seconds=10,
            deadline_seconds=15,
        )
        return await self._send(request, caller)


class _Page(msgspec.Struct, frozen=True):
    data: list[msgspec.Raw]
    next: str | None = None


class _Intents(msgspec.Struct, frozen=True):
    data: list[Intent]


class _Payouts(msgspec.Struct, frozen=True):
    data: list[Payout]


class _Movements(msgspec.Struct, frozen=True):
    data: list[MovementRow]
    next: str | None = None


class _Link(msgspec.Struct, frozen=True):
    url: str
    expires_at: int


def _charge_parameters(order: ChargeOrder) -> ChargeParameters:
    carried = {
        "orgId": str(order.organization),
        "payment_id": str(order.payment),
        "correlation_id": str(order.caller.correlation_id),
    }
    return ChargeParameters(
        amount=order.amount_minor,
        currency=order.currency.lower(),
        payment_method=order.method.lower(),
        order_key=str(order.key),
        expires_at=int(order.expires_at.timestamp()),
        metadata=dict(order.metadata) | carried,
        description=order.description,
        application_fee_amount=order.application_fee_minor,
        destination=order.account,
        return_url=order.return_url,
    )


def _movement(row: MovementRow, organization: OrganizationId | None) -> Movement:
    """Of this organisation, if it is known whose it is. There are millions: nothing is read twice."""
    if organization is None and row.organization:
        organization = OrganizationId.parse(row.organization)
    return Movement(
        row.id,
        KINDS[row.kind],
        row.reference,
        row.amount,
        row.currency.upper(),
        reading.moment(row.at),
        organization,
        PaymentId.parse(row.payment) if row.payment else None,
    )


# -- What an outcome means


def _read_charge(outcome: Outcome) -> model.Charge | Trouble:
    """Also where the provider says no because of what it has, and shows it: a decline, or a cancel that came late."""
    intent = _read(outcome, Intent)
    return reading.charge_of(intent) if isinstance(intent, Intent) else intent


def _read_dispute(outcome: Outcome) -> model.Dispute | Trouble:
    dispute = _read(outcome, Dispute)
    return reading.dispute_of(dispute) if isinstance(dispute, Dispute) else dispute


def _read(outcome: Outcome, kind: type[Read]) -> Read | Trouble:
    if not isinstance(outcome, Answer):
        return _untold(outcome)
    if outcome.status < 300:
        return _decoded(outcome.body, kind)
    if outcome.status in UNSAID or outcome.status >= 500:
        return model.Unknown(f"answered {outcome.status}")
    failure = _decoded(outcome.body, Failure)
    if not isinstance(failure, Failure):
        return failure
    shown = failure.error.payment_intent
    if isinstance(shown, kind) and (outcome.status == 402 or failure.error.code == UNEXPECTED_STATE):
        return shown
    return Refused(failure.error.code, failure.error.message)


def _untold(outcome: NotSent | Unknown) -> Trouble:
    return model.NotSent(outcome.refusal) if isinstance(outcome, NotSent) else model.Unknown(outcome.reason)


def _decoded(body: bytes, kind: type[Read]) -> Read | model.Unknown:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return model.Unknown("answered what cannot be read")


def _is_missing(outcome: Outcome) -> bool:
    return isinstance(outcome, Answer) and outcome.status == 404
