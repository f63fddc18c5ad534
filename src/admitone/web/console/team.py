"""The team: who is what here, whom one invites, and what a role may.

Promise: whoever takes somebody out sees first what that person loses, and then says so.
"""

from dataclasses import replace
from typing import Final

import msgspec

from admitone.foundation.authority.api import PACKS, ROLE_SCOPES, MemberRole, RolePack
from admitone.foundation.organizations.api import MemberNotFound, TeamTooLarge
from admitone.foundation.organizations.routes import exporting, invitations, team
from admitone.foundation.organizations.routes.exporting import ExportRequest
from admitone.foundation.organizations.routes.invitations import InviteRequest, RevokeRequest
from admitone.foundation.organizations.routes.team import ChangeRequest, MemberAnswer, MemberRequest, MembersRequest
from admitone.kernel.contracts import Audience, Call, Html, Page, PageRequest, Reads, Redirect, Stream, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.web.console import desk
from admitone.web.console.place import Place, enter, show_in
from admitone.web.form import Form, Typed, filled
from admitone.web.lists import Listing, ListPage, link
from admitone.web.page import page
from admitone.web.roles import ROLE_WORDS

TAB: Final = "team"
MOST: Final = 100
PACK_WORDS: Final[dict[str, str]] = {
    "CLUB_MANAGER": "Club manager",
    "TOURNAMENT_DIRECTOR": "Tournament director",
    "FRONT_DESK": "Front desk",
    "COACH": "Coach",
    "REFEREE": "Referee",
}
INVITATION_WORDS: Final[dict[str, str]] = {
    "PENDING": "Waiting",
    "ACCEPTED": "Accepted",
    "REVOKED": "Withdrawn",
    "EXPIRED": "Expired",
}
INVITATIONS: Final = desk.States(
    INVITATION_WORDS, {"PENDING": "waiting", "ACCEPTED": "good", "REVOKED": "bad", "EXPIRED": "plain"}
)
AREA_WORDS: Final[dict[str, str]] = {
    "EVENTS": "Events",
    "PADEL": "Padel",
    "RESERVAS": "Reservations",
    "FINANCE": "Finance",
    "CRM": "Customers",
    "SHOP": "Shop",
    "TEAM": "Team",
    "SETTINGS": "Settings",
    "CHECKIN": "Check-in",
}
EXPORT_WORDS: Final[dict[str, str]] = {
    "ACCOUNTANT_ASKED": "The accountant asked",
    "SAFETY": "For their safety",
    "INTERNAL_AUDIT": "Internal audit",
}
"""Why names and addresses of the team are taken away."""
TEAM_ORDER_WORDS: Final[dict[str, str]] = {
    "NAME": "By name",
    "ROLE": "By role",
    "ID": "As they became known here",
}
PART_WORDS: Final[dict[str, str]] = {"matches": "matches", "live": "live results"}
"""Parts of an area."""
LEVEL_WORDS: Final[dict[str, str]] = {"R": "sees", "RW": "sees and changes", "*": "everything"}


class TeamPage(ListPage, kw_only=True):
    organization_id: OrganizationId
    search: Typed = ""
    role: Typed = ""
    invited: Typed = ""
    """Where the list of invitations goes on."""


class InviteForm(Wire):
    organization_id: OrganizationId
    email: Typed = ""
    grant: Typed = ""
    key: Typed = ""


class ExportForm(Wire):
    organization_id: OrganizationId
    reason_code: Typed = ""


class MemberPage(Wire):
    organization_id: OrganizationId
    identity: IdentityId


class LeavingPage(MemberPage, kw_only=True):
    deed: Typed = ""


class MemberForm(MemberPage, kw_only=True):
    grant: Typed = ""


class RevokeForm(Wire):
    organization_id: OrganizationId
    invitation: Typed


