"""The sandbox's API: what can be ordered of it, and what can be looked at.

Promise: an order is done in the transaction that is open, and its answer is the object as it is then. What is missing
or out of place in an order is refused by name.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from admitone.finance.gateways.brcode import BrCode
from admitone.finance.gateways.sandbox import accounts
from admitone.finance.gateways.sandbox.charges import No, Step
from admitone.finance.gateways.sandbox.deeds import Options
from admitone.finance.gateways.sandbox.objects import BANK, MILLION, Account, Dispute, Intent, Pix, Session
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

if TYPE_CHECKING:
    from admitone.finance.gateways.sandbox.simulator import Simulator

PAGE: Final = 100
MOVEMENTS: Final = 1_000
"""A page of the books, which are read as a whole."""
SMALLEST: Final = 1
LARGEST: Final = 10**12


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list."""

    data: list[Any]
    next: str | None = None


# -- Orders


def order(books: "Simulator", path: str, body: bytes, key: str | None, now: int) -> bytes:
    match path.strip("/").split("/"):
        case ["v1", "payment_intents"]:
            made: Any = _open_charge(books, _read(body, ChargeParameters), now)
        case ["v1", "payment_intents", name, "cancel" | "hand_on" as deed]:
            made = _cancel(books, name, key) if deed == "cancel" else _hand_on(books, name, body, key)
        case ["v1", "refunds"]:
            made = _refund(books, _read(body, RefundParameters), key)
        case ["v1", "disputes", name]:
            made = _answer_dispute(books, name, _read(body, EvidenceParameters), key)
        case ["v1", "disputes", name, "reversal"]:
            made = _take_back(books, name, _read(body, ReversalParameters), key)
        case ["v1", "accounts"]:
            given = _read(body, AccountParameters)
            made = books.apply(accounts.open_account(given, now, books.new_id), None, given.order_key)
        case ["v1", "account_links"]:
            made = _link(books, _read(body, LinkParameters), now)
        case ["v1", "payouts"]:
            made = _pay_out(books, _read(body, PayoutParameters), now)
        case ["v1", "test_helpers", name, deed]:
            made = books.perform(deed, name, _read(body or b"{}", Options))
        case _:
            raise No("resource_missing", "there is nothing here", status=404)
    return msgspec.json.encode(made)


def _open_charge(books: "Simulator", given: ChargeParameters, now: int) -> Intent:
    if not SMALLEST <= given.amount <= LARGEST or not 0 <= given.application_fee_amount <= given.amount:
        raise No("parameter_invalid", "amounts are positive, and a fee is a part of them")
    _check_destination(books, given.destination)
    is_pix = given.payment_method == "pix"
    if is_pix and given.currency != "brl":
        raise No("parameter_invalid", "PIX is in reais")
    name = books.new_id("pix" if is_pix else "pi", given.order_key, now)
    url = f"{books.url}/charges/{name}"
    word = "pending" if is_pix else "requires_payment_method"
    intent = Intent(
        id=name,
        object="pix_charge" if is_pix else "payment_intent",
        status=word,
        created=now // MILLION,
        status_transitions={word: now},
        amount=given.amount,
        currency=given.currency,
        client_secret=f"{name}_secret_{books.new_id('x', name).removeprefix('x_')}",
        description=given.description,
        metadata=given.metadata,
        order_key=given.order_key,
        expires_at=given.expires_at,
        redirect_url=url,
        application_fee_amount=given.application_fee_amount,
        destination=given.destination,
        return_url=given.return_url,
        session=None if is_pix or not given.return_url else _session(books, name, url),
        pix=_pix(name, given) if is_pix else None,
        touched=now,
    )
    ends = [(given.expires_at * MILLION, "expire")] if intent.pix or intent.session else []
    told = [] if is_pix else [("payment_intent.created", intent)]
    made = books.apply(Step(intent, told, timers=ends), None, given.order_key)
    assert isinstance(made, Intent)
    return made


def _check_destination(books: "Simulator", destination: str | None) -> None:
    if destination is None:
        return
    account = books.find(destination)
    if not isinstance(account, Account):
        raise No("account_invalid", f"there is no account {destination}")
    if not account.charges_enabled:
        raise No("insufficient_capabilities_for_transfer", f"{destination} must tell who it is first")


def _session(books: "Simulator", intent: str, url: str) -> Session:
    return Session(id=books.new_id("cs_test", intent), status="open", payment_status="unpaid", url=url)


def _pix(name: str, given: ChargeParameters) -> Pix:
    code = BrCode(
        merchant="Admit One Sandbox",
        city="LISBOA",
        url=f"sandbox.admitone.example/{name}",
        amount_minor=given.amount,
    )
    return Pix(copy_paste=code.encode(), expires_at=given.expires_at)


