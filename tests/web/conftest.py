"""A box office for the pages of those who run one, and their console."""

import pytest

from tests.verticals.events.conftest import office, stage
from tests.verticals.events.stage import Stage
from tests.web.console import Console

__all__ = ("console", "office", "stage")


@pytest.fixture
def console(stage: Stage) -> Console:
    return Console(stage)
