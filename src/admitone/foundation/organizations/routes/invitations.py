"""Invitations: ask somebody to join, take it back, say yes."""

from datetime import datetime
from typing import Final
from uuid import UUID

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Level, MemberRole, RolePack, covers
from admitone.foundation.identity.api import InvalidEmail, email_hashes, list_profiles, normalise_email
from admitone.foundation.organizations.commands.invitations import TOKEN, accept, invite, revoke
from admitone.foundation.organizations.errors import (
    AlreadyInvited,
    AlreadyMember,
    GrantNotAllowed,
    InvitationExpired,
    InvitationNotFound,
    InvitationOfAnother,
    OrganizationNotFound,
)
from admitone.foundation.organizations.model import (
    Answer,
    Invitation,
    InvitationId,
    InvitationState,
    Invite,
    Revocation,
)
from admitone.foundation.organizations.queries import ACROSS, LAST, PEOPLE
from admitone.foundation.organizations.routes.official_email import Token
from admitone.foundation.organizations.routes.organizations import group_of
from admitone.foundation.organizations.routes.team import (
    DESK,
    GRANT_REFUSALS,
    Grant,
    MembershipAnswer,
    in_group,
    instead_of,
)
from admitone.foundation.organizations.routes.wires import (
    SOME,
    SOMEBODY,
    TEAM_R,
    TEAM_RW,
    THEN,
    Email,
    count_letter,
    here,
    me,
)
from admitone.foundation.organizations.store import invitations as store
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    IdempotencyKey,
    Instant,
    Page,
    PageRequest,
    Wire,
    page_of,
)
from admitone.kernel.crypto import MalformedSecret, Secret, read_secret
from admitone.kernel.figures import INVITE_PER_ADDRESS, INVITE_PER_DEVICE
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import Scope

INVITATIONS_PER_ORGANIZATION: Final = Limit("organizations.invitations", 100, 86_400, Per.ORGANIZATION)
SOME_INVITATION: Final = InvitationId.parse("inv_0198c9a40000700080000000000000ac")


class InvitationAnswer(Wire):
    id: InvitationId
    email: str | None
    """While it is pending, and whole only for those who may invite."""
    level: Level
    membership: MembershipAnswer
    state: InvitationState
    invited_by: IdentityId
    created_at: Instant
    expires_at: Instant


SHOWN: Final = InvitationAnswer(
    id=SOME_INVITATION,
    email="ana@example.org",
    level=Level.GROUP,
    membership=DESK,
    state=InvitationState.PENDING,
    invited_by=SOMEBODY,
    created_at=THEN,
    expires_at=THEN,
)


invitations = Contract(
    id="TEAM.05",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Who was invited, the newest first.",
    get="/api/org/{organizationId}/invitations",
    takes=PageRequest,
    gives=Page[InvitationAnswer],
    audience=Audience.ORGANIZATION,
    permission=TEAM_R,
    order_key="time, newest first",
    examples=(Example("one", takes=PageRequest(limit=1), gives=Page(items=[SHOWN], next_cursor=None)),),
)


@invitations.serves
async def list_invited(call: Call, request: PageRequest) -> Page[InvitationAnswer]:
    (after,) = request.after(tuple[UUID]) or (LAST,)
    found, now = await call.read(store.list_invitations, after, request.limit + 1)
    may_invite = covers(await call.read(authority.find_scopes, here(call), me(call), scope=ACROSS), TEAM_RW)

    def shown(each: Invitation) -> InvitationAnswer:
        given = MembershipAnswer.of(each.membership)
        assert given is not None
        return InvitationAnswer(
            id=each.id,
            email=_told(each, now) if may_invite else masked(_told(each, now)),
            level=each.membership.level,
            membership=given,
            state=each.state_at(now),
            invited_by=each.invited_by,
            created_at=each.created_at,
            expires_at=each.expires_at,
        )

    return page_of([shown(each) for each in found], request.limit, key=lambda answer: (answer.id.uuid,))


def _told(invitation: Invitation, now: datetime) -> str | None:
    return invitation.email if invitation.state_at(now) is InvitationState.PENDING else None


def masked(email: str | None) -> str | None:
    """Enough to recognise whom one knows."""
    if email is None:
        return None
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}***@{domain}"


class InviteRequest(Grant, kw_only=True):
    email: Email
    idempotency_key: IdempotencyKey


class InvitedAnswer(Wire):
    id: InvitationId
    expires_at: Instant


