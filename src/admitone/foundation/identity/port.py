"""What identity needs from whoever starts it: somebody who reads Apple's tokens."""

from typing import Final

from admitone.foundation.identity.apple import Apple, NoApple, ReadsTokens
from admitone.kernel.ports import Port

__all__ = ["APPLE", "Apple", "NoApple"]

APPLE: Final = Port[ReadsTokens]("identity.apple")
