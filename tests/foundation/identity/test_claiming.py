"""A guest who proves the address becomes a user, once, and nothing but the owner of rights changes hands."""

import asyncio
from uuid import UUID

import asyncpg
import pytest

from admitone.foundation.identity import api
from admitone.foundation.identity.commands import accounts, guest_links
from admitone.foundation.identity.commands.accounts import NewAccount
from admitone.foundation.identity.commands.claiming import claim
from admitone.foundation.identity.commands.guest_links import GuestLink
from admitone.foundation.identity.model import Prepared, Profile
from admitone.foundation.identity.passwords import hash_of
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.ids import IdentityId, uuid7
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from tests.foundation.identity.house import ANOTHER_PASSWORD, PASSWORD, PEOPLE, House, Visitor, an_email, contents_of

MAY_CHANGE = {
    "identity.identity", "identity.email_hash", "identity.merge", "identity.profile",
    "kernel.event_log", "kernel.fact_key", "kernel.outbox", "kernel.audit_entry",
    "authority.session", "kernel.limit_counter", "mail.letter", "kernel.job", "kernel.job_key",
}  # fmt: skip
"""By a claim, and by the sign-in that it comes with."""


async def a_guest(house: House, email: str) -> IdentityId:
    """Who buys something with this address, however it is written."""
    normal = api.normalise_email(email)
    return (await house.people(lambda tx: api.guests(tx, [normal])))[normal]


async def merges_of(house: House, user: IdentityId) -> list[tuple[UUID, int]]:
    rows = await house.superuser.fetch(
        "SELECT guest_id, batch_version FROM identity.merge WHERE user_id = $1 ORDER BY batch_version", user.uuid
    )
    return [(row["guest_id"], row["batch_version"]) for row in rows]


async def claims_told(house: House, user: IdentityId) -> list[dict[str, object]]:
    return [said for name, said in await house.facts_of(user) if name == "identity.guest_claimed"]


async def now_is(house: House, guest: IdentityId) -> IdentityId:
    return (await house.people(lambda tx: api.resolve(tx, [guest])))[guest]


async def signs_up(house: House, email: str) -> Visitor:
    return await house.a_user(email)


@pytest.mark.covers("IDN-003")
async def test_guests_share_one_identity_however_they_write_their_address(house: House):
    email = an_email()
    spellings = [email, email.upper(), f"  {email.title()} ", email.replace("ana", "ａｎａ")]
    assert len({await a_guest(house, each) for each in spellings}) == 1
    another = an_email()
    together = await asyncio.gather(*(a_guest(house, each) for each in (another, another.upper(), another)))
    assert len(set(together)) == 1
    row = await house.superuser.fetchrow("SELECT type, status FROM identity.identity WHERE id = $1", together[0].uuid)
    assert tuple(row) == ("GUEST_EMAIL", "ACTIVE")


@pytest.mark.covers("IDN-001")
async def test_an_identity_is_a_user_or_a_guest_and_nothing_else(superuser: asyncpg.Connection):
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(
            "INSERT INTO identity.identity (id, type, status, created_at) VALUES ($1, 'ORGANIZATION', 'ACTIVE', now())",
            uuid7(),
        )


@pytest.mark.covers("IDN-004")
async def test_whoever_proves_the_address_has_what_its_guest_bought(house: House):
    email = an_email()
    guest = await a_guest(house, email)
    ana = await signs_up(house, email)

    assert await merges_of(house, ana.identity) == [(guest.uuid, 1)]
    assert await claims_told(house, ana.identity) == [
        {"userId": str(ana.identity), "guestId": str(guest), "batchVersion": 1}
    ]
    [entry] = await house.superuser.fetch("SELECT * FROM kernel.audit_entry WHERE subject = $1", str(guest))
    assert entry["action"] == "identity.claim"
    written = await house.superuser.fetch(
        "SELECT DISTINCT xmin::text FROM identity.merge WHERE guest_id = $1"
        " UNION SELECT xmin::text FROM kernel.audit_entry WHERE subject = $2"
        " UNION SELECT xmin::text FROM kernel.event_log WHERE type = 'identity.guest_claimed' AND subject_id = $3"
        " UNION SELECT xmin::text FROM identity.identity WHERE id = $1",
        guest.uuid,
        str(guest),
        str(ana.identity),
    )
    assert len(written) == 1, "merge, tombstone, audit and fact are of one transaction"


@pytest.mark.covers("IDN-005")
async def test_the_guest_becomes_a_tombstone_that_points_to_the_user(house: House):
    email = an_email()
    guest = await a_guest(house, email)
    assert await now_is(house, guest) == guest
    ana = await signs_up(house, email)
    assert await now_is(house, guest) == ana.identity
    row = await house.superuser.fetchrow("SELECT status, merged_into FROM identity.identity WHERE id = $1", guest.uuid)
    assert tuple(row) == ("TOMBSTONE", ana.identity.uuid)


@pytest.mark.covers("IDN-005", "IDN-006")
async def test_a_guest_who_buys_again_is_a_new_one_and_claimed_at_the_next_sign_in(house: House):
    email = an_email()
    first = await a_guest(house, email)
    ana = await signs_up(house, email)
    second = await a_guest(house, email)
    assert second != first
    await ana.signs_in()
    third = await a_guest(house, email)
    asked = await ana.post("send-otp", email=email)
    await house.verifies(ana, asked)
    await ana.signs_in()
    assert await merges_of(house, ana.identity) == [(first.uuid, 1), (second.uuid, 2), (third.uuid, 3)]
    assert [said["batchVersion"] for said in await claims_told(house, ana.identity)] == [1, 2, 3]


