"""For which organisation a request speaks, and whether its caller may, through the real authority (ORG-014, ORG-015)."""

from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import TableAuthority
from admitone.kernel.config import Config
from admitone.kernel.contracts import Audience, Call, Contract, Example, Wire
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.manifest import Module
from tests.foundation.organizations.clubs import trail_of
from tests.people import Person, a_person, an_organization_of


class Here(Wire):
    organization: OrganizationId | None


def probes() -> tuple[Contract, Contract]:
    """One that names its organisation in the path, and one that does not."""
    given = {
        "version": "1.0.0",
        "owner": "probe",
        "consumers": ("tests",),
        "summary": "Where am I?",
        "gives": Here,
        "audience": Audience.ORGANIZATION,
        "permission": "EVENTS_R",
        "order_key": "none",
        "examples": (Example("here", gives=Here(organization=PLATFORM_ORGANIZATION)),),
    }
    path = Contract(id="PROBE.PATH", get="/api/org/{organizationId}/probe", **given)  # type: ignore[arg-type]
    plain = Contract(id="PROBE.PLAIN", get="/api/probe", **given)  # type: ignore[arg-type]

    async def where(call: Call) -> Here:
        return Here(organization=call.organization)

    for contract in (path, plain):
        contract.serves(where)
    return path, plain


@pytest.fixture(scope="module")
async def probe(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    surroundings = {"DATABASE_URL": database_url, "ADMITONE_DATA": str(tmp_path_factory.mktemp("home"))}
    module = Module(name="probe", contracts=probes(), permissions=("EVENTS_R",))
    probed = assemble(Config.load(surroundings), [*MODULES, module], TableAuthority(), strict=True)
    await probed.start()
    transport = httpx.ASGITransport(probed.edge, client=("203.0.113.77", 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
        yield client
    await probed.close()


async def a_club(database: Database) -> tuple[Person, OrganizationId]:
    ana = await a_person(database)
    return ana, await an_organization_of(database, ana)


@pytest.mark.covers("ORG-014")
async def test_each_source_alone_says_for_which_organization(probe: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    for url, headers in (
        (f"/api/org/{club}/probe", {}),
        (f"/api/probe?organizationId={club}", {}),
        ("/api/probe", {"x-orya-org-id": str(club)}),
        ("/api/probe", {"X-ORYA-ORG-ID": str(club)}),
        (f"/api/org/{club}/probe?organizationId={club}", {"x-orya-org-id": str(club)}),
    ):
        answer = await probe.get(url, headers={**ana.headers, **headers})
        assert (answer.status_code, answer.json()) == (200, {"organization": str(club)})


@pytest.mark.covers("ORG-014", "TEN-T09")
async def test_sources_that_disagree_are_refused_and_remembered_also_when_one_may_in_both(
    probe: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    other = await an_organization_of(database, ana)
    for url, headers in (
        (f"/api/org/{club}/probe?organizationId={other}", {}),
        (f"/api/org/{club}/probe", {"x-orya-org-id": str(other)}),
        (f"/api/probe?organizationId={club}", {"x-orya-org-id": str(other)}),
        (f"/api/probe?organizationId={club}&organizationId={other}", {}),
    ):
        correlation = {"x-correlation-id": str(OrganizationId.new().uuid)}
        refused = await probe.get(url, headers={**ana.headers, **headers, **correlation})
        assert (refused.status_code, refused.json()["errorCode"]) == (403, "ORG_CONTEXT_REQUIRED")
        entries = await trail_of(superuser, PLATFORM_ORGANIZATION, "refused")
        assert str(entries[-1]["correlation_id"]) == correlation["x-correlation-id"]


@pytest.mark.covers("ORG-014", "ORG-015")
@pytest.mark.parametrize("stale", ["x-org-id", "cookie", "nothing"])
async def test_what_no_longer_counts_says_nothing(probe: httpx.AsyncClient, database: Database, stale: str):
    ana, club = await a_club(database)
    given = {
        "x-org-id": {"x-org-id": str(club)},
        "cookie": {"cookie": f"organizationId={club}; lastUsedOrg={club}; x-orya-org-id={club}"},
        "nothing": {},
    }[stale]
    refused = await probe.get("/api/probe", headers={**ana.headers, **given})
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "ORG_CONTEXT_REQUIRED")


@pytest.mark.covers("ORG-023", "TEN-T08")
async def test_naming_another_organization_gives_nobody_anything_there(probe: httpx.AsyncClient, database: Database):
    ana, _ = await a_club(database)
    _, other = await a_club(database)
    for url, headers in (
        (f"/api/org/{other}/probe", {}),
        (f"/api/probe?organizationId={other}", {}),
        ("/api/probe", {"x-orya-org-id": str(other)}),
    ):
        refused = await probe.get(url, headers={**ana.headers, **headers})
        assert (refused.status_code, refused.json()["errorCode"]) == (403, "PERMISSION_DENIED")
