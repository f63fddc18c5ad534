"""What who plays Stripe has, does and tells: our own simulator behind Stripe's paths. Ours, and not Stripe."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from admitone.finance.gateways.model import MovementKind
from admitone.finance.gateways.sandbox.charges import Terms
from admitone.finance.gateways.sandbox.keys import Keys as OwnKeys
from admitone.finance.gateways.sandbox.objects import (
    MILLION,
    Account,
    Attempt,
    Dispute,
    Intent,
    MovementRow,
    Payout,
    Refund,
    Session,
)
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.gateways.words import CONNECT_ROUTE, Event
from tests.finance.gateways.stripe import dressing
from tests.finance.gateways.stripe.dressing import Shown, like, own_name

OWN = OwnKeys.of("the simulator behind the one who plays Stripe")
SESSION_SECONDS = 86_400
MANY = 10_000
PIX_EVENTS = {
    "pix.charge.paid": "payment_intent.succeeded",
    "pix.charge.expired": "payment_intent.payment_failed",
    "pix.charge.cancelled": "payment_intent.canceled",
}


class Refusal(Exception):
    def __init__(self, status: int, code: str, **more: Any) -> None:
        super().__init__(code)
        self.status, self.said = status, {"type": "invalid_request_error", "code": code, "message": code, **more}


class Clothed:
    """One account at Stripe."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self.simulator = Simulator(OWN, clock=lambda: datetime.now(UTC) + self.ahead, terms=Terms())
        self._metadata: dict[str, Shown] = {}
        self._ends: dict[str, int] = {}
        self._fee_refunds: dict[str, list[Shown]] = {}
        self._reversals: dict[str, list[Shown]] = {}
        self._handed_on: list[Shown] = []
        self.refuse_fees = False
        self.gives_back = 0
        """Of its own fee, with every refund."""
        self.hide_refunds = False
        """Its lists are behind."""

    def act(self, deed: str, thing: str, **options: Any) -> None:
        """Something happens, a second after whatever happened before."""
        self.ahead += timedelta(seconds=1)
        name = self._intent_of_session(thing).id if thing.startswith("cs_") else own_name(thing)
        self.simulator.act(deed, name, **options)

    def now(self) -> int:
        return self.simulator.now() // MILLION

    # -- What it has

    def _intents(self) -> list[Intent]:
        return self.simulator.list_newest(Intent, MANY)

    def _intent(self, name: str) -> Intent:
        found = self.simulator.find(own_name(name))
        if not isinstance(found, Intent):
            raise Refusal(404, "resource_missing")
        return found

    def _intent_of_session(self, name: str) -> Intent:
        found = next((each for each in self._intents() if each.session and each.session.id == name), None)
        if found is None:
            raise Refusal(404, "resource_missing")
        return found

    def _attempts(self) -> Iterator[tuple[Intent, Attempt]]:
        for intent in self._intents():
            for attempt in intent.charges:
                yield intent, attempt

    def _session(self, intent: Intent) -> Shown:
        assert intent.session
        expired = intent.status_transitions.get("expired")
        by_itself = expired // MILLION if expired else intent.created + SESSION_SECONDS
        return dressing.session(intent, ends_at=self._ends.get(intent.session.id, by_itself))

    def _refund(self, refund: Refund) -> Shown:
        return dressing.refund(refund, self._metadata.get(refund.id, {}))

    def _fee(self, intent: Intent, attempt: Attempt) -> Shown:
        apart = sum(each["amount"] for each in self._fee_refunds.get(like(attempt.id, "fee"), []))
        return dressing.fee(intent, attempt, attempt.application_fee_refunded + apart)

    def _things(self) -> Iterator[Shown]:
        for intent in self._intents():
            yield dressing.intent(intent)
        for intent, attempt in self._attempts():
            yield dressing.charge(intent, attempt)
            if attempt.status == "succeeded":
                yield dressing.charged(intent, attempt)
            if intent.destination and attempt.status == "succeeded":
                yield self._fee(intent, attempt)
                yield self._transfer_of(intent, attempt)
                yield dressing.charge(intent, attempt) | {"id": like(attempt.id, "py"), "metadata": {}}
            for refund in attempt.refunds:
                yield from self._of_refund(intent, attempt, refund)
            yield from map(dressing.dispute, attempt.disputes)
        for payout in self.simulator.list_newest(Payout, MANY):
            yield dressing.transfer(payout)
            yield dressing.reversal(payout.id, payout.amount, payout.created)
        for made in (*self._fee_refunds.values(), *self._reversals.values()):
            yield from made
        yield from self._handed_on

    def _of_refund(self, intent: Intent, attempt: Attempt, refund: Refund) -> Iterator[Shown]:
        yield self._refund(refund)
        if left := refund.status_transitions.get("succeeded"):
            yield self._booked(refund.id, -refund.amount, refund.currency, left)
        if returned := refund.status_transitions.get("failed"):
            name = like(refund.id, "txn", "f")
            yield dressing.transaction(name, "refund_failure", refund.amount, refund.currency, returned, refund.id)
        yield self._reversal_of(attempt, refund)
        own = {"created": refund.created, "metadata": {}, "currency": refund.currency}
        fee = {"id": like(refund.id, "fr"), "object": "fee_refund", "amount": refund.refund_application_fee}
        yield own | fee | {"fee": like(attempt.id, "fee")}

    def _reversal_of(self, attempt: Attempt, refund: Refund) -> Shown:
        own = {"created": refund.created, "metadata": {}, "currency": refund.currency}
        back = {"id": like(refund.id, "trr"), "object": "transfer_reversal", "amount": refund.amount}
        return own | back | {"transfer": like(attempt.id, "tr", "of"), "source_refund": refund.id}

    def _booked(self, refund: str, amount: int, currency: str, at: int) -> Shown:
        name = like(refund, "txn", "r")
        return dressing.transaction(name, "refund", amount, currency, at, refund, -self.gives_back)

    def _transfer_of(self, intent: Intent, attempt: Attempt) -> Shown:
        own = {"id": like(attempt.id, "tr", "of"), "object": "transfer", "created": attempt.created, "metadata": {}}
        told = {"amount": attempt.amount, "currency": attempt.currency, "destination": intent.destination}
        return own | told | {"source_transaction": attempt.id, "reversed": False}

    def _thing(self, name: str) -> Shown:
        return next(each for each in self._things() if each["id"] == name)

    # -- Orders

    def _order(self, path: str, given: Any) -> Any:
        status, body = self.simulator.handle(
            "POST", path, msgspec.json.encode(given), {"authorization": f"Bearer {OWN.api}"}
        )
        said = msgspec.json.decode(body)
        if status != 200:
            raise Refusal(status, said["error"]["code"])
        return said

    def open_intent(self, form: Shown) -> Shown:
        made = self._open(form, form, form["payment_method_types"] == ["pix"], None)
        if form.get("confirm") and form["currency"] != "brl":
            raise Refusal(400, "parameter_invalid")
        return dressing.intent(made)

    def open_session(self, form: Shown) -> Shown:
        price = form["line_items"][0]["price_data"]
        given = {"amount": price["unit_amount"], "currency": price["currency"], "metadata": form["metadata"]}
        ends = int(form.get("expires_at", self.now() + SESSION_SECONDS))
        if not 1_800 <= ends - self.now() <= SESSION_SECONDS:
            raise Refusal(400, "parameter_invalid", param="expires_at")
        made = self._open(given, form["payment_intent_data"], False, form["success_url"])
        assert made.session
        if "expires_at" in form:
            self._ends[made.session.id] = ends
        return self._session(made)

    def _open(self, given: Shown, data: Shown, is_pix: bool, return_url: str | None) -> Intent:
        destination = data.get("transfer_data", {}).get("destination")
        assert data.get("on_behalf_of") == destination, "who sells is named wherever their account is"
        ends = data.get("payment_method_options", {}).get("pix", {}).get("expires_at", self.now() + SESSION_SECONDS)
        made = self._order(
            "/v1/payment_intents",
            {
                "amount": int(given["amount"]),
                "currency": given["currency"],
                "payment_method": "pix" if is_pix else "card",
                "order_key": given["metadata"]["order_key"],
                "expires_at": int(ends),
                "metadata": given["metadata"],
                "description": data.get("description", ""),
                "application_fee_amount": int(data.get("application_fee_amount", 0)),
                "destination": destination,
                "return_url": return_url,
            },
        )
        return msgspec.convert(made, Intent)

    def cancel_intent(self, form: Shown, name: str) -> Shown:
        intent = self._intent(name)
        if intent.session or intent.status in ("canceled", "cancelled", "expired"):
            raise Refusal(400, "payment_intent_unexpected_state")
        self.act("cancel", name)
        return dressing.intent(self._intent(name))

    def expire_session(self, form: Shown, name: str) -> Shown:
        intent = self._intent_of_session(name)
        assert intent.session
        if intent.session.status != "open":
            raise Refusal(400, "checkout_session_not_open")
        self._ends[name] = self._session(intent)["expires_at"]
        self.act("expire", intent.id)
        return self._session(self._intent_of_session(name))

    def refund(self, form: Shown) -> Shown:
        intent = self._intent(form["payment_intent"])
        amount, fee = int(form["amount"]), 0
        if "reverse_transfer" in form and intent.destination is None:
            raise Refusal(400, "no_transfer_to_reverse")
        if form.get("refund_application_fee") == "true" and intent.paid:
            fee = intent.application_fee_amount * amount // intent.paid.amount
        made = self._order(
            "/v1/refunds",
            {
                "payment_intent": intent.id,
                "amount": amount,
                "order_key": form["metadata"]["order_key"],
                "refund_application_fee": fee,
                "reverse_transfer": form.get("reverse_transfer") == "true",
            },
        )
        self._metadata[made["id"]] = form["metadata"]
        return self._refund(msgspec.convert(made, Refund))

    def refund_fee(self, form: Shown, name: str) -> Shown:
        intent, attempt = next(each for each in self._attempts() if like(each[1].id, "fee") == name)
        given, amount = self._fee_refunds.setdefault(name, []), int(form["amount"])
        if self.refuse_fees:
            raise Refusal(400, "application_fees_not_allowed")
        if amount > self._fee(intent, attempt)["amount"] - self._fee(intent, attempt)["amount_refunded"]:
            raise Refusal(400, "parameter_invalid")
        own = like(name, "fr", f"apart{len(given)}")
        made = {"id": own, "object": "fee_refund", "created": self.now(), "amount": amount, "fee": name}
        given.append(made | {"metadata": form.get("metadata", {}), "currency": attempt.currency})
        row = MovementRow(
            id=f"mov_{own}",
            kind=MovementKind.APPLICATION_FEE_REFUNDED,
            reference=own,
            amount=amount,
            currency=attempt.currency,
            at=self.simulator.now(),
            organization=intent.metadata.get("orgId"),
            payment=None,
        )
        self.simulator.journal.append_movement(row.organization, msgspec.json.encode(row))
        return given[-1]

    def reverse(self, form: Shown, name: str) -> Shown:
        dispute, amount = form["metadata"]["dispute"], int(form["amount"])
        self._order(f"/v1/disputes/{dispute}/reversal", {"amount": amount})
        own = {"id": like(dispute, "trr"), "object": "transfer_reversal", "created": self.now(), "amount": amount}
        made = own | {"transfer": name, "source_refund": None, "metadata": form["metadata"]}
        self._reversals.setdefault(name, []).append(made)
        return made

    def list_reversals(self, form: Shown, name: str) -> Shown:
        with_refunds = [
            self._reversal_of(attempt, refund)
            for _, attempt in self._attempts()
            if like(attempt.id, "tr", "of") == name
            for refund in attempt.refunds
            if refund.reverse_transfer and "succeeded" in refund.status_transitions
        ]
        return page_of([*with_refunds, *self._reversals.get(name, [])], form)

    def _hand_on(self, form: Shown) -> Shown:
        refund, group = form["metadata"]["returned_refund"], form["transfer_group"]
        intent = next(own for own, attempt in self._attempts() if refund in [each.id for each in attempt.refunds])
        given = {"refund": refund, "amount": int(form["amount"])}
        self._order(f"/v1/payment_intents/{intent.id}/hand_on", given)
        own = {"id": like(refund, "tr", "again"), "object": "transfer", "created": self.now(), "reversed": False}
        told = {"currency": form["currency"], "destination": form["destination"], "metadata": form["metadata"]}
        made = own | told | {"amount": given["amount"], "source_transaction": None, "transfer_group": group}
        self._handed_on.append(made)
        return made

    def answer_dispute(self, form: Shown, name: str) -> Shown:
        given = {"evidence": form["evidence"], "submit": form["submit"] == "true"}
        return dressing.dispute(msgspec.convert(self._order(f"/v1/disputes/{name}", given), Dispute))

    def open_account(self, form: Shown) -> Shown:
        given = {"type": form["type"], "country": form["country"], "email": form.get("email")}
        carried = {"metadata": form["metadata"], "order_key": form["metadata"]["order_key"]}
        return dressing.account(msgspec.convert(self._order("/v1/accounts", given | carried), Account))

    def link_account(self, form: Shown) -> Shown:
        made = self._order("/v1/account_links", {"account": form["account"], "return_url": form["return_url"]})
        return {"object": "account_link", "created": self.now(), **made}

    def transfer(self, form: Shown) -> Shown:
        if "returned_refund" in form["metadata"]:
            return self._hand_on(form)
        given = {"destination": form["destination"], "amount": int(form["amount"]), "currency": form["currency"]}
        carried = {"metadata": form["metadata"], "order_key": form["transfer_group"]}
        return dressing.transfer(msgspec.convert(self._order("/v1/payouts", given | carried), Payout))

    # -- Looks

    def show_intent(self, form: Shown, name: str) -> Shown:
        return dressing.intent(self._intent(name))

    def show_session(self, form: Shown, name: str) -> Shown:
        return self._session(self._intent_of_session(name))

    def show_account(self, form: Shown, name: str) -> Shown:
        found = self.simulator.find(name)
        if not isinstance(found, Account):
            raise Refusal(403, "account_invalid")
        return dressing.account(found)

    def show_dispute(self, form: Shown, name: str) -> Shown:
        for _, attempt in self._attempts():
            for dispute in attempt.disputes:
                if dispute.id == name:
                    return dressing.dispute(dispute)
        raise Refusal(404, "resource_missing")

    def search(self, form: Shown) -> Shown:
        found = re.fullmatch(r"metadata\['order_key'\]:'([0-9a-f-]{36})'", form["query"])
        assert found, form["query"]
        # Of a session Stripe has an intent only from when its customer tried.
        known = [each for each in self._intents() if each.charges or not each.session]
        mine = [dressing.intent(each) for each in known if each.metadata.get("order_key") == found[1]]
        return {"object": "search_result", "data": mine, "has_more": False, "next_page": None}

    def list_charges(self, form: Shown) -> Shown:
        intent = self._intent(form["payment_intent"])
        attempts = [each for each in intent.charges if dressing.has_charge(each)]
        return page_of([dressing.charge(intent, each) for each in attempts], form)

    def list_refunds(self, form: Shown) -> Shown:
        paid = None if self.hide_refunds else self._intent(form["payment_intent"]).paid
        return page_of([self._refund(each) for each in paid.refunds] if paid else [], form)

    def show_refund(self, form: Shown, name: str) -> Shown:
        for _, attempt in self._attempts():
            for refund in attempt.refunds:
                if refund.id == name:
                    return self._refund(refund)
        raise Refusal(404, "resource_missing")

    def list_disputes(self, form: Shown) -> Shown:
        paid = self._intent(form["payment_intent"]).paid
        return page_of([dressing.dispute(each) for each in paid.disputes] if paid else [], form)

    def list_sessions(self, form: Shown) -> Shown:
        intent = self._intent(form["payment_intent"])
        return page_of([self._session(intent)] if intent.session else [], form)

    def list_fee_refunds(self, form: Shown, name: str) -> Shown:
        return page_of(self._fee_refunds.get(name, []), form)

    def list_transfers(self, form: Shown) -> Shown:
        known = [each for each in self.simulator.list_newest(Payout, MANY) if each.order_key == form["transfer_group"]]
        handed_on = [each for each in self._handed_on if each["transfer_group"] == form["transfer_group"]]
        return page_of([*handed_on, *(dressing.transfer(each) for each in known)], form)

    def list_transactions(self, form: Shown) -> Shown:
        return page_of(list(self._books()), form)

    def list_events(self, form: Shown) -> Shown:
        """Of the platform's own account."""
        return page_of([event for event, _ in self.events() if "account" not in event], form)

    def _books(self) -> Iterator[Shown]:
        rows = self.simulator.journal._books.execute("SELECT body FROM movement ORDER BY sequence").fetchall()
        attempts = {attempt.id: (intent, attempt) for intent, attempt in self._attempts()}
        disputes = {each.id: each for _, attempt in attempts.values() for each in attempt.disputes}
        for (body,) in rows:
            row = msgspec.json.decode(body, type=MovementRow)
            match MovementKind(row.kind):
                case MovementKind.CHARGE:
                    yield dressing.charged(*attempts[row.reference])
                case MovementKind.REFUND:
                    yield self._booked(row.reference, -row.amount, row.currency, row.at)
                case MovementKind.DISPUTE:
                    yield dressing.dispute(disputes[row.reference])["balance_transactions"][0]
                case MovementKind.DISPUTE_RETURNED:
                    yield dressing.dispute(disputes[row.reference])["balance_transactions"][1]
                case MovementKind.FEE | MovementKind.DISPUTE_FEE | MovementKind.DISPUTE_FEE_RETURNED:
                    pass  # In the row before.
                case _:
                    yield dressing.moved(row)

    # -- What it tells

    def events(self) -> Iterator[tuple[Shown, str]]:
        """The oldest first, each with the route on which it is told. An event stays what it was."""
        rows = self.simulator.journal._books.execute("SELECT body FROM event ORDER BY sequence").fetchall()
        for (body,) in rows:
            event = msgspec.json.decode(body, type=Event)
            for number, (kind, about, account) in enumerate(self._told(event)):
                own = {"id": f"{event.id}{number or ''}", "object": "event", "type": kind, "created": event.created}
                told = own | {"livemode": False, "data": {"object": about}, "request": {"id": None}}
                told |= {"api_version": "2026-08-26.dahlia"}
                yield (
                    told | ({"account": account} if account else {}),
                    CONNECT_ROUTE if account else "/api/stripe/webhook",
                )

    def _told(self, event: Event) -> Iterator[tuple[str, Shown, str | None]]:
        def about(kind: type[Any]) -> Any:
            return msgspec.json.decode(event.data.object, type=kind)

        match event.type.split("."):
            case ["payment_intent" | "pix", *_]:
                intent = about(Intent)
                if intent.charges or not intent.session:
                    yield PIX_EVENTS.get(event.type, event.type), dressing.intent(intent), None
            case ["checkout", *_]:
                yield event.type, self._session(msgspec.convert(about(Session).payment_intent, Intent)), None
            case ["charge", *_]:
                yield event.type, self._told_of_charge(event.type, about), None
            case ["balance", _]:
                yield event.type, {"object": "balance", "available": []}, None
            case ["account", _]:
                yield event.type, dressing.account(about(Account)), event.account
            case ["payout", "paid"]:
                yield event.type, dressing.payout(about(Payout)), event.account
                yield "transfer.created", dressing.transfer(about(Payout)), None
            case ["payout", "failed"]:
                yield "transfer.reversed", dressing.transfer(about(Payout)), None

    def _told_of_charge(self, kind: str, about: Callable[[type[Any]], Any]) -> Shown:
        if kind.startswith("charge.refund."):
            return self._refund(about(Refund))
        if kind.startswith("charge.dispute."):
            return dressing.dispute(about(Dispute))
        attempt = about(Attempt)
        return dressing.charge(self._intent(attempt.payment_intent), attempt)


def page_of(oldest_first: list[Shown], form: Shown) -> Shown:
    """As Stripe pages: the newest first, backwards from `ending_before`, at most a hundred."""
    limit = int(form.get("limit", 10))
    assert 1 <= limit <= 100
    created = {word: int(value) for word, value in form.get("created", {}).items()}
    rows = [each for each in reversed(oldest_first) if _within(each["created"], created)]
    names = [each["id"] for each in rows]
    if cursor := form.get("ending_before") or form.get("starting_after"):
        if cursor not in names:
            raise Refusal(400, "resource_missing", param="ending_before")
        place = names.index(cursor)
        before = rows[:place]
        rows = before[-limit:] if "ending_before" in form else rows[place + 1 :]
        left = len(before) > limit if "ending_before" in form else len(rows) > limit
        return {"object": "list", "data": rows[:limit], "has_more": left}
    return {"object": "list", "data": rows[:limit], "has_more": len(rows) > limit}


def _within(at: int, created: dict[str, int]) -> bool:
    return created.get("gte", 0) <= at < created.get("lt", 1 << 62)
