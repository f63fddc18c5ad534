"""A stand-in for Mercado Pago's payments API, of our own making: as far as the adapter goes, and as strict as their
papers are."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from admitone.finance.gateways.mercadopago import signature
from admitone.finance.gateways.mercadopago.gateway import Credentials, MercadoPagoGateway
from admitone.kernel.outbound import Outbound
from tests.finance.gateways.pix_peer import FEE, Asked, Charged, No, PixPeer, Returned
from tests.finance.gateways.stage import Webhook
from tests.peer import Received

TOKEN = "TEST-0000000000000000-of-these-tests"
SECRET = "the secret signature of these tests"
ROUTE = "/webhooks/pix"


def written(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat(timespec="milliseconds") if at else None


def reais(minor: int) -> float:
    """As they write it, and JSON has it."""
    return float(f"{minor // 100}.{minor % 100:02d}")


def centavos(text: object) -> int:
    whole, _, part = str(text).partition(".")
    if len(part) > 2:
        raise No(400, {"message": "Invalid transaction_amount", "error": "bad_request", "cause": [{"code": 4037}]})
    return int(whole) * 100 + int((part + "00")[:2])


class MercadoPagoPeer(PixPeer):
    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, tuple[int, Any]] = {}
        """By idempotency key."""
        self.live_mode = False
        self._next = uuid4().int % 10**12  # Nobody else has it, as everywhere.

    def gateway(self, outbound: Outbound, *, url: str | None = None) -> MercadoPagoGateway:
        credentials = Credentials(TOKEN, SECRET, "pix@example.org", livemode=False)
        return MercadoPagoGateway(credentials, url or self.url, outbound)

    def refusal(self, code: str, text: str) -> Any:
        return {
            "message": text,
            "error": "bad_request",
            "status": 400,
            "cause": [{"code": int(code), "description": text}],
        }

    # -- Its API

    def handle(self, request: Received) -> tuple[int, Any]:
        asked = Asked.of(request)
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            raise No(401, {"message": "invalid access token", "error": "unauthorized", "status": 401, "cause": []})
        match asked.method, asked.path.strip("/").split("/"):
            case "POST", ["v1", "payments"]:
                return self._once(asked, lambda: (201, self.shown(self._create(asked.given))))
            case "GET", ["v1", "payments", "search"]:
                return 200, self._search(asked.query["external_reference"])
            case "GET", ["v1", "payments", own]:
                return 200, self.shown(self._found(own))
            case "PUT", ["v1", "payments", own]:
                return 200, self.shown(self._update(self._found(own), asked.given))
            case "POST", ["v1", "payments", own, "refunds"]:
                return self._once(asked, lambda: (201, self._refund(self._found(own), asked)))
            case "GET", ["v1", "payments", own, "refunds"]:
                hidden = "x-render-in-process-refunds" not in asked.headers
                refunds = self._found(own).refunds
                return 200, [
                    self.shown_back(own, each) for each in refunds if each.status != "in_process" or not hidden
                ]
        raise No(404, {"message": "not found", "error": "not_found", "status": 404, "cause": []})

    def _once(self, asked: Asked, act: Any) -> tuple[int, Any]:
        """The same key, whatever comes with it, gives what it gave."""
        key = asked.headers.get("x-idempotency-key")
        if not key:
            raise No(400, self.refusal("4292", "Header X-Idempotency-Key can't be null"))
        if key not in self.answers:
            # As bytes are: what is answered once does not change with the payment.
            self.answers[key] = json.loads(json.dumps(act()))
        status, said = self.answers[key]
        return status, said

    def _create(self, given: dict[str, Any]) -> Charged:
        now, minor = self.now(), centavos(given["transaction_amount"])
        ends = datetime.fromisoformat(given["date_of_expiration"])
        if minor <= 0:
            raise No(400, self.refusal("4050", "transaction_amount must be positive"))
        if not timedelta(minutes=29, seconds=50) <= ends - now <= timedelta(days=30):
            raise No(400, self.refusal("3034", "Invalid date_of_expiration"))
        if given["payment_method_id"] != "pix" or "@" not in given["payer"]["email"]:
            raise No(400, self.refusal("3028", "Invalid payment_method_id"))
        self._next += 1
        charge = Charged(str(self._next), given["external_reference"], minor, now, ends, given, "pending", now)
        self.charges[charge.id] = charge
        self.tell("payment.created", charge)
        return charge

    def _found(self, own: str) -> Charged:
        if own not in self.charges:
            cause = [{"code": 2000, "description": "Payment not found"}]
            raise No(404, {"message": "Payment not found", "error": "not_found", "status": 404, "cause": cause})
        return self.charges[own]

    def _search(self, reference: str) -> dict[str, Any]:
        found = [each for each in self.charges.values() if each.key == reference]
        results = [{"id": int(each.id), "status": each.status} for each in found]
        return {"results": results, "paging": {"total": len(results), "limit": 30, "offset": 0}}

    def _update(self, charge: Charged, given: dict[str, Any]) -> Charged:
        if given != {"status": "cancelled"} or charge.status not in ("pending", "in_process", "cancelled"):
            raise No(400, self.refusal("3005", "Not valid action for this state"))
        if charge.status != "cancelled":
            self._move(charge, "cancelled", "by_collector")
        return charge

    def _refund(self, charge: Charged, asked: Asked) -> dict[str, Any]:
        if charge.status != "approved":
            raise No(400, self.refusal("2063", "The action requested is not valid for the current payment state"))
        self._next += 1
        returned = self.back(charge, centavos(asked.given["amount"]), "approved", str(self._next))
        self._settle(charge)
        return self.shown_back(charge.id, returned)

    # -- How it shows what it has

    def shown(self, charge: Charged) -> dict[str, Any]:
        snake = {"orgId": "org_id"}
        return {
            "id": int(charge.id),
            "status": charge.status,
            "status_detail": charge.said.get("detail", "pending_waiting_transfer"),
            "currency_id": "BRL",
            "transaction_amount": reais(charge.minor),
            "transaction_amount_refunded": reais(charge.given_back),
            "date_created": written(charge.created),
            "date_last_updated": written(charge.changed),
            "date_approved": written(charge.paid_at),
            "date_of_expiration": written(charge.expires),
            "external_reference": charge.key,
            "live_mode": self.live_mode,
            "metadata": {snake.get(name, name): value for name, value in charge.said["metadata"].items()},
            "payer": {"id": "123", "email": "hidden@example.org", "identification": {"type": None, "number": None}},
            "fee_details": [
                {"type": "mercadopago_fee", "amount": reais(charge.fee_minor), "fee_payer": "collector"},
                {"type": "financing_fee", "amount": 1.23, "fee_payer": "payer"},
            ]
            if charge.fee_minor is not None
            else [],
            "point_of_interaction": {
                "type": "PIX",
                "transaction_data": {"qr_code": charge.code, "qr_code_base64": "", "ticket_url": "https://example.org"},
            },
        }

    def shown_back(self, payment: str, refund: Returned) -> dict[str, Any]:
        return {
            "id": int(refund.id),
            "payment_id": int(payment),
            "amount": reais(refund.minor),
            "status": refund.status,
            "date_created": written(refund.at),
            "metadata": {},
            "source": {"id": "1", "name": "Somebody", "type": "collector"},
        }

    # -- What people do

    def do_pay(self, charge: Charged, amount: int | None = None, *, late: bool = False) -> None:
        assert charge.status == "pending" or late
        charge.minor = amount or charge.minor
        self._move(charge, "approved", "accredited")
        charge.paid_at = charge.changed

    def do_expire(self, charge: Charged) -> None:
        self._move(charge, "cancelled", "expired")

    def do_cancel(self, charge: Charged) -> None:
        self._move(charge, "cancelled", "by_collector")

    def do_tell_fees(self, charge: Charged) -> None:
        charge.fee_minor = FEE
        self._move(charge, charge.status)

    def do_say(self, charge: Charged, *, status: str, detail: str = "") -> None:
        self._move(charge, status, detail)

    def do_refund(self, charge: Charged, amount: int, *, pending: bool = False) -> None:
        self._next += 1
        self.back(charge, amount, "in_process" if pending else "approved", str(self._next))
        self._settle(charge)

    def do_settle_refund(self, charge: Charged) -> None:
        next(each for each in charge.refunds if each.status == "in_process").status = "approved"
        self._settle(charge)

    def do_fail_refund(self, charge: Charged) -> None:
        next(each for each in charge.refunds if each.status == "in_process").status = "rejected"
        self._settle(charge)

    def _settle(self, charge: Charged) -> None:
        done = sum(each.minor for each in charge.refunds if each.status == "approved")
        if done == charge.minor:
            self._move(charge, "refunded", "refunded")
        else:
            self._move(charge, "approved", "partially_refunded" if done else "accredited")

    def _move(self, charge: Charged, status: str, detail: str = "") -> None:
        charge.status, charge.changed = status, self.now()
        charge.said["detail"] = detail or charge.said.get("detail", "")
        self.tell("payment.updated", charge)

    # -- What it posts

    def tell(self, what: str, charge: Charged, **more: Any) -> None:
        notice = {
            "id": len(self.sent) + 1,
            "live_mode": self.live_mode,
            "type": "payment",
            "date_created": written(self.now()),
            "user_id": 44444,
            "api_version": "v1",
            "action": what,
            "data": {"id": charge.id},
        } | more
        self.sent.append(posted(notice))


def posted(notice: dict[str, Any], at: datetime | None = None, secret: str = SECRET) -> Webhook:
    """A notice with its signature, on the way to us."""
    request, moment = str(uuid4()), str(int((at or datetime.now(UTC)).timestamp() * 1000))
    about = str(notice["data"]["id"])
    headers = {"x-signature": signature.sign(about, request, moment, secret), "x-request-id": request}
    query = urlencode({"data.id": about, "type": notice["type"]})
    return Webhook(f"{ROUTE}?{query}", headers, json.dumps(notice).encode())
