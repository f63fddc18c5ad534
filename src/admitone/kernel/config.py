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
import fcntl
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from dotenv import dotenv_values

from admitone.kernel import embedded, failpoints
from admitone.kernel.crypto import KeyRing, single_line_base64

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


def reads(read: Callable[[str], object]) -> Check:
    """Whatever this can read."""

    def can_be_read(value: str) -> bool:
        try:
            read(value)
        except ValueError:
            return False
        return True

    return can_be_read


def private_database_url(value: str) -> bool:
    """A login, a database and a way to it on which nobody listens: a socket, or TCP with TLS."""
    try:
        url = urlsplit(value)
        asked = parse_qs(url.query, keep_blank_values=True)
        login = url.username
    except ValueError:
        return False
    # Both places may name hosts, and the driver chooses: so all of them count.
    named = [url.netloc.rpartition("@")[2], *asked.get("host", [])]
    hosts = [unquote(host) for hosts in named for host in hosts.split(",") if host]
    if url.scheme not in ("postgresql", "postgres") or not login or len(url.path) < 2 or not hosts:
        return False
    modes = asked.get("sslmode", [])
    encrypted = bool(modes) and {"require", "verify-ca", "verify-full"}.issuperset(modes)
    return encrypted or all(host.startswith("/") for host in hosts)


def _port(value: str) -> bool:
    return value.isdecimal() and len(value) <= 5 and 0 < int(value) < 65536


def _networks(value: str) -> list[IPv4Network | IPv6Network]:
    return [ip_network(each.strip()) for each in value.split(",")]


def _new_keyring() -> str:
    return "1:" + base64.b64encode(secrets.token_bytes(32)).decode()


_URL_HELP = "postgresql://login@host/database?sslmode=require (or stricter), or ?host=/folder for a socket"

DEPLOYMENT = Key("ADMITONE_DEPLOYMENT", "`production` or `local`", check=one_of(*Deployment))
DATA = Key("ADMITONE_DATA", "the folder for the embedded database and local secrets")
HOST = Key("ADMITONE_HOST", "the address to listen on")
PORT = Key("PORT", "a port number from 1 to 65535", check=_port)
WORKER_METRICS_PORT = Key(
    "ADMITONE_WORKER_METRICS_PORT", "the port on which a worker shows its figures to Prometheus", check=_port
)
WORKER_GRACE = Key(
    "ADMITONE_WORKER_GRACE",
    "how many seconds a worker that is told to end gives to what it has begun (default 10)",
    check=reads(float),
)
TRUSTED_PROXIES = Key(
    "TRUSTED_PROXIES", "networks of our own proxies, as in `10.0.0.0/8,127.0.0.1`", check=reads(_networks)
)
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
    "`1:key,2:key`, each key at least 32 bytes in single-line base64, the highest version in use",
    When.PRODUCTION,
    reads(KeyRing.parse),
    secret=True,
    make=_new_keyring,
)
APP_ENV = Key("APP_ENV", "`prod` or `test`", check=one_of("prod", "test"))
FAILPOINTS = Key(
    "ADMITONE_FAILPOINTS",
    "`point=kill` or `point=cut`, `@3` for the third time, several by comma; not in production",
    check=reads(failpoints.parse),
)
SINGLE_DB_MODE = Key("SINGLE_DB_MODE", "`1` or `0`", check=one_of("1", "0"))
STRIPE_MODE = Key("STRIPE_MODE", "`test` or `live`", check=one_of("test", "live"))
PUBLIC_STRIPE_MODE = Key("NEXT_PUBLIC_STRIPE_MODE", "`test` or `live`", check=one_of("test", "live"))

KERNEL_KEYS = (
    DEPLOYMENT,
    DATA,
    HOST,
    PORT,
    WORKER_METRICS_PORT,
    WORKER_GRACE,
    TRUSTED_PROXIES,
    DATABASE_URL,
    DIRECT_URL,
    QR_SECRET_KEY,
    CRON_SECRET,
    KEYS,
    APP_ENV,
    FAILPOINTS,
    SINGLE_DB_MODE,
    STRIPE_MODE,
    PUBLIC_STRIPE_MODE,
)


# -- The configuration


@dataclass(frozen=True, slots=True, repr=False)
class Config:
    """Settings that were checked together."""

    deployment: Deployment
    home: Path
    _values: Mapping[Key, str]

    def __repr__(self) -> str:
        shown = (f"{key.name}={'***' if key.secret else value}" for key, value in self._values.items())
        return f"Config({', '.join([self.deployment, *shown])})"

    @classmethod
    def load(cls, environ: Mapping[str, str], keys: Iterable[Key] = ()) -> "Config":
        """Check everything at once; a key is missing when it is absent or empty."""
        every = tuple(dict.fromkeys((*KERNEL_KEYS, *keys)))
        given = {name: value for name, value in environ.items() if value}
        production = given.get(DEPLOYMENT.name) == Deployment.PRODUCTION
        problems = [problem for key in every if (problem := _problem(key, given.get(key.name), production))]
        problems += _problems_of_private_keys(given, {key.name for key in every})
        if production:
            problems += _problems_of_production(given)
        if problems:
            raise ConfigurationProblem(problems)
        home = Path(given[DATA.name]).expanduser().absolute() if DATA.name in given else embedded.default_home()
        if not production:
            given = _keep_local_secrets(home, [key for key in every if key.make]) | given
            given.setdefault(DIRECT_URL.name, given.get(DATABASE_URL.name, ""))
        deployment = Deployment.PRODUCTION if production else Deployment.LOCAL
        return cls(deployment, home, {key: given[key.name] for key in every if given.get(key.name)})

    def find(self, key: Key) -> str | None:
        return self._values.get(key)

    def get(self, key: Key) -> str:
        """For a key that is needed or made; asking for another one is a bug."""
        return self._values[key]

    def on_database(self, url: str) -> "Config":
        """The same, with the server that was found or started instead of the one that was not named."""
        return replace(self, _values={**self._values, DATABASE_URL: url})

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
    def trusted_proxies(self) -> tuple[str, ...]:
        """Whose X-Forwarded-For is believed; nobody's unless said."""
        given = self.find(TRUSTED_PROXIES)
        return tuple(each.strip() for each in given.split(",")) if given else ()

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
    def keyring(self) -> KeyRing:
        return KeyRing.parse(self.get(KEYS))


def _problem(key: Key, value: str | None, production: bool) -> str | None:
    if value is None:
        missing = production and key.needed is When.PRODUCTION
        return f"{key.name} is missing: expected {key.help}." if missing else None
    return None if key.check(value) else f"{key.name} is malformed: expected {key.help}."


def _problems_of_private_keys(given: Mapping[str, str], declared: set[str]) -> list[str]:
    """By their name, so that no package can forget it: a key pasted with its line breaks fails here, not at its use."""
    names = [name for name in given if name.endswith("_PRIVATE_KEY_BASE64") and name not in declared]
    checked = reads(single_line_base64)
    return [f"{name} is malformed: expected single-line base64." for name in names if not checked(given[name])]


def _problems_of_production(given: Mapping[str, str]) -> list[str]:
    reasons = {
        STRIPE_MODE: "payments are live there",
        PUBLIC_STRIPE_MODE: "payments are live there",
        FAILPOINTS: "nothing breaks on purpose there",
    }
    return [
        f"{key.name} is set: in production it must not be, because {reason}."
        for key, reason in reasons.items()
        if key.name in given
    ]


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
