"""Whoever sends nonsense, another's, or the same too often: refused in the envelope, nothing written, nothing told.

Everything goes through HTTP as it would from outside. Whatever is refused leaves every table of finance as it was; and
nothing that anybody sent or was given stands in a log.
"""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from io import BytesIO
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import Application
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.model import Status
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel import telemetry
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import OrganizationId
from tests.finance.world import SECRET, World
from tests.people import CLIENTS, Person, a_person, an_organization_of

INTENT, PIX, STATUS, CANCEL = (
    "/api/payments/intent",
    "/payment/pix/create",
    "/api/checkout/status",
    "/api/checkout/cancel",
)
ENVELOPE = {"errorCode", "message", "retryable", "correlationId"}
PRICE = 5000
CANARIES = ("canary.bird@example.org", "4242424242424242", "tok_canary_9f8e7d6c", "Canária Amarela")

FINANCE = """
    SELECT c.oid::regclass::text AS name
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('payments', 'ledger', 'pricing', 'webhooks') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     ORDER BY 1
"""


@pytest.fixture(autouse=True)
def said(application: Application, world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[BytesIO]:
    """Everything that is logged; none of it may name a person, a secret or a card."""
    lines = BytesIO()
    monkeypatch.setattr(application.edge._observer, "_lines", lines)
    monkeypatch.setattr(telemetry._output, "stream", lines)
    yield lines
    keys = world.simulator.keys
    told = [text for each in (world.owner, world.buyer) for text in (each.access_token, each.email)]
    forbidden = [*CANARIES, *told, SECRET, keys.api, keys.account, keys.connect, "_secret_", "pst_"]
    text = lines.getvalue().decode()
    assert [word for word in forbidden if word and word in text] == []


class Caller:
    """Somebody at our door."""

    def __init__(self, site: httpx.AsyncClient, world: World, order: Source) -> None:
        self.site = site
        self.world = world
        self.order = order

    def body(self, **changes: Any) -> dict[str, Any]:
        usual = {
            "organizationId": str(self.world.organization),
            "sourceType": self.order.type.value,
            "sourceId": self.order.id,
            "idempotencyKey": "key",
        }
        return {name: value for name, value in (usual | changes).items() if value is not ...}

    async def pay(self, path: str = INTENT, who: Person | None = None, **changes: Any) -> httpx.Response:
        headers = (who or self.world.buyer).headers
        return await self.site.post(path, json=self.body(**changes), headers=headers)

    async def pay_with(self, field: str, literal: str) -> httpx.Response:
        """With a value as it stands, which no encoder of ours would write."""
        whole = json.dumps(self.body())
        content = f'{whole[:-1]}, "{field}": {literal}}}'
        headers = {**self.world.buyer.headers, "content-type": "application/json"}
        return await self.site.post(INTENT, content=content.encode(), headers=headers)


@pytest.fixture
def buyer(site: httpx.AsyncClient, world: World) -> Caller:
    return Caller(site, world, world.shop.sells(world.buyer.identity, PRICE, description=CANARIES[3]))


class Tables:
    """How much there is in every table of finance."""

    def __init__(self, superuser: asyncpg.Connection) -> None:
        self._superuser = superuser

    async def count(self) -> dict[str, int]:
        names = [row["name"] for row in await self._superuser.fetch(FINANCE)]
        assert len(names) > 15
        return {name: await self._superuser.fetchval(f"SELECT count(*) FROM {name}") for name in names}


@pytest.fixture
def tables(superuser: asyncpg.Connection) -> Tables:
    return Tables(superuser)


def refused(answer: httpx.Response, *codes: str) -> None:
    said = answer.json()
    assert 400 <= answer.status_code < 500, answer.text
    assert said.keys() >= ENVELOPE
    assert said["errorCode"] in codes, answer.text


# -- Amounts, currencies, hashes

NONSENSE = [
    *("-1", "-5000", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808"),
    *(
        "18446744073709551616",
        "-9223372036854775809",
        "5000.5",
        "0.1",
        "NaN",
        "Infinity",
        "-Infinity",
        "1e309",
        "5e-324",
    ),
    *('"5000"', '"50.00"', '"NaN"', "true", "false", "[5000]", '{"minor": 5000}', "5_000", "0x1388", "05000", "'5000'"),
]


@pytest.mark.covers("FIN-010", "FIN-030")
async def test_what_is_no_amount_is_refused_and_nothing_is_written(buyer: Caller, tables: Tables):
    before = await tables.count()
    for literal in NONSENSE:
        refused(await buyer.pay_with("amountMinor", literal), "MALFORMED_JSON", "VALIDATION_FAILED")
    assert await tables.count() == before


@pytest.mark.covers("FIN-010")
async def test_another_amount_than_the_price_is_refused_and_nothing_is_written(buyer: Caller, tables: Tables):
    before = await tables.count()
    for amount in (0, 1, PRICE - 1, PRICE + 1, 2**53 - 1):
        refused(await buyer.pay(amountMinor=amount), "PRICE_CHANGED")
    assert await tables.count() == before


@pytest.mark.covers("FIN-010")
async def test_another_currency_is_refused_and_nothing_is_written(buyer: Caller, tables: Tables):
    before = await tables.count()
    for literal in ('"USD"', '"BRL"', '"eur"', '"EURO"', '"€"', '"EU"', '"EUR\\n"', '"EUR "', "978", "true", '""'):
        refused(await buyer.pay_with("currency", literal), "PRICE_CHANGED", "VALIDATION_FAILED")
    assert await tables.count() == before


@pytest.mark.covers("FIN-010")
async def test_a_tampered_hash_is_refused_and_nothing_is_written(buyer: Caller, tables: Tables, world: World):
    quoted = await buyer.site.post("/api/payments/quote", json=buyer.body(), headers=world.buyer.headers)
    right = quoted.json()["pricingSnapshotHash"]
    cheaper = Caller(buyer.site, world, world.shop.sells(world.buyer.identity, 1))
    quoted = await buyer.site.post("/api/payments/quote", json=cheaper.body(), headers=world.buyer.headers)
    others = quoted.json()["pricingSnapshotHash"]
    flipped = right[:-1] + ("0" if right[-1] != "0" else "1")
    before = await tables.count()
    for wrong in (
        others,
        flipped,
        "0" * 64,
        right.upper(),
        right[:-1],
        right + "0",
        right + "\n",
        "",
        "x" * 64,
        7,
        True,
    ):
        refused(await buyer.pay(pricingSnapshotHash=wrong), "PRICE_CHANGED", "VALIDATION_FAILED")
        assert await tables.count() == before
    assert (await buyer.pay(pricingSnapshotHash=right, amountMinor=PRICE, currency="EUR")).status_code == 200


@pytest.mark.covers("FIN-010")
async def test_what_was_shown_before_the_price_rose_is_refused(buyer: Caller, tables: Tables, world: World):
    quoted = await buyer.site.post("/api/payments/quote", json=buyer.body(), headers=world.buyer.headers)
    shown = quoted.json()["pricingSnapshotHash"]
    [line] = world.shop.offers[buyer.order].lines  # type: ignore[union-attr]
    world.shop.changes(buyer.order, lines=(type(line)(line.key, line.label, PRICE + 1, 1),))
    before = await tables.count()
    refused(await buyer.pay(pricingSnapshotHash=shown), "PRICE_CHANGED")
    assert await tables.count() == before


# -- Others' things


@pytest.mark.covers("FIN-010")
async def test_nobody_pays_for_anothers_or_finds_out_that_it_is_there(
    buyer: Caller, tables: Tables, database: Database
):
    stranger = await a_person(database)
    before = await tables.count()
    theirs = await buyer.pay(who=stranger)
    nothing = await buyer.pay(who=stranger, sourceId="src-that-nobody-sells")
    for answer in (theirs, nothing, await buyer.pay(buyerIdentityRef=str(stranger.identity))):
        refused(answer, "SOURCE_NOT_FOUND")
    assert {**theirs.json(), "correlationId": 0} == {**nothing.json(), "correlationId": 0}
    assert await tables.count() == before


@pytest.mark.covers("FIN-010", "FIN-018")
async def test_anothers_source_is_not_sold_by_an_organisation_that_sells_nothing(
    buyer: Caller, tables: Tables, database: Database, world: World
):
    other = await an_organization_of(database, await a_person(database))
    before = await tables.count()
    refused(await buyer.pay(organizationId=str(other)), "FINANCE_CONNECT_NOT_READY", "SOURCE_NOT_FOUND")
    refused(await buyer.pay(organizationId=str(OrganizationId.new())), "FINANCE_CONNECT_NOT_READY", "SOURCE_NOT_FOUND")
    assert await tables.count() == before


@pytest.mark.covers("FIN-011", "FIN-015")
async def test_who_guesses_ids_and_secrets_learns_nothing(buyer: Caller, database: Database, world: World):
    begun = (await buyer.pay()).json()
    second = Caller(buyer.site, world, world.shop.sells(world.buyer.identity, 77))
    other = (await second.pay()).json()
    stranger = await a_person(database)
    own, secret = begun["paymentId"], begun["statusSecret"]
    organization = world.organization.uuid.hex
    guesses = [
        *({"paymentId": own}, {"paymentId": own, "statusSecret": other["statusSecret"]}),
        {"paymentId": own, "statusSecret": secret[:-1] + ("0" if secret[-1] != "0" else "1")},
        {"paymentId": own, "statusSecret": secret.upper()},
        {"paymentId": own, "statusSecret": secret.replace(organization, OrganizationId.new().uuid.hex)},
        {"paymentId": own, "statusSecret": f"pst_{organization}_{'0' * 40}"},
        {"paymentId": own, "statusSecret": f"pst_{organization}_"},
        {"paymentId": own, "statusSecret": "pst_0_" + "é" * 40},
        {"paymentId": own, "statusSecret": secret + "\x00"},
        *({"paymentId": str(PaymentId.new()), "statusSecret": secret}, {"paymentId": str(PaymentId.new())}),
    ]
    for path in (STATUS, "/payment/status"):
        for guess in guesses:
            answer = await buyer.site.get(path, params=guess, headers=stranger.headers)
            refused(answer, "PAYMENT_NOT_FOUND", "VALIDATION_FAILED", "MALFORMED_SECRET")
            assert own not in answer.text
        assert (await buyer.site.get(path, params={"paymentId": own})).status_code == 404
        by_secret = await buyer.site.get(path, params={"paymentId": own, "statusSecret": secret})
        by_session = await buyer.site.get(path, params={"paymentId": own}, headers=world.buyer.headers)
        assert by_secret.json() == by_session.json()
    for nonsense in ("pay_", "pay_1", "org_" + own[4:], own + "0", "' OR 1=1 --", "pay_" + "f" * 31 + "g"):
        answer = await buyer.site.get(STATUS, params={"paymentId": nonsense}, headers=world.buyer.headers)
        refused(answer, "VALIDATION_FAILED")


@pytest.mark.covers("FIN-011")
async def test_nobody_cancels_or_reads_what_is_anothers(buyer: Caller, database: Database, world: World):
    begun = (await buyer.pay()).json()
    stranger = await a_person(database)
    elsewhere = await an_organization_of(database, stranger)
    own = begun["paymentId"]
    refused(await buyer.site.post(CANCEL, json={"paymentId": own}, headers=stranger.headers), "PAYMENT_NOT_FOUND")
    refused(await buyer.site.post(CANCEL, json={"paymentId": own}), "PAYMENT_NOT_FOUND")
    theirs = await buyer.site.get(f"/api/org/{elsewhere}/payments/{own}", headers=stranger.headers)
    refused(theirs, "PAYMENT_NOT_FOUND")
    ours = await buyer.site.get(f"/api/org/{world.organization}/payments/{own}", headers=stranger.headers)
    assert ours.status_code in (403, 404)
    assert (await world.payment(PaymentId.parse(own))).status is Status.PENDING


# -- Keys


@pytest.mark.covers("FIN-003")
async def test_without_a_key_nothing_begins(buyer: Caller, tables: Tables):
    before = await tables.count()
    for key in (..., None, "", "k" * 256, 7, True, [], "a\x00b"):
        refused(await buyer.pay(idempotencyKey=key), "VALIDATION_FAILED")
    assert await tables.count() == before


@pytest.mark.covers("FIN-014")
async def test_the_same_key_with_another_body_is_refused(buyer: Caller, tables: Tables, world: World):
    first = await buyer.pay()
    assert first.status_code == 200
    before = await tables.count()
    changes: list[dict[str, Any]] = [
        *({"amountMinor": PRICE}, {"currency": "EUR"}, {"promoCode": "P"}, {"inviteToken": "i"}, {"method": "PIX"}),
        *({"returnUrl": "https://elsewhere.example/"}, {"buyerIdentityRef": str(world.buyer.identity)}),
        {"pricingSnapshotHash": first.json()["pricingSnapshotHash"]},
    ]
    for change in changes:
        answer = await buyer.pay(**change)
        assert answer.status_code == 409, (change, answer.text)
        refused(answer, "IDEMPOTENCY_KEY_REUSED")
    assert await tables.count() == before


@pytest.mark.covers("FIN-014", "PAY-044", "PAY-045")
async def test_the_same_key_and_body_is_the_same_answer_and_one_question_to_the_provider(buyer: Caller, world: World):
    asked: list[str] = []
    handle = world.simulator.handle
    world.simulator.handle = lambda *said: asked.append(said[1]) or handle(*said)  # type: ignore[method-assign,func-returns-value]
    answers = [await buyer.pay() for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert answers[0].json() == answers[1].json() == answers[2].json()
    assert asked == ["/v1/payment_intents"]


@pytest.mark.covers("FIN-015")
async def test_both_addresses_begin_the_same_payment(buyer: Caller, world: World):
    """And `PAID` is a word of an answer, never of a payment."""
    order = world.shop.sells(world.buyer.identity, PRICE, currency="BRL")
    pix = Caller(buyer.site, world, order)
    canonical = await pix.pay(INTENT, method="PIX")
    adapter = await pix.pay(PIX)
    assert canonical.json() == adapter.json()
    assert canonical.json()["checkoutId"] == canonical.json()["paymentId"]
    assert "PAID" not in set(Status)


@pytest.mark.covers("FIN-012")
async def test_a_payment_lacks_nothing_that_it_must_have(buyer: Caller, superuser: asyncpg.Connection):
    begun = (await buyer.pay()).json()
    row = await superuser.fetchrow(
        "SELECT * FROM payments.payment WHERE id = $1", PaymentId.parse(begun["paymentId"]).uuid
    )
    assert row is not None
    must = (
        *("organization_id", "source_type", "source_id", "amount_minor", "currency", "identity_id", "idempotency_key"),
        *("fee_policy_version", "snapshot", "snapshot_hash", "processor_fees_status"),
    )
    assert all(row[name] is not None for name in must)
    for name in must:
        with pytest.raises(asyncpg.NotNullViolationError):
            await superuser.execute(f"UPDATE payments.payment SET {name} = NULL WHERE id = $1", row["id"])


# -- Many at once


@pytest.mark.covers("FIN-014", "PAY-006")
async def test_twenty_that_press_at_once_begin_one_payment(buyer: Caller, world: World, superuser: asyncpg.Connection):
    """The eleventh of one person and one thing is told to wait; nobody is told anything else."""
    answers = await asyncio.gather(*(buyer.pay() for _ in range(20)))
    done = [answer for answer in answers if answer.status_code == 200]
    assert len(done) == 10
    assert {answer.status_code for answer in answers} == {200, 429}
    assert len({answer.json()["paymentId"] for answer in done}) == 1
    assert len({answer.json()["clientSecret"] for answer in done}) == 1
    assert await payments_of(superuser, buyer.order) == 1


@pytest.mark.covers("FIN-014", "PAY-005", "PAY-006")
async def test_two_hundred_in_two_processes_begin_one_payment(
    world: World, database_url: str, superuser: asyncpg.Connection
):
    """Behind the limit, where several processes write at once; half of them repeat a key, half bring their own."""
    order = world.shop.sells(world.buyer.identity, PRICE)
    async with Database(database_url) as one, Database(database_url) as two:
        batchers = [Batcher(one), Batcher(two)]
        tries = [
            batchers[n % 2].submit(begin, world.scope, world.checkout(order, key="same" if n % 4 < 2 else f"own-{n}"))
            for n in range(200)
        ]
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        for batcher in batchers:
            await batcher.drain()
    begun = [each.outcome for each in outcomes if not isinstance(each, BaseException)]
    others = [each for each in outcomes if isinstance(each, BaseException)]
    assert all(isinstance(each, Refusal) and each.code == "PAYMENT_IN_PROGRESS" for each in others), others[:3]
    assert len({each.payment.id for each in begun if isinstance(each, Begun)}) == 1
    assert await payments_of(superuser, order) == 1
    assert not any(isinstance(each, KeyReused) for each in others)


async def payments_of(superuser: asyncpg.Connection, order: Source) -> int:
    count: int = await superuser.fetchval("SELECT count(*) FROM payments.payment WHERE source_id = $1", order.id)
    return count


@pytest.mark.covers("FIN-013")
async def test_the_eleventh_of_one_person_and_one_thing_waits_five_minutes(
    buyer: Caller, world: World, application: Application, database: Database
):
    assert [(await buyer.pay()).status_code for _ in range(11)] == [200] * 10 + [429]
    refused(await buyer.pay(), "RATE_LIMITED")
    another = Caller(buyer.site, world, world.shop.sells(world.buyer.identity, PRICE))
    assert (await another.pay()).status_code == 200
    async with at_an_address_of_their_own(application) as elsewhere:
        refused(await Caller(elsewhere, world, buyer.order).pay(), "RATE_LIMITED")
    with later(application, timedelta(minutes=4, seconds=50)):
        refused(await buyer.pay(), "RATE_LIMITED")
    with later(application, timedelta(minutes=5, seconds=5)):
        assert (await buyer.pay()).status_code == 200


@pytest.mark.covers("FIN-013")
async def test_the_thirty_first_of_one_address_waits_five_minutes(
    buyer: Caller, world: World, application: Application, database: Database
):
    people = [await a_person(database) for _ in range(4)]
    orders = [world.shop.sells(who.identity, PRICE) for who in people]
    async with at_an_address_of_their_own(application) as here, at_an_address_of_their_own(application) as elsewhere:
        for n in range(30):
            answer = await Caller(here, world, orders[n % 4]).pay(who=people[n % 4])
            assert answer.status_code == 200, f"the {n + 1}th: {answer.text}"
        refused(await Caller(here, world, buyer.order).pay(), "RATE_LIMITED")
        assert (await Caller(elsewhere, world, buyer.order).pay()).status_code == 200
        with later(application, timedelta(minutes=5, seconds=5)):
            assert (await Caller(here, world, buyer.order).pay()).status_code == 200


def at_an_address_of_their_own(application: Application) -> httpx.AsyncClient:
    """Of a range that no other test comes from: some come when the clock is ahead, and are counted until then."""
    number = next(CLIENTS)
    transport = httpx.ASGITransport(application.edge, client=(f"198.18.{number // 250}.{number % 250 + 1}", 4711))
    return httpx.AsyncClient(transport=transport, base_url="http://admitone.test")


class later:  # noqa: N801  It reads as one.
    """While everybody's clock is ahead."""

    def __init__(self, application: Application, by: timedelta) -> None:
        self._database, self._by = application.database, by

    def __enter__(self) -> None:
        self._clock = self._database._clock
        self._database._clock = Clock(self._by)

    def __exit__(self, *exception: object) -> None:
        self._database._clock = self._clock


# -- Who, and with what


@pytest.mark.covers("FIN-016")
async def test_phones_pay_signed_in_whatever_the_shop_allows(
    site: httpx.AsyncClient, world: World, tables: Tables, buyer: Caller
):
    world.shop.changes(buyer.order, guest_allowed=True)
    before = await tables.count()
    for client in ("mobile", "mobile-ios/3.1", "MOBILE", "Mobile_android"):
        refused(await site.post(INTENT, json=buyer.body(), headers={"x-client-id": client}), "UNAUTHENTICATED")
    assert await tables.count() == before
    assert (await site.post(INTENT, json=buyer.body(), headers={"x-client-id": "web"})).status_code == 200
    signed_in = {**world.buyer.headers, "x-client-id": "mobile"}
    other = Caller(site, world, world.shop.sells(world.buyer.identity, PRICE))
    assert (await site.post(INTENT, json=other.body(), headers=signed_in)).status_code == 200


@pytest.mark.covers("FIN-016", "FIN-017")
async def test_a_guest_pays_only_what_guests_may(site: httpx.AsyncClient, tables: Tables, buyer: Caller):
    before = await tables.count()
    refused(await site.post(INTENT, json=buyer.body()), "UNAUTHENTICATED")
    forged = {"authorization": "Bearer " + "0" * 64}
    refused(await site.post(INTENT, json=buyer.body(), headers=forged), "UNAUTHENTICATED")
    assert await tables.count() == before


@pytest.mark.covers("FIN-019")
async def test_without_a_provider_paid_checkout_says_that_it_is_not_configured(buyer: Caller, tables: Tables):
    before = await tables.count()
    with GATEWAYS.wired(Gateways([])):
        answer = await buyer.pay()
    assert answer.status_code == 503
    assert answer.json().keys() >= ENVELOPE
    assert answer.json()["errorCode"] == "CONFIG_STRIPE_KEY_MISSING"
    assert not answer.json()["retryable"]
    assert await tables.count() == before


@pytest.mark.covers("PAY-054")
async def test_looking_at_a_payment_asks_nobody(buyer: Caller, world: World):
    own = (await buyer.pay()).json()["paymentId"]

    def unheard_of(*said: Any) -> Any:
        raise AssertionError("the provider was asked")

    world.simulator.handle = unheard_of  # type: ignore[method-assign]
    for path in (STATUS, "/payment/status"):
        seen = await buyer.site.get(path, params={"paymentId": own}, headers=world.buyer.headers)
        assert seen.json()["state"] == "PENDING"


@pytest.mark.covers("PAY-072")
async def test_what_people_type_stands_in_no_log(buyer: Caller, world: World, said: BytesIO):
    """The fixture looks; here there is something to be found."""
    typed = {
        "promoCode": CANARIES[0],
        "inviteToken": CANARIES[2],
        "returnUrl": f"https://shop.example/?card={CANARIES[1]}&mail={CANARIES[0]}",
    }
    assert (await buyer.pay(**typed)).status_code == 200
    await buyer.pay(**typed, currency=CANARIES[1])
    await buyer.pay(**typed, idempotencyKey=CANARIES[0], sourceType=CANARIES[3])
    assert b"contract.served" in said.getvalue()


@pytest.mark.covers("FIN-093")
async def test_what_nobody_sells_is_not_found(buyer: Caller, tables: Tables):
    before = await tables.count()
    for kind in SourceType:
        refused(await buyer.pay(sourceType=kind.value, sourceId="nobody-has-it"), "SOURCE_NOT_FOUND")
    for nonsense in ("", "a b", "a" * 65, "a/../b", "é", "a\n", "a\x00", 7):
        refused(await buyer.pay(sourceId=nonsense), "VALIDATION_FAILED")
    for word in ("EVENT", "ticket_order", "TICKET_ORDER ", ""):
        refused(await buyer.pay(sourceType=word), "VALIDATION_FAILED")
    assert await tables.count() == before
