"""Signatures of OpenPix's events, and the keys by which they are recognised (PAY-011)."""

import asyncio
import base64
import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from admitone.finance.gateways.openpix.keys import FRESH_FOR, PAUSE, TRUSTED_FOR, KeyRing
from admitone.finance.gateways.openpix.objects import PublicKey, PublicKeys
from admitone.kernel.db import Database
from admitone.kernel.errors import Malformed
from admitone.kernel.scope import Caller
from tests.finance.gateways.openpix.peer import a_key, published, signed
from tests.finance.gateways.openpix.published import KEY, KEY_IDENTIFIER, PAYLOAD, SIGNATURE
from tests.finance.gateways.pix_peer import Fault
from tests.finance.gateways.pix_stage import PixStage, openpix
from tests.finance.gateways.stage import paid, recognise

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
BODY = b'{"event":"OPENPIX:CHARGE_CREATED","n":1.0,"name":"Jo\\u00e3o"}'


class Office:
    """Where keys are published."""

    def __init__(self, *keys: dict[str, Any]) -> None:
        self.keys: list[dict[str, Any]] | None = list(keys)
        self.asked = 0

    async def __call__(self) -> PublicKeys | None:
        self.asked += 1
        await asyncio.sleep(0)
        if self.keys is None:
            return None
        return PublicKeys(tuple(PublicKey(each["key_identifier"], each["key"]) for each in self.keys))


async def a_ring(*keys: dict[str, Any]) -> KeyRing:
    ring = KeyRing()
    assert await ring.renew(Office(*keys), NOW)
    return ring


def header(body: bytes = BODY, number: int = 0) -> str:
    return signed(body, a_key(number))["x-webhook-signature"]


async def test_what_they_published_with_its_signature_is_recognised():
    ring = await a_ring({"key_identifier": KEY_IDENTIFIER, "key": KEY})
    assert ring.recognises(PAYLOAD, SIGNATURE, NOW)
    assert not ring.recognises(PAYLOAD.replace(b'"value": 1000', b'"value": 9000'), SIGNATURE, NOW)
    assert not ring.recognises(PAYLOAD + b"\n", SIGNATURE, NOW)


@pytest.mark.covers("PAY-011")
async def test_nothing_else_counts():
    ring, good = await a_ring(published(a_key())), header()
    assert ring.recognises(BODY, good, NOW)
    for index, bit in itertools.product(range(len(BODY)), range(8)):
        flipped = bytearray(BODY)
        flipped[index] ^= 1 << bit
        assert not ring.recognises(bytes(flipped), good, NOW)
    for length in range(len(BODY)):
        assert not ring.recognises(BODY[:length], good, NOW)
    raw = base64.b64decode(good)
    for index, bit in itertools.product(range(len(raw)), range(8)):
        changed = bytearray(raw)
        changed[index] ^= 1 << bit
        assert not ring.recognises(BODY, base64.b64encode(changed).decode(), NOW)
    for wrong in (
        "",
        good[:-1],
        good[:-4],
        f"{good}AAAA",
        f" {good}",
        f"{good}\n",
        good.replace("=", ""),
        raw.hex(),
        "é" * 10,
        "A" * 5_000,
        "A" * 10_000_000,
        header(number=1),
        base64.b64encode(bytes(128)).decode(),
        base64.b64encode(b"").decode(),
    ):
        assert not ring.recognises(BODY, wrong, NOW)


