"""The start-up check: which settings let a process start, and what it says when they do not."""

import base64
import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from admitone.kernel.config import (
    CRON_SECRET,
    DATABASE_URL,
    KEYS,
    QR_SECRET_KEY,
    Config,
    ConfigurationProblem,
    Deployment,
    Key,
    When,
    one_of,
    surroundings,
)

KEY = base64.b64encode(bytes(range(32))).decode()
PRODUCTION = {
    "ADMITONE_DEPLOYMENT": "production",
    "DATABASE_URL": "postgresql://runtime:hush@db.example/admitone?sslmode=require",
    "DIRECT_URL": "postgresql://deployer:hush@db.example/admitone?sslmode=verify-full",
    "QR_SECRET_KEY": "q" * 32,
    "ORYA_CRON_SECRET": "c" * 32,
    "ADMITONE_KEYS": f"1:{KEY}",
}


@pytest.fixture
def local(tmp_path: Path) -> dict[str, str]:
    return {"ADMITONE_DATA": str(tmp_path / "home")}


def problems_of(environ: dict[str, str], *keys: Key) -> tuple[str, ...]:
    with pytest.raises(ConfigurationProblem) as told:
        Config.load(environ, keys)
    return told.value.problems


def names(problems: tuple[str, ...]) -> list[str]:
    return [problem.split()[0] for problem in problems]


@pytest.mark.covers("PLT-041")
def test_production_names_every_missing_key_at_once():
    missing = names(problems_of({"ADMITONE_DEPLOYMENT": "production"}))
    assert missing == ["DATABASE_URL", "DIRECT_URL", "QR_SECRET_KEY", "ORYA_CRON_SECRET", "ADMITONE_KEYS"]


@pytest.mark.covers("PLT-041")
@pytest.mark.parametrize("name", [name for name in PRODUCTION if name != "ADMITONE_DEPLOYMENT"])
@pytest.mark.parametrize("value", [None, ""])
def test_production_does_not_start_without(name, value):
    environ = {**PRODUCTION, name: value} if value is not None else {k: v for k, v in PRODUCTION.items() if k != name}
    [problem] = problems_of(environ)
    assert problem.startswith(f"{name} is missing: expected ")


@pytest.mark.covers("PLT-041")
def test_production_starts_with_all_it_needs():
    config = Config.load(PRODUCTION)
    assert config.in_production
    assert config.runtime_login == "runtime"
    assert config.keyring.versions == (1,)


@pytest.mark.covers("PLT-041")
def test_a_package_adds_keys_of_its_own():
    wanted = Key("STRIPE_SECRET_KEY_LIVE", "a live key", When.PRODUCTION, one_of("sk_live"), secret=True)
    assert names(problems_of(PRODUCTION, wanted)) == ["STRIPE_SECRET_KEY_LIVE"]
    assert Config.load({**PRODUCTION, "STRIPE_SECRET_KEY_LIVE": "sk_live"}, [wanted]).get(wanted) == "sk_live"


def test_missing_and_malformed_are_told_together():
    told = problems_of({**PRODUCTION, "QR_SECRET_KEY": "", "PORT": "http", "ADMITONE_KEYS": "1:short"})
    assert told == (
        "PORT is malformed: expected a port number from 1 to 65535.",
        "QR_SECRET_KEY is missing: expected at least 32 characters.",
        f"ADMITONE_KEYS is malformed: expected {KEYS.help}.",
    )


def test_a_marker_with_a_slip_of_the_pen_is_not_taken_for_a_local_machine():
    assert names(problems_of({"ADMITONE_DEPLOYMENT": "prod"})) == ["ADMITONE_DEPLOYMENT"]


