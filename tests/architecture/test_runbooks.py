"""Every rule has class, threshold, owner and a runbook that a human can follow at night (OPS-001, OPS-006)."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from admitone.kernel.alerts.gauges import Gauges
from admitone.kernel.alerts.model import Above, AlertClass, AlertRule, ShareAbove
from admitone.kernel.alerts.runbooks import RUNBOOKS, SECTIONS, check_rules, complaints_about
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Role
from admitone.kernel.telemetry import Metrics
from tests.architecture.statements import ALL_MODULES
from tests.golden.test_golden import subclasses

RULES = [rule for module in ALL_MODULES for rule in module.alerts]
PLANTED = AlertRule("toy.planted", AlertClass.PAGER, Above(0), "toy", "planted", "A rule that was planted.")


def page(*without: str, names: str = "toy.planted") -> str:
    said = [f"## {title}\n\nSomething.\n" for title in SECTIONS if title not in without]
    return "\n".join([f"# Planted\n\nAlerts: `{names}`.\n", *said])


@pytest.mark.covers("OPS-001", "OPS-006")
def test_every_rule_has_a_complete_runbook():
    assert len(RULES) >= 12
    assert complaints_about(RULES) == []


@pytest.mark.covers("OPS-001", "OPS-006")
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "has no runbook planted.md"),
        (page(names="toy.other"), "is not named in its runbook"),
        *((page(title), f"does not say {title.lower()!r}") for title in SECTIONS),
        (page().replace("## What to do\n\nSomething.\n", "## What to do\n\n"), "does not say 'what to do'"),
    ],
)
def test_a_rule_without_a_complete_runbook_stops_the_start(tmp_path: Path, text: str | None, complaint: str):
    if text is not None:
        (tmp_path / "planted.md").write_text(text)
    with pytest.raises(TypeError, match=re.escape(complaint)):
        check_rules([PLANTED], tmp_path)
    (tmp_path / "planted.md").write_text(page())
    check_rules([PLANTED], tmp_path)


@pytest.mark.covers("OPS-001")
@pytest.mark.parametrize(
    "wrong",
    [
        {"owner": " "},
        {"says": ""},
        {"runbook": "../secrets"},
        {"runbook": ""},
        {"name": "Planted"},
        {"threshold": Above(-1)},
        {"threshold": ShareAbove(1, seconds=-300)},
    ],
)
def test_a_rule_that_lacks_something_cannot_be_declared(wrong: dict):
    with pytest.raises(TypeError):
        replace(PLANTED, **wrong)


def test_two_rules_of_one_name_are_seen(tmp_path: Path):
    (tmp_path / "planted.md").write_text(page())
    assert complaints_about([PLANTED, PLANTED], tmp_path) == ["two rules are called toy.planted"]


def test_what_a_runbook_tells_to_look_at_exists():
    """Metrics are called as they are called, and so are the codes of refusals."""
    metrics = Metrics()
    Gauges(metrics.registry)
    of_packages = [gauge.name for module in ALL_MODULES for sight in module.sights for gauge in sight.gauges]
    families = [*(family.name for family in metrics.registry.collect()), *of_packages]
    known = {*families, *(f"{name}{end}" for name in families for end in ("_total", "_bucket", "_count"))} | set(Role)
    codes = {kind.code for kind in subclasses(Refusal) if hasattr(kind, "code")}
    for file in RUNBOOKS.glob("*.md"):
        text = file.read_text(encoding="utf-8")
        assert set(re.findall(r"\badmitone_[a-z_]+", text)) <= known, file.name
        assert set(re.findall(r"(?:500|503) `([A-Z_]+)`", text)) <= codes, file.name
