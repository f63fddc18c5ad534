"""Why entitlements refuse."""

from admitone.kernel.errors import Conflict, Forbidden, Invalid, NotFound


class EntitlementNotFound(NotFound):
    """There is no such ticket or right here."""

    code = "ENTITLEMENT_NOT_FOUND"


class EntitlementNotActive(Conflict):
    """This right cannot be used as it stands."""

    code = "ENTITLEMENT_NOT_ACTIVE"
    status: str


class EntitlementNotPaid(Conflict):
    """What would pay for this right has not been paid."""

    code = "ENTITLEMENT_NOT_PAID"


class PresenceNotConfirmable(Conflict):
    """Presence at this cannot be confirmed by whoever holds it."""

    code = "PRESENCE_NOT_CONFIRMABLE"
    next_step = "Show the code, or ask the staff."


class UndoRefused(Conflict):
    """This entry cannot be undone."""

    code = "UNDO_REFUSED"
    reason: str
    next_step = "Only the latest entry can be undone, within the time that the event allows."


class CheckinNotFound(NotFound):
    """There is no such entry here."""

    code = "CHECKIN_NOT_FOUND"


class ScannerClosed(Forbidden):
    """This scanner is closed for this event: too much of what it was shown was refused."""

    code = "SCANNER_CLOSED"
    next_step = "Use another device, and ask whoever runs the event to open this one again."


class LeaseNotFound(NotFound):
    """This device has no such lease."""

    code = "LEASE_NOT_FOUND"


class LeaseOver(Conflict):
    """The list of this device is too old, or was taken back."""

    code = "LEASE_OVER"
    next_step = "Fetch a new list."


class NoDevice(Invalid):
    """Working without a network needs a device of which we know which one it is."""

    code = "DEVICE_REQUIRED"
    next_step = "Send x-device-id, or sign in with a scanner's key."


class PeopleOnly(Forbidden):
    """This is shown to people who signed in, not to keys and devices."""

    code = "PEOPLE_ONLY"
    next_step = "Sign in as yourself."


class NoPicture(Invalid):
    """This is no picture that we can read."""

    code = "NOT_A_PICTURE"
    next_step = "Send a JPEG."


class PictureTooLarge(Invalid):
    """This picture has more pixels than we look at."""

    code = "PICTURE_TOO_LARGE"
    most_pixels: int
