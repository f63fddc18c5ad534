"""What authority refuses in words of its own."""

from admitone.kernel.authority import FeatureDisabled, Stopped
from admitone.kernel.errors import Unauthenticated


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


class InvalidSession(Unauthenticated):
    """This session has ended; sign in again."""

    code = "INVALID_SESSION"
