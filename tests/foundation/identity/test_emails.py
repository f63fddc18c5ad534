"""Two spellings of one address are one address, also while keys change."""

import asyncio
import itertools
import sys
import unicodedata
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.foundation.identity import api
from admitone.foundation.identity.commands import accounts
from admitone.foundation.identity.commands.accounts import NewAccount
from admitone.foundation.identity.emails import normalise_email
from admitone.foundation.identity.errors import InvalidEmail
from admitone.foundation.identity.model import Profile
from admitone.foundation.mail.model import is_address, on_the_wire
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from tests.foundation.identity.house import PASSWORD, PEOPLE, House, an_email
from tests.toy.wiring import TOY_KEY

OLD = KeyRing({1: TOY_KEY})
BOTH = KeyRing({1: TOY_KEY, 2: b"2" * 32})
YOUNG = KeyRing({2: b"2" * 32})


@pytest.mark.covers("IDN-002")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ana@example.org", "ana@example.org"),
        ("  Ana@Example.ORG\t", "ana@example.org"),
        ("\u3000ana@example.org\u00a0", "ana@example.org"),
        ("ａｎａ@ｅｘａｍｐｌｅ.ｏｒｇ", "ana@example.org"),
        ("ana＠example．org", "ana@example.org"),
        ("o\ufb03ce@example.org", "office@example.org"),
        ("\ufb01nd@example.org", "find@example.org"),
        ("JOÃO@example.org", "joão@example.org"),
        ("joa\u0303o@example.org", "joão@example.org"),
        ("ﬁ\u2460@example.org", "fi1@example.org"),
        ("ana@MÜNCHEN.example", "ana@xn--mnchen-3ya.example"),
        ("ana@m\u0075\u0308nchen.example", "ana@xn--mnchen-3ya.example"),
        ("ana@XN--MNCHEN-3YA.example", "ana@xn--mnchen-3ya.example"),
        ("ana@straße.de", "ana@xn--strae-oqa.de"),
        ("ana@strasse.de", "ana@strasse.de"),
        *((f"ana@ex{sign}ample.org", "ana@example.org") for sign in "\u00ad\u200b\u2060\u034f\ufe0f"),
        *((f"ana@example{dot}org", "ana@example.org") for dot in "\u3002\uff0e\uff61"),
        ("ana@xn--mnchen-3ya.example", "ana@xn--mnchen-3ya.example"),
        ("ΑΣ@example.org", "ας@example.org"),
        ("J\u030cana@example.org", "\u01f0ana@example.org"),
        ("ana+tickets@example.org", "ana+tickets@example.org"),
    ],
)
def test_spellings_of_one_address_are_one(written: str, meant: str):
    assert normalise_email(written) == meant == normalise_email(meant)


@pytest.mark.parametrize(
    "written",
    [
        "", " ", "ana", "@example.org", "ana@", "ana@example", "a na@example.org", "ana@@example.org", "ana@example..org",
        "ana@example.org\r\nBcc: eva@example.org", "ana\u200b@example.org", "<ana@example.org>", '"a b"@example.org',
        "ana@exa mple.org", "ana@-example.org", "ana@xn--a.org", "ana@☃.example.org", "ana@exa_mple.org", "ana@example.org.",
        "ana@\u202eexample.org", "a" * 65 + "@example.org", f"ana@{'a' * 64}.org", "ana@" + "a." * 130 + "org",
    ],
)  # fmt: skip
async def test_what_is_no_address_is_refused_everywhere(house: House, written: str):
    with pytest.raises(InvalidEmail):
        normalise_email(written)
    visitor = house.a_visitor()
    for path in ("send-otp", "password/reset-request", "check-email"):
        assert (await visitor.post(path, email=written)).json()["errorCode"] == "INVALID_EMAIL"


@given(st.text(max_size=20), st.text(max_size=10))
def test_a_normal_form_is_its_own(local: str, domain: str):
    for written in (f"{local}@example.org", f"{local}@{domain}.org"):
        try:
            once = normalise_email(written)
        except InvalidEmail:
            continue
        assert normalise_email(once) == once


