"""The code of a ticket, as pages show it: the picture that the door reads, and the letters under it."""

from dataclasses import dataclass

from markupsafe import Markup

from admitone.entitlements.routes.wallet import CodeAnswer
from admitone.kernel.contracts import File
from admitone.verticals.events.routes.guests import GuestCode


@dataclass(frozen=True)
class Code:
    """What the door reads, and for how long."""

    answer: CodeAnswer | GuestCode
    picture: Markup

    @classmethod
    def of(cls, answer: CodeAnswer | GuestCode, drawn: File) -> "Code":
        return cls(answer, Markup(drawn.content.decode()))  # noqa: S704  Drawn by us, of squares.