team_page = page(
    "ORG.TEAM", "Who is what here.", get="/org/{organizationId}/team", takes=TeamPage, audience=Audience.PERSON
)
invite = page(
    "ORG.TEAM.INVITE",
    "Invite somebody by e-mail.",
    post="/org/{organizationId}/team",
    takes=InviteForm,
    audience=Audience.PERSON,
)
export = page(
    "ORG.TEAM.EXPORT",
    "Take away who is what here, with names and addresses.",
    post="/org/{organizationId}/members/export",
    takes=ExportForm,
    audience=Audience.PERSON,
)
member_page = page(
    "ORG.MEMBER",
    "One member: what they are, what that allows, and changing it.",
    get="/org/{organizationId}/team/{identity}",
    takes=MemberPage,
    audience=Audience.PERSON,
)
change = page(
    "ORG.MEMBER.CHANGE",
    "Make a member something else.",
    post="/org/{organizationId}/team/{identity}",
    takes=MemberForm,
    audience=Audience.PERSON,
)
remove_page = page(
    "ORG.MEMBER.REMOVE.LOOK",
    "What somebody loses who is taken out of the team, or kept out of this branch.",
    get="/org/{organizationId}/team/{identity}/remove",
    takes=LeavingPage,
    audience=Audience.PERSON,
)
remove = page(
    "ORG.MEMBER.REMOVE",
    "Take somebody out of the team.",
    post="/org/{organizationId}/team/{identity}/remove",
    reads=Reads.NOTHING,
    takes=MemberPage,
    audience=Audience.PERSON,
)
deny = page(
    "ORG.MEMBER.DENY",
    "Keep a member of the group out of this branch.",
    post="/org/{organizationId}/team/{identity}/deny",
    reads=Reads.NOTHING,
    takes=MemberPage,
    audience=Audience.PERSON,
)
revoke = page(
    "ORG.TEAM.REVOKE",
    "Take back an invitation.",
    post="/org/{organizationId}/invitations/{invitation}/revoke",
    reads=Reads.NOTHING,
    takes=RevokeForm,
    audience=Audience.PERSON,
)


@team_page.serves
async def show_team(call: Call, request: TeamPage) -> Html:
    return await _team(call, request, _blank())


def _blank() -> Form:
    return Form({"key": desk.new_key(), "grant": "STAFF"})


async def _team(call: Call, request: TeamPage, form: Form) -> Html:
    place = await enter(call, request.organization_id)
    members, listing = await _members(call, place, request)
    invited = await call.ask(
        invitations.invitations, filled(PageRequest, cursor=request.invited, limit="20"), organization=place.id
    )
    return show_in(
        call,
        place,
        TAB,
        "console/team.html",
        status=form.status,
        form=form,
        members=members.items,
        listing=listing,
        looked_for=Form.of(request),
        invited=invited.items,
        more_invited=invited.next_cursor and link(place.path(TAB), invited=invited.next_cursor),
        states=INVITATIONS,
        zone=place.zone,
        reasons=EXPORT_WORDS,
        **_words(),
    )


def _words() -> dict[str, object]:
    return {
        "roles": ROLE_WORDS,
        "packs": PACK_WORDS,
        "areas": AREA_WORDS,
        "levels": LEVEL_WORDS,
        "parts": PART_WORDS,
        "grants": _grants(),
        "allowed": {role: _told(ROLE_SCOPES[role]) for role in MemberRole}
        | {pack: _told(scopes) for pack, (_, scopes) in PACKS.items()},
    }


def _grants() -> list[tuple[str, str, str]]:
    """Every role, and every pack with the role that it comes with: (value, role, pack)."""
    plain = [(role.value, role.value, "") for role in MemberRole]
    return plain + [(f"{PACKS[pack][0].value}/{pack.value}", PACKS[pack][0].value, pack.value) for pack in RolePack]


def _told(scopes: frozenset[str]) -> list[tuple[str, str, str]]:
    """(Area, part of it, level), as in EVENTS_RW or PADEL_MATCHES_RW."""
    parts = [scope.split("_") for scope in sorted(scopes)]
    return [(area, " ".join(between).lower(), level) for area, *between, level in parts]


def _grant_of(typed: str) -> dict[str, str]:
    role, _, pack = typed.partition("/")
    return {"role": role, "pack": pack}


@invite.serves
async def send_invitation(call: Call, form: InviteForm) -> Html | Redirect:
    try:
        asked = filled(InviteRequest, email=form.email.strip(), idempotency_key=form.key, **_grant_of(form.grant))
        await call.ask(invitations.ask, asked, organization=form.organization_id)
    except Refusal as refusal:
        return await _team(call, TeamPage(organization_id=form.organization_id), desk.refused(call, form, refusal))
    return Redirect(f"/org/{form.organization_id}/team#invitations")


