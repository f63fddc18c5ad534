"""What is asked of others: which kinds of codes there are."""

from collections.abc import Mapping
from typing import Final

from admitone.entitlements.kinds import TICKET, TokenKind
from admitone.kernel.ports import Port

KINDS: Final[Port[Mapping[str, TokenKind]]] = Port("entitlements.kinds")
"""By name; wired with those of every vertical that brings one."""

OWN: Final = (TICKET,)
