"""Payouts and transfers are the provider's where the organisation is merchant of record (FIN-006).

So whoever orders a payout says, in the same module, that it does so for what the platform holds itself; and the port
to providers knows no way to hold, pause or take back what is another's.
"""

import ast
from collections.abc import Iterable

from tests.architecture.source_tree import Source

GATEWAYS = "admitone.finance.gateways"
ORDERS = frozenset({"pay_out", "PayoutOrder"})
CONDITION = "PLATFORM_MOR"


def payouts_of_others(source: Iterable[Source]) -> list[str]:
    """Orders of payouts by modules that do not speak of the platform's own money."""
    return [
        f"{each.at(node)} orders a payout, and does not say whose money it is"
        for each in source
        if not each.name.startswith(GATEWAYS)
        for node in ast.walk(each.tree)
        if _name(node) in ORDERS and not any(_name(other) == CONDITION for other in ast.walk(each.tree))
    ]


def _name(node: ast.AST) -> str | None:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name):
            return name
        case _:
            return None