def _refund(books: "Simulator", given: RefundParameters, key: str | None) -> Any:
    if not 0 <= given.refund_application_fee <= given.amount:
        raise No("parameter_invalid", "no more of the fee goes back than of the money")
    charged = books.get(given.payment_intent)
    if isinstance(charged, Intent) and charged.paid and any(each.status != "won" for each in charged.paid.disputes):
        raise No("charge_disputed", "the bank has it", intent=charged)  # As Stripe: what was won can go back.
    options = Options(
        amount=given.amount,
        refund_application_fee=given.refund_application_fee,
        reverse_transfer=given.reverse_transfer,
        key=given.order_key,
    )
    intent = books.perform("refund", given.payment_intent, options, key)
    assert isinstance(intent, Intent)
    assert intent.paid
    return intent.paid.refunds[-1]


def _cancel(books: "Simulator", name: str, key: str | None) -> Any:
    return books.perform("cancel", name, Options(), key)


def _hand_on(books: "Simulator", name: str, body: bytes, key: str | None) -> Any:
    given = _read(body, HandOnParameters)
    intent = books.perform("hand_on", name, Options(refund=given.refund, amount=given.amount), key)
    assert isinstance(intent, Intent)
    assert intent.paid
    return next(each for each in intent.paid.refunds if each.id == given.refund)


def _answer_dispute(books: "Simulator", name: str, given: EvidenceParameters, key: str | None) -> Dispute:
    intent, dispute = _disputed(books, name)
    assert intent.paid
    if dispute is not intent.paid.disputes[-1]:
        raise No("dispute_closed", f"{name} is decided")
    if not given.evidence:
        raise No("parameter_invalid", "evidence is missing")
    books.perform("answer_dispute", intent.id, Options(texts=given.evidence, submit=given.submit), key)
    return _disputed(books, name)[1]


def _take_back(books: "Simulator", name: str, given: ReversalParameters, key: str | None) -> Dispute:
    intent, _ = _disputed(books, name)
    books.perform("take_back", intent.id, Options(dispute=name, amount=given.amount), key)
    return _disputed(books, name)[1]


def _disputed(books: "Simulator", name: str) -> tuple[Intent, Dispute]:
    """A dispute stands in its charge."""
    intent = books.get(books.journal.find_whole(name) or name)
    if isinstance(intent, Intent) and intent.paid:
        for dispute in intent.paid.disputes:
            if dispute.id == name:
                return intent, dispute
    raise No("resource_missing", f"no such thing: {name}", status=404)


def _link(books: "Simulator", given: LinkParameters, now: int) -> Any:
    books.get(given.account)
    query = urlencode({"return_url": given.return_url})
    return {"url": f"{books.url}/accounts/{given.account}?{query}", "expires_at": now // MILLION + 300}


def _pay_out(books: "Simulator", given: PayoutParameters, now: int) -> Any:
    found = books.find(given.destination)
    account = found if isinstance(found, Account) else None
    if account is None and given.destination != BANK:
        raise No("account_invalid", f"there is no account {given.destination}")
    return books.apply(accounts.pay_out(account, given, now, books.new_id), None, given.order_key)


# -- Looks


def look(books: "Simulator", path: str) -> bytes:
    url = urlsplit(path)
    asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
    match url.path.strip("/").split("/"):
        case ["v1", "payment_intents" | "accounts" | "payouts", name]:
            seen: Any = books.get(name)
        case ["v1", "disputes", name]:
            seen = _disputed(books, name)[1]
        case ["v1", "payment_intents" | "payouts"]:
            found = [books.find(name) for name in books.journal.find_by_key(asked.get("order_key", ""))]
            seen = Found(data=[each for each in found if each is not None])
        case ["v1", "events"]:
            after, since = _number(asked, "after"), _number(asked, "since")
            seen = _page(books.journal.list_events(after, since, PAGE + 1), PAGE)
        case ["v1", "movements"]:
            organization = asked.get("organization", "")
            after, since = _number(asked, "after"), _number(asked, "since")
            seen = _page(books.journal.list_movements(organization, after, since * MILLION, MOVEMENTS + 1), MOVEMENTS)
        case _:
            raise No("resource_missing", "there is nothing here", status=404)
    return msgspec.json.encode(seen)


def _page(rows: list[tuple[int, bytes]], most: int) -> Found:
    shown = rows[:most]
    more = str(shown[-1][0]) if len(rows) > most else None
    return Found(data=[msgspec.Raw(body) for _, body in shown], next=more)


def _number(asked: dict[str, str], name: str) -> int:
    text = asked.get(name, "0")
    if not text.isdecimal():
        raise No("parameter_invalid", f"{name} is a number")
    return int(text)


def _read(body: bytes, kind: Callable[..., Any]) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.DecodeError as problem:
        raise No("parameter_invalid", str(problem)) from None
