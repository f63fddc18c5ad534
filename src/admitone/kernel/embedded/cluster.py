"""One data folder and the server that we run on it."""

import fcntl
import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from admitone.kernel.embedded.binaries import SHARED, Account, make_home, make_open_folder, server_account, tool
from admitone.kernel.embedded.keeper import Keeper, Tell
from admitone.kernel.embedded.problems import EmbeddedProblem
from admitone.kernel.embedded.processes import Command, run_as, run_to_end
from admitone.kernel.embedded.server import DATABASE, PORT, RUNTIME_LOGIN, SUPERUSER, Server, find_server

log = logging.getLogger("admitone.embedded")

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

_LONGEST_SOCKET_FOLDER = 80  # The system's limit is about 100 bytes for the whole path.


class Cluster:
    """One data folder and the server that we run on it."""

    def __init__(self, home: Path, settings: Mapping[str, str] | None = None, *, tell: Tell = log.warning) -> None:
        self.home = home.absolute()
        self.settings = {**SETTINGS, **(settings or {})}
        self._tell = tell
        self._account = server_account()
        self._lock: int | None = None
        self._keeper: Keeper | None = None
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
            self._keeper = Keeper(self._command(place), place / "data", self.log_file, self._account, self._tell)
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
            make_open_folder(SHARED)
            make_open_folder(SHARED / "clusters")
        draft = Path(tempfile.mkdtemp(prefix="postgres-", dir=self.home if reachable else SHARED / "clusters"))
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
        run_to_end(initdb, account=self._account, cwd=place)
        draft.rename(data)
        _flush_folder(place)

    def _command(self, place: Path) -> list[str | Path]:
        chosen = {
            **self.settings,
            "listen_addresses": "",
            "port": str(PORT),
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
        run_to_end([*psql, *names], said_to_it=_LOGIN_AND_DATABASE)


def _can_enter(account: Account, folder: Path) -> bool:
    """Asked of the system itself, as that user: it knows about every parent, mount and access list."""
    tried = subprocess.run(
        ["/bin/sh", "-c", 'cd "$1"', "sh", folder], cwd="/", capture_output=True, check=False, **run_as(account)
    )
    return tried.returncode == 0


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
