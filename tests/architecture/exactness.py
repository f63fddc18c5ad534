"""Money is whole: no float near it, and no division that makes one."""

import ast
from collections.abc import Iterable, Iterator

from tests.architecture.source_tree import Source, imports

MONEY = "admitone.kernel.money"
FINANCE = "admitone.finance"


def inexact_money(source: Iterable[Source]) -> list[str]:
    """Floats, and the division that makes them, wherever money is handled."""
    return [
        f"{each.at(node)} {problem}" for each in source if _handles_money(each) for node, problem in _inexact(each.tree)
    ]


def _handles_money(source: Source) -> bool:
    handled = source.name == MONEY or f"{source.name}.".startswith(f"{FINANCE}.")
    return handled or any(f"{imported}.".startswith(f"{MONEY}.") for _, imported in imports(source))


def _inexact(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            yield node, f"has the float {node.value}; money is whole minor units"
        if isinstance(node, ast.Name) and node.id == "float":
            yield node, "names float; money is whole minor units"
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div) and not _is_decimal(node):
            yield node, "divides with /, which makes a float; use Money.part, Money.allocate or //"


def _is_decimal(node: ast.BinOp | ast.AugAssign) -> bool:
    """`Decimal(…) / 100`, which stays exact enough to be shown to people."""
    left = getattr(node, "left", None)
    return isinstance(left, ast.Call) and getattr(left.func, "id", "") == "Decimal"
