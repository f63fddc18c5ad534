"""The door of identity: whose address it is, what they are called, and guests."""

from admitone.foundation.identity.commands.claiming import guests
from admitone.foundation.identity.emails import email_hashes, normalise_email
from admitone.foundation.identity.errors import InvalidEmail
from admitone.foundation.identity.model import Profile
from admitone.foundation.identity.resolving import resolve
from admitone.foundation.identity.store.people import find_by_email, hashes_of, list_profiles

__all__ = (
    "InvalidEmail",
    "Profile",
    "email_hashes",
    "find_by_email",
    "guests",
    "hashes_of",
    "list_profiles",
    "normalise_email",
    "resolve",
)
