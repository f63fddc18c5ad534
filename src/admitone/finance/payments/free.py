"""What costs nothing is counted (FIN-082)."""

from admitone.kernel.contracts import Call


async def count_free(call: Call) -> None:
    """Placeholder until its own package part is merged."""


async def note_denied(call: Call) -> None:
    """The same."""