@pytest.mark.parametrize(
    "other",
    [
        published(a_key(1), identifier="0" * 64),
        published(a_key(1), identifier=published(a_key())["key_identifier"]),
        {"key_identifier": "0" * 64, "key": "no key at all"},
        {"key_identifier": "0" * 64, "key": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"},
    ],
)
async def test_a_key_that_is_not_what_it_says_is_not_taken(other: dict[str, Any]):
    ring = await a_ring(other, published(a_key()))
    assert not ring.recognises(BODY, header(number=1), NOW)
    assert ring.recognises(BODY, header(), NOW), "and does not spoil those beside it"


async def test_while_they_change_keys_both_count_and_then_only_the_new_one():
    office = Office(published(a_key(), current=False), published(a_key(1)))
    ring = KeyRing()
    await ring.renew(office, NOW)
    assert ring.recognises(BODY, header(), NOW)
    assert ring.recognises(BODY, header(number=1), NOW)
    office.keys = [published(a_key(1))]
    await ring.renew(office, NOW + PAUSE)
    assert not ring.recognises(BODY, header(), NOW + PAUSE)
    assert ring.recognises(BODY, header(number=1), NOW + PAUSE)


async def test_they_are_asked_once_a_minute_however_many_come():
    office, ring = Office(published(a_key())), KeyRing()
    for second in range(60):
        await ring.renew(office, NOW + timedelta(seconds=second))
    assert office.asked == 1
    assert not await ring.renew(office, NOW + timedelta(seconds=59)), "there is nothing new to verify by"
    assert await ring.renew(office, NOW + PAUSE)
    assert office.asked == 2


async def test_who_comes_while_somebody_asks_waits_for_the_answer():
    office, ring = Office(published(a_key())), KeyRing()
    assert all(await asyncio.gather(*(ring.renew(office, NOW) for _ in range(20))))
    assert office.asked == 1


async def test_keys_are_old_after_an_hour_and_kept_for_a_day_while_nobody_answers():
    office, ring = Office(published(a_key())), KeyRing()
    await ring.renew(office, NOW)
    assert ring.recognises(BODY, header(), NOW + FRESH_FOR)
    late = NOW + FRESH_FOR + timedelta(seconds=1)
    assert not ring.recognises(BODY, header(), late), "it is time to ask"
    office.keys = None
    assert await ring.renew(office, late)
    assert ring.recognises(BODY, header(), late), "nobody answers: what was published last still counts"
    assert not ring.recognises(BODY, header(), late + PAUSE + timedelta(seconds=1)), "and they are asked again"
    too_late = NOW + TRUSTED_FOR + timedelta(seconds=1)
    await ring.renew(office, too_late)
    assert not ring.recognises(BODY, header(), too_late)


# -- At the gateway


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[PixStage]:
    async with openpix(database) as stage:
        yield stage


async def test_the_first_event_brings_the_keys_and_the_next_ones_need_none(stage: PixStage):
    await paid(stage)
    for webhook in await stage.webhooks():
        envelope = await recognise(stage, webhook)
        assert envelope
        assert (envelope.source, envelope.livemode) == ("openpix", False)
    assert stage.peer.asked_for_keys() == 1


async def test_an_event_signed_with_a_new_key_is_recognised_when_it_is_published(stage: PixStage):
    await paid(stage)
    await recognise(stage, (await stage.webhooks())[0])
    stage.peer.key, stage.peer.keys = a_key(1), [published(a_key()), published(a_key(1))]
    await paid(stage)
    webhook, now = (await stage.webhooks())[-1], datetime.now(UTC)
    assert await recognise(stage, webhook) is None, "they were asked a moment ago"
    assert await stage.gateway.renew(webhook.headers, webhook.path, Caller(), now + PAUSE)
    assert stage.gateway.verify(webhook.body, webhook.headers, webhook.path, now + PAUSE)


async def test_what_cannot_be_theirs_makes_nobody_ask(stage: PixStage):
    await paid(stage)
    webhook, now = (await stage.webhooks())[0], datetime.now(UTC)
    assert not await stage.gateway.renew({}, webhook.path, Caller(), now)
    assert not await stage.gateway.renew(webhook.headers, "/api/stripe/webhook", Caller(), now)
    assert stage.peer.asked_for_keys() == 0


@pytest.mark.parametrize("fault", [Fault.ERROR_BEFORE, Fault.GARBLED, Fault.LOST, Fault.BUSY])
async def test_without_keys_nothing_is_recognised(stage: PixStage, fault: Fault):
    await paid(stage)
    stage.peer.faults = [fault]
    assert await recognise(stage, (await stage.webhooks())[0]) is None


@pytest.mark.parametrize("route", ["/webhooks/pix", "/webhooks/openpix", "/webhooks/openpix?x=1"])
async def test_an_event_counts_on_its_own_routes(stage: PixStage, route: str):
    await paid(stage)
    webhook = (await stage.webhooks())[0]
    await recognise(stage, webhook)
    assert stage.gateway.verify(webhook.body, webhook.headers, route, datetime.now(UTC))
    assert stage.gateway.verify(webhook.body, webhook.headers, "/webhooks/stripe", datetime.now(UTC)) is None


async def test_what_is_sent_again_is_the_same_event_and_anything_else_is_another(stage: PixStage):
    await paid(stage)
    await paid(stage)
    _, first, _, second = await stage.webhooks()
    said = [envelope for each in (first, first, second) if (envelope := await recognise(stage, each))]
    assert {each.type for each in said} == {"OPENPIX:CHARGE_COMPLETED"}
    assert said[0].id == said[1].id != said[2].id


async def test_what_is_signed_and_no_event_is_malformed(stage: PixStage):
    await paid(stage)
    await recognise(stage, (await stage.webhooks())[0])
    for body in (
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"id":1}',
        b'{"event":"OPENPIX:CHARGE_COMPLETED","charge":{"value":"x"}}',
    ):
        with pytest.raises(Malformed):
            stage.gateway.verify(body, signed(body, a_key()), "/webhooks/pix", datetime.now(UTC))
