"""Invitations: nobody becomes a member without having said yes, from the address that was meant.

Promise: what may be given is asked when somebody is invited, and once more when they say yes: an invitation is worth
no more than whoever made it may still give. Rows are held in the order members, then invitations.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Membership
from admitone.foundation.identity.api import email_hashes
from admitone.foundation.mail import api as mail
from admitone.foundation.mail.api import Letter, Template
from admitone.foundation.organizations.commands.team import entry_of, fact_of, told, write_branch, write_group
from admitone.foundation.organizations.errors import (
    AlreadyInvited,
    AlreadyMember,
    InvitationExpired,
    InvitationNotFound,
    InvitationOfAnother,
)
from admitone.foundation.organizations.handlers import expire_invitations
from admitone.foundation.organizations.model import (
    INVITATION_LASTS,
    Answer,
    Changed,
    Due,
    InvitationId,
    InvitationState,
    Invite,
    Invited,
    Joined,
    Organization,
    Revocation,
)
from admitone.foundation.organizations.policy import ROLE_WORDS, Branch, Group, why_not_change, why_not_invite
from admitone.foundation.organizations.store import invitations as store
from admitone.foundation.organizations.store.invitations import Held, NewInvitation
from admitone.foundation.organizations.store.organizations import get_organization
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.crypto import new_secret
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.jobs import Job, enqueue
from admitone.kernel.scope import Caller
from admitone.kernel.words import Words

TOKEN = "invite"  # noqa: S105, the kind of the secret that is mailed
Team = Group | Branch
InGroup = Mapping[UUID, Membership | None]


async def _lock_team(tx: Tx, people: Sequence[UUID]) -> Team:
    """The mother's team is the group's, and a branch's is its own."""
    own = tx.scope.organization.uuid
    if await authority.find_group(tx) == own:
        return Group(await authority.lock_members(tx, people))
    return Branch(own, await authority.lock_overrides(tx, people))


async def _write(tx: Tx, team: Team) -> None:
    await (write_group(tx, team) if isinstance(team, Group) else write_branch(tx, team))


@command()
async def invite(tx: Tx, invites: Sequence[Invite]) -> list[Invited | Refusal]:
    """One open invitation for an address; one that nobody answered in time makes room for the next."""
    organization = await get_organization(tx)
    team = await _lock_team(tx, _callers(invites))
    hashes = {each.email: [hashed.digest for hashed in email_hashes(each.email)] for each in invites}
    pending = await store.lock_pending(tx, [digest for some in hashes.values() for digest in some])
    open_to = {hashed: held.invitation for hashed, held in pending.items()}
    overdue = {each.id for each in open_to.values() if each.state_at(tx.now) is InvitationState.EXPIRED}
    taken = {hashed for hashed, each in open_to.items() if each.id not in overdue}

    outcomes: list[Invited | Refusal] = []
    written: list[tuple[Invite, NewInvitation, str]] = []
    for each in invites:
        assert each.caller.actor is not None
        refusal = why_not_invite(team, each, each.caller.actor, each.membership) or (
            AlreadyInvited() if taken & {*hashes[each.email]} else None
        )
        if refusal:
            outcomes.append(refusal)
            continue
        taken.update(hashes[each.email])
        row, token = _draft(organization.id, each, hashes[each.email][0], tx.now)
        written.append((each, row, token))
        outcomes.append(Invited(InvitationId(row.id), row.expires_at))

    await store.move(tx, sorted(overdue), InvitationState.EXPIRED)
    await store.insert_invitations(tx, [row for _, row, _ in written])
    await audit.record(tx, [_entry(each, organization.id, row) for each, row, _ in written])
    await enqueue(tx, [_end(each, row) for each, row, _ in written])
    await mail.post(tx, [_letter(organization, each, token) for each, _, token in written])
    return outcomes


def _callers(inputs: Sequence[Invite] | Sequence[Revocation]) -> list[UUID]:
    return sorted({each.caller.actor.uuid for each in inputs if each.caller.actor})


def _draft(organization: OrganizationId, each: Invite, email_hash: bytes, now: datetime) -> tuple[NewInvitation, str]:
    own, token, given = InvitationId.new(), new_secret(TOKEN, organization), each.membership
    assert each.caller.actor is not None
    row = NewInvitation(
        own.uuid,
        store.sealed(organization, own, each.email),
        email_hash,
        given.level,
        given.role,
        given.pack,
        given.scopes,
        given.branches,
        token.digest,
        each.caller.actor.uuid,
        now,
        now + INVITATION_LASTS,
    )
    return row, token.text


