"""Styles, scripts and pictures: our own, and nothing from elsewhere.

Promise: an address names what it holds by a digest of all of them, so that browsers keep it for a year and never show
an old one with a new page; what a release answers for another's address is kept by nobody. What is not in the folder is
not found.
"""

import hashlib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Final

from msgspec import Meta

from admitone.kernel.contracts import Audience, Call, Contract, File, Packed, Wire, Writes
from admitone.kernel.contracts.contract import NO_STORE
from admitone.kernel.errors import NotFound

TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
FOR_A_YEAR: Final = "public, max-age=31536000, immutable"


class AssetNotFound(NotFound):
    """There is no such file."""


class AssetRequest(Wire):
    version: Annotated[str, Meta(max_length=64)]
    name: Annotated[str, Meta(max_length=64)]


give_asset = Contract(
    id="WEB.ASSET",
    version="1.0.0",
    owner="web",
    consumers=("people",),
    summary="A style, a script or a picture of our pages.",
    get="/assets/{version}/{name}",
    takes=AssetRequest,
    refuses=(AssetNotFound,),
    writes=Writes.FILE,
    audience=Audience.PUBLIC,
    cache=FOR_A_YEAR,
    order_key="none",
)


give_icon = Contract(
    id="WEB.ICON",
    version="1.0.0",
    owner="web",
    consumers=("people",),
    summary="Our mark, where browsers look for it unasked.",
    get="/favicon.ico",
    writes=Writes.FILE,
    audience=Audience.PUBLIC,
    cache="public, max-age=86400",
    order_key="none",
)


@give_icon.serves
async def give_mark(call: Call) -> File:
    return File.packed_for(call, _assets()["mark.svg"])


@give_asset.serves
async def give(call: Call, request: AssetRequest) -> File:
    """Also under an address of another release: whoever has its page open still needs a style. But that one is ours,
    and not what the address names: nobody keeps it, else two releases side by side would poison each other's."""
    kept = _assets().get(request.name)
    if kept is None:
        raise AssetNotFound
    given = File.packed_for(call, kept)
    return given if request.version == _version() else replace(given, cache=NO_STORE)


def asset(name: str) -> str:
    """Where it is found."""
    if name not in _assets():
        raise LookupError(f"no asset {name}")
    return f"/assets/{_version()}/{name}"


@cache
def _assets() -> dict[str, Packed]:
    """All of them, by name: the folder of the web, and no folder inside it."""
    found = sorted(_files(files("admitone.web").joinpath("assets")), key=lambda each: each.name)
    return {each.name: Packed.of(each.read_bytes(), TYPES[each.name.rpartition(".")[2]]) for each in found}


def _files(folder: Traversable) -> list[Traversable]:
    return [each for each in folder.iterdir() if each.is_file() and each.name.rpartition(".")[2] in TYPES]


@cache
def _version() -> str:
    digest = hashlib.blake2b(digest_size=8)
    for name, kept in _assets().items():
        digest.update(name.encode() + kept.plain)
    return digest.hexdigest()


CONTRACTS: Final = (give_asset, give_icon)
