"""Which providers this installation has, as operators say it.

Promise: the sandbox takes no money, so it never stands where money is real; whoever asks for both is told so at the
start, and so is whoever asks for nothing where something must be said. A provider that is named has everything that it
needs, for the mode that we are in, or nothing starts, and everything that is wrong is named at once. On a person's own
machine Stripe alone may lack its keys: it is left out then, and paid checkouts say so (`CONFIG_STRIPE_KEY_MISSING`).
"""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from admitone.finance.gateways.mercadopago import gateway as mercadopago
from admitone.finance.gateways.model import Provider
from admitone.finance.gateways.openpix import gateway as openpix
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.stripe import keys as stripe
from admitone.kernel.config import Config, ConfigurationProblem, Key, When, at_least, reads
from admitone.kernel.outbound import Outbound
from admitone.kernel.telemetry import logger

if TYPE_CHECKING:
    from admitone.finance.gateways.port import Gateway

NONE: Final = "none"
BUILT: Final = (Provider.SANDBOX, Provider.STRIPE, Provider.MERCADOPAGO, Provider.OPENPIX)


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


def _provider_url(text: str) -> str:
    """Of somebody who is to be believed: in secret, or on this machine."""
    url = urlsplit(text)
    if url.scheme != "https":
        return _loopback_url(text)
    if not url.hostname or url.path not in ("", "/") or url.query or "@" in url.netloc:
        raise ValueError("not the address of a server")
    return f"https://{url.netloc}"


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
    check=reads(_provider_url),
)
MERCADOPAGO_TOKEN: Final = Key(
    "MERCADOPAGO_ACCESS_TOKEN",
    "the access token of our application: APP_USR-… where payments are live, TEST-… where they are a test",
    check=lambda value: value.startswith(("APP_USR-", "TEST-")),
    secret=True,
)
MERCADOPAGO_WEBHOOK_SECRET: Final = Key(
    "MERCADOPAGO_WEBHOOK_SECRET",
    "the secret signature of our application's webhooks, at least 16 characters",
    check=at_least(16),
    secret=True,
)
MERCADOPAGO_PAYER_EMAIL: Final = Key(
    "MERCADOPAGO_PAYER_EMAIL",
    "an e-mail address of ours that stands for every payer, and is not the one of the account itself",
    check=lambda value: re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", value) is not None,
)
MERCADOPAGO_URL: Final = Key(
    "MERCADOPAGO_URL", f"where its API is, if not at {mercadopago.URL}", check=reads(_provider_url)
)
OPENPIX_APP_ID: Final = Key(
    "OPENPIX_APP_ID", "the AppID of our application, at least 16 characters", check=at_least(16), secret=True
)
OPENPIX_URL: Final = Key(
    "OPENPIX_URL",
    f"where its API is, if not at {openpix.LIVE_URL}, or {openpix.TEST_URL} for tests",
    check=reads(_provider_url),
)
KEYS: Final = (
    GATEWAYS_KEY,
    SANDBOX_URL,
    SANDBOX_SECRET,
    MERCADOPAGO_TOKEN,
    MERCADOPAGO_WEBHOOK_SECRET,
    MERCADOPAGO_PAYER_EMAIL,
    MERCADOPAGO_URL,
    OPENPIX_APP_ID,
    OPENPIX_URL,
    STRIPE_KEY,
    STRIPE_WEBHOOK_SECRET,
    STRIPE_CONNECT_SECRET,
    STRIPE_URL,
)


def providers(config: Config) -> tuple[Provider, ...]:
    given = config.find(GATEWAYS_KEY)
    named = _providers(given) if given else () if _is_live(config) else (Provider.SANDBOX,)
    if problems := [problem for each in named for problem in CONNECTIONS[each].problems(config)]:
        raise ConfigurationProblem(problems)
    return named


def gateways_of(config: Config, outbound: Outbound) -> "list[Gateway]":
    """In the order in which they are preferred."""
    gateways: list[Gateway] = []
    for each in providers(config):
        connection = CONNECTIONS[each]
        if connection.is_left_out(config):
            logger().error("gateway.left_out", source=each.value, reason=" ".join(connection.missing(config)))
        else:
            gateways.append(connection.connect(config, outbound))
    return gateways


def _is_live(config: Config) -> bool:
    return config.payment_mode == "live"


# -- The sandbox


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


# -- Each of them: what it needs, why it cannot be, and how it is made