def _entry(each: Invite, organization: OrganizationId, row: NewInvitation) -> audit.Entry:
    after = {"level": row.level.value, "entity": str(organization), **told(each.membership)}
    return audit.Entry(each.caller, "organization.invite", str(InvitationId(row.id)), after=after)


def _end(each: Invite, row: NewInvitation) -> Job:
    own = InvitationId(row.id)
    return Job.of(expire_invitations, Due(own), each.caller, key=f"expire:{own}", run_at=row.expires_at)


def _letter(organization: Organization, each: Invite, token: str) -> Letter:
    language = organization.settings.language
    values: dict[str, str | int] = {
        "organization": organization.settings.display_name,
        "role": Words(language).say(ROLE_WORDS[each.membership.role]),
        "link": f"/invitations/accept#{token}",
        "days": INVITATION_LASTS.days,
    }
    return Letter(each.caller, each.email, Template.ORGANIZATION_INVITATION, language, values)


@command()
async def revoke(tx: Tx, revocations: Sequence[Revocation]) -> list[InvitationId | Refusal]:
    """Take back an invitation that nobody has answered, if one might have made it."""
    team = await _lock_team(tx, _callers(revocations))
    known = await store.lock_invitations(tx, [each.invitation for each in revocations])
    outcomes: list[InvitationId | Refusal] = []
    made: dict[InvitationId, Caller] = {}
    for each in revocations:
        found = known.get(each.invitation)
        assert each.caller.actor is not None
        if found is None or found.state is not InvitationState.PENDING or found.id in made:
            outcomes.append(InvitationNotFound())
            continue
        actor = team.effective(each.group, each.caller.actor.uuid)
        if refusal := why_not_change(actor, found.membership, None):
            outcomes.append(refusal.to(each.caller.actor))
            continue
        made[found.id] = each.caller
        outcomes.append(found.id)
    await store.move(tx, sorted(made), InvitationState.REVOKED)
    await audit.record(
        tx, [audit.Entry(caller, "organization.revoke_invitation", str(own)) for own, caller in made.items()]
    )
    return outcomes


@command()
async def accept(tx: Tx, answers: Sequence[Answer]) -> list[Joined | Refusal]:
    """Become what one was invited as."""
    people = {each.inviter.uuid for each in answers} | {each.caller.actor.uuid for each in answers if each.caller.actor}
    team = await _lock_team(tx, sorted(people))
    held = await store.lock_by_token(tx, [each.digest for each in answers])
    own = tx.scope.organization
    outcomes: list[Joined | Refusal] = []
    joined: dict[InvitationId, IdentityId] = {}
    entries = []
    for each in answers:
        found = held.get(each.digest)
        who = each.caller.actor
        assert who is not None
        if refusal := _why_not_join(team, each, found, joined, tx.now):
            outcomes.append(refusal)
            continue
        assert found is not None
        given = found.invitation.membership
        team.admit(who.uuid, given)
        joined[found.invitation.id] = who
        outcomes.append(Joined(own, given))
        changed = Changed(who, given.level, None, given)
        entries.append(entry_of(each.caller, own, changed))
        tx.publish(each.caller, fact_of(own, changed))
    await _write(tx, team)
    await store.accept(tx, joined)
    await audit.record(tx, entries)
    return outcomes


def _why_not_join(
    team: Team, each: Answer, found: Held | None, joined: Mapping[InvitationId, IdentityId], now: datetime
) -> Refusal | None:
    assert each.caller.actor is not None
    if found is None or found.invitation.id in joined:
        return InvitationNotFound()
    invitation = found.invitation
    match invitation.state_at(now):
        case InvitationState.EXPIRED:
            return InvitationExpired()
        case InvitationState.ACCEPTED | InvitationState.REVOKED:
            return InvitationNotFound()
    if found.email_hash not in each.hashes:
        return InvitationOfAnother().to(each.caller.actor)
    who = each.caller.actor.uuid
    if team.knows(who) or each.group.get(who) is not None:
        return AlreadyMember()
    if why_not_invite(team, each, invitation.invited_by, invitation.membership):
        return InvitationNotFound()
    return None
