"""What older clients still send, turned into the rules of today before anything is written (EVT-013, ENT-012).

Promise: these names are read here and nowhere else, and no row and no answer has them. What cannot be said today is
refused, and so is a request that speaks both languages: nothing is guessed, and no field stands in for another.
"""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from admitone.kernel.contracts import Wire
from admitone.verticals.events.errors import LegacyPayload
from admitone.verticals.events.model import AccessMode, AccessPolicy, TicketTypeId
from admitone.verticals.events.routes.wires import CheckinWire, PolicyWire


class PublicAccessMode(StrEnum):
    OPEN = "OPEN"
    """Anybody walks in."""
    TICKET = "TICKET"
    INVITE = "INVITE"


class LegacyFields(Wire):
    """Deprecated: send `accessPolicy`."""

    invite_only: bool | UnsetType = UNSET
    invite_only_snake: bool | UnsetType = msgspec.field(default=UNSET, name="invite_only")
    public_access_mode: PublicAccessMode | UnsetType = UNSET
    public_access_mode_snake: PublicAccessMode | UnsetType = msgspec.field(default=UNSET, name="public_access_mode")
    public_ticket_type_ids: Annotated[list[TicketTypeId], Meta(max_length=100)] | UnsetType = UNSET
    checkin_policy: CheckinWire | UnsetType = UNSET
    requires_ticket_for_entry: bool | UnsetType = UNSET


def policy_in(request: LegacyFields, wanted: PolicyWire | None, onto: AccessPolicy) -> AccessPolicy:
    """The rules that a request asks for; what an old one does not mention is as it was."""
    old = [name for name in LegacyFields.__struct_fields__ if getattr(request, name) is not UNSET]
    if wanted is not None:
        if old:
            raise LegacyPayload(problem="MIXED_WITH_ACCESS_POLICY")
        return wanted.policy(onto.version)
    return _converted(request, onto) if old else onto


def _converted(request: LegacyFields, onto: AccessPolicy) -> AccessPolicy:
    if request.public_ticket_type_ids:  # Some types for everybody and others for the invited: no rule of today says so.
        raise LegacyPayload(problem="PUBLIC_TICKET_TYPES")
    access = _one(request.public_access_mode, request.public_access_mode_snake)
    invited = _one(
        request.invite_only,
        request.invite_only_snake,
        UNSET if access is UNSET else access is PublicAccessMode.INVITE,
    )
    checkin = request.checkin_policy
    needed = _one(
        request.requires_ticket_for_entry,
        UNSET if isinstance(checkin, UnsetType) else checkin.requires_entitlement_for_entry,
        False if access is PublicAccessMode.OPEN else UNSET,
    )
    policy = onto
    # Older words know nothing of lists: what is unlisted is not for the invited, and stays as it is when that is said.
    if invited not in (UNSET, onto.mode is AccessMode.INVITE_ONLY):
        policy = replace(policy, mode=AccessMode.INVITE_ONLY if invited else AccessMode.PUBLIC)
    if not isinstance(checkin, UnsetType):
        policy = replace(policy, checkin=checkin.checkin(), scanner_required=checkin.scanner_required)
    return policy if needed is UNSET else replace(policy, requires_entitlement=needed)


def _one(*said: Any) -> Any:
    """What was said, by whatever name; not two things."""
    words = {each for each in said if each is not UNSET}
    if len(words) > 1:
        raise LegacyPayload(problem="CONTRADICTS_ITSELF")
    return next(iter(words), UNSET)
