"""A provider that says what a test wants it to say, and is the sandbox for everything else."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from admitone.finance.gateways.port import GATEWAYS, Gateways
from tests.finance.world import World


class Saying:
    """Of each call that is named: what it says, or what it raises."""

    def __init__(self, gateway: Any, said: dict[str, Any]) -> None:
        self._gateway = gateway
        self._said = said
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name not in self._said:
            return getattr(self._gateway, name)

        async def say(*_: Any) -> Any:
            self.asked.append(name)
            said = self._said[name]
            if isinstance(said, Exception):
                raise said
            return said

        return say


@contextmanager
def saying(world: World, **said: Any) -> Iterator[Saying]:
    """While it lasts, the provider says this."""
    provider = Saying(world.gateway, said)
    with GATEWAYS.wired(Gateways([provider])):
        yield provider
