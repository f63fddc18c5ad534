"""The redactor under attack: what is a person's or a secret does not get out; what is an id does."""

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admitone.kernel.crypto import new_secret
from admitone.kernel.ids import OrganizationId
from admitone.kernel.money import Money
from admitone.kernel.redaction import HIDDEN, LARGEST, redact, redact_fields, redact_text

MAIL = "ana.silva+door@example.org"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
CARD = "4111111111111111"
OWN = "key_0198c9a4b3c27d1e8f00112233445566_0123456789abcdef0123456789abcdef01234567"
GUEST = "gst_0_89abcdef0123456789abcdef0123456701234567"

SECRETS = {
    "mail": MAIL,
    "mail in capitals": "ANA@EXAMPLE.ORG",
    "mail in a link": "ana%40example.org",
    "mail of letters beyond ascii": "joão@exämple.org",
    "mail without dots": "root@localhost",
    "jwt": JWT,
    "bearer": "Bearer abcdef123456",
    "bearer shouted": "BEARER abcdef123456",
    "basic": "Basic dXNlcjpwYXNz",
    "key of ours": OWN,
    "link of ours": GUEST,
    "key of ours, cut": OWN[:50],
    "payment provider": "sk_live_" + "51H8abcdefgh",
    "webhook secret": "whsec_" + "abcdefgh1234",
    "client secret": "pi_3Abc_secret_9Xyz",
    "private key": "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
    "private key, cut": "-----BEGIN PRIVATE KEY-----\nMHcCAQEE",
    "card": CARD,
    "card in groups": "4111 1111 1111 1111",
    "card with dashes": "4111-1111-1111-1111",
    "amex": "378282246310005",
    "iban of whole groups": "ES91 2100 0418 4502 0005 1332",
    "card of 19": "6304000000000000000"[:18] + "0",
    "cpf": "529.982.247-25",
    "cpf bare": "52998224725",
    "iban": "PT50000201231234567890154",
    "iban in groups": "PT50 0002 0123 1234 5678 9015 4",
    "iban in small letters": "gb82west12345698765432",
    "phone": "+351912345678",
    "phone spaced": "+55 (11) 91234-5678",
    "phone in a link": "%2B351912345678",
    "phone with zeros": "00351912345678",
    "address in the net": "203.0.113.77",
    "address of version 6": "2001:db8::8a2e:370:7334",
    "long address of version 6": "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
}


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize(
    "hide",
    [
        lambda secret: secret,
        lambda secret: f"before {secret} after",
        lambda secret: f"({secret}), '{secret}' <{secret}>",
        lambda secret: f"x={secret};",
        lambda secret: f'{{"to": "{secret}"}}',
        lambda secret: secret.encode(),
        lambda secret: bytearray(secret.encode()),
        lambda secret: [[({"a": {"b": [secret]}},)]],
        lambda secret: {secret: 1},
        lambda secret: {("a", secret): 1},
        lambda secret: ValueError(f"no such thing: {secret}"),
        lambda secret: {"cause": KeyError(secret)},
        lambda secret: frozenset({secret}),
        lambda secret: f"GET /a?to={secret}&x=1 HTTP/1.1",
        lambda secret: "x " * 990 + secret,
        lambda secret: "x " * 5_000 + secret,
    ],
)
def test_a_secret_does_not_get_out_wherever_it_hides(secret, hide):
    shown = json.dumps(redact({"event": hide(secret)}), ensure_ascii=False)
    assert secret not in shown
    assert secret.replace("\n", "\\n")[-8:] not in shown


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize("cut", range(1_950, 2_300, 7))
@pytest.mark.parametrize(
    "filling", ["x ", "a" * 60 + "@example.org "]
)  # Hidden mails make the text shorter than it was.
def test_a_secret_does_not_get_out_by_being_cut_in_half(cut, filling):
    shown = redact_text((filling * 2_000)[: cut - 1] + " " + CARD + " y" * 1_000)
    assert "41111" not in shown


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize("number", [int(CARD), 52998224725, Decimal(CARD), -int(CARD), 10**400])
def test_a_number_can_be_somebodys_too(number):
    shown = json.dumps(redact([number]))
    assert "4111" not in shown and "5299" not in shown and len(shown) < 100


