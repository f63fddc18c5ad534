"""How a check looks: a page at a time, each in a read of its own, so that no transaction lasts."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from admitone.finance.proof.model import Check
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller


def _silent(check: Check, looked_at: int) -> None: ...


@dataclass(frozen=True)
class Look:
    """One look at one organisation's books."""

    organization: OrganizationId
    caller: Caller
    read: Callable[..., Awaitable[Any]]
    """`read(query, *args)`, in the organisation's own scope; or in another, if it is named."""
    tell: Callable[[Check, int], None] = _silent
    """How far it is: so many rows more."""
