"""How our code reads, as far as a machine can tell; and marks that promise something."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.architecture.source_tree import Source

NO_NOUN = {"utils", "util", "helpers", "helper", "service", "services", "manager", "managers", "common", "misc"}
LINES_OF_A_FUNCTION = 60
LINES_OF_A_FILE = 500
"""Of code; a test file may be as long as its table of cases."""

REQUIREMENT = re.compile(r"^(?:\*\*|\| )([A-Z]{3,4}-[A-Z]?\d+)\b")
"""A line of the registry that opens with its id, as `**FIN-014**` or `| STAY-002 |`."""


def unreadable(source: Iterable[Source]) -> list[str]:
    return [f"{each.at(node)} {problem}" for each in source for node, problem in _unreadable(each)]


def _unreadable(source: Source) -> Iterator[tuple[ast.AST, str]]:
    text = source.path.read_text(encoding="utf-8")
    if NO_NOUN & set(source.name.split(".")[-1].split("_")):
        yield source.tree, "has a name without a noun; what is it about?"
    if text.strip() and not ast.get_docstring(source.tree):
        yield source.tree, "does not open with the promise it keeps"
    lines, is_code = len(text.splitlines()), source.name.startswith("admitone.")
    if is_code and lines > LINES_OF_A_FILE:
        yield source.tree, f"has {lines} lines, more than {LINES_OF_A_FILE}; split it by noun or verb"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LINES_OF_A_FUNCTION:
                yield node, f"{node.name} has {lines} lines, more than a screen"


def promised(source: Iterable[Source]) -> Iterator[tuple[str, str]]:
    """Every requirement that a test says it proves, and where."""
    for each in source:
        for node in ast.walk(each.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "covers":
                yield from ((argument.value, each.at(node)) for argument in node.args)  # type: ignore[attr-defined]


def requirements(folder: Path) -> set[str]:
    lines = (line for page in folder.glob("[0-9]*.md") for line in page.read_text(encoding="utf-8").splitlines())
    return {found[1] for line in lines if (found := REQUIREMENT.match(line))}


def empty_promises(source: Iterable[Source], known: set[str]) -> list[str]:
    return [f"{place} covers {name}, which is no requirement" for name, place in promised(source) if name not in known]


def shadowed_tests(source: Iterable[Source]) -> list[str]:
    """Tests that never run, because another of the same name comes after them."""
    return [
        f"{each.at(scope)} has {count} tests called {name}; only the last one runs"
        for each in source
        for scope in [each.tree, *(node for node in each.tree.body if isinstance(node, ast.ClassDef))]
        for name, count in Counter(node.name for node in scope.body if _is_test(node)).items()
        if count > 1
    ]


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
