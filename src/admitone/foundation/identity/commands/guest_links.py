"""Links for guests: whoever follows one has proved the address, and has what was bought with it (IDN-008).

A link lies in a mailbox for days. So it is no recent proof (whoever comes by one steps up for what is risky), and a new
password makes it worth nothing. A wrong second factor costs an attempt and not the link, which nobody guesses.
"""

from collections.abc import Sequence

import msgspec

from admitone.foundation.identity.model import ATTEMPTS, GUEST_LINK_LASTS, Challenge, ChallengeId, Prepared, Purpose
from admitone.foundation.identity.store import challenges
from admitone.foundation.mail.api import Letter, Template, post
from admitone.kernel.commands import command
from admitone.kernel.crypto import new_secret
from admitone.kernel.db import PeopleTx
from admitone.kernel.scope import Caller


class GuestLink(msgspec.Struct, frozen=True):
    caller: Caller
    prepared: Prepared
    key: str
    """What was bought: for one purchase one link is sent, however often it is asked for."""


@command()
async def send_guest_links(tx: PeopleTx, links: Sequence[GuestLink]) -> list[bool]:
    """Whether each is new."""
    drafts = []
    for each in links:
        secret = new_secret("link", None)
        challenge = Challenge(
            ChallengeId.new(),
            Purpose.LINK,
            secret.digest,
            None,
            each.prepared,
            ATTEMPTS,
            tx.now,
            tx.now + GUEST_LINK_LASTS,
            key=f"guest:{each.key}",
        )
        drafts.append((each, secret, challenge))
    new = await challenges.insert(tx, [challenge for _, _, challenge in drafts])
    days = GUEST_LINK_LASTS.days
    letters = [
        Letter(
            each.caller,
            each.prepared.email,
            Template.GUEST_LINK,
            each.prepared.language,
            {"link": f"/auth/link#{secret.text}", "days": days},
        )
        for each, secret, challenge in drafts
        if challenge.id in new
    ]
    await post(tx.platform, letters)
    return [challenge.id in new for _, _, challenge in drafts]
