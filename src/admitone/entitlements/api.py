"""The door for verticals: rights are given, changed and asked for here, in the caller's transaction."""

from admitone.entitlements.codes import digest_of
from admitone.entitlements.commands.changing import (
    Disowning,
    Relaxing,
    Release,
    Rescheduling,
    Revoking,
    Suspension,
    Transfer,
    relax,
    release,
    reschedule,
    revoke,
    revoke_codes,
    suspend,
    transfer,
)
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.granting import Activation, activate, grant
from admitone.entitlements.commands.noting import Note, note
from admitone.entitlements.commands.renewing import Renewal, renew
from admitone.entitlements.errors import (
    EntitlementNotActive,
    EntitlementNotFound,
    EntitlementNotPaid,
    PeopleOnly,
    ScannerClosed,
)
from admitone.entitlements.holders import Found, Holder
from admitone.entitlements.holders import search as search_holders
from admitone.entitlements.kinds import TICKET, Audience, TokenKind
from admitone.entitlements.model import (
    CheckinPolicy,
    Entitlement,
    EntitlementId,
    Grant,
    Hold,
    Method,
    Place,
    Revocation,
    Scan,
    Status,
    Verdict,
)
from admitone.entitlements.pictures import png, svg
from admitone.entitlements.policy import default_of, doors_of, seen_as
from admitone.entitlements.queries import Section
from admitone.entitlements.showing import Shown, show
from admitone.entitlements.store.doors import Entry, list_standing
from admitone.entitlements.store.entitlements import find_claimed, find_entitlements, list_of_payments, list_of_sources
from admitone.entitlements.store.lists import Wanted, list_rights, sum_pieces

__all__ = (
    "TICKET",
    "Activation",
    "Audience",
    "CheckinPolicy",
    "Disowning",
    "Entitlement",
    "EntitlementId",
    "EntitlementNotActive",
    "EntitlementNotFound",
    "EntitlementNotPaid",
    "Entry",
    "Found",
    "Grant",
    "Hold",
    "Holder",
    "Method",
    "Note",
    "PeopleOnly",
    "Place",
    "Relaxing",
    "Release",
    "Renewal",
    "Rescheduling",
    "Revocation",
    "Revoking",
    "Scan",
    "ScannerClosed",
    "Section",
    "Shown",
    "Status",
    "Suspension",
    "TokenKind",
    "Transfer",
    "Verdict",
    "Wanted",
    "activate",
    "consume",
    "default_of",
    "digest_of",
    "doors_of",
    "find_claimed",
    "find_entitlements",
    "grant",
    "list_of_payments",
    "list_of_sources",
    "list_rights",
    "list_standing",
    "note",
    "png",
    "relax",
    "release",
    "renew",
    "reschedule",
    "revoke",
    "revoke_codes",
    "search_holders",
    "seen_as",
    "show",
    "sum_pieces",
    "suspend",
    "svg",
    "transfer",
)
