"""Which providers an installation has, and that a game is never played where money is real."""

from pathlib import Path

import pytest

from admitone.entrypoints.modules import MODULES
from admitone.finance.gateways.api import Method, Provider
from admitone.finance.gateways.port import Gateways, gateways_of, runs_own_sandbox, sandbox_keys
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.settings import KEYS, providers, sandbox_url
from admitone.kernel.config import Config, ConfigurationProblem
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
        ("ADMITONE_GATEWAYS", "stripe"),
        ("ADMITONE_SANDBOX_URL", "http://sandbox.example.com"),
        ("ADMITONE_SANDBOX_URL", "https://127.0.0.1:8001"),
        ("ADMITONE_SANDBOX_URL", "http://127.0.0.1:8001/elsewhere"),
        ("ADMITONE_SANDBOX_SECRET", "short"),
    ],
)
def test_a_setting_that_cannot_be_is_named(tmp_path: Path, key: str, value: str):
    with pytest.raises(ConfigurationProblem, match=f"{key} is malformed"):
        a_config(tmp_path, **{key: value})


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
