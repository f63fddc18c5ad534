"""What organisations refuse."""

from admitone.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from admitone.kernel.ids import OrganizationId


class OrganizationNotFound(NotFound):
    """There is no such organisation."""

    code = "ORGANIZATION_NOT_FOUND"


class OrganizationExists(Conflict):
    """This organisation was founded before."""

    code = "ORGANIZATION_EXISTS"


class TeamTooLarge(Conflict):
    """This team is too large to be put in order."""

    code = "TEAM_TOO_LARGE"
    next_step = "Read it in the order ID, page by page."


class NotAMother(Conflict):
    """A branch has no branches of its own."""

    code = "NOT_A_MOTHER"
    next_step = "Found it from the mother organisation."


class BranchNotFound(Invalid):
    """This is no organisation of the group."""

    code = "BRANCH_NOT_FOUND"
    branch: OrganizationId


class BranchesOfBranch(Invalid):
    """Only a member of the whole group can be limited to some of its branches."""

    code = "BRANCHES_OF_BRANCH"


class SettingsOvertaken(Conflict):
    """Somebody changed the settings meanwhile."""

    code = "SETTINGS_OVERTAKEN"
    next_step = "Look at them again, and repeat the change."
    version: int


class ProfileOvertaken(Conflict):
    """Somebody changed the profile meanwhile."""

    code = "PROFILE_OVERTAKEN"
    next_step = "Look at it again, and repeat the change."
    version: int


class TaxIdIncomplete(Invalid):
    """A taxpayer's number and its country go together."""

    code = "TAX_ID_INCOMPLETE"


class InvoicingIncomplete(Invalid):
    """Say how the organisation invoices: with which software, or that it does so itself and answers for it."""

    code = "INVOICING_INCOMPLETE"
    missing: tuple[str, ...]


class CityNotFound(Invalid):
    """There is no such city."""

    code = "CITY_NOT_FOUND"
    city: str


class DocumentNotOnOffer(Invalid):
    """There is no such version of this document to agree to."""

    code = "DOCUMENT_NOT_ON_OFFER"
    version: str


class ModuleNeeded(Conflict):
    """The settings cannot be switched off: nobody could switch them on again."""

    code = "MODULE_NEEDED"
    module: str


class MemberNotFound(NotFound):
    """Nobody of that name is a member here."""

    code = "MEMBER_NOT_FOUND"
    next_step = "Whoever is to join is invited."


class LastOwner(Conflict):
    """A group keeps at least one owner."""

    code = "LAST_OWNER"
    next_step = "Make somebody else an owner first."


class OwnerOfGroup(Conflict):
    """An owner is one in the whole group."""

    code = "OWNER_OF_GROUP"
    next_step = "Change it in the mother organisation."


class NotInTheMother(Conflict):
    """Only a branch keeps a member of the group out; whoever leaves the mother leaves the group."""

    code = "NOT_IN_THE_MOTHER"


class GrantNotAllowed(Forbidden):
    """You cannot give or take away what is not below your own role, or what you do not have yourself."""

    code = "GRANT_NOT_ALLOWED"
    audited = True
    reason: str


class PackWithoutItsRole(Invalid):
    """A pack comes with its own role."""

    code = "PACK_WITHOUT_ITS_ROLE"
    role: str


class UnknownScope(Invalid):
    """There is no such scope."""

    code = "UNKNOWN_SCOPE"
    scope: str


class AlreadyInvited(Conflict):
    """This person has an invitation that is still open."""

    code = "ALREADY_INVITED"
    next_step = "Revoke it first, to invite them as something else."


class AlreadyMember(Conflict):
    """You already have a place in this team."""

    code = "ALREADY_MEMBER"
    next_step = "Whoever runs the team can change it."


class InvitationNotFound(NotFound):
    """There is no such invitation, or it does not count any more."""

    code = "INVITATION_NOT_FOUND"


class InvitationExpired(Conflict):
    """This invitation is too old."""

    code = "INVITATION_EXPIRED"
    next_step = "Ask for a new one."


class InvitationOfAnother(Forbidden):
    """This invitation was sent to another address than yours."""

    code = "INVITATION_OF_ANOTHER"
    next_step = "Sign in with the address to which it was sent."
    audited = True


class OfficialLinkInvalid(Forbidden):
    """This link does not count any more."""

    code = "OFFICIAL_LINK_INVALID"
    next_step = "Ask for a new one in the settings."


class OfficialEmailRequired(Forbidden):
    """This needs an official e-mail address of the organisation."""

    code = "OFFICIAL_EMAIL_REQUIRED"
    ok: bool = False
    request_id: str
    email: str | None
    verify_url: str
    next_step_url: str
    reason_code: str


class OfficialEmailNotVerified(OfficialEmailRequired):
    """The official e-mail address must be verified before this."""

    code = "OFFICIAL_EMAIL_NOT_VERIFIED"
