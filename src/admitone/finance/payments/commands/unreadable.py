"""Payments whose provider uses a word that we do not know.

Promise: such a word changes nothing of where a payment stands, and the payment says that somebody must look, until its
provider tells the whole of it in words that we know (PAY-061).
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from admitone.finance.payments.errors import PaymentNotFound
from admitone.finance.payments.model import Recorded
from admitone.finance.payments.store import payments as store
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal

LONGEST: Final = 40


class Unreadable(msgspec.Struct, frozen=True):
    payment: PaymentId
    word: str


@command()
async def mark_unreadable(tx: Tx, told: Sequence[Unreadable]) -> list[Recorded | Refusal]:
    payments = await store.lock_payments(tx, told)
    words = {each.payment: each.word[:LONGEST] or "nothing" for each in told if each.payment in payments}
    news = {own: word for own, word in words.items() if payments[own].unreadable_status != word}
    await store.mark_unreadable(tx, news)
    return [
        Recorded(each.payment, payments[each.payment].status, each.payment in news)
        if each.payment in payments
        else PaymentNotFound()
        for each in told
    ]
