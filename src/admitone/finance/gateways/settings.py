"""Which providers this installation has, as operators say it.

Promise: the sandbox takes no money, so it never stands where money is real; whoever asks for both is told so at the
start, and so is whoever asks for nothing where something must be said. A key of Stripe's for the other mode is refused,
and in production a missing one is; on a person's own machine Stripe is left out then, and paid checkouts say so
(`CONFIG_STRIPE_KEY_MISSING`).
"""

import secrets
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from admitone.finance.gateways.model import Provider
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.stripe import keys as stripe
from admitone.kernel.config import Config, ConfigurationProblem, Key, When, at_least, reads
from admitone.kernel.outbound import Outbound
from admitone.kernel.telemetry import logger

if TYPE_CHECKING:
    from admitone.finance.gateways.port import Gateway

NONE: Final = "none"
BUILT: Final = (Provider.SANDBOX, Provider.STRIPE)


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


def _api_url(text: str) -> str:
    """Stripe's own, or somebody on this machine who plays it."""
    return f"https://{urlsplit(text).netloc}" if _is_https(text) else _loopback_url(text)


def _is_https(text: str) -> bool:
    url = urlsplit(text)
    return url.scheme == "https" and bool(url.hostname) and url.path in ("", "/") and not url.query


def _begins(*prefixes: str) -> Callable[[str], bool]:
    return lambda text: text.startswith(prefixes) and len(text) > max(map(len, prefixes))


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
STRIPE_KEY: Final = Key(
    "STRIPE_SECRET_KEY",
    "Stripe's secret or restricted key of this mode, `sk_live_…` or `sk_test_…`",
    check=_begins(*stripe.LIVE, *stripe.TEST),
    secret=True,
)
STRIPE_WEBHOOK_SECRET: Final = Key(
    "STRIPE_WEBHOOK_SECRET",
    "`whsec_…` of the webhook endpoint for the platform's own account",
    check=_begins("whsec_"),
    secret=True,
)
STRIPE_CONNECT_SECRET: Final = Key(
    "STRIPE_CONNECT_WEBHOOK_SECRET",
    "`whsec_…` of the webhook endpoint for connected accounts",
    check=_begins("whsec_"),
    secret=True,
)
STRIPE_URL: Final = Key(
    "STRIPE_API_URL",
    "where Stripe, or who plays it here, is: https://… or http:// on this machine",
    check=reads(_api_url),
)
KEYS: Final = (
    GATEWAYS_KEY,
    SANDBOX_URL,
    SANDBOX_SECRET,
    STRIPE_KEY,
    STRIPE_WEBHOOK_SECRET,
    STRIPE_CONNECT_SECRET,
    STRIPE_URL,
)


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


def stripe_keys(config: Config) -> stripe.Keys | None:
    """Those of the mode that payments are in; none where one is missing on a person's own machine."""
    wanted = (STRIPE_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_CONNECT_SECRET)
    given = {key: value for key in wanted if (value := config.find(key))}
    problems = [f"{key.name} is missing: expected {key.help}." for key in wanted if key not in given]
    is_live = config.payment_mode == "live"
    if STRIPE_KEY in given and not given[STRIPE_KEY].startswith(stripe.LIVE if is_live else stripe.TEST):
        why = f"payments are {config.payment_mode} here (STRIPE_MODE), and it is a key of the other mode"
        raise ConfigurationProblem([f"{STRIPE_KEY.name} is refused: {why}."])
    if not problems:
        return stripe.Keys(given[STRIPE_KEY], given[STRIPE_WEBHOOK_SECRET], given[STRIPE_CONNECT_SECRET])
    if config.in_production:
        raise ConfigurationProblem(problems)
    logger().error("gateway.left_out", source=Provider.STRIPE.value, reason=" ".join(problems))
    return None


def gateways_of(config: Config, outbound: Outbound) -> "Sequence[Gateway]":
    """In the order in which they are preferred."""
    built = (_gateway(each, config, outbound) for each in providers(config))
    return [each for each in built if each is not None]


def _gateway(provider: Provider, config: Config, outbound: Outbound) -> "Gateway | None":
    if provider is Provider.SANDBOX:
        return SandboxGateway.over_http(sandbox_keys(config), sandbox_url(config), outbound)
    keys = stripe_keys(config)
    if keys is None:
        return None
    # Only where it is used: Stripe's own software takes a third of a second to be loaded.
    from admitone.finance.gateways.stripe.gateway import StripeGateway
    from admitone.finance.gateways.stripe.way import API_URL

    return StripeGateway(keys, _api_url(config.find(STRIPE_URL) or API_URL), outbound)
