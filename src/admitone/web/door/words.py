"""What a door says, by the codes of the contracts that it asks. The page and its scripts say the same."""

from typing import Final

from admitone.entitlements.routes.doors import VerdictAnswer

REASON_WORDS: Final[dict[str, str]] = {
    "INVALID_TOKEN": "This code is not known here.",
    "TOKEN_EXPIRED": "This code is too old. Ask for the one that the phone shows now.",
    "WRONG_EVENT": "This ticket is for another event.",
    "WRONG_SESSION": "This ticket is for another session.",
    "ENTITLEMENT_NOT_ACTIVE": "This ticket was cancelled, given back or is on hold.",
    "NOT_YET_VALID": "It is too early for this ticket.",
    "NO_LONGER_VALID": "It is too late for this ticket.",
    "METHOD_NOT_ALLOWED": "This event does not let people in this way.",
    "ALREADY_CONSUMED": "Somebody came in on this ticket.",
    "REENTRY_WINDOW_PASSED": "The time to come back in is over.",
    "MAX_ENTRIES_REACHED": "This ticket was used as often as it may be.",
}
INCIDENT_WORDS: Final[dict[str, str]] = {
    "CHECKIN_DUPLICATE": "Somebody had come in on it before.",
    "NOT_ON_LIST": "It was not on the list.",
    "NOT_ACTIVE_THEN": "It had been cancelled or passed on.",
    "NOT_VALID_THEN": "It was not valid at that time.",
    "OFFLINE_NOT_ALLOWED": "It may not be let in without a network.",
    "OUT_OF_LEASE": "The list was too old at that time.",
    "OVER_LEASE": "More came in than the device was allowed.",
    "CLOCK_AHEAD": "The clock of the device was ahead.",
    "LEASE_REVOKED": "The list had been taken back.",
}
OPENING_WORDS: Final[dict[str, str]] = {
    "OLD_SCREENSHOTS": "People showed old screenshots.",
    "WRONG_DOOR": "People stood at the wrong door.",
    "STAFF_TRIED_IT": "Staff tried it out.",
    "LOOKED_INTO": "Somebody looked into it.",
}
SCRIPT_WORDS: Final[dict[str, str]] = {
    "admitted": "Admitted",
    "duplicate": "Already used",
    "refused": "Refused",
    "used-at": "Came in at {when}",
    "used-at-gate": "Came in at {when}, {gate}",
    "entry": "Entry {number}",
    "no-camera": "The camera cannot be used. Type the code, or find the person by name.",
    "allow-camera": "Allow the camera to scan codes, or type the code.",
    "searching": "Hold the code in front of the camera.",
    "no-reading-offline": "This browser needs the network to read codes. Type the code instead.",
    "offline": "No network: list of {age} min ago, {left} min left",
    "offline-no-list": "No network, and no list on this device. Nobody can be checked.",
    "offline-over": "No network, and the list is too old. Nobody can be checked.",
    "list-kept": "List {age} min old, {left} min without a network",
    "list-ready": "The list is on this device: {rights} tickets, {left} min without a network.",
    "list-over": "The list on this device is too old. Keep a new one.",
    "list-none": "There is no list on this device.",
    "exposure": "At worst {count} could come in twice, over all devices without a network.",
    "entries-used-up": "This device let in as many as it may without a network.",
    "not-on-list": "This code is not on the list.",
    "clock-back": "The clock of this device was put back. Connect it, then go on.",
    "needs-network": "This needs the network.",
    "waiting": "{count} to be sent",
    "all-sent": "Everything was sent.",
    "kept-unknown": "What this device let in cannot be read. Close the other pages of the door.",
    "sent": "{count} sent, {incidents} to look at.",
    "incident-at": "{when}, {label}: {what}",
    "undone": "Taken back.",
    "undo-later": "It can be taken back when the network is there again.",
    "closed": "This scanner is closed for this event.",
    "confirm-first": "Too many were refused in a row. Confirm who holds this scanner.",
    "sign-in-first": "Your session is over. Sign in again; nothing that you scanned is lost.",
    "wait": "Too fast. Wait a moment.",
    "may-not": "You may not let people in here.",
    "try-again": "Something went wrong. Try again.",
    "nobody-found": "Nobody was found.",
    "let-in": "Let in",
    "came-in": "Came in",
    "not-by-hand": "Only by code",
    "unnamed": "Without a name",
}


def kind_of(verdict: VerdictAnswer) -> str:
    """Its colour and shape."""
    if verdict.allow:
        return "good"
    return "twice" if verdict.duplicate else "bad"


TITLE_WORDS: Final[dict[str, str]] = {"good": "Admitted", "twice": "Already used", "bad": "Refused"}
RESULT_WORDS: Final[dict[str, str]] = {
    "admitted": "Admitted",
    "undone": "Undone",
    "duplicate": "Already used",
    "denied": "Refused",
}
RESULT_KINDS: Final[dict[str, str]] = {"admitted": "good", "undone": "waiting", "duplicate": "twice", "denied": "bad"}
STATUS_WORDS: Final[dict[str, str]] = {
    "PENDING": "Place kept",
    "ACTIVE": "Active",
    "SUSPENDED": "On hold",
    "EXPIRED": "Time is over",
    "REVOKED": "Cancelled",
}
STATUS_KINDS: Final[dict[str, str]] = {
    "PENDING": "waiting",
    "ACTIVE": "good",
    "SUSPENDED": "twice",
    "EXPIRED": "plain",
    "REVOKED": "bad",
}
