"""The proof as pages: for platform people over all organisations, and for each organisation its own.

Promise: what does not prove is said by a word, a shape and a colour, with every difference that was found; what could
not be checked is not called proved. Nothing is computed here: the contracts of the proof say what they found.
"""

from typing import Any, Final

from admitone.finance.proof import routes as proof
from admitone.finance.proof.api import Check, Verdict, Word
from admitone.finance.proof.routes import SidesAnswer, VerdictAnswer
from admitone.kernel.contracts import Audience, Call, Html, PageRequest, Reads, Redirect, Wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.money import Money
from admitone.kernel.words import Words
from admitone.web.console.place import enter, show_in
from admitone.web.ops.room import show_in_room
from admitone.web.page import page

TITLE_WORDS: Final[dict[Check, str]] = {
    Check.TRIAL_BALANCE: "Debits equal credits",
    Check.BALANCES: "Balances are the sum of the transfers",
    Check.PROVIDER: "The provider's journal says the same",
    Check.CHAIN: "Nothing was changed afterwards",
}
VERDICT_WORDS: Final[dict[Verdict, str]] = {
    Verdict.GREEN: "Proved",
    Verdict.RED: "Does not prove",
    Verdict.UNKNOWN: "Could not be checked",
}
KINDS: Final = {Verdict.GREEN: "good", Verdict.RED: "bad", Verdict.UNKNOWN: "waiting"}
SIDE_WORDS: Final[dict[Check, tuple[str, str]]] = {
    Check.TRIAL_BALANCE: ("Debits", "Credits"),
    Check.PROVIDER: ("Here", "There"),
}
COUNT_WORDS: Final[dict[str, str]] = {
    "currencies": "Currencies",
    "accounts": "Accounts",
    "balances": "Balances",
    "transfers": "Transfers",
    "openDeltas": "Open deltas",
    "seal": "As of seal",
    "movements": "Movements at the provider",
    "inFlight": "In flight",
    "notCompared": "Not compared: their provider shows no journal",
    "missingHere": "Missing here",
    "missingThere": "Missing there",
    "otherAmount": "Other amount",
    "otherCurrency": "Other currency",
    "seals": "Seals",
    "unsealed": "Not sealed yet",
    "oldestUnsealedSeconds": "Seconds the oldest of them waits",
}
DIFFERENCE_WORDS: Final[dict[Word, str]] = {
    Word.UNBALANCED: "Debits and credits differ",
    Word.BALANCE: "The balance is not the sum of its transfers",
    Word.DAYS: "The days do not add up to the balance",
    Word.DELTA: "An open delta is not the sum of its transfers",
    Word.MISSING_HERE: "The provider moved it, the ledger lacks it",
    Word.MISSING_THERE: "The ledger has it, the provider never moved it",
    Word.AMOUNT: "The amounts differ",
    Word.CURRENCY: "The currencies differ",
    Word.MORE: "More differs than can be named",
    Word.CHANGED: "The transfer is not what was sealed",
    Word.MISSING: "The transfer was sealed and is gone",
    Word.BROKEN_SEAL: "The seal does not match what is under it",
    Word.BROKEN_LINK: "The seal does not stand on the one before it",
    Word.STRAY: "The transfer was not posted by us",
    Word.MISFIT: "What waits to be folded is not what its transfers say",
    Word.OLD_TAIL: "Transfers wait to be sealed for too long",
}


class OwnPage(Wire):
    organization_id: OrganizationId


overall_page = page(
    "OPS.PROOF", "The proof over all organisations.", get="/proof", takes=PageRequest, audience=Audience.PERSON
)
own_page = page(
    "ORG.PROOF",
    "An organisation's proof.",
    get="/org/{organizationId}/proof",
    takes=OwnPage,
    audience=Audience.PERSON,
)
again = page(
    "ORG.PROOF.AGAIN",
    "Recompute, and show it.",
    post="/org/{organizationId}/proof",
    takes=OwnPage,
    audience=Audience.PERSON,
    reads=Reads.NOTHING,
    wait_seconds=60,
)


@overall_page.serves
async def show_overall(call: Call, request: PageRequest) -> Html:
    found = await call.ask(proof.overall_for_people, request)
    return show_in_room(
        call,
        "proof",
        "proof/overall.html",
        totals=found.totals,
        titles=TITLE_WORDS,
        sides=_sides(call.words, found.sides),
        verdicts=[_told(call.words, each) for each in found.items],
        cursor=found.next_cursor,
    )


@own_page.serves
async def show_own(call: Call, request: OwnPage) -> Html:
    place = await enter(call, request.organization_id)
    found = await call.ask(proof.latest, organization=place.id)
    verdicts = [_told(call.words, each) for each in found.verdicts]
    return show_in(call, place, "financas", "proof/own.html", verdicts=verdicts)


@again.serves
async def prove_again(call: Call, request: OwnPage) -> Redirect:
    place = await enter(call, request.organization_id)
    await call.ask(proof.recompute, organization=place.id)
    return Redirect(place.path("proof"))


def _told(words: Words, verdict: VerdictAnswer) -> dict[str, Any]:
    left, right = SIDE_WORDS.get(verdict.check, ("", ""))
    return {
        "title": TITLE_WORDS[verdict.check],
        "kind": KINDS[verdict.verdict],
        "says": VERDICT_WORDS[verdict.verdict],
        "reason": verdict.reason,
        "checked_at": verdict.checked_at,
        "organization": str(verdict.organization_id),
        "counts": [(COUNT_WORDS.get(name, name), count) for name, count in verdict.counts.items()],
        "left": left,
        "right": right,
        "sides": _sides(words, verdict.sides),
        "differences": [
            {
                "says": DIFFERENCE_WORDS[each.word],
                "where": each.where,
                "found": _amount(words, each.found, each.currency),
                "expected": _amount(words, each.expected, each.currency),
            }
            for each in verdict.differences
        ],
        "more": verdict.differing - len(verdict.differences),
        "head": verdict.head,
    }


def _sides(words: Words, sides: dict[str, SidesAnswer]) -> list[tuple[str, str, str]]:
    return [
        (currency, _amount(words, both.left_minor, currency), _amount(words, both.right_minor, currency))
        for currency, both in sides.items()
    ]


def _amount(words: Words, minor: int | None, currency: str | None) -> str:
    if minor is None:
        return ""
    return words.money(Money(minor, currency)) if currency else words.number(minor)


CONTRACTS: Final = (overall_page, own_page, again)
