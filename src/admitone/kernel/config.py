"""Everything the process reads from its surroundings, checked once, at the start.

Promise: a process that starts has all it needs. One that does not start names *every* setting that is missing or
malformed and what was expected, in one go, and never shows a secret, neither there nor in a `repr`.

Settings come from the environment and from the `.env` file at the root of the source tree; the environment wins. On
a person's own machine nothing is required: the database is the embedded one and secrets are made once and kept,
readable by nobody else, in the data folder. Production is what carries `ADMITONE_DEPLOYMENT=production`; there every
secret must be given, because one that is made up on each machine is not one. `APP_ENV` says nothing about that:
`SINGLE_DB_MODE=1` forces it to `prod` everywhere.

The kernel's keys are below; packages name theirs in their manifest (processor keys, Apple keys). Of the originals'
list we need no `REDIS_URL` (limits, idempotency and jobs live in PostgreSQL) and no `SUPABASE_*` (identity and
sessions are ours), nor the `NEXT_PUBLIC_*` twins (pages are rendered here, so nothing is baked into a bundle).
"""

import base64
import binascii
import fcntl
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from dotenv import dotenv_values

from admitone.kernel import embedded

ROOT = Path(__file__).resolve().parents[3]

Check = Callable[[str], bool]


class ConfigurationProblem(Exception):
    """Settings are missing or malformed; the text names each of them."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n  ".join(["The configuration is not complete:", *problems]))


class Deployment(StrEnum):
    LOCAL = "local"
    PRODUCTION = "production"


class When(Enum):
    """Where a key must be given."""

    NEVER = "never"
    PRODUCTION = "in production"


# -- Keys


def _any_text(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: its name, what it must look like and where it must be given."""

    name: str
    help: str
    """What is expected, such that it can follow "expected"."""
    needed: When = When.NEVER
    check: Check = _any_text
    secret: bool = False
    make: Callable[[], str] | None = None
    """Makes a value for a person's own machine, which is then kept."""


def one_of(*allowed: str) -> Check:
    return lambda value: value in allowed


def at_least(length: int) -> Check:
    return lambda value: len(value) >= length


def single_line_base64(value: str) -> bool:
    if re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", value) is None:
        return False
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


def private_database_url(value: str) -> bool:
    """A login, a database and a way to it on which nobody listens: a socket, or TCP with TLS."""
    try:
        url = urlsplit(value)
        asked = parse_qs(url.query, keep_blank_values=True)
        hosts = [host for given in asked.get("host", [url.netloc.rpartition("@")[2]]) for host in given.split(",")]
        login = url.username
    except ValueError:
        return False
    if url.scheme not in ("postgresql", "postgres") or not login or len(url.path) < 2 or not all(hosts):
        return False
    encrypted = asked.get("sslmode", []) != [] and {"require", "verify-ca", "verify-full"}.issuperset(asked["sslmode"])
    return encrypted or all(unquote(host).startswith("/") for host in hosts)


def parse_keyring(value: str) -> dict[int, bytes]:
    """`1:base64,2:base64`: keys by version, the highest is the one to use; older ones can still be read (GAP-18)."""
    keys = {}
    for part in value.split(","):
        number, colon, encoded = part.strip().partition(":")
        if not (colon and number.isdecimal() and single_line_base64(encoded)) or int(number) in keys:
            raise ValueError("not a keyring")
        keys[int(number)] = base64.b64decode(encoded)
    return keys


def _keyring(value: str) -> bool:
    try:
        return all(number > 0 and len(key) == 32 for number, key in parse_keyring(value).items())
    except ValueError:
        return False


def _port(value: str) -> bool:
    return value.isdecimal() and len(value) <= 5 and 0 < int(value) < 65536


def _new_keyring() -> str:
    return "1:" + base64.b64encode(secrets.token_bytes(32)).decode()


_URL_HELP = "postgresql://login@host/database?sslmode=require (or stricter), or ?host=/folder for a socket"

DEPLOYMENT = Key("ADMITONE_DEPLOYMENT", "`production` or `local`", check=one_of(*Deployment))
DATA = Key("DATA", "the folder for the embedded database and local secrets")
HOST = Key("HOST", "the address to listen on")
PORT = Key("PORT", "a port number from 1 to 65535", check=_port)
DATABASE_URL = Key("DATABASE_URL", _URL_HELP, When.PRODUCTION, private_database_url, secret=True)
DIRECT_URL = Key(
    "DIRECT_URL", f"{_URL_HELP}; the login that migrates", When.PRODUCTION, private_database_url, secret=True
)
QR_SECRET_KEY = Key(
    "QR_SECRET_KEY", "at least 32 characters", When.PRODUCTION, at_least(32), secret=True, make=secrets.token_urlsafe
)
CRON_SECRET = Key(
    "ORYA_CRON_SECRET", "at least 32 characters", When.PRODUCTION, at_least(32), secret=True, make=secrets.token_urlsafe
)
KEYS = Key(
    "ADMITONE_KEYS",
    "`1:key,2:key`, each key 32 bytes in single-line base64, the highest version in use",
    When.PRODUCTION,
    _keyring,
    secret=True,
    make=_new_keyring,
)
APP_ENV = Key("APP_ENV", "`prod` or `test`", check=one_of("prod", "test"))
SINGLE_DB_MODE = Key("SINGLE_DB_MODE", "`1` or `0`", check=one_of("1", "0"))
STRIPE_MODE = Key("STRIPE_MODE", "`test` or `live`", check=one_of("test", "live"))
PUBLIC_STRIPE_MODE = Key("NEXT_PUBLIC_STRIPE_MODE", "`test` or `live`", check=one_of("test", "live"))

