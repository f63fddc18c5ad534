"""Everything that a person, a bank or the provider can do to what the sandbox has, by name: the page's buttons."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from admitone.finance.gateways.sandbox import accounts
from admitone.finance.gateways.sandbox.charges import Card, NewId, Returning, Step, Terms, Till
from admitone.finance.gateways.sandbox.faults import Dice
from admitone.finance.gateways.sandbox.objects import Intent


@dataclass(frozen=True, slots=True)
class Setting:
    """Where steps take place."""

    terms: Terms
    new_id: NewId
    dice: Dice


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How it is done."""

    card: Card = Card.GOOD
    amount: int | None = None
    currency: str | None = None
    """Money that nobody asked for, in the provider's own small letters."""
    late: bool = False
    """Take money for what is closed."""
    pending: bool = False
    """The refund takes its time."""
    due_in: int | None = None
    """The dispute takes evidence for so many seconds."""
    texts: dict[str, str] = {}
    """The evidence; left out, what somebody wrote at the provider's own page."""
    submit: bool = True
    refund: str = ""
    dispute: str = ""
    refund_application_fee: int = 0
    reverse_transfer: bool = True
    key: str = ""


Deed = Callable[[Setting, Any, Options, int], Step]


def _charge(step: Callable[[Till, Options, Dice], Step]) -> Deed:
    def deed(setting: Setting, intent: Intent, options: Options, now: int) -> Step:
        return step(Till(intent, now, setting.terms, setting.new_id), options, setting.dice)

    return deed


def _pay(till: Till, options: Options, dice: Dice) -> Step:
    card = options.card
    if card is Card.GOOD and dice.hits(dice.faults.declined):
        card = Card.DECLINED
    elif card is Card.GOOD and dice.hits(dice.faults.asks):
        card = Card.ASKS
    return till.pay(card, options.amount, options.currency, late=options.late)


def _refund(till: Till, options: Options, dice: Dice) -> Step:
    left = till.intent.paid.refundable if till.intent.paid else 0
    drawn = dice.hits(dice.faults.refund_pending)
    amount = left if options.amount is None else options.amount
    back = Returning(amount, options.refund_application_fee, reverse_transfer=options.reverse_transfer)
    step = till.refund(options.key, back, pending=options.pending or drawn)
    if drawn:
        fails = dice.hits(dice.faults.refund_failed)
        step.timers.append((till.at, "fail_refund" if fails else "settle_refund"))
    return step


def _refund_in(word: str, till: Till, options: Options) -> str:
    """The one that is named, else the oldest with this status."""
    refunds = till.intent.paid.refunds if till.intent.paid else ()
    return options.refund or next((each.id for each in refunds if each.status == word), "")


def _settle(till: Till, options: Options, *, paid: bool) -> Step:
    return till.settle_refund(_refund_in("pending", till, options), paid=paid)


AT_THE_PROVIDERS: Final = {"uncategorized_text": "Written at the provider's own page."}

DEEDS: Final[dict[tuple[str, str], Deed]] = {
    ("Intent", "pay"): _charge(_pay),
    ("Intent", "authenticate"): _charge(lambda till, _o, _d: till.authenticate(passed=True)),
    ("Intent", "fail_authentication"): _charge(lambda till, _o, _d: till.authenticate(passed=False)),
    ("Intent", "clear"): _charge(lambda till, _o, _d: till.clear(paid=True)),
    ("Intent", "fail_clearing"): _charge(lambda till, _o, _d: till.clear(paid=False)),
    ("Intent", "cancel"): _charge(lambda till, _o, _d: till.cancel()),
    ("Intent", "expire"): _charge(lambda till, _o, _d: till.expire()),
    ("Intent", "refund"): _charge(_refund),
    ("Intent", "settle_refund"): _charge(lambda till, o, _d: _settle(till, o, paid=True)),
    ("Intent", "fail_refund"): _charge(lambda till, o, _d: _settle(till, o, paid=False)),
    ("Intent", "return_refund"): _charge(lambda till, o, _d: till.return_refund(_refund_in("succeeded", till, o))),
    ("Intent", "tell_fees"): _charge(lambda till, _o, _d: till.tell_fees()),
    ("Intent", "adjust_fee"): _charge(lambda till, o, _d: till.adjust_fee(o.amount or 0)),
    ("Intent", "dispute"): _charge(lambda till, o, _d: till.dispute(o.amount, o.due_in)),
    ("Intent", "answer_dispute"): _charge(
        lambda till, o, _d: till.answer_dispute(o.texts or AT_THE_PROVIDERS, submit=o.submit)
    ),
    ("Intent", "win"): _charge(lambda till, _o, _d: till.close_dispute(won=True)),
    ("Intent", "lose"): _charge(lambda till, _o, _d: till.close_dispute(won=False)),
    ("Intent", "take_back"): _charge(lambda till, o, _d: till.take_back(o.dispute, o.amount or 0)),
    ("Intent", "hand_on"): _charge(lambda till, o, _d: till.hand_on(o.refund, o.amount or 0)),
    ("Account", "complete"): lambda _s, account, _o, now: accounts.complete(account, now),
    ("Account", "restrict"): lambda _s, account, _o, now: accounts.restrict(account, now),
    ("Payout", "arrive"): lambda s, payout, _o, now: accounts.close_payout(payout, now, s.new_id, paid=True),
    ("Payout", "fail"): lambda s, payout, _o, now: accounts.close_payout(payout, now, s.new_id, paid=False),
}