SOUND_SECRET = [
    "password", "Password", "PASSWORD", "user_password", "newPassword", "passwd", "passphrase", "secret", "clientSecret", "CLIENT-SECRET",
    "token", "accessToken", "refresh_token", "tokenDigest", "Authorization", "x-authorization", "cookie", "Set-Cookie", "api_key", "apiKey",
    "X-Api-Key", "API KEY", "qr", "qrCode", "qr_payload", "QR", "payload", "rawPayload", "requestBody", "email", "e-mail", "eMail", "emailHash",
    "buyer_email", "phone", "phoneNumber", "cpf", "holderCPF", "iban", "IBAN", "pan", "cardNumber", "cvv", "pin", "otp", "nif", "fullName",
    "first_name", "address", "ip", "remote_addr", "x-forwarded-for", "User-Agent", "dob", "birthDate", "documentId", "private_key", "dsn",
    "ｐａｓｓｗｏｒｄ", "pass.word", "database_url",
]  # fmt: skip


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize("name", SOUND_SECRET)
@pytest.mark.parametrize(
    "value", ["hunter2", 1234, 12.5, b"hunter2", ["hunter2"], {"a": {"b": "hunter2"}}, ("hunter2",)]
)
def test_a_name_that_sounds_secret_hides_its_value(name, value):
    assert list(redact_fields({name: value}).values()) == [HIDDEN]
    assert list(redact({"deep": [{name: value}]})["deep"][0].values()) == [HIDDEN]


@pytest.mark.parametrize(
    "name",
    [
        "event",
        "contract",
        "status",
        "span",
        "shipping",
        "company",
        "captcha",
        "description",
        "errorCode",
        "key",
        "idempotencyKey",
        "orgId",
        "correlationId",
        "script",
        "recipient_id",
        "opinion",
        "zip",
        "body_count",
        "tokenCount",
        "payloadBytes",
        "keyVersion",
        "secret_version",
    ],
)
def test_an_innocent_name_does_not(name):
    assert redact_fields({name: 7}) == {name: 7}


def test_whether_a_secret_is_there_may_be_told():
    assert redact_fields({"token": None, "has_password": True}) == {"token": None, "has_password": True}


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize(
    "value",
    [
        {"x" * 200 + "password": "hunter2"},
        {("user", "password"): "hunter2"},
        {b"password": "hunter2"},
        [(b"cookie", b"hunter2"), ("x-api-key", "hunter2")],
        ["password", "hunter2"],
        [["Authorization", ["hunter2"]]],
    ],
)
def test_an_odd_name_and_a_pair_hide_their_value_too(value):
    assert "hunter2" not in json.dumps(redact(value))


def test_an_innocent_pair_stays_a_pair():
    assert redact([("a", 1), ("b", "c")]) == [["a", 1], ["b", "c"]]
    assert redact(["", ""]) == ["", ""]


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize("owner", [None, OrganizationId.new()], ids=["nobody's", "an organisation's"])
def test_every_secret_that_we_make_is_recognised(owner):
    assert redact_text(f"at /guest/{new_secret('gst', owner).text}/tickets") == f"at /guest/{HIDDEN}/tickets"


PAIRS = [
    "password=hunter2x", "password: hunter2x", "PASSWORD = 'hunter2x'", '"password": "hunter2x"', "{'user_password': 'hunter2x and more hunter2x'}",
    '{\\"token\\": \\"hunter2x\\"}', "/cb?code=1&access_token=hunter2x&b=2", "/cb?token%3Dhunter2x", "user[password]=hunter2x", "user%5Bpassword%5D=hunter2x",
    "Cookie: hunter2x", "Authorization: hunter2x", "authorization: Bearer hunter2x", "X-Api-Key: hunter2x", "api-key=hunter2x", "pin=hunter2x", "cpf: hunter2x",
    'password="hunter2x', "password='hunter2x", "postgresql://admin:hunter2x@db:5432/x", "postgresql://admin:hun/ter2x@db", "https://hunter2x@x.org",
    'secret="a\\"hunter2x"', "email=hunter2x", "clientSecret=hunter2x",
]  # fmt: skip


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize("text", PAIRS)
def test_a_secret_pair_inside_a_text_is_hidden(text):
    assert "ter2x" not in redact_text(f"failed at {text} today")
    assert redact_text(f"failed at {text} today").startswith("failed at ")


@pytest.mark.covers("PRV-004")
@pytest.mark.parametrize(
    "text",
    [
        "duplicate key value violates unique constraint\nDETAIL:  Key (organization_id, name)=(1, Ana Silva) already exists.",
        "DETAIL:  Key (name)=(Ana (the) Silva) is not present in table",
        "new row violates check constraint\nDETAIL:  Failing row contains (1, Ana Silva, (x), \n y).",
        "invalid input for query argument $3: 'Ana Silva' (expected int)",
    ],
)
def test_the_row_that_the_database_did_not_like_is_hidden(text):
    assert "Ana" not in redact_text(text) and "Silva" not in redact_text(text)


