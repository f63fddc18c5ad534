"""A person types `make run` and later presses Ctrl-C; a machine is less polite."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from admitone.kernel.config import ROOT
from admitone.kernel.embedded import SUPERUSER, Cluster, Server, find_server, tool
from tests.desk import ADMITONE, Desk, a_desk, answers, clean_environment, free_port, until

A_SALE = "CREATE TABLE sold (ticket int); INSERT INTO sold VALUES (1), (2)"
SALES = "SELECT count(*) FROM sold"


def ask(server: Server | None, sql: str) -> str:
    assert server
    asked = [tool("psql"), "-XAtq", "-d", server.url(SUPERUSER), "-c", sql]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def desk() -> Iterator[Desk]:
    with a_desk() as desk:
        yield desk


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def is_installed() -> bool:
    stamp = ROOT / ".venv" / ".installed"
    return stamp.exists() and all(
        stamp.stat().st_mtime >= (ROOT / name).stat().st_mtime for name in ("requirements.lock", "pyproject.toml")
    )


@pytest.mark.skipif(not is_installed(), reason="`make` would install first; run this by `make test`")
def test_make_run_tells_where_to_look_and_one_ctrl_c_stops_it(desk):
    make = ["make", "-C", str(ROOT), "--no-print-directory", "run", f"PORT={desk.port}", f"DATA={desk.home}"]
    desk.run(make)
    assert f"http://127.0.0.1:{desk.port}/docs" in desk.words
    assert str(desk.home) in desk.words
    assert desk.health("live") == 200
    assert desk.health("ready") == 200
    sandbox = f"http://127.0.0.1:{desk.port + 1}"
    assert f"Sandbox    {sandbox}\n" in desk.words
    assert answers(sandbox), "whoever is told of it finds it there"
    desk.ctrl_c()
    assert not desk.processes()
    assert "Traceback" not in desk.words


def test_a_second_run_is_quick_and_keeps_data_and_secrets(desk):
    desk.run()
    ask(find_server(desk.home), A_SALE)
    secrets = (desk.home / "secrets.env").read_text()
    assert desk.ctrl_c() == 0
    assert not desk.processes()

    began = time.monotonic()
    desk.run()
    assert time.monotonic() - began < 60
    assert ask(find_server(desk.home), SALES) == "2"
    assert (desk.home / "secrets.env").read_text() == secrets
    desk.running.send_signal(signal.SIGTERM)
    assert desk.running.wait(5) == 0


def test_after_kill_9_of_everything_the_next_run_recovers(desk):
    desk.run()
    ask(find_server(desk.home), A_SALE)
    desk.kill_everything()
    assert desk.health("live") == 0

    desk.run()
    assert desk.health("ready") == 200
    assert ask(find_server(desk.home), SALES) == "2"
    assert desk.ctrl_c() == 0


def test_nothing_outlives_a_killed_run(desk):
    desk.run().kill()
    desk.running.wait()
    until(lambda: not desk.processes())


def test_an_api_that_dies_ends_everything_with_a_word(desk):
    run = desk.run()
    [api] = [pid for pid in desk.processes() if b"\0serve\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(api, signal.SIGKILL)
    assert run.wait(5) == 1
    assert "The API ended unexpectedly" in desk.words
    assert not desk.processes()


def test_readiness_follows_the_database_and_comes_back_with_it(desk):
    run = desk.run()
    run.send_signal(signal.SIGSTOP)  # So that it does not start the database again at once.
    os.kill(find_server(desk.home).pid, signal.SIGKILL)
    until(lambda: desk.health("ready") == 503)
    assert desk.health("live") == 200
    run.send_signal(signal.SIGCONT)
    until(lambda: desk.health("ready") == 200)
    assert desk.ctrl_c() == 0


def test_a_port_or_a_folder_in_use_is_one_sentence(desk):
    desk.run()
    same_port = subprocess.run(
        [*ADMITONE, "run", "--port", str(desk.port)],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )
    same_folder = subprocess.run(
        [*ADMITONE, "run", "--port", str(free_port()), "--data", desk.home],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )
    assert (same_port.returncode, same_folder.returncode) == (1, 1)
    assert f"Port {desk.port} on 127.0.0.1 cannot be used" in same_port.stderr
    assert f"in use by process {desk.running.pid}" in same_folder.stderr
    assert same_port.stderr.count("\n") == same_folder.stderr.count("\n") == 1


@pytest.mark.covers("PLT-043")
def test_a_named_server_is_used_instead_and_the_env_file_is_enough_to_migrate_it(desk):
    file = desk.home.parent / "env"
    with Cluster.temporary({"shared_buffers": "32MB"}) as theirs:
        file.write_text(f"DATABASE_URL={theirs.url()}\nDIRECT_URL={theirs.url(SUPERUSER)}\n")
        environ = clean_environment(ADMITONE_ENV_FILE=str(file), ADMITONE_DATA=str(desk.home))
        migrated = subprocess.run([*ADMITONE, "migrate"], env=environ, capture_output=True, text=True, check=True)
        assert "Applied 0001_kernel.sql" in migrated.stdout

        desk.run(ADMITONE_ENV_FILE=str(file))
        assert desk.health("ready") == 200
        assert not (desk.home / "postgres").exists()
        assert desk.ctrl_c() == 0
