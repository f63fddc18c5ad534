"""Fees are computed in one place, and nothing is called an estimate.

A share of an amount, or a sum with basis points, outside of pricing would be a second opinion on what something costs
(FIN-033); a field that is called an estimate would be taken for the truth one day (FIN-035).
"""

import ast
from collections.abc import Iterable, Iterator

from tests.architecture.source_tree import Source

PRICING = "admitone.finance.pricing"
SANDBOX = "admitone.finance.gateways.sandbox"
"""Stands where a provider would: what it takes is its own business, and told to us as any provider tells it."""
MONEY = "admitone.kernel.money"
BASIS_POINTS = "bps"
GUESS = "estimate"


def second_opinions(source: Iterable[Source]) -> list[str]:
    """Arithmetic of fees outside of pricing."""
    return [
        f"{each.at(node)} {problem}; ask pricing"
        for each in source
        if each.name != MONEY and not f"{each.name}.".startswith((f"{PRICING}.", f"{SANDBOX}."))
        for node, problem in _maths(each.tree)
    ]


def _maths(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        called = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        if called == "share":
            yield node, "takes a share of an amount"
        computes = called == "part" or isinstance(node, ast.BinOp | ast.AugAssign)
        if computes and any(BASIS_POINTS in name.split("_") for name in _names(node)):
            yield node, "calculates with basis points"


def guesses(source: Iterable[Source]) -> list[str]:
    """Identifiers that promise an estimate."""
    return [
        f"{each.at(node)} calls something {name!r}; it would be taken for the truth"
        for each in source
        for node in ast.walk(each.tree)
        for name in _own_names(node)
        if GUESS in name.lower()
    ]


def _names(tree: ast.AST) -> Iterator[str]:
    return (name for node in ast.walk(tree) for name in _own_names(node))


def _own_names(node: ast.AST) -> Iterator[str]:
    for field in ("id", "attr", "arg", "name", "asname"):
        if isinstance(name := getattr(node, field, None), str):
            yield name
