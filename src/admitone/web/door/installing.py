"""The door as an application of a telephone: what it is called, and the worker that keeps it where there is no network.

Promise: neither says anything that is not public; the worker reaches the doors of one organisation and nothing else.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final

from admitone.kernel.contracts import Audience, Call, Contract, File, Wire, Writes
from admitone.kernel.ids import OrganizationId
from admitone.web.assets import TYPES, asset

THEME: Final = "#12141a"
ICONS: Final = {"door-192.png": "192x192", "door-512.png": "512x512"}


class OfOrganization(Wire):
    organization_id: OrganizationId


def file(name: str, summary: str, get: str) -> Contract:
    return Contract(
        id=f"WEB.DOOR.{name}",
        version="1.0.0",
        owner="web",
        consumers=("people",),
        summary=summary,
        get=get,
        takes=OfOrganization,
        writes=Writes.FILE,
        audience=Audience.PUBLIC,
        order_key="none",
    )


worker = file("WORKER", "The script that keeps the scanner.", "/org/{organizationId}/checkin/worker.js")
manifest = file("MANIFEST", "What the scanner is called.", "/org/{organizationId}/checkin/door.webmanifest")


@worker.serves
async def give_worker(call: Call, request: OfOrganization) -> File:  # noqa: ARG001
    return File(_worker(), TYPES["js"], answers_for=_doors(request))


@cache
def _worker() -> bytes:
    return files("admitone.web").joinpath("assets", "door-worker.js").read_bytes()


@manifest.serves
async def give_manifest(call: Call, request: OfOrganization) -> File:
    return File(json.dumps(_manifest(call, request)).encode(), "application/manifest+json")


def _doors(request: OfOrganization) -> str:
    """Where the application starts: the worker answers for this too, and leads to the doors that are kept."""
    return f"/org/{request.organization_id}/checkin"


def _manifest(call: Call, request: OfOrganization) -> dict[str, Any]:
    doors = _doors(request)
    return {
        "name": call.words.say("Door · Admit One"),
        "short_name": call.words.say("Door"),
        "lang": call.language.tag,
        "id": doors,
        "start_url": f"{doors}?tab=scanner",
        "scope": doors,
        "display": "standalone",
        "background_color": THEME,
        "theme_color": THEME,
        "icons": [
            {"src": asset(name), "sizes": sizes, "type": "image/png", "purpose": purpose}
            for name, sizes in ICONS.items()
            for purpose in ("any", "maskable")
        ],
    }


CONTRACTS: Final = (worker, manifest)
