"""Which providers an installation has, and that a game is never played where money is real."""

from pathlib import Path

import pytest

from admitone.entrypoints.modules import MODULES
from admitone.finance.gateways.api import Method, Provider
from admitone.finance.gateways.mercadopago.gateway import Credentials
from admitone.finance.gateways.openpix.gateway import Credentials as AppCredentials
from admitone.finance.gateways.port import Gateway, Gateways, gateways_of, runs_own_sandbox, sandbox_keys
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.settings import KEYS, providers, sandbox_url, stripe_keys
from admitone.kernel.config import Config, ConfigurationProblem
from admitone.kernel.outbound import Outbound
from tests.finance.gateways.builders import a_sandbox
from tests.kernel.test_config import PRODUCTION, names, problems_of


def a_config(tmp_path: Path, **given: str) -> Config:
    return Config.load({"ADMITONE_DATA": str(tmp_path / "home"), **given}, KEYS)


def test_on_a_persons_own_machine_the_sandbox_is_there_beside_us(tmp_path: Path):
    config = a_config(tmp_path, PORT="8200")
    assert providers(config) == (Provider.SANDBOX,)
    assert sandbox_url(config) == "http://127.0.0.1:8201"
    assert runs_own_sandbox(config)
    assert sandbox_keys(config) == sandbox_keys(a_config(tmp_path)), "its secret was made once and kept"


def test_a_sandbox_elsewhere_is_not_started_here(tmp_path: Path):
    config = a_config(tmp_path, ADMITONE_SANDBOX_URL="http://localhost:9000/")
    assert sandbox_url(config) == "http://localhost:9000"
    assert not runs_own_sandbox(config)


@pytest.mark.parametrize("mode", [{"STRIPE_MODE": "live"}, {"SINGLE_DB_MODE": "1"}])
def test_where_payments_are_live_there_is_no_sandbox(tmp_path: Path, mode: dict[str, str]):
    assert providers(a_config(tmp_path, **mode)) == ()
    assert not runs_own_sandbox(a_config(tmp_path, **mode))
    with pytest.raises(ConfigurationProblem, match="ADMITONE_GATEWAYS names sandbox"):
        providers(a_config(tmp_path, ADMITONE_GATEWAYS="sandbox", **mode))


def test_production_must_say_by_whom_it_is_paid():
    assert names(problems_of(PRODUCTION, *KEYS)) == ["ADMITONE_GATEWAYS"]
    assert problems_of(PRODUCTION, *KEYS)[0].startswith("ADMITONE_GATEWAYS is missing: expected the providers")


def test_production_may_sell_nothing_that_is_paid_for(tmp_path: Path):
    config = Config.load({**PRODUCTION, "ADMITONE_GATEWAYS": "none"}, KEYS)
    assert gateways_of(config, None) == []  # type: ignore[arg-type]


def test_production_never_has_the_sandbox():
    config = Config.load({**PRODUCTION, "ADMITONE_GATEWAYS": "sandbox"}, KEYS)
    with pytest.raises(ConfigurationProblem, match="payments are live here"):
        providers(config)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ADMITONE_GATEWAYS", "paypal"),
        ("ADMITONE_GATEWAYS", "sandbox,sandbox"),
        ("ADMITONE_GATEWAYS", "stripe,stripe"),
        ("ADMITONE_SANDBOX_URL", "http://sandbox.example.com"),
        ("ADMITONE_SANDBOX_URL", "https://127.0.0.1:8001"),
        ("ADMITONE_SANDBOX_URL", "http://127.0.0.1:8001/elsewhere"),
        ("ADMITONE_SANDBOX_SECRET", "short"),
        ("MERCADOPAGO_ACCESS_TOKEN", "sk_test_1"),
        ("MERCADOPAGO_WEBHOOK_SECRET", "short"),
        ("MERCADOPAGO_PAYER_EMAIL", "nobody"),
        ("MERCADOPAGO_URL", "http://api.mercadopago.com"),
        ("OPENPIX_APP_ID", "short"),
        ("OPENPIX_URL", "https://api.openpix.com.br/api"),
        ("OPENPIX_URL", "https://user@api.openpix.com.br"),
        ("OPENPIX_URL", "ftp://127.0.0.1"),
        ("STRIPE_SECRET_KEY", "pk_test_publishable"),
        ("STRIPE_SECRET_KEY", "sk_test_"),
        ("STRIPE_WEBHOOK_SECRET", "a secret"),
        ("STRIPE_CONNECT_WEBHOOK_SECRET", "whsec_"),
        ("STRIPE_API_URL", "http://stripe.example.com"),
        ("STRIPE_API_URL", "https://stripe.example.com/v1"),
    ],
)
def test_a_setting_that_cannot_be_is_named(tmp_path: Path, key: str, value: str):
    with pytest.raises(ConfigurationProblem, match=f"{key} is malformed"):
        a_config(tmp_path, **{key: value})


