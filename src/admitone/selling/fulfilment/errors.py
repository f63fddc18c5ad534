"""Why something is not fulfilled."""

from admitone.finance.sources.api import PaymentId
from admitone.kernel.errors import Conflict


class NoRecipe(Conflict):
    """Nobody knows how to hand over what was paid for."""

    code = "NO_RECIPE"
    source_type: str
    scenario: str | None


class NotPaid(Exception):
    """It was told that this payment has succeeded, and it does not stand so (FUL-001)."""

    def __init__(self, payment: PaymentId) -> None:
        super().__init__(f"{payment} is not paid and applied")


class NotInLedger(Exception):
    """It is paid, and the ledger has nothing of it (FUL-001)."""

    def __init__(self, payment: PaymentId) -> None:
        super().__init__(f"{payment} is paid, and nothing was posted for it")