@pytest.mark.covers("PLT-042")
def test_no_secret_is_shown_in_a_problem_or_a_repr():
    secret = "hush"
    broken = {name: secret for name in PRODUCTION if name != "ADMITONE_DEPLOYMENT"}
    with pytest.raises(ConfigurationProblem) as told:
        Config.load({**broken, "ADMITONE_DEPLOYMENT": "production", "APNS_PRIVATE_KEY_BASE64": "hush!"})
    assert len(told.value.problems) == 6
    assert secret not in str(told.value) + repr(told.value)
    shown = repr(Config.load(PRODUCTION))
    assert not any(PRODUCTION[name] in shown for name in broken)
    assert secret not in shown
    assert "QR_SECRET_KEY=***" in shown


@pytest.mark.covers("PLT-042")
@pytest.mark.parametrize(
    "value", [KEY[:20] + "\n" + KEY[20:], KEY + "\n", KEY[:-1], "-----BEGIN PRIVATE KEY-----", " " + KEY]
)
def test_a_private_key_is_base64_on_a_single_line(value, local):
    assert names(problems_of({**local, "APPLE_SIGNIN_PRIVATE_KEY_BASE64": value})) == [
        "APPLE_SIGNIN_PRIVATE_KEY_BASE64"
    ]
    Config.load({**local, "APPLE_SIGNIN_PRIVATE_KEY_BASE64": KEY})


@pytest.mark.covers("PLT-043")
@pytest.mark.parametrize("name", ["DATABASE_URL", "DIRECT_URL"])
@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        ("postgresql://u@db.example/d?sslmode=require", True),
        ("postgres://u:p@db.example:5432/d?sslmode=verify-ca", True),
        ("postgresql://u@[::1]:5432/d?sslmode=verify-full", True),
        ("postgresql://u@/d?host=/run/postgresql", True),
        ("postgresql://u@%2Frun%2Fpostgresql/d", True),
        ("postgresql://u@db.example/d", False),
        ("postgresql://u@127.0.0.1/d", False),
        ("postgresql://u@db.example/d?sslmode=prefer", False),
        ("postgresql://u@db.example/d?sslmode=disable", False),
        ("postgresql://u@db.example/d?sslmode=", False),
        ("postgresql://u@db.example/d?sslmode=require&sslmode=disable", False),
        ("postgresql://u@db.example/d?host=/run/postgresql", False),
        ("postgresql://u@/d?host=/run/postgresql,db.example", False),
        ("postgresql://u@%2Frun,db.example/d", False),
        ("postgresql://u@/d", False),
        ("postgresql://db.example/d?sslmode=require", False),
        ("postgresql://u@db.example/?sslmode=require", False),
        ("mysql://u@db.example/d?sslmode=require", False),
        ("postgresql://u@[db/d?sslmode=require", False),
        ("db.example", False),
    ],
)
def test_the_way_to_the_database_is_a_socket_or_has_tls(name, url, accepted):
    environ = {**PRODUCTION, name: url}
    if accepted:
        assert Config.load(environ)
    else:
        assert names(problems_of(environ)) == [name]


@pytest.mark.covers("PLT-043")
def test_the_env_file_is_read_without_being_asked_and_the_environment_wins(tmp_path):
    file = tmp_path / ".env"
    file.write_text("DATABASE_URL=postgresql://file@/d?host=/run\nPORT=8123\n")
    seen = surroundings({"ADMITONE_ENV_FILE": str(file), "PORT": "9000"})
    assert seen["DATABASE_URL"] == "postgresql://file@/d?host=/run"
    assert seen["PORT"] == "9000"


