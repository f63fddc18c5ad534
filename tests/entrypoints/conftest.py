"""What every test of the command line has."""

from pathlib import Path

import pytest

from tests.entrypoints.operator import Operator


@pytest.fixture
def operator(database_url: str, tmp_path: Path) -> Operator:
    return Operator(database_url, tmp_path)
