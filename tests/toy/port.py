"""What the toy needs and does not have: somebody who keeps the keys."""

from typing import Protocol

from admitone.kernel.crypto import Place
from admitone.kernel.ports import Port


class Safe(Protocol):
    """Makes a text unreadable for everybody but us, and readable again in its own place only."""

    def seal(self, plain: bytes, place: Place) -> bytes: ...

    def open(self, sealed: bytes, place: Place) -> bytes: ...


SAFE = Port[Safe]("toy.safe")
