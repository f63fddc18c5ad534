"""Debits equal credits in every currency: what balances and open deltas say together, in one statement."""

from admitone.finance.ledger import api as ledger
from admitone.finance.proof.looking import Look
from admitone.finance.proof.model import Both, Check, Difference, Differences, Figures, Finding, Word


async def check_trial_balance(look: Look) -> Finding:
    trials: list[ledger.TrialBalance] = await look.read(ledger.trial_balance)
    differences = Differences()
    differences.add(
        Difference(Word.UNBALANCED, each.currency, each.debits_minor, each.credits_minor, each.currency)
        for each in trials
        if each.debits_minor != each.credits_minor
    )
    counts = {"currencies": len(trials), "accounts": sum(len(each.accounts) for each in trials)}
    sides = {each.currency: Both(each.debits_minor, each.credits_minor) for each in trials}
    return Finding.of(Check.TRIAL_BALANCE, differences, Figures(counts, sides))
