"""A page: declared like every other contract, and shown in the language and with the signs of whoever looks at it."""

from typing import Any, Final

from admitone.kernel.contracts import Audience, Call, Contract, Html, Reads, Writes
from admitone.kernel.words import Words
from admitone.web import accents
from admitone.web.speech import templates_in

SIGNED_IN: Final = "signed-in"
"""The cookie that says that there is a session to go on with."""


def page(name: str, summary: str, **said: Any) -> Contract:
    """One page, or with `post` what its form does: `page("SIGNIN", "Sign in.", get="/sign-in", takes=…)`."""
    usual: dict[str, Any] = {"audience": Audience.PUBLIC}
    if "get" not in said:
        usual |= {"repeats": "whom it asks says so", "reads": Reads.FORM if said.get("takes") else Reads.NOTHING}
    return Contract(
        id=f"WEB.{name}",
        version="1.0.0",
        owner="web",
        consumers=("people",),
        summary=summary,
        writes=Writes.PAGE,
        order_key="none",
        **{**usual, **said},
    )


def show(call: Call, template: str, *, status: int = 200, **shown: Any) -> Html:
    """The page for whoever calls."""
    return Html(render(template, call.words, here=call.here, signed_in=is_signed_in(call), **shown), status)


def render(template: str, words: Words, *, accent: str | None = None, **shown: Any) -> str:
    """In the accent of an organisation, if it has one, or in ours."""
    style = accents.address_of(accent) if accent else None
    return templates_in(words.language).get_template(template).render(accent_style=style, **shown)


def is_signed_in(call: Call) -> bool:
    """Whether there is a session to go on with: enough to greet somebody, and not to let anybody in."""
    return call.identity is not None or SIGNED_IN in call.cookies
