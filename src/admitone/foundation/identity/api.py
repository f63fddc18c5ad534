"""The door of identity: whose address it is, what they are called, guests and their links, and accounts that operators
make."""

from admitone.foundation.identity.commands.accounts import Expulsion, NewAccount, expel
from admitone.foundation.identity.commands.accounts import create as create_accounts
from admitone.foundation.identity.commands.claiming import Guest, find_guest, guests, make_guests
from admitone.foundation.identity.commands.guest_links import GuestLink, send_guest_links
from admitone.foundation.identity.emails import email_hashes, normalise_email
from admitone.foundation.identity.errors import InvalidEmail, WeakPassword
from admitone.foundation.identity.model import ChallengeId, IdentityType, Prepared, Profile
from admitone.foundation.identity.passwords import hash_of, refuse_weak
from admitone.foundation.identity.resolving import resolve
from admitone.foundation.identity.store.people import (
    find_by_email,
    find_people,
    hashes_of,
    is_anybody,
    list_names,
    list_profiles,
)

__all__ = (
    "ChallengeId",
    "Expulsion",
    "Guest",
    "GuestLink",
    "IdentityType",
    "InvalidEmail",
    "NewAccount",
    "Prepared",
    "Profile",
    "WeakPassword",
    "create_accounts",
    "email_hashes",
    "expel",
    "find_by_email",
    "find_guest",
    "find_people",
    "guests",
    "hash_of",
    "hashes_of",
    "is_anybody",
    "list_names",
    "list_profiles",
    "make_guests",
    "normalise_email",
    "refuse_weak",
    "resolve",
    "send_guest_links",
)