@export.serves
async def take_away(call: Call, form: ExportForm) -> Html | Stream:
    try:
        asked = filled(ExportRequest, reason_code=form.reason_code)
        taken: Stream = await call.ask(exporting.export, asked, organization=form.organization_id)
    except Refusal as refusal:
        refused = desk.refused(call, form, refusal)
        said = replace(refused, typed={**_blank().typed, "reasonCode": form.reason_code})
        return await _team(call, TeamPage(organization_id=form.organization_id), said)
    return taken


@revoke.serves
async def take_back(call: Call, form: RevokeForm) -> Redirect:
    asked = filled(RevokeRequest, invitation=form.invitation)
    await call.ask(invitations.take_back, asked, organization=form.organization_id)
    return Redirect(f"/org/{form.organization_id}/team#invitations")


@member_page.serves
async def show_member(call: Call, request: MemberPage) -> Html:
    return await _member(call, request, None)


async def _member(call: Call, request: MemberPage, form: Form | None) -> Html:
    place = await enter(call, request.organization_id)
    found = await _find(call, place, request.identity)
    now = found.is_now
    grant = f"{now.role}/{now.pack}" if now and now.pack else now.role if now else ""
    shown = form or Form({"grant": grant})
    return show_in(
        call, place, TAB, "console/member.html", status=shown.status, form=shown, member=found, grant=grant, **_words()
    )


async def _members(call: Call, place: Place, request: TeamPage) -> tuple[Page[MemberAnswer], Listing]:
    """By name unless somebody says otherwise; a team that is too large for that is read as it is."""

    async def ask(wanted: TeamPage) -> Page[MemberAnswer]:
        order = wanted.order_among(TEAM_ORDER_WORDS)
        words = {"search": wanted.search.strip()[:100], "role": wanted.role if wanted.role in ROLE_WORDS else ""}
        asked = filled(MembersRequest, **words, order=order, cursor=wanted.cursor)
        found: Page[MemberAnswer] = await call.ask(team.members, asked, organization=place.id)
        return found

    try:
        found = await ask(request)
    except TeamTooLarge:
        request = msgspec.structs.replace(request, order="ID", cursor="")
        found = await ask(request)
    return found, Listing.of(request, place.path(TAB), TEAM_ORDER_WORDS, found)


async def _find(call: Call, place: Place, who: IdentityId) -> MemberAnswer:
    """Read on until they are found: lists are short, and there is no other way to ask for one."""
    cursor: str | None = None
    while True:
        found = await call.ask(team.members, MembersRequest(cursor=cursor, limit=MOST), organization=place.id)
        for each in found.items:
            if each.identity == who:
                one: MemberAnswer = each
                return one
        if found.next_cursor is None:
            raise MemberNotFound
        cursor = found.next_cursor


@change.serves
async def change_member(call: Call, form: MemberForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        asked = filled(ChangeRequest, identity=form.identity, **_grant_of(form.grant))
        await call.ask(team.change, asked, organization=place.id)
    except Refusal as refusal:
        return await _member(call, form, desk.refused(call, form, refusal))
    return Redirect(place.path(TAB))


@remove_page.serves
async def show_leaving(call: Call, request: LeavingPage) -> Html:
    return await _leaving(call, request, "deny" if request.deed == "deny" else "remove", Form())


async def _leaving(call: Call, request: MemberPage, deed: str, form: Form) -> Html:
    """What would be done, before it is."""
    place = await enter(call, request.organization_id)
    member = await _find(call, place, request.identity)
    shown = {"form": form, "member": member, "deed": deed, **_words()}
    return show_in(call, place, TAB, "console/member-leaving.html", status=form.status, **shown)


@remove.serves
async def remove_member(call: Call, form: MemberPage) -> Html | Redirect:
    try:
        await call.ask(team.remove, MemberRequest(identity=form.identity), organization=form.organization_id)
    except Refusal as refusal:
        return await _leaving(call, form, "remove", desk.refused(call, form, refusal))
    return Redirect(f"/org/{form.organization_id}/team")


@deny.serves
async def keep_out(call: Call, form: MemberPage) -> Html | Redirect:
    try:
        await call.ask(team.deny, MemberRequest(identity=form.identity), organization=form.organization_id)
    except Refusal as refusal:
        return await _leaving(call, form, "deny", desk.refused(call, form, refusal))
    return Redirect(f"/org/{form.organization_id}/team")


CONTRACTS: Final = (
    team_page,
    invite,
    export,
    member_page,
    change,
    remove_page,
    remove,
    deny,
    revoke,
)
