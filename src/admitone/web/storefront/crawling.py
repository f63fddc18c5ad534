"""For those who read the whole web: where to look, and where not.

Promise: the map has what lists have, so no event that is unlisted, a draft or over (EVT-002, EVT-003). It is made once
a minute at most, whoever asks.
"""

from time import monotonic
from typing import Final
from xml.sax.saxutils import escape

from admitone.kernel.contracts import Audience, Call, Contract, File, Writes
from admitone.verticals.events.routes import public
from admitone.verticals.events.routes.public import ListRequest

FOR_A_WHILE: Final = "public, max-age=300"
KEPT_SECONDS: Final = 60
MOST_EVENTS: Final = 2_000
AT_A_TIME: Final = 100
PLACES: Final = ("/", "/legal/terms", "/legal/privacy", "/legal/refunds", "/legal/company")
CLOSED_TO_ROBOTS: Final = (
    "/api/", "/org/", "/ops/", "/door", "/wallet", "/account", "/guest/", "/sign-in", "/step-up",
)  # fmt: skip


def _file(name: str, summary: str, path: str) -> Contract:
    return Contract(
        id=f"WEB.{name}",
        version="1.0.0",
        owner="web",
        consumers=("people",),
        summary=summary,
        get=path,
        writes=Writes.FILE,
        audience=Audience.PUBLIC,
        cache=FOR_A_WHILE,
        conditional=True,
        order_key="none",
    )


robots = _file("SHOP.ROBOTS", "Where robots may look.", "/robots.txt")
sitemap = _file("SHOP.SITEMAP", "The pages of what is on.", "/sitemap.xml")


class _Kept:
    """The addresses of what was on a moment ago."""

    def __init__(self) -> None:
        self.until = 0.0
        self.paths: tuple[str, ...] = ()


_kept = _Kept()


@robots.serves
async def show_robots(call: Call) -> File:
    lines = [
        "User-agent: *",
        *(f"Disallow: {path}" for path in CLOSED_TO_ROBOTS),
        f"Sitemap: {call.origin}/sitemap.xml",
    ]
    return File("\n".join((*lines, "")).encode(), "text/plain; charset=utf-8")


@sitemap.serves
async def show_sitemap(call: Call) -> File:
    if _kept.until <= monotonic():
        _kept.paths = await _paths(call)
        _kept.until = monotonic() + KEPT_SECONDS
    places = "".join(f"<url><loc>{escape(call.origin + path)}</loc></url>" for path in (*PLACES, *_kept.paths))
    told = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
    return File(f'<?xml version="1.0" encoding="UTF-8"?>\n{told}\n'.encode(), "application/xml; charset=utf-8")


async def _paths(call: Call) -> tuple[str, ...]:
    """Soonest first; what is further off comes nearer."""
    paths: list[str] = []
    houses: dict[str, None] = {}
    cursor = None
    while len(paths) < MOST_EVENTS:
        page = await call.ask(public.everything, ListRequest(cursor=cursor, limit=AT_A_TIME))
        paths += [f"/e/{each.event_id}" for each in page.items]
        houses |= dict.fromkeys(f"/o/{each.organization_id}" for each in page.items)
        cursor = page.next_cursor
        if cursor is None:
            break
    return (*paths, *houses)


CONTRACTS: Final = (robots, sitemap)