MERCADOPAGO = {
    "ADMITONE_GATEWAYS": "mercadopago",
    "MERCADOPAGO_ACCESS_TOKEN": "TEST-0123456789",
    "MERCADOPAGO_WEBHOOK_SECRET": "w" * 32,
    "MERCADOPAGO_PAYER_EMAIL": "pix@example.org",
}
OPENPIX = {"ADMITONE_GATEWAYS": "openpix", "OPENPIX_APP_ID": "a" * 32}
LIVE = {"STRIPE_MODE": "live"}
LIVE_TOKEN = {"MERCADOPAGO_ACCESS_TOKEN": "APP_USR-0123456789"}


class NoWayOut:
    """Nobody is called before somebody asks."""

    async def call(self, *_: object) -> None:
        raise AssertionError


def gateways(config: Config) -> list[Gateway]:
    return gateways_of(config, NoWayOut())  # type: ignore[arg-type]


def problems(config: Config) -> list[str]:
    with pytest.raises(ConfigurationProblem) as told:
        providers(config)
    return list(told.value.problems)


@pytest.mark.parametrize(
    ("given", "provider", "live"),
    [
        (MERCADOPAGO, Provider.MERCADOPAGO, False),
        (MERCADOPAGO | LIVE | LIVE_TOKEN, Provider.MERCADOPAGO, True),
        (OPENPIX, Provider.OPENPIX, False),
        (OPENPIX | LIVE, Provider.OPENPIX, True),
    ],
)
def test_a_provider_of_pix_is_there_in_the_mode_that_we_are_in(
    tmp_path: Path, given: dict[str, str], provider: Provider, live: bool
):
    [gateway] = gateways(a_config(tmp_path, **given))
    assert (gateway.provider, gateway.livemode, gateway.methods) == (provider, live, {Method.PIX})


def test_the_first_that_is_named_takes_pix(tmp_path: Path):
    both = MERCADOPAGO | OPENPIX | {"ADMITONE_GATEWAYS": "sandbox, openpix,mercadopago"}
    found = gateways(a_config(tmp_path, **both))
    assert [each.provider for each in found] == ["sandbox", "openpix", "mercadopago"]
    preferred = Gateways(found[1:]).find_for(Method.PIX)
    assert preferred
    assert preferred.provider == "openpix"


@pytest.mark.parametrize(("named", "kept"), [("mercadopago", 3), ("openpix", 1), ("openpix,mercadopago", 4)])
def test_everything_that_a_provider_lacks_is_named_at_once(tmp_path: Path, named: str, kept: int):
    wanted = {name for name in MERCADOPAGO | OPENPIX if name != "ADMITONE_GATEWAYS"}
    said = problems(a_config(tmp_path, ADMITONE_GATEWAYS=named))
    assert len(said) == kept
    assert {each.split()[0] for each in said} <= wanted
    assert all(" is missing: expected " in each for each in said)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (MERCADOPAGO | LIVE, "MERCADOPAGO_ACCESS_TOKEN"),
        (MERCADOPAGO | LIVE_TOKEN, "MERCADOPAGO_ACCESS_TOKEN"),
        (MERCADOPAGO | LIVE | LIVE_TOKEN | {"MERCADOPAGO_URL": "http://127.0.0.1:9000"}, "MERCADOPAGO_URL"),
        (OPENPIX | LIVE | {"OPENPIX_URL": "http://localhost:9000"}, "OPENPIX_URL"),
        (OPENPIX | LIVE | {"OPENPIX_URL": "https://api.woovi-sandbox.com"}, "OPENPIX_URL"),
        (OPENPIX | {"OPENPIX_URL": "https://api.openpix.com.br"}, "OPENPIX_URL"),
        (OPENPIX | {"OPENPIX_URL": "https://api.woovi.com/"}, "OPENPIX_URL"),
    ],
)
def test_live_and_test_are_never_mixed(tmp_path: Path, given: dict[str, str], key: str):
    [problem] = problems(a_config(tmp_path, **given))
    assert problem.startswith(f"{key} is ")


@pytest.mark.parametrize("given", [{}, {"OPENPIX_APP_ID": "a" * 32}])
def test_what_nobody_named_needs_nothing(tmp_path: Path, given: dict[str, str]):
    assert providers(a_config(tmp_path, **given)) == (Provider.SANDBOX,)


