"""An operator takes an organisation's books away, looks at an account, and checks the seals."""

import asyncio
import csv
from pathlib import Path

import asyncpg
from click.testing import Result
from typer.testing import CliRunner

from admitone.entrypoints.cli import app
from admitone.finance.ledger.api import Event, roll
from admitone.kernel.db import Database
from admitone.kernel.scope import Scope
from tests.builders import an_organization
from tests.finance.ledger.books import a_posting, booked


async def admitone(database_url: str, command: str, scope: Scope, *words: str) -> Result:
    said = ["ledger", command, "--organization", str(scope.organization), *words]
    return await asyncio.to_thread(CliRunner().invoke, app, said, env={"DATABASE_URL": database_url})


async def three_sales(database: Database) -> Scope:
    scope = await an_organization(database)
    for number in range(3):
        await booked(database, scope, a_posting(Event.CAPTURED, cause=f"c{number}", gross=500, fee=30, transfer=470))
        if number < 2:
            await database.run(scope, roll)
    return scope


async def test_the_books_are_written_to_a_file_in_both_forms(database: Database, database_url: str, tmp_path: Path):
    scope = await three_sales(database)
    for form, lines in (("entries", 4), ("journal", 12)):
        out = tmp_path / f"{form}.csv"
        written = await admitone(database_url, "export", scope, "--form", form, "--out", str(out))
        assert written.exit_code == 0, written.output
        assert "6/6" in written.output  # The third sale is not sealed yet.
        with out.open(newline="") as file:
            assert len(list(csv.DictReader(file))) == lines
    assert names_in(tmp_path) == ["entries.csv", "journal.csv"]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_statement_says_what_stands(database: Database, database_url: str):
    scope = await three_sales(database)
    shown = await admitone(database_url, "statement", scope, "--account", "org_payable", "--limit", "2")
    assert shown.exit_code == 0, shown.output
    first, second, last = shown.output.splitlines()
    assert "debit" in first and "0.30 EUR" in first and "PLATFORM_FEE" in first and "c2" in first
    assert "credit" in second and "5.00 EUR" in second and "GROSS" in second
    assert last == "org_payable stands at 14.10 EUR."


async def test_verifying_ends_well_until_somebody_touched_a_row(
    database: Database, database_url: str, superuser: asyncpg.Connection
):
    scope = await three_sales(database)
    sound = await admitone(database_url, "verify", scope)
    assert sound.exit_code == 0, sound.output
    assert "2 seals over 6 transfers" in sound.output
    assert "9 transfers, of which 3 are not sealed yet; 0 faults." in sound.output
    touched = await superuser.fetchval(
        """
        UPDATE ledger.transfer SET amount_minor = 7
         WHERE organization_id = $1 AND entry_type = 'GROSS' AND causation_id = 'c1' RETURNING id
        """,
        scope.organization.uuid,
    )
    broken = await admitone(database_url, "verify", scope)
    assert broken.exit_code == 1
    assert f"CHANGED under seal 2: tfr_{touched.hex}" in broken.output
