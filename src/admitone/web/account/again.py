"""A form of this part that is shown again: what is wrong stands beside the field that it is about."""

from dataclasses import replace
from typing import Any, Final

import msgspec

from admitone.kernel.contracts import Call, Html
from admitone.kernel.errors import Refusal
from admitone.web.form import Form
from admitone.web.page import show

SECOND_FACTOR_REQUIRED: Final = "SECOND_FACTOR_REQUIRED"
ABOUT: Final = {
    "INVALID_EMAIL": ("email", "newEmail"),
    "EMAIL_EXISTS": ("newEmail",),
    "WEAK_PASSWORD": ("password", "newPassword"),
    "INVALID_CODE": ("code",),
}
"""Which field a refusal is about, by its code."""
FOR_PROGRAMS: Final = {SECOND_FACTOR_REQUIRED, "NO_SECOND_FACTOR"}
"""What these say to do next is for whoever calls the API: a page shows the way itself."""


def refused(call: Call, typed: msgspec.Struct, refusal: Refusal) -> Form:
    form = Form.refused(typed, refusal, call.words)
    about = [name for name in ABOUT.get(refusal.code, ()) if name in form.typed]
    next_step = "" if refusal.code in FOR_PROGRAMS else form.next_step
    return replace(form, wrong={**form.wrong, **dict.fromkeys(about, form.says)}, next_step=next_step)


def show_again(call: Call, template: str, typed: msgspec.Struct, refusal: Refusal, **shown: Any) -> Html:
    form = refused(call, typed, refusal)
    return show(call, template, status=form.status, form=form, **shown)
