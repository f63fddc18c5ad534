"""Which providers this installation has, as operators say it.

Promise: the sandbox takes no money, so it never stands where money is real; whoever asks for both is told so at the
start, and so is whoever asks for nothing where something must be said.
"""

import secrets
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from admitone.finance.gateways.model import Provider
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.kernel.config import Config, ConfigurationProblem, Key, When, at_least, reads
from admitone.kernel.outbound import Outbound

NONE: Final = "none"
BUILT: Final = (Provider.SANDBOX,)


def _providers(text: str) -> tuple[Provider, ...]:
    """In the order in which they are preferred."""
    if text == NONE:
        return ()
    named = tuple(Provider(each.strip()) for each in text.split(","))
    if len(set(named)) < len(named) or not set(named) <= set(BUILT):
        raise ValueError("named twice, or not built yet")
    return named


def is_here(host: str) -> bool:
    """Whether this is an address of this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _loopback_url(text: str) -> str:
    url = urlsplit(text)
    if url.scheme != "http" or not is_here(url.hostname or "") or url.path not in ("", "/") or url.query:
        raise ValueError("not http:// on this machine")
    return f"http://{url.netloc}"


GATEWAYS_KEY: Final = Key(
    "ADMITONE_GATEWAYS",
    f"the providers to be paid through, by comma: {', '.join(BUILT)}; or `none`, where nothing paid is sold",
    When.PRODUCTION,
    reads(_providers),
)
SANDBOX_URL: Final = Key(
    "ADMITONE_SANDBOX_URL",
    "where `admitone sandbox` listens on this machine, as in http://127.0.0.1:8001 (default: the port after ours)",
    check=reads(_loopback_url),
)
SANDBOX_SECRET: Final = Key(
    "ADMITONE_SANDBOX_SECRET",
    "at least 32 characters that `admitone sandbox` and we share",
    check=at_least(32),
    secret=True,
    make=secrets.token_urlsafe,
)
KEYS: Final = (GATEWAYS_KEY, SANDBOX_URL, SANDBOX_SECRET)


def providers(config: Config) -> tuple[Provider, ...]:
    given = config.find(GATEWAYS_KEY)
    is_live = config.payment_mode == "live"
    named = _providers(given) if given else () if is_live else (Provider.SANDBOX,)
    if is_live and Provider.SANDBOX in named:
        why = "the sandbox takes no money, and payments are live here (STRIPE_MODE)"
        raise ConfigurationProblem([f"{GATEWAYS_KEY.name} names sandbox: {why}."])
    return named


def sandbox_url(config: Config) -> str:
    given = config.find(SANDBOX_URL)
    return _loopback_url(given) if given else f"http://127.0.0.1:{own_sandbox_port(config)}"


def own_sandbox_port(config: Config) -> int:
    """Where one listens that nobody said anything about: beside us."""
    return config.port + 1 if config.port < 65_535 else config.port - 1


def runs_own_sandbox(config: Config) -> bool:
    """Whether whoever runs everything runs a sandbox too: one is wanted, and none is said to be elsewhere."""
    return Provider.SANDBOX in providers(config) and config.find(SANDBOX_URL) is None


def sandbox_keys(config: Config) -> Keys:
    given = config.find(SANDBOX_SECRET)
    if given is None:
        raise ConfigurationProblem([f"{SANDBOX_SECRET.name} is missing: expected {SANDBOX_SECRET.help}."])
    return Keys.of(given)


def gateways_of(config: Config, outbound: Outbound) -> list[SandboxGateway]:
    return [SandboxGateway.over_http(sandbox_keys(config), sandbox_url(config), outbound) for _ in providers(config)]
