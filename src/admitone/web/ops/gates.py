"""Gates: what is stopped, and what is switched on; stopping, lifting, switching, each with its case and its reason."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from admitone.foundation.authority.routes import switches
from admitone.foundation.authority.routes.switches import (
    LiftRequest,
    StopRequest,
    SwitchesRequest,
    SwitchOffRequest,
    SwitchOnRequest,
)
from admitone.kernel.contracts import Call, Contract, Html, Redirect, Stream, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.web.console.desk import refused
from admitone.web.form import Form, Typed, filled
from admitone.web.lists import Listing, ListPage, Source
from admitone.web.ops.room import ops_page, show_in_room

STOP_WORDS: Final[dict[str, str]] = {
    "EVENT": "An event",
    "ORGANIZATION": "An organisation",
    "IDENTITY": "A person",
    "PLATFORM": "Everything",
}
HELD_WORDS: Final[dict[str, str]] = {"stop": "Stopped", "feature": "On"}
HELD: Final = Source(
    switches.list_switches,
    {},
    ("organization", "key", "reason_code", "case_reference", "set_by", "set_at", "expires_at"),
    name="switches",
    rows=50,
)
HOURS_WORDS: Final[dict[str, str]] = {"1": "An hour", "24": "A day", "168": "A week", "2160": "90 days"}
STOP: Final = {"deed": "stop", "kind": "EVENT", "hours": "24"}


class GatesPage(ListPage):
    organization: Typed = ""
    held: Typed = ""
    """`stop` or `feature`."""


class StopForm(Wire):
    kind: Typed = ""
    id: Typed = ""
    hours: Typed = ""
    reason_code: Typed = ""
    case_reference: Typed = ""


class FeatureForm(Wire):
    feature: Typed
    organization: Typed = ""
    reason_code: Typed = ""
    case_reference: Typed = ""


gates_page = ops_page(".GATES", "What is stopped, and what is on.", "/gates", GatesPage)
stop = ops_page(".STOP", "Stop new business.", "/gates/stop", StopForm, post=True)
lift = ops_page(".LIFT", "Lift a stop.", "/gates/lift", StopForm, post=True)
switch_on = ops_page(".FEATURE.ON", "Switch a feature on.", "/gates/features/{feature}/on", FeatureForm, post=True)
switch_off = ops_page(".FEATURE.OFF", "Switch a feature off.", "/gates/features/{feature}/off", FeatureForm, post=True)


@gates_page.serves
async def show_gates(call: Call, request: GatesPage) -> Html | Stream:
    return await _gates(call, request, Form(STOP))


async def _gates(call: Call, request: GatesPage, form: Form) -> Html | Stream:
    """What was typed stands in the form that it was typed into: a lift that is shown again is no stop."""
    is_stop = form["deed"] == STOP["deed"]
    which = {"organization": request.organization.strip(), "kind": request.held}
    held = await HELD.read(call, request, HELD.asked(SwitchesRequest, request, **which))
    if isinstance(held, Stream):
        return held
    return show_in_room(
        call,
        "gates",
        "ops/gates.html",
        status=form.status,
        form=form,
        stopping=form if is_stop else Form(STOP),
        meant=Form() if is_stop else form,
        held=[(each, *_stopped(each.key)) for each in held.items],
        listing=Listing.of(request, "/ops/gates", {}, held),
        looked_for=Form.of(request),
        held_kinds=HELD_WORDS,
        features=await call.ask(switches.list_features),
        kinds=STOP_WORDS,
        everybody=str(PLATFORM_ORGANIZATION),
        hours=HOURS_WORDS,
    )


def _stopped(key: str) -> tuple[str, str]:
    """What a key stops, as a lift names it: its kind and its id. Nothing, if it is a feature that is on."""
    what, _, rest = key.partition(":")
    kind, _, own = rest.partition(":")
    return (kind.upper(), own) if what == "stop" else ("", "")


async def _done(call: Call, deed: str, form: Wire, contract: Contract, asked: Any) -> Html | Stream | Redirect:
    """Ask, or show the form again."""
    try:
        await call.ask(contract, asked())
    except Refusal as refusal:
        again = refused(call, form, refusal)
        return await _gates(call, GatesPage(), replace(again, typed={**again.typed, "deed": deed}))
    return Redirect("/ops/gates")


@stop.serves
async def stop_it(call: Call, form: StopForm) -> Html | Stream | Redirect:
    hours = int(form.hours) if form.hours in HOURS_WORDS else 0
    until = datetime.now(UTC) + timedelta(hours=hours)
    return await _done(call, "stop", form, switches.stop, lambda: filled(StopRequest, **_named(form), expires_at=until))


@lift.serves
async def lift_it(call: Call, form: StopForm) -> Html | Stream | Redirect:
    return await _done(call, "lift", form, switches.lift, lambda: filled(LiftRequest, **_named(form)))


def _named(form: StopForm) -> dict[str, str]:
    return {
        "kind": form.kind,
        "id": form.id.strip(),
        "reason_code": form.reason_code.strip(),
        "case_reference": form.case_reference.strip(),
    }


@switch_on.serves
async def turn_on(call: Call, form: FeatureForm) -> Html | Stream | Redirect:
    return await _done(call, "on", form, switches.switch_on, lambda: filled(SwitchOnRequest, **_meant(form)))


@switch_off.serves
async def turn_off(call: Call, form: FeatureForm) -> Html | Stream | Redirect:
    return await _done(call, "off", form, switches.switch_off, lambda: filled(SwitchOffRequest, **_meant(form)))


def _meant(form: FeatureForm) -> dict[str, str]:
    return {
        "feature": form.feature,
        "organization": form.organization.strip(),
        "reason_code": form.reason_code.strip(),
        "case_reference": form.case_reference.strip(),
    }


CONTRACTS: Final = (gates_page, stop, lift, switch_on, switch_off)