@given(st.text(max_size=12), st.text(max_size=12), st.sampled_from(["", "\u00ad", "\u200b", "\u2060", "ß", "\u200d"]))
def test_what_is_sent_to_one_mailbox_is_one_address(local: str, domain: str, sign: str):
    written = [f"{local}@{domain}{sign}a.org", f"{local}@{domain}a.org", f"{local}@{domain.upper()}{sign}a。org"]
    normal: dict[str, str] = {}
    for each in written:
        with suppress(InvalidEmail):  # Not everything that could be an address is one that we take.
            taken = normalise_email(each)
            assert normal.setdefault(on_the_wire(taken), taken) == taken
            assert not is_address(each) or on_the_wire(taken).rpartition("@")[2] == on_the_wire(each).rpartition("@")[2]


def test_every_letter_of_a_domain_is_normalised_to_where_mail_goes():
    for number in range(sys.maxunicode + 1):
        if unicodedata.normalize("NFKC", chr(number)).lower() == chr(number) and number > 0x3000:
            continue
        written = f"ana@a{chr(number)}b.org"
        if is_address(written):
            assert normalise_email(written) == on_the_wire(written), f"U+{number:04X}"


def test_every_letter_there_is_has_one_normal_form():
    for number in range(sys.maxunicode + 1):
        if unicodedata.normalize("NFKC", chr(number)).lower() == chr(number):
            continue
        for written in (f"{chr(number)}@example.org", f"a{chr(number)}\u0307\u0323b@example.org"):
            try:
                once = normalise_email(written)
            except (InvalidEmail, UnicodeEncodeError):
                continue
            assert normalise_email(once) == once, f"U+{number:04X} {unicodedata.name(chr(number), '?')}"


async def test_somebody_signs_in_under_younger_keys_and_the_old_one_can_retire(house: House):
    with KEYRING.wired(OLD):
        ana = await house.a_user()
        rui = await house.a_user()
    with KEYRING.wired(BOTH):
        assert (await ana.login()).status_code == 200
        asked = await rui.post("signup", email=rui.email, password=PASSWORD)
        assert (await house.verifies(rui, asked)).json()["identityId"] == rui.tokens["identityId"], "no second account"
    with KEYRING.wired(YOUNG):
        for who in (ana, rui):
            found = await house.people(lambda tx, who=who: api.find_by_email(tx, [who.email]))
            assert found == {who.email: who.identity}


async def test_a_guest_is_the_same_under_younger_keys(house: House):
    email = an_email()
    with KEYRING.wired(OLD):
        first = await house.people(lambda tx: api.guests(tx, [email]))
    with KEYRING.wired(BOTH):
        second = await house.people(lambda tx: api.guests(tx, [email]))
    with KEYRING.wired(YOUNG):
        third = await house.people(lambda tx: api.guests(tx, [email]))
    assert first == second == third


RING: ContextVar[KeyRing] = ContextVar("ring")


class EachItsOwn:
    """Stands for the rings of several processes: every task has the one that it chose."""

    def __getattr__(self, name: str) -> Any:
        return getattr(RING.get(), name)


@pytest.mark.covers("IDN-002")
@pytest.mark.parametrize("rings", [(OLD, BOTH), (BOTH, OLD), (BOTH, YOUNG), (OLD, OLD)] * 3)
async def test_two_processes_with_other_keys_cannot_take_one_address_twice(
    database: Database, superuser: asyncpg.Connection, rings: tuple[KeyRing, KeyRing]
):
    email = an_email()
    barrier = asyncio.Barrier(2)

    async def take(ring: KeyRing) -> IdentityId:
        RING.set(ring)
        attempts = itertools.count()

        async def work(tx: PeopleTx) -> IdentityId:
            if next(attempts) == 0:
                await barrier.wait()
            [own] = await accounts.create(tx, [NewAccount(Caller(), Profile(email, None, Language.ENGLISH))])
            assert isinstance(own, IdentityId)
            return own

        return await database.run(PEOPLE, work)

    with KEYRING.wired(EachItsOwn()):  # type: ignore[arg-type]
        first, second = await asyncio.gather(*(take(ring) for ring in rings))
    assert first == second
    hashes = [each.digest for each in BOTH.all_hmacs(email, "identity.email")]
    owners = await superuser.fetch("SELECT DISTINCT identity_id FROM identity.email_hash WHERE hash = ANY($1)", hashes)
    assert [row["identity_id"] for row in owners] == [first.uuid]