@pytest.mark.covers("INV-002")
@pytest.mark.parametrize("single", [None, "0", "1"])
@pytest.mark.parametrize("app_env", [None, "test", "prod"])
@pytest.mark.parametrize("stripe_mode", [None, "test", "live"])
@pytest.mark.parametrize("marker", [Deployment.LOCAL, Deployment.PRODUCTION])
def test_boot_matrix(single, app_env, stripe_mode, marker, local):
    given = {"SINGLE_DB_MODE": single, "APP_ENV": app_env, "STRIPE_MODE": stripe_mode}
    environ = (
        PRODUCTION | local | {name: value for name, value in given.items() if value} | {"ADMITONE_DEPLOYMENT": marker}
    )

    if marker is Deployment.PRODUCTION and stripe_mode:
        assert names(problems_of(environ)) == ["STRIPE_MODE"]
        return

    config = Config.load(environ)
    assert config.deployment is marker
    if single == "1" or marker is Deployment.PRODUCTION:
        assert config.app_env == "prod"
    else:
        assert config.app_env == (app_env or "test")
    if stripe_mode:
        assert config.payment_mode == stripe_mode
    else:
        assert config.payment_mode == {"prod": "live", "test": "test"}[config.app_env]


@pytest.mark.covers("INV-002")
def test_the_public_twin_of_the_payment_mode_is_refused_in_production_too():
    assert names(problems_of({**PRODUCTION, "NEXT_PUBLIC_STRIPE_MODE": "test"})) == ["NEXT_PUBLIC_STRIPE_MODE"]


@pytest.mark.covers("INV-002")
def test_app_env_alone_makes_no_production(local):
    config = Config.load({**local, "APP_ENV": "prod"})
    assert not config.in_production


def test_a_local_machine_needs_nothing_and_keeps_its_secrets_to_itself(local):
    first = Config.load(local)
    kept = Path(local["ADMITONE_DATA"]) / "secrets.env"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert first.database_url is None
    assert first.direct_url is None
    second = Config.load(local)
    for key in (QR_SECRET_KEY, CRON_SECRET, KEYS):
        assert first.get(key) == second.get(key)
        assert key.check(first.get(key))


def test_secrets_differ_between_machines_and_are_not_made_for_production(tmp_path):
    one, other = (Config.load({"ADMITONE_DATA": str(tmp_path / name)}) for name in ("one", "other"))
    assert one.get(QR_SECRET_KEY) != other.get(QR_SECRET_KEY)
    Config.load({**PRODUCTION, "ADMITONE_DATA": str(tmp_path / "production")})
    assert not (tmp_path / "production").exists()


def test_processes_that_start_together_agree_on_their_secrets(local):
    seen: list[str] = []
    together = threading.Barrier(8)

    def start() -> None:
        together.wait()
        seen.append(Config.load(local).get(KEYS))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1


def test_a_given_secret_wins_over_the_kept_one(local):
    Config.load(local)
    assert Config.load({**local, "QR_SECRET_KEY": "g" * 40}).get(QR_SECRET_KEY) == "g" * 40


def test_outside_production_the_one_url_serves_for_migrations_too(local):
    url = "postgresql://u@/d?host=/run"
    assert Config.load({**local, "DATABASE_URL": url}).direct_url == url


def test_a_data_folder_that_cannot_be_used_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    assert problems_of({"ADMITONE_DATA": str(tmp_path / "file" / "home")}) == (
        f"The data folder {tmp_path / 'file' / 'home'} cannot be used: Not a directory.",
    )


def test_the_configuration_cannot_be_changed(local):
    config = Config.load(local)
    with pytest.raises(AttributeError):
        config.home = Path("/")
    assert config.on_database("postgresql://u@/d?host=/run").find(DATABASE_URL)
    assert config.find(DATABASE_URL) is None


@pytest.mark.covers("PLT-041")
def test_the_command_line_tells_it_in_one_go_and_without_a_trace():
    environ = {name: value for name, value in os.environ.items() if name not in PRODUCTION}
    done = subprocess.run(
        [sys.executable, "-m", "admitone.entrypoints.cli", "serve"],
        env={**environ, "ADMITONE_ENV_FILE": os.devnull, "ADMITONE_DEPLOYMENT": "production"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert all(f"{name} is missing" in done.stderr for name in itertools.islice(PRODUCTION, 1, None))
    assert "Traceback" not in done.stderr
