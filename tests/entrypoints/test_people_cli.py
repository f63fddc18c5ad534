"""People and organisations on the command line, as an operator has them, and the demonstration."""

import asyncpg
import pytest

from admitone.entrypoints import demo
from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Level, MemberRole, Membership, RolePack
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId, OrganizationId, uuid7
from admitone.kernel.scope import Scope
from tests.entrypoints.operator import Operator
from tests.people import a_branch_of, a_person

MEMBERS = "SELECT role, pack FROM authority.group_member WHERE organization_id = $1 ORDER BY role, pack"
AUDITED = "SELECT count(*) FROM kernel.audit_entry WHERE organization_id = $1 AND action = $2"


def an_address() -> str:
    return f"{uuid7().hex}@example.org"


async def test_an_organisation_is_founded_staffed_and_invites(
    operator: Operator, superuser: asyncpg.Connection
) -> None:
    owner, desk = an_address(), an_address()
    status, said = await operator.types("person", "create", owner, "--verified", "--name", "Ana", "--no-password")
    assert status == 0 and said.startswith("idn_"), said
    status, _ = await operator.types("person", "create", desk, "--no-password")
    assert status == 0
    status, said = await operator.types("organization", "create", "Clube Novo", "--owner", owner)
    assert status == 0 and said.startswith("org_"), said
    club = said.strip()
    grant = ("organization", "grant", club, desk, "--role", "STAFF", "--pack", "FRONT_DESK")
    assert await operator.types(*grant) == (0, f"{desk} is FRONT_DESK of {club}.\n")
    invited = an_address()
    status, said = await operator.types("organization", "invite", club, invited, "--role", "ADMIN", "--by", owner)
    assert status == 0 and said.startswith(f"{invited} is invited until "), said

    uuid = OrganizationId.parse(club).uuid
    rows = [(row["role"], row["pack"]) for row in await superuser.fetch(MEMBERS, uuid)]
    assert rows == [("OWNER", None), ("STAFF", "FRONT_DESK")]
    assert await superuser.fetchval(AUDITED, uuid, "organization.change_member") == 1
    assert await superuser.fetchval(AUDITED, uuid, "organization.invite") == 1


async def test_an_operator_takes_somebody_out_of_a_group_its_branches_and_the_platform(
    operator: Operator, database: Database, superuser: asyncpg.Connection
) -> None:
    owner, gone = an_address(), an_address()
    for each in (owner, gone):
        await operator.types("person", "create", each, "--no-password")
    _, said = await operator.types("organization", "create", "Clube", "--owner", owner)
    club = OrganizationId.parse(said.strip())
    branch = await a_branch_of(database, club)
    for place in (str(club), "platform"):
        await operator.types("organization", "grant", place, gone, "--role", "ADMIN")
    who = await superuser.fetchval(
        "SELECT identity_id FROM authority.group_member WHERE organization_id = $1 AND role = 'ADMIN'", club.uuid
    )
    instead = {who: Membership(MemberRole.VIEWER, level=Level.BRANCH)}
    await database.run(Scope(branch), lambda tx: authority.put_overrides(tx, instead))
    for place in (str(club), "platform"):
        status, said = await operator.types("organization", "remove", place, gone)
        assert status == 0 and said.startswith(f"{gone} is nobody in "), said
    assert await superuser.fetchval("SELECT count(*) FROM authority.group_member WHERE identity_id = $1", who) == 0
    assert await superuser.fetchval("SELECT count(*) FROM authority.member_override WHERE identity_id = $1", who) == 0
    assert await superuser.fetchval(AUDITED, club.uuid, "organization.change_member") == 2
    status, said = await operator.types("organization", "invite", "platform", gone, "--role", "ADMIN", "--by", owner)
    assert status == 1 and "grant platform" in said
    status, said = await operator.types("organization", "remove", str(club), owner)
    assert status == 1 and "at least one owner" in said


async def test_an_operator_sees_who_has_an_address_and_where_they_are_members(operator: Operator) -> None:
    ana = an_address()
    _, said = await operator.types("person", "create", ana, "--verified", "--name", "Ana", "--no-password")
    identity = said.strip()
    _, said = await operator.types("organization", "create", "Clube", "--owner", ana)
    club = said.strip()
    status, said = await operator.types("person", "show", f" {ana.upper()}")
    lines = said.splitlines()
    assert status == 0 and lines[0] == identity and lines[-1] == f"Member    {club} OWNER", said
    assert lines[1].startswith("Since     20") and lines[2].startswith("Verified  20") and len(lines) == 4
    assert "Ana" not in said and "Clube" not in said
    another = an_address()
    await operator.types("person", "create", another, "--no-password")
    assert (await operator.types("person", "show", another))[1].endswith("Verified  no\n")
    for word in ("show", "sign-out"):
        status, said = await operator.types("person", word, an_address())
        assert status == 1 and said.count("\n") == 1 and "has no account" in said


