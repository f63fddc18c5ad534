"""The team as a table, with addresses: for whoever proved a moment ago that it is them, and says why (ORG-024)."""

from collections.abc import AsyncIterator, Sequence

from admitone.foundation.identity.api import Profile, list_profiles
from admitone.foundation.organizations import queries
from admitone.foundation.organizations.commands.exporting import Export, note_exports
from admitone.foundation.organizations.errors import OrganizationNotFound
from admitone.foundation.organizations.queries import ACROSS, FIRST, PEOPLE, Member
from admitone.foundation.organizations.routes.organizations import group_of
from admitone.foundation.organizations.routes.team import level_of
from admitone.foundation.organizations.routes.wires import TEAM_RW, here
from admitone.kernel.contracts import Audience, Call, Contract, Example, ReasonCode, Stream, Wire, Writes
from admitone.kernel.ids import OrganizationId
from admitone.kernel.tables import NOTHING, row_of

ROWS = 100
HEADINGS = ("identity", "name", "email", "role", "pack", "scopes", "level")


class ExportRequest(Wire):
    reason_code: ReasonCode


export = Contract(
    id="TEAM.09",
    version="1.0.0",
    owner="organizations",
    consumers=("web",),
    summary="The members with their names and addresses, as CSV.",
    post="/api/org/{organizationId}/members/export",
    takes=ExportRequest,
    writes=Writes.STREAM,
    refuses=(OrganizationNotFound,),
    audience=Audience.ORGANIZATION,
    permission=TEAM_RW,
    verified_only=True,
    step_up=True,
    repeats="every export is written down",
    order_key="identity",
    examples=(Example("For the accountant", takes=ExportRequest(reason_code="ACCOUNTANT_ASKED")),),
)


@export.serves
async def download(call: Call, request: ExportRequest) -> Stream:
    group = await group_of(call)
    await call.batch(note_exports, Export(call.caller, request.reason_code))
    return Stream(lines(call, group), download_name="members.csv")


async def lines(call: Call, group: OrganizationId) -> AsyncIterator[str]:
    yield row_of(HEADINGS)
    after, level = FIRST, level_of(call, group)
    while team := await call.read(queries.list_team, group, here(call), after, ROWS, scope=ACROSS):
        after = team[-1].identity.uuid
        there = [member for member in team if queries.belongs(member, level)]
        profiles = await call.read(list_profiles, [member.identity for member in there], scope=PEOPLE)
        yield "".join(row_of(row(member, profiles.get(member.identity))) for member in there)


def row(member: Member, profile: Profile | None) -> Sequence[str]:
    """What they are here, all in all, as the list of members says it."""
    known = member.effective
    name, email = (profile.display_name or "", profile.email) if profile else ("", "")
    if known is None:  # Kept out, or limited to other branches.
        return str(member.identity), name, email, NOTHING, "", "", ""
    return str(member.identity), name, email, known.role, known.pack or "", " ".join(known.scopes), known.level


CONTRACTS = (export,)
