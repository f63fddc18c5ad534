"""Runbooks: the page that a human opens when an alert comes.

Promise (OPS-006): a process does not start with a rule whose page is missing, does not name the rule, or lacks a
section that somebody needs at night. Production without runbooks is forbidden.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from admitone.kernel.alerts.model import AlertRule
from admitone.kernel.config import ROOT
from admitone.kernel.ports import Port

RUNBOOKS: Final = ROOT / "docs" / "runbooks"
SECTIONS: Final = (
    "What it means",
    "How to see it",
    "What to do",
    "How to undo it",
    "Whom to call",
    "How to prove it is over",
)
RULES: Final = Port[Mapping[str, AlertRule]]("kernel.rules")
"""The rules of every package, by their names."""
_SECTION: Final = re.compile(r"^## (.+)$", re.MULTILINE)


def check_rules(rules: Iterable[AlertRule], folder: Path = RUNBOOKS) -> None:
    problems = complaints_about(rules, folder)
    if problems:
        raise TypeError("; ".join(problems))


def complaints_about(rules: Iterable[AlertRule], folder: Path = RUNBOOKS) -> list[str]:
    """What is wrong with the rules and their pages."""
    rules = list(rules)
    names = [rule.name for rule in rules]
    twins = [f"two rules are called {name}" for name in sorted({name for name in names if names.count(name) > 1})]
    return twins + [f"alert {rule.name}: {problem}" for rule in rules for problem in _about(rule, folder)]


def find_page(name: str) -> str | None:
    """The text of the page that this rule sends people to; others may mention it."""
    rule = RULES().get(name)
    return (RUNBOOKS / f"{rule.runbook}.md").read_text(encoding="utf-8") if rule else None


def _about(rule: AlertRule, folder: Path) -> Iterator[str]:
    page = folder / f"{rule.runbook}.md"
    if not page.is_file():
        yield f"has no runbook {page.name}"
        return
    text = page.read_text(encoding="utf-8")
    if f"`{rule.name}`" not in text:
        yield f"is not named in its runbook {page.name}"
    _, *parts = _SECTION.split(text)
    written = {title.strip(): body.strip() for title, body in zip(parts[::2], parts[1::2], strict=True)}
    yield from (f"{page.name} does not say {title.lower()!r}" for title in SECTIONS if not written.get(title))
