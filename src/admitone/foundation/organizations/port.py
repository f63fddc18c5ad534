"""What organisations ask of whoever sells: whether a block of the public profile has something in it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from admitone.foundation.organizations.layout import ProfileBlock
from admitone.kernel.db import Tx
from admitone.kernel.ports import Port

SHOWCASES: Final = Port[Mapping[ProfileBlock, Callable[[Tx], Awaitable[bool]]]]("organizations.showcases")
"""Who fills which block, as the entry point knows it: each says whether it has anything to publish of the organisation
of the transaction. A block that nobody fills is empty."""
