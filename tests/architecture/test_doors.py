"""Who may import whom."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.doors import closed_doors, foreign_orders, misplaced_dependencies
from tests.architecture.source_tree import REPOSITORY, SOURCE, sources

LAYERS_BROKEN = {
    "admitone/kernel/planted.py": "from admitone.finance.ledger import api",
    "admitone/kernel/scope.py": "def late():\n    from admitone.kernel import db",
    "admitone/finance/ledger/api.py": "import admitone.finance.payments.api\nimport admitone.verticals.events.api",
    "admitone/verticals/events/api.py": "from admitone.verticals.stays import facts",
    "admitone/verticals/stays/facts.py": "",
    "admitone/selling/fulfilment/planted.py": "from admitone.selling.stock import api",
    "admitone/engagement/feed/handlers.py": "from ..crm import facts",
    "admitone/engagement/crm/facts.py": "from ..feed import handlers",
    "admitone/tools/anything.py": "",
}


def plant(root: Path, files: dict[str, str]) -> Path:
    """A source tree with these files, and the `__init__` files that they need."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for parent in path.relative_to(root).parents:
            if parent.name:
                (root / parent / "__init__.py").touch()
    return root


def lint_imports(config: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("lint-imports"), "--config", config, "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=config.parent, capture_output=True, text=True, check=False)


def our_contracts() -> list[str]:
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    return [contract["name"] for contract in config["tool"]["importlinter"]["contracts"]]


def test_shelves_import_downwards_only():
    linted = lint_imports(REPOSITORY / "pyproject.toml")
    assert linted.returncode == 0, linted.stdout


def test_every_broken_layer_is_seen(tmp_path: Path):
    shutil.copytree(SOURCE / "admitone", tmp_path / "admitone")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    plant(tmp_path, LAYERS_BROKEN)

    said = lint_imports(tmp_path / "pyproject.toml").stdout

    assert [name for name in our_contracts() if f"{name} BROKEN" not in said] == []
    assert "tools" in said, "a new shelf must take its place in the order"


@pytest.mark.covers("OPS-020")
def test_packages_are_entered_by_their_doors():
    assert closed_doors(sources(SOURCE)) == []


@pytest.mark.covers("OPS-020")
def test_dependencies_stay_in_their_place():
    assert misplaced_dependencies(sources(SOURCE)) == []


INSIDE = "admitone/verticals/events/commands.py"


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (INSIDE, "from admitone.finance.ledger import store"),
        (INSIDE, "from admitone.finance.ledger.store import POST"),
        (INSIDE, "import admitone.finance.ledger.commands"),
        (INSIDE, "import admitone.finance.ledger"),
        (INSIDE, "from admitone.finance import ledger"),
        (INSIDE, "from admitone.finance.ledger import *"),
        (INSIDE, "from ...finance.ledger import model"),
        (INSIDE, "def late():\n    from admitone.entitlements import store"),
        (INSIDE, "import importlib\nimportlib.import_module('admitone.finance.ledger.store')"),
        (INSIDE, "from importlib import import_module\nimport_module('admitone.finance.' + 'ledger.store')"),
        (INSIDE, "__import__('admitone.finance.ledger.queries')"),
        ("admitone/verticals/events/__init__.py", "from ..stays import store"),
        ("admitone/web/console/pages.py", "from admitone.finance.ledger import queries"),
        ("admitone/finance/payments/commands.py", "from admitone.finance.ledger import store"),
        ("admitone/entrypoints/http.py", "from admitone.finance.ledger import store"),
    ],
)
def test_a_closed_door_is_seen(tmp_path: Path, file: str, line: str):
    [violation] = closed_doors(sources(plant(tmp_path, {file: line})))
    assert violation.startswith(file)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (INSIDE, "from admitone.finance.ledger import api, facts, port"),
        (INSIDE, "from admitone.finance.ledger.api import post"),
        (INSIDE, "from admitone.kernel.db import Tx\nfrom admitone.kernel import ids"),
        (INSIDE, "from . import store\nfrom .policy import decide\nimport admitone.verticals.events.store"),
        ("admitone/entitlements/commands/consume.py", "from admitone.entitlements import store"),
        ("admitone/entrypoints/modules.py", "from admitone.finance.ledger import module"),
    ],
)
def test_an_open_door_is_open(tmp_path: Path, file: str, line: str):
    assert closed_doors(sources(plant(tmp_path, {file: line}))) == []


@pytest.mark.covers("OPS-020", "FIN-002", "PAY-074")
@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("admitone/verticals/events/commands.py", "import stripe"),
        ("admitone/verticals/stays/commands.py", "from mercadopago import SDK"),
        ("admitone/finance/payments/commands.py", "from stripe.error import CardError"),
        ("admitone/finance/ledger/store.py", "def late():\n    import asyncpg"),
        ("admitone/engagement/feed/handlers.py", "from httpx import AsyncClient"),
        ("admitone/finance/gateways/stripe.py", "import requests.sessions"),
        ("admitone/finance/gateways/pix.py", "from aiohttp import ClientSession"),
        ("admitone/foundation/media/commands.py", "import urllib.request"),
        ("admitone/foundation/media/commands.py", "from urllib.request import urlopen"),
        ("admitone/foundation/media/commands.py", "from urllib import request"),
        ("admitone/kernel/breaker.py", "import httpcore"),
        ("admitone/kernel/targets.py", "import urllib3"),
        ("admitone/entrypoints/serve.py", "import http.client"),
        ("admitone/entrypoints/run.py", "import httpx"),
    ],
)
def test_a_misplaced_dependency_is_seen(tmp_path: Path, file: str, line: str):
    [violation] = misplaced_dependencies(sources(plant(tmp_path, {file: line})))
    assert violation.startswith(file)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("admitone/kernel/outbound.py", "import httpcore\nimport httpx"),
        ("admitone/entrypoints/run.py", "import http.client"),
        ("admitone/kernel/config.py", "from urllib.parse import urlsplit\nfrom http import HTTPStatus"),
    ],
)
def test_a_dependency_in_its_place_is_left_alone(tmp_path: Path, file: str, line: str):
    assert misplaced_dependencies(sources(plant(tmp_path, {file: line}))) == []


@pytest.mark.covers("FIN-002")
def test_only_payments_orders_charges_of_a_provider(tmp_path: Path):
    assert foreign_orders(sources(SOURCE)) == []
    planted = {"admitone/verticals/events/commands.py": "async def sell(gateway):\n    await gateway.open_charge(None)"}
    [violation] = foreign_orders(sources(plant(tmp_path, planted)))
    assert violation.startswith("admitone/verticals/events/commands.py:2 calls open_charge")
