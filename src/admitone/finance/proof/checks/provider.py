"""The provider's journal says what the ledger says, row for row: as reconciliation compares them, from the beginning.

It only looks. What it finds is a verdict; a run of reconciliation makes issues of the same.
"""

from functools import partial
from typing import Final

from admitone.finance.proof.looking import Look
from admitone.finance.proof.model import Both, Check, Difference, Differences, Figures, Finding, Word
from admitone.finance.reconciliation import api as reconciliation
from admitone.finance.reconciliation.api import Comparison, DifferenceClass

WORDS: Final = {
    DifferenceClass.MISSING_HERE: Word.MISSING_HERE,
    DifferenceClass.MISSING_THERE: Word.MISSING_THERE,
    DifferenceClass.AMOUNT: Word.AMOUNT,
    DifferenceClass.FEE: Word.AMOUNT,
    DifferenceClass.DUPLICATE: Word.AMOUNT,
    DifferenceClass.CURRENCY: Word.CURRENCY,
}
COUNTED: Final = {
    Word.MISSING_HERE: "missingHere",
    Word.MISSING_THERE: "missingThere",
    Word.AMOUNT: "otherAmount",
    Word.CURRENCY: "otherCurrency",
}


async def check_provider(look: Look) -> Finding:
    tell = partial(look.tell, Check.PROVIDER)
    comparison = await reconciliation.compare(
        reconciliation.Look(look.organization, look.caller, look.read, tell), rounds=1
    )
    sums = comparison.sums
    if comparison.untold:
        counts = {"movements": sums.movements, "transfers": sums.transfers}
        return Finding.unknown(Check.PROVIDER, comparison.untold, counts)
    return _finding(comparison)


def _finding(comparison: Comparison) -> Finding:
    sums = comparison.sums
    named = [
        Difference(WORDS[each.difference], each.where, each.here_minor, each.there_minor, each.currency)
        for each in reconciliation.differences_of(comparison.differing)
    ]
    differences = Differences()
    differences.add(named)
    differences.add(Difference(Word.MORE, f"group {number + 1}") for number in range(comparison.left_out))
    counts = {"movements": sums.movements, "transfers": sums.transfers, "inFlight": len(comparison.timing)}
    if comparison.not_compared:
        counts["notCompared"] = comparison.not_compared
    for word, name in COUNTED.items():
        counts[name] = sum(each.word is word for each in named)
    sides = {currency: Both(here, there) for currency, (there, here) in sorted(sums.moved.items())}
    return Finding.of(Check.PROVIDER, differences, Figures(counts, sides))
