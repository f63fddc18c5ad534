"""Payouts at the edge."""

from typing import Any, Final

from admitone.finance.payouts.routes import administering, releasing, schedules, showing, statements

CONTRACTS: Final[tuple[Any, ...]] = (
    *showing.CONTRACTS,
    *schedules.CONTRACTS,
    *statements.CONTRACTS,
    *administering.CONTRACTS,
    *releasing.CONTRACTS,
)
