"""What identity tells."""

from admitone.kernel.facts import Fact
from admitone.kernel.ids import IdentityId


class IdentityCreated(Fact, frozen=True):
    """Somebody is new here."""

    name = "identity.created"
    version = "1.0.0"
    subject = ("IDENTITY", "identity_id")

    identity_id: IdentityId


class IdentityVerified(Fact, frozen=True):
    """Somebody proved an address."""

    name = "identity.verified"
    version = "1.0.0"
    subject = ("IDENTITY", "identity_id")

    identity_id: IdentityId


class GuestClaimed(Fact, frozen=True):
    """What the guest owned is the user's: whoever keeps rights moves their owner, and nothing else (IDN-004)."""

    name = "identity.guest_claimed"
    version = "1.0.0"
    subject = ("IDENTITY", "user_id")

    user_id: IdentityId
    guest_id: IdentityId
    batch_version: int


class IdentityErased(Fact, frozen=True):
    """Nothing personal is left of somebody."""

    name = "identity.erased"
    version = "1.0.0"
    subject = ("IDENTITY", "identity_id")

    identity_id: IdentityId