async def test_an_operator_signs_somebody_out_everywhere_and_the_trail_knows(
    operator: Operator, database: Database, superuser: asyncpg.Connection
) -> None:
    email = an_address()
    _, said = await operator.types("person", "create", email, "--no-password")
    people = [await a_person(database, identity=IdentityId.parse(said.strip())), await a_person(database)]
    ana = await a_person(database, identity=people[0].identity)
    status, said = await operator.types("person", "sign-out", email, "--reason", "ACCOUNT_TAKEOVER")
    assert (status, said) == (0, f"{ana.identity} is signed out: 2 sessions ended.\n")
    ended = "SELECT end_reason FROM authority.session WHERE identity_id = $1"
    reasons = [[row["end_reason"] for row in await superuser.fetch(ended, each.identity.uuid)] for each in people]
    assert reasons == [["SUSPENDED"] * 2, [None]]
    trail = "SELECT action, reason_code, after FROM kernel.audit_entry WHERE subject = $1"
    entry = ("identity.sign_out", "ACCOUNT_TAKEOVER", '{"sessions": 2}')
    assert [tuple(row) for row in await superuser.fetch(trail, str(ana.identity))] == [entry]


async def test_a_password_is_asked_for_twice_and_must_be_good(operator: Operator) -> None:
    status, said = await operator.types("person", "create", an_address(), typed="short\nshort\n")
    assert status == 1 and "too easy to guess" in said and "Traceback" not in said
    status, said = await operator.types(
        "person", "create", an_address(), typed="three brave otters\nthree brave otters\n"
    )
    assert status == 0, said


async def test_what_cannot_be_is_one_sentence(operator: Operator) -> None:
    owner = an_address()
    await operator.types("person", "create", owner, "--no-password")
    _, said = await operator.types("organization", "create", "Clube", "--owner", owner)
    club = said.strip()
    for words in (
        ("person", "create", "no address", "--no-password"),
        ("person", "create", an_address(), "--no-password", "--name", " \u202e"),
        ("organization", "create", "Clube", "--owner", an_address()),
        ("organization", "grant", club, an_address(), "--role", "STAFF"),
        ("organization", "grant", club, owner, "--role", "STAFF"),
        ("organization", "grant", club, owner, "--role", "OWNER", "--pack", "COACH"),
        ("organization", "grant", "org_x", owner, "--role", "STAFF"),
        ("organization", "invite", club, an_address(), "--role", "STAFF", "--by", an_address()),
        ("organization", "invite", "platform", an_address(), "--role", "STAFF", "--by", owner),
        ("organization", "remove", club, owner),
        ("organization", "remove", club, an_address()),
        ("organization", "remove", "platform", owner),
    ):
        status, said = await operator.types(*words)
        assert status == 1 and "Traceback" not in said and said.count("\n") == 1, said


@pytest.mark.parametrize(
    "surroundings",
    [
        {},
        {"DATABASE_URL": "", "ADMITONE_HOST": "0.0.0.0"},
        {"DATABASE_URL": "", "TRUSTED_PROXIES": "127.0.0.1"},
        {"DATABASE_URL": "", "PUBLIC_URL": "https://tickets.example.org"},
    ],
    ids=["a database that was named", "an open address", "a proxy", "a public address"],
)
async def test_there_is_no_demonstration_where_others_could_reach_it(
    operator: Operator, surroundings: dict[str, str]
) -> None:
    """Everybody knows its password."""
    status, said = await operator.types("seed", **surroundings)
    assert status == 1 and said.startswith("This is for a person's own machine") and said.count("\n") == 1, said


@pytest.mark.parametrize("command", ["run", "serve", "worker"])
async def test_where_others_reach_us_nothing_starts_without_a_mail_server(operator: Operator, command: str) -> None:
    status, said = await operator.types(command, ADMITONE_HOST="0.0.0.0", PORT="1")
    assert status == 1 and "SMTP_URL is missing" in said and "Traceback" not in said, said


@pytest.mark.covers("ORG-020", "ORG-022")
async def test_the_demonstration_has_everybody() -> None:
    for house in demo.ORGANIZATIONS:
        staff = demo.staff_of(house)
        assert {each.role for each in staff.values() if each.pack is None} == set(MemberRole)
        assert {each.pack for each in staff.values() if each.pack} == set(RolePack)
