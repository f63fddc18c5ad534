"""What happened to names. The name itself is not told: whoever shows it asks for the one that is live now."""

from typing import Annotated

from msgspec import Meta

from admitone.foundation.usernames.model import Owner, OwnerType
from admitone.kernel.facts import Fact

OwnerText = Annotated[str, Meta(pattern="^(org|idn)_[0-9a-f]{32}$")]


class UsernameClaimed(Fact, frozen=True):
    """The owner goes by another name than before, or by one for the first time."""

    name = "username.claimed"
    version = "1.0.0"
    subject = ("USERNAME_OWNER", "owner_id")

    owner_type: OwnerType
    owner_id: OwnerText


class UsernameReleased(Fact, frozen=True):
    """The owner goes by no name any more."""

    name = "username.released"
    version = "1.0.0"
    subject = ("USERNAME_OWNER", "owner_id")

    owner_type: OwnerType
    owner_id: OwnerText


def claimed_by(owner: Owner) -> UsernameClaimed:
    return UsernameClaimed(owner_type=OwnerType.of(owner), owner_id=str(owner))


def released_by(owner: Owner) -> UsernameReleased:
    return UsernameReleased(owner_type=OwnerType.of(owner), owner_id=str(owner))
