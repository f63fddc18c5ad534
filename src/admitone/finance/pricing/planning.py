"""What a change of a fee policy would do, shown before and done after, by `kernel.plans`.

Promise: nothing is posted and no provider is asked when a rule changes; what changes is the fee of what is priced from
then on. A step says by what it was charged before, by what it will be, and what that is for some prices.
"""

from collections.abc import Sequence
from typing import Final

from admitone.finance.pricing import store
from admitone.finance.pricing.commands import set_policies
from admitone.finance.pricing.model import Policy, PolicyChange, Target
from admitone.finance.pricing.policy import fee_of, why_not_change
from admitone.finance.pricing.wires import TermsWire
from admitone.finance.sources.api import SourceType
from admitone.kernel.contracts import Wire
from admitone.kernel.db import Tx, WrongCount
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.plans import Planner
from admitone.kernel.scope import Caller

PRICES: Final = (1_000, 2_500, 5_000, 10_000, 100_000)
"""Minor units, for which the fee is shown."""
USUAL: Final = "EUR"


class PolicyAsked(Wire, kw_only=True):
    """A change that somebody asks about."""

    source_type: SourceType | None
    source_id: str | None
    currency: str | None
    terms: TermsWire | None
    """Nothing: the rule is retired."""
    reason_code: str

    @property
    def change(self) -> PolicyChange:
        terms = self.terms.terms() if self.terms else None
        return PolicyChange(Caller(), Target(self.source_type, self.source_id, self.currency), terms, self.reason_code)


class FeeShown(Wire):
    price_minor: int
    before_minor: int | None
    after_minor: int | None
    currency: str


class PolicyStep(Wire, kw_only=True):
    asked: PolicyAsked
    version: int
    """The newest of all versions that this follows; 0: there is none."""
    before: TermsWire | None
    """Of the rule for the very same target; none, or retired: the next weaker one holds."""
    fees: tuple[FeeShown, ...]


async def _survey(tx: Tx, asked: PolicyAsked, limit: int) -> list[PolicyStep]:  # noqa: ARG001, there is but one
    change, platforms = asked.change, tx.scope.organization == PLATFORM_ORGANIZATION
    last = await store.last_policy(tx)
    newest = (await store.find_newest(tx, [change.target], [])).policies
    before = newest.get((platforms, change.target.key))
    if refusal := why_not_change(change, before, platforms=platforms):
        raise refusal
    was = before.terms if before and not before.retired else None
    currency = change.target.currency or USUAL
    fees = tuple(
        FeeShown(
            price_minor=price,
            before_minor=fee_of(price, currency, was) if was else None,
            after_minor=fee_of(price, currency, change.terms) if change.terms else None,
            currency=currency,
        )
        for price in PRICES
    )
    return [PolicyStep(asked=asked, version=last, before=TermsWire.of(was) if was else None, fees=fees)]


async def _change(tx: Tx, steps: Sequence[PolicyStep], caller: Caller) -> None:
    for step in steps:
        change = step.asked.change
        [done] = await set_policies(tx, [PolicyChange(caller, change.target, change.terms, change.reason_code)])
        if isinstance(done, Refusal):
            raise WrongCount("what was planned cannot be set any more")
        assert isinstance(done, Policy)


POLICY: Final = Planner("pricing.fee_policy", PolicyAsked, PolicyStep, _survey, _change, most=1)
