"""A server that runs on a data folder, whoever started it."""

import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

SUPERUSER = "postgres"
RUNTIME_LOGIN = "admitone"
DATABASE = "admitone"

PORT = 5432  # Only part of the socket's name: nothing listens on a port.


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers."""

    pid: int
    socket_folder: Path

    def url(self, user: str = RUNTIME_LOGIN, database: str = DATABASE) -> str:
        return f"postgresql://{quote(user)}@/{quote(database)}?host={quote(str(self.socket_folder))}&port={PORT}"


def find_server(home: Path) -> Server | None:
    """The server that runs on this folder and is ready, whoever started it."""
    return find_ready(data_folder(home))


def data_folder(home: Path) -> Path:
    return (home / "postgres").resolve() / "data"


def find_ready(data: Path) -> Server | None:
    # Line by line: pid, data folder, start time, port, socket folder, addresses, shared memory, status.
    lines = _noted_lines(data)
    if len(lines) < 8 or lines[7].strip() != "ready":
        return None
    pid = int(lines[0])
    return Server(pid, Path(lines[4])) if pid in living(data) else None


def _noted_lines(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return []


def noted_pid(data: Path) -> int | None:
    lines = _noted_lines(data)
    return int(lines[0]) if lines and lines[0].strip().isdigit() else None


def living(data: Path) -> list[int]:
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
    noted = noted_pid(data)
    if noted is None:
        return []
    asked = subprocess.run(["ps", "-o", "comm=", "-p", str(noted)], capture_output=True, text=True, check=False)
    return [noted] if asked.stdout.strip().endswith("postgres") else []
