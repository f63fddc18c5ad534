"""The accent of an organisation, as a stylesheet: the Content-Security-Policy lets no colour stand in a page.

Promise: it is a function of the colour alone, so browsers keep it for a year; an address names what it holds by a
digest, so that another way to show a colour is another address. What is no colour is not found.
"""

import hashlib
from functools import lru_cache
from typing import Annotated, Final

from msgspec import Meta

from admitone.kernel.contracts import Audience, Call, Contract, File, Wire, Writes
from admitone.web.assets import FOR_A_YEAR, TYPES, AssetNotFound
from admitone.web.contrast import DARK, LIGHT, Accent, Color, NotAColor, accent_in

MOST_KEPT: Final = 1_000
ENDING: Final = ".css"


class AccentRequest(Wire):
    version: Annotated[str, Meta(max_length=64)]
    name: Annotated[str, Meta(max_length=64)]
    """As in 8a1c4a.css."""


give_accent = Contract(
    id="WEB.ACCENT",
    version="1.0.0",
    owner="web",
    consumers=("people",),
    summary="The style of pages in an organisation's own accent colour.",
    get="/accents/{version}/{name}",
    takes=AccentRequest,
    refuses=(AssetNotFound,),
    writes=Writes.FILE,
    audience=Audience.PUBLIC,
    cache=FOR_A_YEAR,
    order_key="none",
)


@give_accent.serves
async def give(call: Call, request: AccentRequest) -> File:  # noqa: ARG001
    """Also under an old address, as every asset."""
    if not request.name.endswith(ENDING):
        raise AssetNotFound
    try:
        chosen = Color.parse(f"#{request.name.removesuffix(ENDING)}")
    except NotAColor:
        raise AssetNotFound from None
    return File(stylesheet(chosen).encode(), TYPES["css"])


@lru_cache(MOST_KEPT)
def stylesheet(chosen: Color) -> str:
    """What frame.css says of our own accent, said of this one."""
    light, dark = _root(accent_in(LIGHT, chosen)), _root(accent_in(DARK, chosen))
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"


def _root(accent: Accent) -> str:
    return f":root {{ --accent: {accent.color}; --on-accent: {accent.on}; }}"


@lru_cache(MOST_KEPT)
def address_of(color: str) -> str:
    """Where the style of a colour is found."""
    chosen = Color.parse(color)
    version = hashlib.blake2b(stylesheet(chosen).encode(), digest_size=8).hexdigest()
    return f"/accents/{version}/{color.removeprefix('#')}{ENDING}"


CONTRACTS: Final = (give_accent,)
