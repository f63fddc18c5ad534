"""The sandbox's books: only added to, there after a kill, and shared by processes."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from admitone.finance.gateways.sandbox.journal import BOOKS, LIST_EVENTS, Journal
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.gateways.sandbox.simulator import Simulator
from tests.finance.gateways.builders import KEYS, a_charge_order, a_sandbox
from tests.finance.gateways.test_faults import Hands

ANSWERING = """
import asyncio, sys
from pathlib import Path
from admitone.finance.gateways.api import Charge
from admitone.finance.gateways.sandbox.journal import Journal
from tests.finance.gateways.builders import a_charge_order, a_sandbox, sure

async def answer():
    simulator, gateway = a_sandbox(journal=Journal(Path(sys.argv[1])))
    while True:
        charge = sure(Charge, await gateway.open_charge(a_charge_order()))
        simulator.act("pay", charge.id)
        print(charge.id, flush=True)

asyncio.run(answer())
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.mark.parametrize("table", BOOKS)
async def test_the_books_are_only_added_to(file: Path, table: str):
    simulator, gateway = a_sandbox(journal=Journal(file))
    charge = await gateway.open_charge(a_charge_order())
    simulator.act("pay", charge.id)
    simulator.act("dispute", charge.id)
    simulator.journal.close()
    books = sqlite3.connect(file)
    column = "within" if table == "part" else "body"
    for statement in (f"UPDATE {table} SET {column} = ''", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match="only added to"):
            books.execute(statement)
    books.close()


async def test_every_version_of_a_charge_is_kept(file: Path):
    simulator, gateway = a_sandbox(journal=Journal(file))
    charge = await gateway.open_charge(a_charge_order())
    for deed in ("pay", "tell_fees", "refund"):
        simulator.act(deed, charge.id)
    simulator.journal.close()
    books = sqlite3.connect(file)
    [[versions]] = books.execute("SELECT count(*) FROM object WHERE id = ?", (charge.id,)).fetchall()
    books.close()
    assert versions == 4


def test_what_was_answered_is_in_the_file_when_the_process_is_killed(file: Path):
    answering = [
        subprocess.Popen([sys.executable, "-c", ANSWERING, str(file)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told: list[str] = []
    for process in answering:
        assert process.stdout
        told += [process.stdout.readline().strip() for _ in range(40)]
    for process in answering:
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        told += rest.split()
    journal = Journal(file)
    simulator = Simulator(KEYS, journal)
    kept = [simulator.find(each) for each in told]
    assert len(set(told)) == len(told) >= 80
    assert all(isinstance(each, Intent) and each.status == "succeeded" for each in kept)
    assert [body for _, body in journal.list_events(0, 0, 10_000) if b"payment_intent.succeeded" in body]
    journal.close()


async def test_answers_are_forgotten_after_a_day(file: Path):
    clock = Hands()
    simulator, gateway = a_sandbox(journal=Journal(file), clock=clock)
    for _ in range(3):
        await gateway.open_charge(a_charge_order())
    clock.forward(hours=25)
    await gateway.open_charge(a_charge_order())
    simulator.tick()
    simulator.journal.close()
    books = sqlite3.connect(file)
    assert books.execute("SELECT count(*) FROM answer").fetchall() == [(1,)]
    books.close()


def test_events_are_found_by_their_time_without_reading_those_before(file: Path):
    journal = Journal(file)
    for created in (100, 200, 300, 299, 400):
        journal.append_event("pi_1", "x", None, created, str(created).encode())
    assert [body for _, body in journal.list_events(0, 299, 10)] == [b"300", b"299", b"400"]
    assert [body for _, body in journal.list_events(3, 299, 10)] == [b"299", b"400"]
    assert journal.list_events(0, 401, 10) == []
    assert journal.list_events(0, 9_999, 10) == []
    journal.close()
    books = sqlite3.connect(file)
    plan = " ".join(str(row) for row in books.execute(f"EXPLAIN QUERY PLAN {LIST_EVENTS}", (0, 299, 10)))
    books.close()
    assert "event_by_creation" in plan
    assert "SCAN" not in plan


async def test_a_step_that_breaks_midway_leaves_nothing_behind(file: Path):
    simulator, gateway = a_sandbox(journal=Journal(file))
    charge = await gateway.open_charge(a_charge_order())
    before = simulator.find(charge.id)

    def break_down(*_: object) -> None:
        raise RuntimeError("the disk is full")

    simulator.journal.append_movement = break_down  # type: ignore[method-assign]
    with pytest.raises(RuntimeError):
        simulator.act("pay", charge.id)
    assert simulator.find(charge.id) == before
    assert len(simulator.journal.list_events(0, 0, 10)) == 1
    simulator.journal.close()
