"""Balances are the fold of the transfers: of each account, payee, currency and city, whether rolled or open."""

from collections.abc import Iterator
from uuid import UUID

from admitone.finance.ledger import api as ledger
from admitone.finance.proof.looking import Look
from admitone.finance.proof.model import Check, Difference, Differences, Figures, Finding, Word

NOTHING: ledger.Sides = (0, 0)


async def check_balances(look: Look) -> Finding:
    """As of the last seal, and of the deltas that were open when we looked."""
    folded: ledger.Folded = await look.read(ledger.folded_balances)
    should, transfers = await _fold_again(look, folded.seal)
    differences = Differences()
    for heap in sorted(folded.heaps.keys() | should.keys()):
        found, expected = folded.heaps.get(heap, NOTHING), should.get(heap, NOTHING)
        differences.add(_sides(Word.BALANCE, str(heap), heap.currency, found, expected))
    deltas = await _check_deltas(look, differences)
    counts = {"balances": len(folded.heaps), "transfers": transfers, "openDeltas": deltas, "seal": folded.seal}
    return Finding.of(Check.BALANCES, differences, Figures(counts))


async def _fold_again(look: Look, seal: int) -> tuple[dict[ledger.Heap, ledger.Sides], int]:
    sums: dict[ledger.Heap, ledger.Sides] = {}
    after, transfers = UUID(int=0), 0
    while True:
        page: ledger.FoldPage = await look.read(ledger.fold_again, seal, after)
        if not page.looked_at:
            return sums, transfers
        for heap, (debits, credits_) in page.moved.items():
            before = sums.get(heap, NOTHING)
            sums[heap] = before[0] + debits, before[1] + credits_
        after, transfers = page.last, transfers + page.looked_at
        look.tell(Check.BALANCES, page.looked_at)


async def _check_deltas(look: Look, differences: Differences) -> int:
    after, deltas = UUID(int=0), 0
    while True:
        page: ledger.DeltaPage = await look.read(ledger.check_deltas, after)
        if not page.deltas:
            return deltas
        for fault in page.faults:
            where = f"delta {fault.delta}: {fault.heap}"
            differences.add(_sides(Word.DELTA, where, fault.heap.currency, fault.says, fault.should))
        after, deltas = page.last, deltas + page.deltas


def _sides(word: Word, where: str, currency: str, found: ledger.Sides, expected: ledger.Sides) -> Iterator[Difference]:
    for side, stands, should in zip(("debits", "credits"), found, expected, strict=True):
        if stands != should:
            yield Difference(word, f"{where} {side}", stands, should, currency)