ask = Contract(
    id="TEAM.06",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Invite somebody by e-mail: into the whole group, or into this branch.",
    post="/api/org/{organizationId}/invitations",
    takes=InviteRequest,
    gives=InvitedAnswer,
    refuses=(*GRANT_REFUSALS, InvalidEmail, AlreadyInvited),
    status=201,
    audience=Audience.ORGANIZATION,
    permission=TEAM_RW,
    limits=(INVITATIONS_PER_ORGANIZATION,),
    verified_only=True,
    idempotent_by="idempotencyKey",
    order_key="email",
    examples=(
        Example(
            "front desk",
            takes=InviteRequest(
                email="ana@example.org",
                role=MemberRole.STAFF,
                pack=RolePack.FRONT_DESK,
                idempotency_key="invite-ana-1",
            ),
            gives=InvitedAnswer(id=SOME_INVITATION, expires_at=THEN),
        ),
    ),
)


@ask.serves
async def send(call: Call, request: InviteRequest) -> InvitedAnswer:
    group = await group_of(call)
    wanted = Invite(
        call.caller,
        normalise_email(request.email),
        await request.membership(call, group),
        await in_group(call, group, here(call), [me(call)]),
        await instead_of(call, group, me(call)) if group == here(call) else {},
    )
    await count_letter(call, wanted.email)
    invited = await call.batch(invite, wanted)
    return InvitedAnswer(id=invited.id, expires_at=invited.expires_at)


class RevokeRequest(Wire):
    invitation: InvitationId


take_back = Contract(
    id="TEAM.07",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Take back an invitation that nobody has answered.",
    delete="/api/org/{organizationId}/invitations/{invitation}",
    takes=RevokeRequest,
    refuses=(InvitationNotFound, GrantNotAllowed, OrganizationNotFound),
    audience=Audience.ORGANIZATION,
    permission=TEAM_RW,
    repeats="what was taken back is not found any more",
    order_key="invitation",
    examples=(Example("taken back", takes=RevokeRequest(invitation=SOME_INVITATION)),),
)


@take_back.serves
async def withdraw(call: Call, request: RevokeRequest) -> None:
    standing = await in_group(call, await group_of(call), here(call), [me(call)])
    await call.batch(revoke, Revocation(call.caller, request.invitation, standing))


class AcceptRequest(Wire):
    token: Token


class JoinedAnswer(Wire):
    organization: OrganizationId
    level: Level
    membership: MembershipAnswer


say_yes = Contract(
    id="TEAM.08",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Say yes to an invitation, signed in with the address to which it was sent.",
    post="/api/invitations/accept",
    takes=AcceptRequest,
    gives=JoinedAnswer,
    refuses=(InvitationNotFound, InvitationExpired, InvitationOfAnother, AlreadyMember),
    audience=Audience.PERSON,
    limits=(INVITE_PER_ADDRESS, INVITE_PER_DEVICE),
    verified_only=True,
    repeats="an invitation is good for one yes",
    order_key="none",
    examples=(
        Example(
            "joined",
            takes=AcceptRequest(token=f"{TOKEN}_{SOME.uuid.hex}_{'0' * 40}"),
            gives=JoinedAnswer(organization=SOME, level=Level.GROUP, membership=DESK),
        ),
    ),
)


@say_yes.serves
async def join(call: Call, request: AcceptRequest) -> JoinedAnswer:
    secret = presented(request.token)
    assert secret.organization is not None
    scope = Scope(secret.organization, "accept an invitation")
    group = await call.read(authority.find_group, scope=scope)
    inviter = await call.read(store.find_inviter, secret.digest, scope=scope)
    profiles = await call.read(list_profiles, [me(call)], scope=PEOPLE)
    if group is None or inviter is None or me(call) not in profiles:
        raise InvitationNotFound
    hashes = frozenset(each.digest for each in email_hashes(profiles[me(call)].email))
    mother = OrganizationId(group)
    if mother == secret.organization:
        answer = Answer(call.caller, secret.digest, hashes, inviter, {}, await instead_of(call, mother, inviter))
    else:
        standing = await in_group(call, mother, secret.organization, [me(call), inviter])
        answer = Answer(call.caller, secret.digest, hashes, inviter, standing)
    joined = await call.batch(accept, answer, scope=scope)
    given = MembershipAnswer.of(joined.membership)
    assert given is not None
    return JoinedAnswer(organization=joined.organization, level=joined.membership.level, membership=given)


def presented(token: str) -> Secret:
    """A token that has our form. Whether it is one shows when its digest is found."""
    try:
        secret = read_secret(token)
    except MalformedSecret:
        raise InvitationNotFound from None
    if secret.kind != TOKEN or secret.organization is None:
        raise InvitationNotFound
    return secret


CONTRACTS = (invitations, ask, take_back, say_yes)
