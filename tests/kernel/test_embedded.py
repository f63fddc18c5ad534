"""The embedded server, with real processes that are really killed."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from admitone.kernel import embedded
from admitone.kernel.embedded import SUPERUSER, Cluster, EmbeddedProblem, find_server, tool
from admitone.kernel.embedded.processes import run_as
from admitone.kernel.embedded.server import data_folder, living

QUICK = {"fsync": "off", "shared_buffers": "16MB"}
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else for a while")

SUPERVISOR = """
import sys, time
from pathlib import Path
from admitone.kernel.embedded import Cluster
Cluster(Path(sys.argv[1]), {"shared_buffers": "16MB"}).start()
print("started", flush=True)
time.sleep(600)
"""


def ask(url: str, sql: str) -> str:
    return subprocess.run(
        [tool("psql"), "-XAtq", "-d", url, "-c", sql], capture_output=True, text=True, check=True
    ).stdout.strip()


def write(cluster: Cluster) -> None:
    ask(cluster.url(SUPERUSER), "CREATE TABLE sold (ticket int); INSERT INTO sold VALUES (1), (2)")


def count(cluster: Cluster) -> int:
    return int(ask(cluster.url(SUPERUSER), "SELECT count(*) FROM sold"))


def until(happened: Callable[[], object], seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that the server's user can reach, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="admitone-test-"))
    folder.chmod(0o711)
    yield folder / "home"
    Cluster(folder / "home").remove()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with Cluster.temporary(QUICK) as cluster:
        yield cluster


@pytest.fixture
def supervised(home: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that runs a cluster."""
    process = subprocess.Popen([sys.executable, "-c", SUPERVISOR, home], stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "started\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()
    until(lambda: not living(data_folder(home)))


def test_the_runtime_login_is_ready_and_powerless(running):
    powers = "SELECT current_database(), rolsuper, rolbypassrls, rolinherit, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
    assert ask(running.url(), powers) == "admitone|f|f|f|f|f"


def test_nothing_listens_on_the_network_and_the_socket_is_private(running):
    assert ask(running.url(), "SHOW listen_addresses") == ""
    assert running.server.socket_folder.stat().st_mode & 0o777 == 0o700


def test_the_data_is_checked_and_sorted_the_same_everywhere(running):
    assert ask(running.url(), "SHOW data_checksums") == "on"
    assert (
        ask(running.url(), "SELECT datlocprovider, datlocale FROM pg_database WHERE datname = 'admitone'")
        == "b|C.UTF-8"
    )


def test_the_settings_of_the_person_at_the_keyboard_do_not_reach_the_server(home, monkeypatch):
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGDATA", "/nowhere")
    with Cluster(home, QUICK) as cluster:
        monkeypatch.undo()
        assert ask(cluster.url(), "SHOW port") == "5432"


def test_a_second_start_keeps_the_data_and_is_quick(home):
    with Cluster(home, QUICK) as cluster:
        write(cluster)
    began = time.monotonic()
    with Cluster(home, QUICK) as cluster:
        assert time.monotonic() - began < 5
        assert count(cluster) == 2


def test_it_stops_in_time_though_clients_are_in_the_middle_of_something(home):
    cluster = Cluster(home, QUICK)
    cluster.start()
    busy = subprocess.Popen(
        [tool("psql"), "-XAtq", "-d", cluster.url(), "-c", "BEGIN; SELECT pg_sleep(600)"], stderr=subprocess.DEVNULL
    )
    until(
        lambda: ask(cluster.url(SUPERUSER), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
    )
    began = time.monotonic()
    cluster.stop()
    assert time.monotonic() - began < 10
    assert find_server(home) is None
    assert not living(data_folder(home))
    assert "database system is shut down" in cluster.log_file.read_text()
    busy.wait()
    cluster.stop()


def test_a_folder_in_use_is_refused_with_the_name_of_the_process(home, supervised):
    with pytest.raises(EmbeddedProblem, match=f"in use by process {supervised.pid}"):
        Cluster(home, QUICK).start()


def test_another_process_finds_the_running_server(home, supervised):
    server = find_server(home)
    assert server
    assert ask(server.url(), "SELECT 1") == "1"


def test_what_was_committed_survives_kill_9_of_everything(home, supervised):
    cluster = Cluster(home, {"shared_buffers": "16MB"})
    write(cluster)
    os.kill(supervised.pid, signal.SIGSTOP)  # So that it cannot start the server again while we kill.
    for pid in living(data_folder(home)):
        with suppress(ProcessLookupError):  # Some follow their parent before their turn comes.
            os.kill(pid, signal.SIGKILL)
    supervised.kill()
    supervised.wait()
    with cluster:
        assert count(cluster) == 2
    assert "was not properly shut down; automatic recovery in progress" in cluster.log_file.read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children that their parent died")
def test_the_server_does_not_outlive_a_killed_supervisor(home, supervised):
    supervised.kill()
    until(lambda: not living(data_folder(home)))
    assert "received fast shutdown request" in (home / "postgres.log").read_text()


def test_a_start_right_after_the_kill_waits_for_the_former_server(home, supervised):
    write(Cluster(home))
    supervised.kill()
    supervised.wait()
    with Cluster(home, QUICK) as cluster:
        assert count(cluster) == 2


def test_a_server_without_a_parent_is_told_to_end(home):
    said: list[str] = []
    with Cluster(home, QUICK) as cluster:
        write(cluster)
        place = cluster._settle()
        command = cluster._command(place)
    orphan = subprocess.Popen(command, cwd="/", stderr=subprocess.DEVNULL, **run_as(embedded.server_account()))
    until(lambda: find_server(home))
    with Cluster(home, QUICK, tell=said.append) as cluster:
        assert orphan.wait(5) == 0
        assert count(cluster) == 2
    assert f"process {orphan.pid}" in said[0]


def test_a_server_that_dies_is_started_again(home):
    said: list[str] = []
    with Cluster(home, QUICK, tell=said.append) as cluster:
        write(cluster)
        first = cluster.server.pid
        os.kill(first, signal.SIGKILL)
        until(lambda: (server := find_server(home)) and server.pid != first)
        assert count(cluster) == 2
    assert any("ended unexpectedly" in word for word in said)


def test_a_left_over_pid_that_is_now_somebody_elses_is_not_believed(home):
    with Cluster(home, QUICK):
        noted = (data_folder(home) / "postmaster.pid").read_text()
    stale = noted.replace(noted.splitlines()[0], str(os.getpid()), 1)
    (data_folder(home) / "postmaster.pid").write_text(stale)
    assert find_server(home) is None
    with Cluster(home, QUICK) as cluster:
        assert ask(cluster.url(), "SELECT 1") == "1"


def test_an_initialisation_that_was_cut_off_is_done_again(home):
    cluster = Cluster(home, QUICK)
    cluster._take_the_folder()
    half = cluster._settle() / "data-1234"
    cluster.stop()
    half.mkdir()
    (half / "PG_VERSION").write_text("18")
    with cluster:
        assert ask(cluster.url(), "SELECT 1") == "1"
    assert not half.exists()


def test_a_server_that_cannot_start_shows_what_it_said(home):
    with pytest.raises(EmbeddedProblem, match="invalid value for parameter"):
        Cluster(home, {**QUICK, "shared_buffers": "much"}).start()
    with Cluster(home, QUICK) as cluster:  # And it holds nothing that would stand in the way of the next one.
        assert ask(cluster.url(), "SELECT 1") == "1"


def test_a_path_too_long_for_a_socket_gets_a_private_one_elsewhere(home):
    deep = home.with_name("a-name-of-thirty-characters-xx") / "another-of-thirty-characters-x" / "and, with a comma"
    cluster = Cluster(deep, QUICK)
    try:
        with cluster:
            folder = cluster.server.socket_folder
            assert not folder.is_relative_to(deep)
            assert folder.stat().st_mode & 0o777 == 0o700
            assert ask(cluster.url(), "SELECT 1") == "1"
        assert not folder.exists()
    finally:
        cluster.remove()


def test_a_temporary_cluster_leaves_nothing_behind():
    with Cluster.temporary(QUICK) as cluster:
        place = (cluster.home / "postgres").resolve()
    assert not cluster.home.exists()
    assert not place.exists()


@as_root
def test_root_opens_no_closed_folder_for_the_server(home):
    closed = home.parent / "closed"
    closed.mkdir(mode=0o700)
    cluster = Cluster(closed / "data", QUICK)
    try:
        with cluster:
            write(cluster)
            assert (closed / "data" / "postgres").is_symlink()
        with cluster:
            assert count(cluster) == 2
        assert closed.stat().st_mode & 0o777 == 0o700
        assert closed.stat().st_uid == 0
    finally:
        cluster.remove()


@as_root
def test_root_runs_the_server_as_an_unprivileged_user(running):
    assert Path(f"/proc/{running.server.pid}").stat().st_uid == pwd.getpwnam("nobody").pw_uid


@as_root
def test_data_of_another_user_is_left_alone(home):
    home.mkdir()
    (home / "postgres").mkdir()
    os.chown(home / "postgres", 1, 1)
    with pytest.raises(EmbeddedProblem, match="belongs to another user"):
        Cluster(home, QUICK).start()


ORDINARY = """
import os, pwd, subprocess, sys
from pathlib import Path
from admitone.kernel import embedded
nobody = pwd.getpwnam("nobody")
os.setgroups([]); os.setgid(nobody.pw_gid); os.setuid(nobody.pw_uid)
os.environ["XDG_DATA_HOME"] = sys.argv[1]
home = embedded.default_home()
sleeper = subprocess.Popen(["sleep", "60"])
cluster = embedded.Cluster(home, {"shared_buffers": "16MB", "fsync": "off"})
for round in (1, 2):
    with cluster:
        print(cluster.url())
    # A number that another process of the same user now has: the server alone would refuse to start.
    for note in ("data/postmaster.pid", "socket/.s.PGSQL.5432.lock"):
        (home / "postgres" / note).write_text(f"{sleeper.pid}\\n")
sleeper.kill(); sleeper.wait()
print(oct(home.stat().st_mode & 0o777), home.stat().st_uid == nobody.pw_uid)
"""


@as_root
def test_an_ordinary_user_runs_it_in_a_folder_of_his_own(home):
    home.mkdir()
    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    done = subprocess.run([sys.executable, "-c", ORDINARY, home], capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    first, second, kept = done.stdout.splitlines()
    assert first == second
    assert str(home / "admitone" / "postgres" / "socket") in first
    assert kept == "0o700 True"