@dataclass(frozen=True, slots=True)
class Connection:
    needs: tuple[Key, ...]
    connect: "Callable[[Config, Outbound], Gateway]"
    objections: Callable[[Config], Iterator[str]]
    """What is given and cannot be so, in the mode that we are in."""

    may_be_left_out: bool = False
    """On a person's own machine, while something is missing."""

    def missing(self, config: Config) -> list[str]:
        return [f"{key.name} is missing: expected {key.help}." for key in self.needs if not config.find(key)]

    def is_left_out(self, config: Config) -> bool:
        return self.may_be_left_out and not config.in_production and bool(self.missing(config))

    def problems(self, config: Config) -> list[str]:
        missing = [] if self.is_left_out(config) else self.missing(config)
        return [*missing, *self.objections(config)]


def _sandbox(config: Config, outbound: Outbound) -> "Gateway":
    return SandboxGateway.over_http(sandbox_keys(config), sandbox_url(config), outbound)


def _no_game(config: Config) -> Iterator[str]:
    if _is_live(config):
        why = "the sandbox takes no money, and payments are live here (STRIPE_MODE)"
        yield f"{GATEWAYS_KEY.name} names sandbox: {why}."


def _stripe(config: Config, outbound: Outbound) -> "Gateway":
    # Only where it is used: Stripe's own software takes a third of a second to be loaded.
    from admitone.finance.gateways.stripe.gateway import StripeGateway
    from admitone.finance.gateways.stripe.way import API_URL

    given = config.find(STRIPE_URL)
    return StripeGateway(stripe_keys(config), _provider_url(given) if given else API_URL, outbound)


def stripe_keys(config: Config) -> stripe.Keys:
    return stripe.Keys(config.get(STRIPE_KEY), config.get(STRIPE_WEBHOOK_SECRET), config.get(STRIPE_CONNECT_SECRET))


def _stripe_mode(config: Config) -> Iterator[str]:
    wanted = stripe.LIVE if _is_live(config) else stripe.TEST
    if not (config.find(STRIPE_KEY) or wanted[0]).startswith(wanted):
        yield f"{STRIPE_KEY.name} is of the other mode: payments are {config.payment_mode} here (STRIPE_MODE)."
    yield from _real_address(config, STRIPE_URL)


def _mercadopago(config: Config, outbound: Outbound) -> "Gateway":
    credentials = mercadopago.Credentials(
        config.get(MERCADOPAGO_TOKEN),
        config.get(MERCADOPAGO_WEBHOOK_SECRET),
        config.get(MERCADOPAGO_PAYER_EMAIL),
        livemode=_is_live(config),
    )
    given = config.find(MERCADOPAGO_URL)
    return mercadopago.MercadoPagoGateway(credentials, _provider_url(given) if given else mercadopago.URL, outbound)


def _mercadopago_mode(config: Config) -> Iterator[str]:
    wanted = "APP_USR-" if _is_live(config) else "TEST-"
    if not (config.find(MERCADOPAGO_TOKEN) or wanted).startswith(wanted):
        yield f"{MERCADOPAGO_TOKEN.name} is of the other mode: payments are {config.payment_mode} here (STRIPE_MODE)."
    yield from _real_address(config, MERCADOPAGO_URL)


def _openpix(config: Config, outbound: Outbound) -> "Gateway":
    credentials = openpix.Credentials(config.get(OPENPIX_APP_ID), livemode=_is_live(config))
    given, usual = config.find(OPENPIX_URL), openpix.LIVE_URL if _is_live(config) else openpix.TEST_URL
    return openpix.OpenPixGateway(credentials, _provider_url(given) if given else usual, outbound)


def _openpix_mode(config: Config) -> Iterator[str]:
    other = openpix.TEST_HOSTS if _is_live(config) else openpix.LIVE_HOSTS
    if urlsplit(config.find(OPENPIX_URL) or "").hostname in other:
        yield f"{OPENPIX_URL.name} is of the other mode: payments are {config.payment_mode} here (STRIPE_MODE)."
    yield from _real_address(config, OPENPIX_URL)


def _real_address(config: Config, key: Key) -> Iterator[str]:
    if _is_live(config) and is_here(urlsplit(config.find(key) or "").hostname or ""):
        yield f"{key.name} is an address of this machine: whoever takes real money is elsewhere."


CONNECTIONS: Final[Mapping[Provider, Connection]] = {
    Provider.SANDBOX: Connection((), _sandbox, _no_game),
    Provider.STRIPE: Connection(
        (STRIPE_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_CONNECT_SECRET), _stripe, _stripe_mode, may_be_left_out=True
    ),
    Provider.MERCADOPAGO: Connection(
        (MERCADOPAGO_TOKEN, MERCADOPAGO_WEBHOOK_SECRET, MERCADOPAGO_PAYER_EMAIL), _mercadopago, _mercadopago_mode
    ),
    Provider.OPENPIX: Connection((OPENPIX_APP_ID,), _openpix, _openpix_mode),
}