def test_keys_of_providers_are_shown_to_nobody(tmp_path: Path):
    config = a_config(tmp_path, **(MERCADOPAGO | OPENPIX))
    for secret in ("TEST-0123456789", "w" * 32, "a" * 32):
        assert secret not in repr(config)
    credentials = (
        Credentials("t" * 20, "w" * 20, "a@example.org", livemode=False),
        AppCredentials("t" * 20, livemode=False),
    )
    assert "t" * 20 not in repr(credentials)
    assert "w" * 20 not in repr(credentials)


A_STRIPE = {
    "ADMITONE_GATEWAYS": "stripe",
    "STRIPE_SECRET_KEY": "sk_test_a_key_that_is_nobodys",
    "STRIPE_WEBHOOK_SECRET": "whsec_account",
    "STRIPE_CONNECT_WEBHOOK_SECRET": "whsec_connect",
}
LIVE_STRIPE = {**A_STRIPE, "STRIPE_SECRET_KEY": "rk_live_a_key_that_is_nobodys"}


def test_stripe_is_paid_through_where_its_keys_are(tmp_path: Path):
    outbound = Outbound.__new__(Outbound)  # Nothing is sent.
    [gateway] = gateways_of(a_config(tmp_path, **A_STRIPE), outbound)
    assert (gateway.provider, gateway.livemode) == (Provider.STRIPE, False)
    both = a_config(tmp_path, **A_STRIPE | {"ADMITONE_GATEWAYS": "stripe,sandbox"})
    assert [each.provider for each in gateways_of(both, outbound)] == ["stripe", "sandbox"], "the first is preferred"
    [live] = gateways_of(Config.load({**PRODUCTION, **LIVE_STRIPE}, KEYS), outbound)
    assert live.livemode


@pytest.mark.parametrize(("given", "mode"), [(A_STRIPE, "live"), (LIVE_STRIPE, "test")])
def test_a_key_of_stripes_for_the_other_mode_is_refused(tmp_path: Path, given: dict[str, str], mode: str):
    with pytest.raises(ConfigurationProblem, match=f"payments are {mode} here") as problem:
        providers(a_config(tmp_path, **given, STRIPE_MODE=mode))
    assert given["STRIPE_SECRET_KEY"] not in str(problem.value)


def test_production_does_not_start_without_every_key_of_stripes():
    with pytest.raises(ConfigurationProblem) as problem:
        gateways_of(Config.load({**PRODUCTION, "ADMITONE_GATEWAYS": "stripe"}, KEYS), None)  # type: ignore[arg-type]
    assert names(problem.value.problems) == [
        "STRIPE_SECRET_KEY",
        "STRIPE_WEBHOOK_SECRET",
        "STRIPE_CONNECT_WEBHOOK_SECRET",
    ]


@pytest.mark.parametrize("missing", ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "STRIPE_CONNECT_WEBHOOK_SECRET"])
def test_on_a_persons_own_machine_stripe_is_left_out_while_a_key_is_missing(
    tmp_path: Path, missing: str, capfd: pytest.CaptureFixture[str]
):
    given = {name: value for name, value in A_STRIPE.items() if name != missing}
    gateways = Gateways(gateways_of(a_config(tmp_path, **given), None))  # type: ignore[arg-type]
    assert gateways.find_for(Method.CARD) is None, "and a paid checkout says CONFIG_STRIPE_KEY_MISSING"
    said = "".join(capfd.readouterr())
    assert f"{missing} is missing" in said
    assert "sk_test_a_key" not in said


def test_the_keys_of_stripe_are_shown_to_nobody(tmp_path: Path):
    config = a_config(tmp_path, **A_STRIPE)
    assert not any(value in f"{config!r} {stripe_keys(config)!r}" for value in [*A_STRIPE.values()][1:])


def test_secrets_are_apart_and_shown_to_nobody():
    keys = Keys.of("a secret that is long enough for tests")
    assert len({keys.api, keys.account, keys.connect}) == 3
    assert all(secret not in repr(keys) for secret in (keys.api, keys.account, keys.connect))


def test_without_a_provider_nobody_is_found_for_any_method():
    assert Gateways([]).find_for(Method.CARD) is None
    _, gateway = a_sandbox()
    assert Gateways([gateway]).find_for(Method.PIX) is gateway
    assert Gateways([gateway]).get("sandbox") is gateway


def test_gateways_are_a_module_of_the_application():
    assert "gateways" in {module.name for module in MODULES}
