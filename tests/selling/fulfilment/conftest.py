"""A booth for each test, in a world of money."""

from collections.abc import Iterator

import pytest

from tests.finance.conftest import world as world
from tests.finance.world import World
from tests.selling.fulfilment.booth import Booth, a_booth


@pytest.fixture
def booth(world: World) -> Iterator[Booth]:
    with a_booth() as booth:
        yield booth
