"""Whatever the reference says may be sent or not, schemathesis sends; whatever it says comes back, must.

No 5xx, no status, header, type or body that the reference does not tell, nothing invalid accepted, nothing internal
or personal open to strangers. `ADMITONE_FUZZ_EXAMPLES=1000` sends more, `ADMITONE_FUZZ_SEED` something else.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from admitone.kernel.db import Database
from admitone.kernel.scope import Scope
from tests.builders import a_credential, an_organization
from tests.conftest import INTERNAL_SECRET
from tests.toy.module import MODULE
from tests.toy.routes import live
from tests.toy.server import ToyServer, a_toy_server

EXAMPLES = os.environ.get("ADMITONE_FUZZ_EXAMPLES", "15")
PERMISSIONS = {contract.permission for contract in MODULE.contracts if contract.permission}
SEED = os.environ.get("ADMITONE_FUZZ_SEED", "1")

# Requests that fit their schema may still be refused with 422, for reasons that a schema cannot tell: a cursor that
# we did not make, 1.0 for a whole number, NUL in a text, a currency that does not exist. So only the examples and the
# systematic phase ask for acceptance, and not where such fields are. A part of a form is text, whatever it was meant
# to be. All other checks are on.
SETTINGS = """
[phases.fuzzing.checks]
positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = ["TOY.02", "TOY.03", "KERNEL.DLQ", "KERNEL.ALERTS"]
checks.positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = "TOY.09"
checks.negative_data_rejection.enabled = false

[parameters]
organizationId = "{organization}"
organization = "{organization}"
x-orya-org-id = "{organization}"
"""


@pytest.fixture(scope="module")
def server(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToyServer]:
    home = tmp_path_factory.mktemp("fuzz")
    with a_toy_server(database_url, home, ORYA_CRON_SECRET=INTERNAL_SECRET) as server:
        yield server


@dataclass(frozen=True)
class Fuzzer:
    server: ToyServer
    scope: Scope
    folder: Path

    def run(self, *headers: str) -> None:
        """Fails when schemathesis is not content, and says why."""
        settings = self.folder / "schemathesis.toml"
        settings.write_text(SETTINGS.format(organization=self.scope.organization))
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", settings, "run"]
        command += [f"{self.server.url}/openapi.json", "--mode", "all", "--continue-on-failure"]
        command += ["--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES, "--seed", SEED]
        command += ["--exclude-operation-id", live.id]  # It never ends.
        command += [part for header in headers for part in ("--header", header)]
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        assert self.server.lives
        assert "contract.failed" not in self.server.said.read_text()
        assert "contract.undeclared_refusal" not in self.server.said.read_text()
        selected, every = re.search(r"Selected: (\d+)/(\d+)", done.stdout).groups()
        assert int(selected) == int(every) - 1 and f"Tested: {selected}\n" in done.stdout, done.stdout


@pytest.fixture
async def fuzzer(server: ToyServer, database: Database, tmp_path: Path) -> Fuzzer:
    return Fuzzer(server, await an_organization(database), tmp_path)


@pytest.mark.covers("CON-002", "CON-005")
async def test_the_reference_is_true_for_a_member(fuzzer: Fuzzer, superuser) -> None:
    credential = await a_credential(superuser, fuzzer.scope, *PERMISSIONS)
    fuzzer.run(f"Authorization: Bearer {credential.text}", f"x-orya-internal-secret: {INTERNAL_SECRET}")


@pytest.mark.covers("CON-002", "CON-005")
async def test_the_reference_is_true_for_a_stranger(fuzzer: Fuzzer) -> None:
    fuzzer.run()
