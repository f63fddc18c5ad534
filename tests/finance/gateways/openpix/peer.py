"""A stand-in for OpenPix's API, of our own making: as far as the adapter goes, and as strict as their papers are."""

import base64
import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from admitone.finance.gateways.openpix.gateway import Credentials, OpenPixGateway
from admitone.finance.gateways.openpix.keys import identifier_of
from admitone.kernel.outbound import Outbound
from tests.finance.gateways.pix_peer import FEE, Asked, Charged, No, PixPeer, Returned, new_name
from tests.finance.gateways.stage import Webhook
from tests.peer import Received

APP_ID = "Q2xpZW50X0lkX29mX3RoZXNlX3Rlc3Rz"
ROUTE = "/webhooks/pix"
KEYS = "/api/v1/webhook/public-keys"


def written(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None


def a_key(number: int = 0) -> RSAPrivateKey:
    """One of theirs, which have 1024 bits, too."""
    return _made(number)


@cache
def _made(_: int) -> RSAPrivateKey:
    return generate_private_key(65537, 1024)


def published(key: RSAPrivateKey, *, identifier: str | None = None, current: bool = True) -> dict[str, Any]:
    public = key.public_key()
    text = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return {"key_identifier": identifier or identifier_of(public), "is_current": current, "key": text}


def signed(body: bytes, key: RSAPrivateKey) -> dict[str, str]:
    return {"x-webhook-signature": base64.b64encode(key.sign(body, PKCS1v15(), hashes.SHA256())).decode()}


class OpenPixPeer(PixPeer):
    def __init__(self) -> None:
        super().__init__()
        self.key = a_key()
        self.keys: list[dict[str, Any]] = [published(self.key)]
        self.says_missing = (400, "Cobrança não encontrada")
        self.refuses_repeated_refunds = False

    def gateway(self, outbound: Outbound, *, url: str | None = None) -> OpenPixGateway:
        return OpenPixGateway(Credentials(APP_ID, livemode=False), url or self.url, outbound)

    def refusal(self, code: str, text: str) -> Any:
        return {"error": text}

    def asked_for_keys(self) -> int:
        return sum(each.path == KEYS for each in self.received)

    # -- Its API

    def handle(self, request: Received) -> tuple[int, Any]:
        asked = Asked.of(request)
        if asked.path == KEYS:
            return 200, {"public_keys": self.keys}
        if asked.headers.get("authorization") != APP_ID:
            raise No(401, {"error": "appID inválido"})
        match asked.method, asked.path.strip("/").split("/"):
            case "POST", ["api", "v1", "charge"]:
                return 200, {"charge": self.shown(self._create(asked))}
            case "GET", ["api", "v1", "charge", own]:
                return 200, {"charge": self.shown(self._found(own))}
            case "DELETE", ["api", "v1", "charge", own]:
                return 200, self._delete(self._found(own))
            case "POST", ["api", "v1", "charge", own, "refund"]:
                return 200, {"refund": self.shown_back(self._refund(self._found(own), asked.given))}
            case "GET", ["api", "v1", "charge", own, "refund"]:
                return 200, {"refunds": [self.shown_back(each) for each in self._found(own).refunds]}
        raise No(404, {"error": "not found"})

    def _create(self, asked: Asked) -> Charged:
        given, key = asked.given, asked.given["correlationID"]
        if key in self.charges:
            if asked.query.get("return_existing") == "true":
                return self.charges[key]
            raise No(400, {"error": "Já existe uma cobrança com este correlationID"})
        if not isinstance(given["value"], int) or given["value"] <= 0:
            raise No(400, {"error": "O valor deve ser maior que zero"})
        now = self.now()
        ends = datetime.fromisoformat(given["expiresDate"])
        charge = Charged(new_name(), key, given["value"], now, ends, given, "ACTIVE", now)
        charge.fee_minor = FEE
        self.charges[key] = charge
        self.tell("OPENPIX:CHARGE_CREATED", charge)
        return charge

    def _found(self, own: str) -> Charged:
        """By its own name, or by the one that it was given."""
        for charge in self.charges.values():
            if own in (charge.key, charge.id):
                return charge
        status, said = self.says_missing
        raise No(status, {"error": said})

    def _delete(self, charge: Charged) -> dict[str, Any]:
        if charge.status != "ACTIVE":
            raise No(400, {"error": "A cobrança não pode ser removida"})
        del self.charges[charge.key]
        return {"status": "OK", "id": charge.key}

    def _refund(self, charge: Charged, given: dict[str, Any]) -> Returned:
        earlier = [each for each in charge.refunds if each.id == given["correlationID"]]
        if earlier and self.refuses_repeated_refunds:
            raise No(400, {"error": "Já existe um reembolso com este correlationID"})
        if earlier:
            return earlier[0]
        returned = self.back(charge, given["value"], "CONFIRMED", given["correlationID"])
        self._tell_of(charge, returned)
        return returned

    # -- How it shows what it has

    def shown(self, charge: Charged) -> dict[str, Any]:
        shown = {
            "customer": None,
            "value": charge.minor,
            "comment": charge.said["comment"],
            "identifier": charge.id[:25],
            "transactionID": charge.id,
            "correlationID": charge.key,
            "paymentLinkID": "788c8d0d-182b-468e-942e-546be6a621c2",
            "status": charge.status,
            "additionalInfo": charge.said["additionalInfo"],
            "fee": charge.fee_minor,
            "discount": 0,
            "valueWithDiscount": charge.minor,
            "expiresDate": written(charge.expires),
            "type": "DYNAMIC",
            "createdAt": written(charge.created),
            "updatedAt": written(charge.changed),
            "brCode": charge.code,
            "expiresIn": 900,
            "globalID": "Q2hhcmdlOjE=",
        }
        return shown | ({"paidAt": written(charge.paid_at)} if charge.paid_at else {})

    def shown_back(self, refund: Returned) -> dict[str, Any]:
        return {
            "status": refund.status,
            "value": refund.minor,
            "correlationID": refund.id,
            "endToEndId": f"D{refund.id}",
            "time": written(refund.at),
        }

    # -- What people do

    def do_pay(self, charge: Charged, amount: int | None = None, *, late: bool = False) -> None:
        assert charge.status == "ACTIVE" or late
        charge.minor = amount or charge.minor
        self._move(charge, "COMPLETED")
        charge.paid_at = charge.changed
        self.tell("OPENPIX:CHARGE_COMPLETED", charge, pix=self._paid(charge))

    def do_expire(self, charge: Charged) -> None:
        self._move(charge, "EXPIRED")
        charge.expires = charge.changed
        self.tell("OPENPIX:CHARGE_EXPIRED", charge)

    def do_say(self, charge: Charged, *, status: str) -> None:
        self._move(charge, status)

    def do_tell_fees(self, charge: Charged) -> None:
        """It was told from the beginning."""

    def do_refund(self, charge: Charged, amount: int, *, pending: bool = False) -> None:
        returned = self.back(charge, amount, "IN_PROCESSING" if pending else "CONFIRMED", new_name())
        self._tell_of(charge, returned)

    def do_settle_refund(self, charge: Charged) -> None:
        self._end_refund(charge, "CONFIRMED")

    def do_fail_refund(self, charge: Charged) -> None:
        self._end_refund(charge, "REJECTED")

    def _end_refund(self, charge: Charged, status: str) -> None:
        returned = next(each for each in charge.refunds if each.status == "IN_PROCESSING")
        returned.status = status
        self._tell_of(charge, returned)

    def _move(self, charge: Charged, status: str) -> None:
        charge.status, charge.changed = status, self.now()

    # -- What it posts

    def _paid(self, charge: Charged) -> dict[str, Any]:
        return {
            "value": charge.minor,
            "time": written(charge.paid_at),
            "endToEndId": f"E{charge.id}",
            "type": "PAYMENT",
        }

    def _tell_of(self, charge: Charged, refund: Returned) -> None:
        """Of a refund that is on its way nothing is said; of one that has ended, by two events."""
        moved = {"value": refund.minor, "time": written(refund.at), "endToEndId": f"D{refund.id}", "type": "REFUND"}
        if refund.status == "CONFIRMED":
            self.tell("OPENPIX:TRANSACTION_REFUND_RECEIVED", charge, pix=moved)
        if refund.status != "IN_PROCESSING":
            event = f"PIX_TRANSACTION_REFUND_SENT_{refund.status}"
            said = {"refundTransaction": moved, "originalTransaction": self._paid(charge)}
            self._post({"event": event, **said, "account": {"id": "1", "status": "OPEN"}})

    def tell(self, what: str, charge: Charged, **more: Any) -> None:
        account = {"environment": "TESTING"}
        company = {"id": "1", "name": "Somebody", "taxID": "12345678000199"}
        self._post({"event": what, "charge": self.shown(charge), **more, "company": company, "account": account})

    def _post(self, event: dict[str, Any]) -> None:
        body = json.dumps(event, ensure_ascii=False).encode()
        self.sent.append(Webhook(ROUTE, signed(body, self.key), body))
