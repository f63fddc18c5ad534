"""What older clients call the rules of an event is read where it is converted, and nowhere else (EVT-013, ENT-012)."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from admitone.kernel.contracts import Edge, openapi
from tests.architecture.source_tree import REPOSITORY, SOURCE, Source, sources
from tests.architecture.test_doors import plant

RULES = {
    *("inviteOnly", "invite_only", "publicAccessMode", "public_access_mode", "publicTicketTypeIds"),
    *("public_ticket_type_ids", "checkinPolicy", "checkin_policy", "requiresTicketForEntry"),
    *("requires_ticket_for_entry",),
}
FREE = {"isFree", "is_free"}
"""Whether something is free is derived from prices (FIN-086); finance asks that of an amount."""
CONVERTED_BY = "admitone.verticals.events.routes.legacy"
NOT_OF_FINANCE = ("admitone.verticals.", "admitone.web.", "admitone.engagement.")


def legacy_reads(source: Iterable[Source]) -> list[str]:
    return [
        f"{each.at(node)} says {word}"
        for each in source
        if each.name != CONVERTED_BY and any(word in each.path.read_text(encoding="utf-8") for word in RULES | FREE)
        for node in ast.walk(each.tree)
        for word in _words(node) & (RULES | FREE if each.name.startswith(NOT_OF_FINANCE) else RULES)
    ]


def _words(node: ast.AST) -> set[str]:
    """What a node names: a variable, a field, an argument, a key."""
    names = [getattr(node, name, None) for name in ("id", "attr", "arg", "name")]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
        names.append(node.value)
    return {name for name in names if isinstance(name, str)}


@pytest.mark.covers("EVT-013", "ENT-012", "FIN-086")
def test_nothing_reads_what_older_clients_called_the_rules():
    assert legacy_reads(sources(SOURCE)) == []


@pytest.mark.covers("EVT-013", "ENT-012", "FIN-086")
def test_no_column_has_such_a_name():
    words = {word.strip('",();') for word in (REPOSITORY / "schema.sql").read_text().split()}
    assert not (RULES | FREE) & words


@pytest.mark.covers("EVT-013")
def test_no_answer_has_such_a_name(edge: Edge):
    document = openapi(edge.contracts)
    answers = [
        answer
        for methods in document["paths"].values()
        for operation in methods.values()
        for answer in operation["responses"].values()
    ]
    names = {*_keys(answers, document, set())}
    assert "inviteTokenAllowed" in names
    assert not RULES & names


def _keys(part: Any, document: Any, seen: set[str]) -> Iterable[str]:
    if isinstance(part, dict):
        reference = part.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            seen.add(reference)
            yield from _keys(_at(document, reference), document, seen)
        for name, inner in part.items():
            yield name
            yield from _keys(inner, document, seen)
    elif isinstance(part, list):
        for inner in part:
            yield from _keys(inner, document, seen)


def _at(document: Any, reference: str) -> Any:
    for name in reference.removeprefix("#/").split("/"):
        document = document[name]
    return document


@pytest.mark.parametrize(
    "line",
    [
        "if event.invite_only: pass",
        "payload['publicAccessMode']",
        "def f(checkin_policy): ...",
        "show(requires_ticket_for_entry=True)",
        "event.is_free",
    ],
)
def test_a_read_is_seen(tmp_path: Path, line: str):
    planted = plant(tmp_path, {"admitone/verticals/events/pages.py": f'"""Pages."""\n{line}'})
    assert legacy_reads(sources(planted))
