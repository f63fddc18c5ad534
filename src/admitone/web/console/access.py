"""Who may buy and how people are let in, as an event's organisers say it.

Promise: after the first sale the page says that rules are only made easier; the contract decides it.
"""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import EventId
from admitone.verticals.events.routes import access
from admitone.verticals.events.routes.access import PolicyRequest, VersionsRequest
from admitone.verticals.events.routes.answers import EventAnswer
from admitone.verticals.events.routes.wires import CheckinWire, PolicyWire
from admitone.web.console.events import TAB, EventPage, get_event
from admitone.web.console.place import Place, enter, show_in
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page

MOST_VERSIONS: Final = 20
MODE_WORDS: Final[dict[str, str]] = {
    "PUBLIC": "Everybody, and it is listed",
    "UNLISTED": "Whoever has the link",
    "INVITE_ONLY": "Whoever was invited",
}
MATCH_WORDS: Final[dict[str, str]] = {
    "EMAIL": "By e-mail address",
    "USERNAME": "By user name",
    "BOTH": "By e-mail address or user name",
}
METHOD_WORDS: Final[dict[str, str]] = {
    "QR_TICKET": "Code of a ticket",
    "QR_REGISTRATION": "Code of a registration",
    "QR_BOOKING": "Code of a booking",
    "MANUAL": "By name, from the list",
}


class AccessForm(Wire):
    organization_id: OrganizationId
    event_id: EventId
    policy_version: Typed = ""
    mode: Typed = ""
    guest_checkout_allowed: Typed = ""
    login_required: Typed = ""
    invite_token_allowed: Typed = ""
    invite_identity_match: Typed = ""
    invite_token_ttl_hours: Typed = ""
    requires_entitlement_for_entry: Typed = ""
    methods: Annotated[list[Typed], Meta(max_length=8)] = []  # noqa: RUF012, msgspec copies it
    scanner_required: Typed = ""
    allow_reentry: Typed = ""
    reentry_window_minutes: Typed = ""
    max_entries: Typed = ""
    undo_window_minutes: Typed = ""


access_page = page(
    "ORG.EVENT.ACCESS",
    "Who may buy, and how people are let in.",
    get="/org/{organizationId}/events/{eventId}/access",
    takes=EventPage,
    audience=Audience.PERSON,
)
change = page(
    "ORG.EVENT.ACCESS.DO",
    "Change who may buy, and how people are let in.",
    post="/org/{organizationId}/events/{eventId}/access",
    takes=AccessForm,
    audience=Audience.PERSON,
)


@access_page.serves
async def show_access(call: Call, request: EventPage) -> Html:
    place = await enter(call, request.organization_id)
    event = await get_event(call, place, request.event_id)
    return await _shown(call, place, event, Form(typed_policy(event)))


@change.serves
async def change_access(call: Call, form: AccessForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        await call.ask(access.change, _policy_of(form), organization=place.id)
    except Refusal as refusal:
        event = await get_event(call, place, form.event_id)
        return await _shown(call, place, event, Form.refused(form, refusal, call.words))
    return Redirect(place.path(TAB, form.event_id, "access"))


def _policy_of(form: AccessForm) -> PolicyRequest:
    """A box that is not ticked is a no, whatever is usual."""
    checkin = filled(
        CheckinWire,
        requires_entitlement_for_entry=bool(form.requires_entitlement_for_entry),
        methods=form.methods,
        scanner_required=bool(form.scanner_required),
        allow_reentry=bool(form.allow_reentry),
        reentry_window_minutes=form.reentry_window_minutes,
        max_entries=form.max_entries,
        undo_window_minutes=form.undo_window_minutes,
    )
    policy = filled(
        PolicyWire,
        mode=form.mode,
        guest_checkout_allowed=bool(form.guest_checkout_allowed),
        login_required=bool(form.login_required),
        invite_token_allowed=bool(form.invite_token_allowed),
        invite_identity_match=form.invite_identity_match,
        invite_token_ttl_hours=form.invite_token_ttl_hours,
        checkin=checkin,
    )
    if not form.invite_token_ttl_hours:  # Left empty is no end, and not the usual one.
        policy = msgspec.structs.replace(policy, invite_token_ttl_hours=None)
    return filled(PolicyRequest, event_id=form.event_id, access_policy=policy, policy_version=form.policy_version)


def typed_policy(event: EventAnswer) -> dict[str, Any]:
    policy = event.access_policy
    checkin = policy.checkin
    return {
        "policyVersion": event.policy_version,
        "mode": policy.mode,
        "guestCheckoutAllowed": policy.guest_checkout_allowed,
        "loginRequired": policy.login_required,
        "inviteTokenAllowed": policy.invite_token_allowed,
        "inviteIdentityMatch": policy.invite_identity_match,
        "inviteTokenTtlHours": policy.invite_token_ttl_hours or "",
        "requiresEntitlementForEntry": checkin.requires_entitlement_for_entry,
        "methods": [str(each) for each in checkin.methods],
        "scannerRequired": checkin.scanner_required,
        "allowReentry": checkin.allow_reentry,
        "reentryWindowMinutes": checkin.reentry_window_minutes,
        "maxEntries": checkin.max_entries,
        "undoWindowMinutes": checkin.undo_window_minutes,
    }


async def _shown(call: Call, place: Place, event: EventAnswer, form: Form) -> Html:
    asked = VersionsRequest(event_id=event.event_id, limit=MOST_VERSIONS)
    versions = (await call.ask(access.versions, asked, organization=place.id)).items
    words = {"modes": MODE_WORDS, "matches": MATCH_WORDS, "methods": METHOD_WORDS}
    return show_in(
        call,
        place,
        TAB,
        "console/event-access.html",
        status=form.status,
        form=form,
        event=event,
        versions=versions,
        **words,
    )


CONTRACTS: Final = (access_page, change)
