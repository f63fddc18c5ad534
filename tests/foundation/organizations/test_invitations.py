"""Nobody becomes a member without having said yes, from the address that was meant, while it still counts."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.foundation.authority.api import Denial, Level, MemberRole, Membership
from admitone.foundation.identity.api import email_hashes
from admitone.foundation.organizations.commands.invitations import accept, invite
from admitone.foundation.organizations.errors import InvitationExpired
from admitone.foundation.organizations.handlers import expire_invitations
from admitone.foundation.organizations.model import INVITATION_LASTS, Answer, Due, InvitationId, Invite, Invited
from admitone.kernel.clock import Clock
from admitone.kernel.crypto import digest_of, new_secret
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered
from admitone.kernel.scope import Scope
from tests.builders import at_the_same_time
from tests.foundation.organizations.clubs import a_club, facts_of, mailed, trail_of
from tests.mails import an_address
from tests.people import Person, a_branch_of, a_member, a_person, an_override

OWNER, CO_OWNER, ADMIN, STAFF, TRAINER, PROMOTER, VIEWER = MemberRole
DUE = "organizations.expire_invitation"


async def invited(
    site: httpx.AsyncClient, place: OrganizationId, by: Person, email: str, role: str = "STAFF", **said: Any
) -> httpx.Response:
    wanted = {"email": email, "role": role, "idempotencyKey": f"{email} {role}", **said}
    return await site.post(f"/api/org/{place}/invitations", json=wanted, headers=by.headers)


async def said_yes(site: httpx.AsyncClient, person: Person, token: str) -> httpx.Response:
    return await site.post("/api/invitations/accept", json={"token": token}, headers=person.headers)


async def an_invitation(
    site: httpx.AsyncClient,
    superuser: asyncpg.Connection,
    place: OrganizationId,
    by: Person,
    email: str,
    role: str = "STAFF",
) -> str:
    """The token that was mailed."""
    answer = await invited(site, place, by, email, role)
    assert answer.status_code == 201, answer.text
    return (await mailed(superuser, place))[-1].token


async def states_of(site: httpx.AsyncClient, place: OrganizationId, by: Person) -> list[str]:
    page = (await site.get(f"/api/org/{place}/invitations", headers=by.headers)).json()
    return [invitation["state"] for invitation in page["items"]]


async def test_whoever_is_invited_and_says_yes_is_a_member(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    rui = await a_person(database)
    answer = await invited(site, club, ana, f" {rui.email.upper()} ", pack="FRONT_DESK")
    assert answer.status_code == 201, answer.text
    [letter] = await mailed(superuser, club)
    assert (letter.to, letter.template) == (rui.email, "organization_invitation")
    assert letter.values["link"] == f"/invitations/accept#{letter.token}", "behind #, a token is sent to no server"
    assert (letter.values["organization"], letter.values["role"], letter.values["days"]) == (
        *("Clube do Porto", "Equipa", 7),
    )
    assert (await site.get("/api/organizations", headers=rui.headers)).json()["items"] == []

    joined = await said_yes(site, rui, letter.token)
    assert joined.status_code == 200, joined.text
    assert (joined.json()["organization"], joined.json()["level"]) == (str(club), "GROUP")
    assert joined.json()["membership"]["pack"] == "FRONT_DESK"
    [place] = (await site.get("/api/organizations", headers=rui.headers)).json()["items"]
    assert (place["id"], place["pack"]) == (str(club), "FRONT_DESK")
    assert await states_of(site, club, ana) == ["ACCEPTED"]
    [fact] = await facts_of(superuser, club, "organization.member_changed")
    assert '"JOINED"' in fact["payload"]
    assert (await said_yes(site, rui, letter.token)).json()["errorCode"] == "INVITATION_NOT_FOUND"


async def test_the_address_stands_nowhere_in_clear(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    email = an_address()
    await invited(site, club, ana, email)
    [row] = await superuser.fetch("SELECT * FROM organizations.invitation WHERE organization_id = $1", club.uuid)
    local = email.partition("@")[0]
    assert local.encode() not in row["email_sealed"] + row["email_hash"] + row["token_digest"]
    entries = await trail_of(superuser, club)
    jobs = await superuser.fetch("SELECT * FROM kernel.job WHERE organization_id = $1", club.uuid)
    answers = await superuser.fetch("SELECT answer FROM kernel.idempotency_key WHERE organization_id = $1", club.uuid)
    assert local not in str([dict(each) for each in (*entries, *jobs, *answers)])


async def addresses_of(site: httpx.AsyncClient, place: OrganizationId, by: Person) -> list[str | None]:
    page = (await site.get(f"/api/org/{place}/invitations", headers=by.headers)).json()
    return [invitation["email"] for invitation in page["items"]]


async def test_an_address_is_whole_for_those_who_may_invite_and_while_it_is_waited_for(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    reader = await a_member(database, club, STAFF, scopes=("TEAM_R",))
    rui = await a_person(database)
    token = await an_invitation(site, superuser, club, ana, rui.email)
    assert await addresses_of(site, club, ana) == [rui.email]
    assert await addresses_of(site, club, reader) == [f"{rui.email[0]}***@{rui.email.partition('@')[2]}"]
    assert (await said_yes(site, rui, token)).status_code == 200
    assert await addresses_of(site, club, ana) == [None]


@pytest.mark.parametrize("end", ["ACCEPTED", "REVOKED", "EXPIRED"])
async def test_an_invitation_that_is_over_knows_no_address_any_more(
    site: httpx.AsyncClient, database: Database, database_url: str, superuser: asyncpg.Connection, end: str
):
    ana, club = await a_club(database)
    rui = await a_person(database)
    token = await an_invitation(site, superuser, club, ana, rui.email)
    [own] = (await site.get(f"/api/org/{club}/invitations", headers=ana.headers)).json()["items"]
    if end == "ACCEPTED":
        await said_yes(site, rui, token)
    elif end == "REVOKED":
        await site.delete(f"/api/org/{club}/invitations/{own['id']}", headers=ana.headers)
    else:
        [job] = await superuser.fetch(
            "SELECT id, run_at FROM kernel.job WHERE organization_id = $1 AND kind = $2", club.uuid, DUE
        )
        assert job["run_at"].isoformat()[:19] == own["expiresAt"][:19]
        due = Delivered(job["id"], club, Due(InvitationId.parse(own["id"])), ana.caller, "key", None, 1, job["run_at"])
        await database.run(Scope(club), lambda tx: expire_invitations.work(tx, [due]))
        assert await states_of(site, club, ana) == ["PENDING"], "its time has not come"
        async with Database(database_url, clock=Clock(INVITATION_LASTS + timedelta(seconds=1))) as later:
            await later.run(Scope(club), lambda tx: expire_invitations.work(tx, [due]))
    [row] = await superuser.fetch("SELECT * FROM organizations.invitation WHERE organization_id = $1", club.uuid)
    assert (row["state"], row["email_sealed"], row["email_hash"]) == (end, None, None)


async def test_nobody_is_buried_under_letters(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    """One organisation writes three times a day to somebody, invited or not; all of them together ten times."""
    email, told = an_address(), 0
    for number in range(4):
        ana, club = await a_club(database)
        for _ in range(3 if number < 3 else 1):
            answer = await invited(site, club, ana, email, idempotencyKey=str(told))
            assert answer.status_code == 201, answer.text
            told += 1
            await site.delete(f"/api/org/{club}/invitations/{answer.json()['id']}", headers=ana.headers)
        throttled = await invited(site, club, ana, email, idempotencyKey="once more")
        assert throttled.status_code == 429
        link = {"email": email, "reasonCode": "NEW_OFFICE"}
        named = await site.put(f"/api/org/{club}/official-email", json=link, headers=ana.headers)
        assert named.status_code == 429
        assert len(await mailed(superuser, club)) == (3 if number < 3 else 1)
        assert (await invited(site, club, ana, an_address())).status_code == 201


async def test_an_invitation_is_for_the_address_to_which_it_was_sent(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    rui, thief = await a_person(database), await a_person(database)
    token = await an_invitation(site, superuser, club, ana, rui.email)
    refused = await said_yes(site, thief, token)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "INVITATION_OF_ANOTHER")
    assert (await site.get("/api/organizations", headers=thief.headers)).json()["items"] == []
    assert (await said_yes(site, rui, token)).status_code == 200


@pytest.mark.covers("IDN-016")
async def test_whoever_has_not_confirmed_their_address_does_not_join(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    doubtful = await a_person(database, confirmed=False)
    token = await an_invitation(site, superuser, club, ana, doubtful.email)
    assert (await said_yes(site, doubtful, token)).json()["errorCode"] == "EMAIL_NOT_CONFIRMED"


@pytest.mark.covers("IDN-022")
async def test_tokens_cannot_be_guessed_by_trying(site: httpx.AsyncClient, database: Database):
    _, club = await a_club(database)
    rui = await a_person(database)
    answers = [await said_yes(site, rui, new_secret("invite", club).text) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [404] * 10 + [429]


async def test_what_is_no_token_of_ours_is_not_found(site: httpx.AsyncClient, database: Database):
    rui = await a_person(database)
    other = OrganizationId.new()
    for token in (
        "x" * 20,
        new_secret("official", other).text,
        new_secret("invite", other).text,
        f"invite_0_{'0' * 40}",
    ):
        assert (await said_yes(site, rui, token)).json()["errorCode"] == "INVITATION_NOT_FOUND"


async def test_an_address_has_one_open_invitation(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    email = an_address()
    answers = await asyncio.gather(*(invited(site, club, ana, email, role) for role in ("STAFF", "VIEWER", "TRAINER")))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409]
    assert {answer.json()["errorCode"] for answer in answers if answer.status_code == 409} == {"ALREADY_INVITED"}
    assert len(await mailed(superuser, club)) == 1


async def test_invitations_to_one_address_at_the_same_time_by_several_processes_make_one(
    database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    wanted = Invite(ana.caller, an_address(), Membership(STAFF))
    outcomes = await at_the_same_time(4, lambda tx: invite(tx, [wanted]), database, Scope(club))
    assert sum(isinstance(outcome, list) and isinstance(outcome[0], Invited) for outcome in outcomes) == 1
    assert len(await mailed(superuser, club)) == 1


async def test_an_invitation_repeated_under_its_key_is_one(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    email = an_address()
    first, again = await invited(site, club, ana, email), await invited(site, club, ana, email)
    assert first.json() == again.json() and again.headers["idempotency-replayed"] == "true"
    assert len(await mailed(superuser, club)) == 1


async def test_an_invitation_that_was_taken_back_does_not_count(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    rui = await a_person(database)
    token = await an_invitation(site, superuser, club, ana, rui.email)
    [own] = (await site.get(f"/api/org/{club}/invitations", headers=ana.headers)).json()["items"]
    url = f"/api/org/{club}/invitations/{own['id']}"
    assert (await site.delete(url, headers=ana.headers)).status_code == 204
    assert (await site.delete(url, headers=ana.headers)).json()["errorCode"] == "INVITATION_NOT_FOUND"
    assert (await said_yes(site, rui, token)).json()["errorCode"] == "INVITATION_NOT_FOUND"
    assert await states_of(site, club, ana) == ["REVOKED"]
    assert (await invited(site, club, ana, rui.email, "VIEWER")).status_code == 201


async def test_an_invitation_is_too_old_after_a_week_and_makes_room_for_the_next(
    site: httpx.AsyncClient, database: Database, database_url: str, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    rui = await a_person(database)
    token = await an_invitation(site, superuser, club, ana, rui.email)
    answer = Answer(
        rui.caller,
        digest_of(token),
        frozenset(each.digest for each in email_hashes(rui.email)),
        ana.identity,
    )
    async with Database(database_url, clock=Clock(INVITATION_LASTS + timedelta(seconds=1))) as later:
        assert await later.run(Scope(club), lambda tx: accept(tx, [answer])) == [InvitationExpired()]
        wanted = Invite(ana.caller, rui.email, Membership(VIEWER))
        [again] = await later.run(Scope(club), lambda tx: invite(tx, [wanted]))
        assert isinstance(again, Invited)
    assert await states_of(site, club, ana) == ["PENDING", "EXPIRED"]


@pytest.mark.parametrize(
    ("actor", "role", "grant", "reason"),
    [
        (ADMIN, "ADMIN", {}, "RANK_OF_ROLE"),
        (ADMIN, "OWNER", {}, "RANK_OF_ROLE"),
        (CO_OWNER, "OWNER", {}, "RANK_OF_ROLE"),
        (ADMIN, "VIEWER", {"scopes": ["FINANCE_*"]}, "SCOPES"),
    ],
)
async def test_nobody_invites_to_what_they_could_not_give(
    site: httpx.AsyncClient,
    database: Database,
    superuser: asyncpg.Connection,
    actor: MemberRole,
    role: str,
    grant: dict[str, Any],
    reason: str,
):
    _, club = await a_club(database)
    by = await a_member(database, club, actor)
    refused = await invited(site, club, by, an_address(), role, **grant)
    assert (refused.status_code, refused.json()["reason"]) == (403, reason)
    assert await mailed(superuser, club) == []


async def test_an_invitation_is_worth_no_more_than_whoever_made_it_may_still_give(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    """An administrator invites a friend, and is dismissed before the friend says yes."""
    ana, club = await a_club(database)
    admin, friend = await a_member(database, club, ADMIN), await a_person(database)
    token = await an_invitation(site, superuser, club, admin, friend.email)
    await site.delete(f"/api/org/{club}/members/{admin.identity}", headers=ana.headers)
    assert (await said_yes(site, friend, token)).json()["errorCode"] == "INVITATION_NOT_FOUND"
    assert (await site.get("/api/organizations", headers=friend.headers)).json()["items"] == []


async def test_the_same_holds_in_a_branch(site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection):
    _, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    admin, friend = await a_member(database, mother, ADMIN), await a_person(database)
    token = await an_invitation(site, superuser, branch, admin, friend.email)
    await an_override(database, branch, admin, Denial())
    assert (await said_yes(site, friend, token)).json()["errorCode"] == "INVITATION_NOT_FOUND"


async def test_nobody_invites_further_than_they_reach_themselves(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    _, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    limited = await a_member(database, mother, ADMIN, branches=(mother,))
    kept_out = await a_member(database, mother, ADMIN)
    await an_override(database, branch, kept_out, Denial())
    for by in (limited, kept_out):
        refused = await invited(site, mother, by, an_address())
        assert (refused.status_code, refused.json()["reason"]) == (403, "BRANCHES")
        assert (await invited(site, mother, by, an_address(), branches=[str(mother)])).status_code == 201
    entries = await trail_of(superuser, mother, "refused")
    assert [entry["actor_id"] for entry in entries] == [limited.identity.uuid, kept_out.identity.uuid]


@pytest.mark.parametrize("how", ["limited", "kept out", "without the team"])
async def test_an_invitation_does_not_outlive_what_its_maker_may(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, how: str
):
    _, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    maker, friend = await a_member(database, mother, STAFF, scopes=("TEAM_RW",)), await a_person(database)
    token = await an_invitation(site, superuser, mother, maker, friend.email, "VIEWER")
    if how == "limited":
        await a_member(database, mother, STAFF, scopes=("TEAM_RW",), branches=(mother,), person=maker)
    elif how == "kept out":
        await an_override(database, branch, maker, Denial())
    else:
        await a_member(database, mother, STAFF, person=maker)
    assert (await said_yes(site, friend, token)).json()["errorCode"] == "INVITATION_NOT_FOUND"


async def test_an_owner_who_says_yes_to_less_stays_an_owner(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    admin = await a_member(database, club, ADMIN)
    token = await an_invitation(site, superuser, club, admin, ana.email, "VIEWER")
    refused = await said_yes(site, ana, token)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "ALREADY_MEMBER")
    [place] = (await site.get("/api/organizations", headers=ana.headers)).json()["items"]
    assert place["role"] == "OWNER"


async def test_whoever_a_branch_keeps_out_does_not_come_back_by_an_invitation(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    rui = await a_person(database)
    await an_override(database, branch, rui, Denial())
    token = await an_invitation(site, superuser, branch, ana, rui.email)
    assert (await said_yes(site, rui, token)).json()["errorCode"] == "ALREADY_MEMBER"


@pytest.mark.covers("ORG-011")
async def test_whoever_is_invited_into_a_branch_is_a_member_there_and_nowhere_else(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    rui = await a_person(database)
    token = await an_invitation(site, superuser, branch, ana, rui.email, "ADMIN")
    joined = (await said_yes(site, rui, token)).json()
    assert (joined["organization"], joined["level"]) == (str(branch), Level.BRANCH)
    [place] = (await site.get("/api/organizations", headers=rui.headers)).json()["items"]
    assert (place["id"], place["level"]) == (str(branch), "BRANCH")
    assert (await site.get(f"/api/org/{mother}/members", headers=rui.headers)).status_code == 403
    assert (await invited(site, branch, ana, an_address(), "OWNER")).json()["errorCode"] == "OWNER_OF_GROUP"


async def test_an_invitation_accepted_many_times_at_once_is_accepted_once(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    rui = await a_person(database)
    token = await an_invitation(site, superuser, club, ana, rui.email)
    answers = await asyncio.gather(*(said_yes(site, rui, token) for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404, 404, 404]
    assert len(await facts_of(superuser, club, "organization.member_changed")) == 1