@pytest.mark.covers("IDN-004")
async def test_whoever_proves_the_address_by_a_reset_claims_too(house: House):
    ana = await house.a_user()
    guest = await a_guest(house, ana.email)
    await ana.post("password/reset-request", email=ana.email)
    token = await house.token_to(ana.email)
    await ana.post("password/reset", token=token, newPassword=ANOTHER_PASSWORD)
    assert await now_is(house, guest) == ana.identity


@pytest.mark.covers("IDN-005")
async def test_twenty_claims_at_once_are_one(house: House, database: Database):
    email = an_email()
    ana = await house.a_user(email)
    guest = await a_guest(house, email)
    barrier = asyncio.Barrier(20)

    async def attempt() -> int:
        waited = False

        async def work(tx: PeopleTx) -> int:
            nonlocal waited
            if not waited:
                waited = True
                await barrier.wait()
            return len(await claim(tx, {email: (ana.identity, Caller(ana.identity))}))

        # Each waits for the row: whoever would not is told that it is busy, and comes again patiently.
        return await databases[next(turns) % len(databases)].run(PEOPLE, work, patient=True)

    databases = [Database(database._url) for _ in range(3)]
    turns = iter(range(20))
    try:
        claimed = await asyncio.gather(*(attempt() for _ in range(20)))
    finally:
        for each in databases:
            await each.close()
    assert sum(claimed) == 1
    assert await merges_of(house, ana.identity) == [(guest.uuid, 1)]
    assert len(await claims_told(house, ana.identity)) == 1


@pytest.mark.covers("IDN-005", "IDN-006")
async def test_many_sign_ins_at_once_claim_once(house: House):
    ana = await house.a_user()
    await ana.signs_in()
    guest = await a_guest(house, ana.email)
    device = {"cookie": f"device={ana.http.cookies['device']}"}
    answers = await asyncio.gather(
        *(house.a_visitor().post("login", device, email=ana.email, password=PASSWORD) for _ in range(5))
    )
    assert [answer.status_code for answer in answers] == [200] * 5
    assert await merges_of(house, ana.identity) == [(guest.uuid, 1)]


@pytest.mark.covers("IDN-005")
async def test_an_account_whose_address_is_not_proved_claims_nothing(house: House):
    email = an_email()
    guest = await a_guest(house, email)
    account = NewAccount(Caller(), Profile(email, None, Language.ENGLISH), await hash_of(PASSWORD))
    [identity] = await house.people(lambda tx: accounts.create(tx, [account]))
    ana = house.a_visitor(email=email)
    await ana.signs_in()
    assert (await ana.me()).json()["emailVerified"] is False
    assert await now_is(house, guest) == guest
    asked = await ana.post("send-otp", email=email)
    proved = (await house.verifies(ana, asked)).json()
    assert proved["identityId"] == str(identity)
    assert await now_is(house, guest) == identity
    assert (await ana.me(proved)).json()["emailVerified"] is True


@pytest.mark.covers("IDN-008")
async def test_for_one_purchase_one_link_is_sent(house: House):
    email, order = an_email(), uuid7().hex
    link = GuestLink(Caller(), Prepared(email, Language.ENGLISH), order)
    assert await house.people(lambda tx: guest_links.send_guest_links(tx, [link])) == [True]
    assert await house.people(lambda tx: guest_links.send_guest_links(tx, [link, link])) == [False, False]
    another = GuestLink(Caller(), Prepared(email, Language.ENGLISH), uuid7().hex)
    assert await house.people(lambda tx: guest_links.send_guest_links(tx, [another, another])) == [True, False]
    assert [template for template, _ in await house.letters_to(email)] == ["guest_link"] * 2


@pytest.mark.covers("IDN-008")
async def test_a_link_gives_whoever_else_is_signed_in_nothing(house: House):
    email = an_email()
    guest = await a_guest(house, email)
    link = GuestLink(Caller(), Prepared(email, Language.ENGLISH), uuid7().hex)
    await house.people(lambda tx: guest_links.send_guest_links(tx, [link]))
    token = await house.token_to(email)
    eva = await house.a_user()
    answer = await eva.post("verify-link", eva.bearer, token=token)

    assert answer.json()["identityId"] != str(eva.identity)
    assert await merges_of(house, eva.identity) == []
    assert await now_is(house, guest) == IdentityId.parse(answer.json()["identityId"])
    assert (await eva.post("verify-link", token=token)).status_code == 401, "and it is worth one use"
    assert (await eva.me()).json()["email"] == eva.email


@pytest.mark.covers("IDN-004")
async def test_a_claim_touches_nothing_that_is_not_identitys(house: House):
    ana = await house.a_user()
    await a_guest(house, ana.email)
    before = await contents_of(house.superuser)
    await ana.signs_in()
    after = await contents_of(house.superuser)
    changed = {table for table in after if after[table] != before[table]}
    assert {"identity.merge", "identity.identity", "identity.email_hash"} <= changed
    assert changed <= MAY_CHANGE
