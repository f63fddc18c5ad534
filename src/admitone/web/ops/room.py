"""The room of those who run the platform: its places, and how its pages are shown.

Promise: a page here shows what the contracts say that it asks, which answer to the platform's own people only.
"""

from typing import Any, Final

from admitone.kernel.contracts import Audience, Call, Contract, Html, Wire
from admitone.web.page import page, show

PLACE_WORDS: Final[dict[str, str]] = {
    "": "Jobs",
    "dead-letters": "Dead letters",
    "alerts": "Alerts",
    "issues": "Reconciliation",
    "gates": "Switches",
    "webhooks": "Webhooks",
}
"""By the last part of their address."""
PROOF_WORDS: Final[str] = "Proof of the books"


def ops_page(name: str, summary: str, path: str, takes: type[Wire] | None = None, **more: Any) -> Contract:
    """A page of the room; with `post=True` what one of its forms does."""
    method = "post" if more.pop("post", False) else "get"
    said: dict[str, Any] = {method: f"/ops{path}", **more}
    return page(f"OPS{name}", summary, takes=takes, audience=Audience.PERSON, **said)


def show_in_room(call: Call, here: str, template: str, *, status: int = 200, **shown: Any) -> Html:
    places = [(name, word, f"/ops/{name}".rstrip("/")) for name, word in PLACE_WORDS.items()]
    places.append(("proof", PROOF_WORDS, "/proof"))
    return show(call, template, status=status, places=places, place=here, **shown)
