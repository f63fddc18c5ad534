"""What happens to invitations that nobody answered: their time ends, and with it what we know of the address."""

from collections.abc import Sequence

from admitone.foundation.organizations.model import Due, InvitationState
from admitone.foundation.organizations.store import invitations as store
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Priority, handler


@handler("organizations.expire_invitation", priority=Priority.NOTICE)
async def expire_invitations(tx: Tx, due: Sequence[Delivered[Due]]) -> None:
    known = await store.lock_invitations(tx, [each.payload.invitation_id for each in due])
    overdue = [
        own
        for own, each in known.items()
        if each.state is InvitationState.PENDING and each.state_at(tx.now) is InvitationState.EXPIRED
    ]
    await store.move(tx, overdue, InvitationState.EXPIRED)
