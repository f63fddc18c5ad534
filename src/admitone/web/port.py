"""What the pages give to whoever serves them, and need from them: how people are turned away, and who runs this.

People are turned away by a page that says what happened and what to do next, or by the way to where they can do
something about it.
"""

from collections.abc import Mapping
from typing import Final

from admitone.kernel.contracts import Looking, Reception
from admitone.kernel.errors import Unauthenticated
from admitone.kernel.streaks import StepUpRequired
from admitone.kernel.words import Words
from admitone.web.page import SIGNED_IN, render
from admitone.web.storefront.operator import OPERATOR, Operator
from admitone.web.unsent import keep

__all__ = ["OPERATOR", "RECEPTION", "Operator", "refusal_page"]

SIGN_IN: Final = "/sign-in"
STEP_UP: Final = "/step-up"


HOMES: Final = {"org": "/org", "ops": "/ops"}
"""Where to begin anew, by the first part of an address; else at the start."""


def refusal_page(envelope: Mapping[str, object], status: int, words: Words, looking: Looking) -> str:
    is_known = SIGNED_IN in looking.cookies
    home = HOMES.get(looking.here.partition("?")[0].split("/")[1], "/") if is_known else "/"
    return render(
        "refusal.html", words, envelope=envelope, status=status, here=looking.here, signed_in=is_known, home=home
    )


RECEPTION: Final = Reception(refusal_page, {StepUpRequired: STEP_UP, Unauthenticated: SIGN_IN}, keep)