READABLE = [
    "org_0198c9a4b3c27d1e8f00112233445566", "0198c9a4-b3c2-7d1e-8f00-112233445566", "0198C9A4-B3C2-7D1E-8F00-112233445566", "00000000-0000-7000-8000-000000000001", "org_" + "4" * 32, "pay_01989a4f41111111111111114111111a",
    "2026-11-15T22:38:00.123456+00:00", "2026-11-15T22:38:00Z", "2026-11-15 22:38:00.123456+00:00", "contract.served", "POST /api/internal/checkin/consume", "127.0.0.1:8080",
    "http://127.0.0.1:8080/docs", "C03 3.0.0", "12.50 EUR", "1234567890", "shipping: late", "company: x", "kernel/db.py:120 run", "a = b, c: d",
    "deadlock detected", "4111111111111112", "PT99000201231234567890154", "", " ", "retry 3 of 5 in 250 ms",
]  # fmt: skip


@pytest.mark.parametrize("text", READABLE)
def test_ids_times_and_ordinary_words_stay_readable(text):
    assert redact_text(text) == text
    assert redact_text(f"<{text}> and {text}") == f"<{text}> and {text}"


def test_an_id_beside_a_secret_stays_readable():
    organization = str(OrganizationId.new())
    assert redact_text(f"{organization} wrote to {MAIL}") == f"{organization} wrote to {HIDDEN}"


class Colour(StrEnum):
    RED = "red"


class Request(msgspec.Struct):
    email: str
    price: Money


@dataclass
class Login:
    user: OrganizationId
    word: str = field(repr=False)


class Talkative:
    def __repr__(self) -> str:
        return MAIL


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError(MAIL)


def test_values_of_all_kinds_become_plain():
    organization = OrganizationId.new()
    assert redact([Colour.RED, None, True, 1.5, Decimal("1.5"), organization, datetime(2026, 1, 1, tzinfo=UTC)]) == [
        "red", None, True, 1.5, "1.5", str(organization), "2026-01-01 00:00:00+00:00",
    ]  # fmt: skip
    assert redact(Request(MAIL, Money(5, "EUR"))) == {"email": HIDDEN, "price": {"minor": 5, "currency": "EUR"}}
    assert redact(Login(organization, "hunter2")) == {"user": str(organization)}
    assert redact([Talkative(), Talkative, Mute()]) == ["<Talkative>", "Talkative", {"type": "Mute", "message": ""}]


def test_depth_width_and_length_are_cut():
    deep: list = []
    deep.append(deep)
    wide = {f"k{number}": "x" * 5_000 for number in range(10_000)}
    many = [list(range(1_000)) for _ in range(1_000)]
    for huge in (deep, wide, many, "x" * 10**7, b"x" * 10**7, {"x" * 10**6: 1}):
        assert len(json.dumps(redact(huge))) < 3 * LARGEST


HOSTILE = ["@" * 10**5, "a@" * 10**5, "password=" * 10**4, 'password="' * 10**4, "1 " * 10**5, ("11 " * 39 + "x ") * 10**3, ("1111 " * 9 + "x ") * 10**3, ("AA11 " * 39 + ", ") * 10**3, "111-" * 10**4, "eyJ" * 10**5, "AA00" * 10**4, "+1 " * 10**5, "a_0_" * 10**5, "(" * 10**5, "1.1." * 10**4, "a:" * 10**5, "://" * 10**4, "-----BEGIN KEY-----" * 10**3, "\\" * 10**5, "token" * 10**4, "%40" * 10**4]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_keeps_the_redactor_busy(text):
    started = time.perf_counter()
    redact({str(number): text for number in range(100)})
    assert time.perf_counter() - started < 20  # A pattern that backtracks takes minutes.


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_is_logged_can_be_written(value):
    json.dumps(redact(value))


surroundings = (
    st.text()
    | st.text("0123456789 .-")
    | st.text("abcXYZ0189 ")
    | st.sampled_from(["then", "ab12 cd34", "2026", "+1", "PT50"])
)
separators = st.sampled_from([" ", ", ", "\n", "; ", " (", "='", "/", '"'])


@pytest.mark.covers("PRV-004")
@settings(max_examples=300)
@given(surroundings, separators, st.sampled_from(sorted(SECRETS.values())), separators, surroundings)
def test_no_surroundings_save_a_secret(before, left, secret, right, after):
    assert secret not in redact_text(f"{before}{left}{secret}{right}{after}")
