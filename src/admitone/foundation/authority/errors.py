"""What authority refuses in words of its own."""

from datetime import datetime

from admitone.kernel.authority import FeatureDisabled, Stopped
from admitone.kernel.errors import Forbidden, Invalid, NotFound, Unauthenticated


class ModuleDisabled(FeatureDisabled):
    """This organisation has switched this module off."""

    code = "MODULE_DISABLED"
    next_step = "Somebody who may change the settings can switch it on again."
    module: str


class PlatformStopped(Stopped):
    """New business is paused for everybody."""

    code = "KILL_SWITCH_PLATFORM"


class OrganizationStopped(Stopped):
    """This organisation cannot take new business for now."""

    code = "KILL_SWITCH_ORG"


class EventStopped(Stopped):
    """Sales of this event are stopped for now."""

    code = "KILL_SWITCH_EVENT"


class IdentityStopped(Stopped):
    """Your account is suspended."""

    code = "KILL_SWITCH_IDENTITY"
    audited = True


class StopNotAllowed(Forbidden):
    """Those who run the platform are stopped by somebody of a higher rank only."""

    code = "STOP_NOT_ALLOWED"
    audited = True


class InvalidSession(Unauthenticated):
    """This session has ended; sign in again."""

    code = "INVALID_SESSION"


class JustRenewed(InvalidSession):
    """This session was renewed a moment ago, by another page or try of yours; go on with what that was given."""

    code = "SESSION_JUST_RENEWED"


class ExpiryOutOfRange(Invalid):
    """This must end after now, and no later than it may last."""

    code = "EXPIRY_OUT_OF_RANGE"
    latest: datetime | None = None


class NotStopped(NotFound):
    """There is no stop to lift."""

    code = "NOT_STOPPED"


class UnknownFeature(NotFound):
    """There is no such feature behind the cut-line."""

    code = "UNKNOWN_FEATURE"


class UnknownOrganization(NotFound):
    """No organisation has this id."""

    code = "UNKNOWN_ORGANIZATION"


class FeatureNotOn(NotFound):
    """This feature is not switched on here."""

    code = "FEATURE_NOT_ON"


class ScopeNotHeld(Forbidden):
    """Nobody gives away a scope that they do not have."""

    code = "SCOPE_NOT_HELD"
    audited = True
    scope: str


class ScopeNotForPurpose(Invalid):
    """A key of this purpose cannot have this scope."""

    code = "SCOPE_NOT_FOR_PURPOSE"
    scope: str


class ServiceKeyNotFound(NotFound):
    """There is no such key."""

    code = "SERVICE_KEY_NOT_FOUND"