KERNEL_KEYS = (
    DEPLOYMENT,
    DATA,
    HOST,
    PORT,
    DATABASE_URL,
    DIRECT_URL,
    QR_SECRET_KEY,
    CRON_SECRET,
    KEYS,
    APP_ENV,
    SINGLE_DB_MODE,
    STRIPE_MODE,
    PUBLIC_STRIPE_MODE,
)


# -- The configuration


@dataclass(frozen=True, slots=True)
class Config:
    """Settings that were checked together. Values stay out of its `repr`, whether secret or not."""

    deployment: Deployment
    home: Path
    _values: Mapping[str, str] = field(repr=False)

    @classmethod
    def load(cls, environ: Mapping[str, str], keys: Iterable[Key] = ()) -> "Config":
        """Check everything at once; a key is missing when it is absent or empty."""
        every = (*KERNEL_KEYS, *keys)
        given = {name: value for name, value in environ.items() if value}
        production = given.get(DEPLOYMENT.name) == Deployment.PRODUCTION
        problems = [problem for key in every if (problem := _problem(key, given.get(key.name), production))]
        problems += _problems_of_private_keys(given, {key.name for key in every})
        if production:
            problems += _problems_of_payment_mode(given)
        if problems:
            raise ConfigurationProblem(problems)
        home = Path(given[DATA.name]).expanduser().absolute() if DATA.name in given else embedded.default_home()
        if not production:
            given = _keep_local_secrets(home, [key for key in every if key.make]) | given
            given.setdefault(DIRECT_URL.name, given.get(DATABASE_URL.name, ""))
        deployment = Deployment.PRODUCTION if production else Deployment.LOCAL
        return cls(deployment, home, {key.name: given[key.name] for key in every if given.get(key.name)})

    def find(self, key: Key) -> str | None:
        return self._values.get(key.name)

    def get(self, key: Key) -> str:
        """For a key that is needed or made; asking for another one is a bug."""
        return self._values[key.name]

    @property
    def in_production(self) -> bool:
        return self.deployment is Deployment.PRODUCTION

    @property
    def database_url(self) -> str | None:
        """The runtime's; none means the embedded server."""
        return self.find(DATABASE_URL)

    @property
    def direct_url(self) -> str | None:
        """The migrator's."""
        return self.find(DIRECT_URL)

    @property
    def runtime_login(self) -> str:
        url = self.database_url
        return unquote(urlsplit(url).username or "") if url else embedded.RUNTIME_LOGIN

    @property
    def host(self) -> str:
        return self.find(HOST) or "127.0.0.1"

    @property
    def port(self) -> int:
        return int(self.find(PORT) or 8000)

    @property
    def app_env(self) -> str:
        if self.find(SINGLE_DB_MODE) == "1" or self.in_production:
            return "prod"
        return self.find(APP_ENV) or "test"

    @property
    def payment_mode(self) -> str:
        """`live` or `test`. Forcing it leaves the database's environment as it is."""
        return self.find(STRIPE_MODE) or self.find(PUBLIC_STRIPE_MODE) or ("live" if self.app_env == "prod" else "test")

    @property
    def keyring(self) -> dict[int, bytes]:
        return parse_keyring(self.get(KEYS))


def _problem(key: Key, value: str | None, production: bool) -> str | None:
    if value is None:
        missing = production and key.needed is When.PRODUCTION
        return f"{key.name} is missing: expected {key.help}." if missing else None
    return None if key.check(value) else f"{key.name} is malformed: expected {key.help}."


def _problems_of_private_keys(given: Mapping[str, str], declared: set[str]) -> list[str]:
    """By their name, so that no package can forget it: a key pasted with its line breaks fails here, not at its use."""
    names = [name for name in given if name.endswith("_PRIVATE_KEY_BASE64") and name not in declared]
    return [
        f"{name} is malformed: expected single-line base64." for name in names if not single_line_base64(given[name])
    ]


def _problems_of_payment_mode(given: Mapping[str, str]) -> list[str]:
    forced = [key.name for key in (STRIPE_MODE, PUBLIC_STRIPE_MODE) if key.name in given]
    return [f"{name} is set: in production it must not be, because payments are live there." for name in forced]


# -- Where values come from


def surroundings(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment over the root `.env` file (or the one that `ADMITONE_ENV_FILE` names)."""
    file = Path(environ.get("ADMITONE_ENV_FILE") or ROOT / ".env")
    written = {name: value for name, value in dotenv_values(file).items() if value is not None}
    return written | dict(environ)


def _keep_local_secrets(home: Path, keys: Sequence[Key]) -> dict[str, str]:
    """Made once; two processes that start together end with the same ones."""
    file = home / "secrets.env"
    try:
        embedded.make_home(home)
        folder = os.open(home, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            kept = {name: value for name, value in dotenv_values(file).items() if value}
            made = {key.name: key.make() for key in keys if key.make and key.name not in kept}
            if made:
                _write_privately(file, kept | made)
        finally:
            os.close(folder)
    except OSError as problem:
        raise ConfigurationProblem([f"The data folder {home} cannot be used: {problem.strerror}."]) from problem
    return kept | made


def _write_privately(file: Path, values: Mapping[str, str]) -> None:
    handle, draft = tempfile.mkstemp(prefix=".secrets-", dir=file.parent)  # Only its owner can read it, from the start.
    with os.fdopen(handle, "w") as written:
        written.writelines(f"{name}='{value}'\n" for name, value in values.items())
        written.flush()
        os.fsync(written.fileno())
    Path(draft).replace(file)
