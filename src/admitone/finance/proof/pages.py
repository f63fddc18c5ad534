"""The proof as pages: for platform people over all organisations, and for each organisation its own.

Promise: what is red is said in words, not by colour alone; nothing comes from elsewhere; it reads on a phone.
"""

from typing import Any, Final
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined

from admitone.finance.proof import store
from admitone.finance.proof.model import Both, Check, Noted, Verdict, Word
from admitone.finance.proof.routes import (
    FINANCE_PROOF_R,
    PLATFORM_PROOF_R,
    RECOMPUTED,
    TotalAnswer,
    prove_or_queue,
    read_overall,
)
from admitone.kernel.contracts import Audience, Call, Contract, File, PageRequest, Redirect, Writes
from admitone.kernel.money import Money
from admitone.kernel.words import Words

UTC: Final = ZoneInfo("UTC")

_pages = Environment(
    loader=PackageLoader("admitone.finance.proof", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

TITLES: Final = {
    Check.TRIAL_BALANCE: "Debits equal credits",
    Check.BALANCES: "Balances are the sum of the transfers",
    Check.PROVIDER: "The provider's journal says the same",
    Check.CHAIN: "Nothing was changed afterwards",
}
VERDICTS: Final = {Verdict.GREEN: "Proved", Verdict.RED: "Does not prove", Verdict.UNKNOWN: "Could not be checked"}
SIDES: Final = {Check.TRIAL_BALANCE: ("Debits", "Credits"), Check.PROVIDER: ("Here", "There")}
COUNTS: Final = {
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
WORDS: Final = {
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
SENTENCES: Final = (
    *TITLES.values(),
    *VERDICTS.values(),
    *(side for both in SIDES.values() for side in both),
    *COUNTS.values(),
    *WORDS.values(),
    "Proof of the books",
    "Everything is computed anew from the transfers and from the provider's own journal.",
    "Recompute now",
    "Nothing was recomputed yet.",
    "Checked {at}",
    "Head of the chain",
    "What differs",
    "Found",
    "Expected",
    "and {count} more",
    "All organisations",
    "Organisation",
    "Check",
    "Verdict",
    "Red",
    "Unknown",
    "Green",
    "Oldest check",
    "Currency",
    "Next page",
    "The worst first",
)
"""Everything that these pages say."""


def _page(name: str, path: str, summary: str, **said: Any) -> Contract:
    return Contract(
        id=name,
        version="1.0.0",
        owner="proof",
        consumers=("web",),
        summary=summary,
        writes=Writes.PAGE,
        order_key="none",
        **{said.pop("method", "get"): path, **said},
    )


overall_page = _page(
    "PROOF.PAGE",
    "/proof",
    "The proof over all organisations, as a page.",
    audience=Audience.ADMIN,
    permission=PLATFORM_PROOF_R,
    takes=PageRequest,
)
own_page = _page(
    "PROOF.PAGE.OWN",
    "/org/{organizationId}/proof",
    "An organisation's proof, as a page.",
    audience=Audience.ORGANIZATION,
    permission=FINANCE_PROOF_R,
)
again = _page(
    "PROOF.PAGE.AGAIN",
    "/org/{organizationId}/proof",
    "The page's button: recompute, and show it.",
    method="post",
    audience=Audience.ORGANIZATION,
    permission=FINANCE_PROOF_R,
    limits=(RECOMPUTED,),
    repeats="it only looks, and keeps what it saw last",
    wait_seconds=60,
)
style = Contract(
    id="PROOF.STYLE",
    version="1.0.0",
    owner="proof",
    consumers=("web",),
    summary="How these pages look.",
    get="/proof/style.css",
    writes=Writes.FILE,
    audience=Audience.PUBLIC,
    order_key="none",
)


@overall_page.serves
async def show_overall(call: Call, request: PageRequest) -> str:
    summed, worst, cursor = await read_overall(call, request)
    words = call.words
    return _render(
        "overall.html",
        words,
        totals=[(words.say(TITLES[each.check]), TotalAnswer.of(each)) for each in summed.totals],
        sides=_sides(words, summed.sides),
        verdicts=[_shown(words, noted) for noted in worst],
        cursor=cursor,
    )


@own_page.serves
async def show_own(call: Call) -> str:
    found = await call.read(store.list_own)
    verdicts = [_shown(call.words, noted) for noted in found]
    return _render("own.html", call.words, verdicts=verdicts, organization=str(call.organization))


@again.serves
async def prove_again(call: Call) -> Redirect:
    await prove_or_queue(call)
    return Redirect(f"/org/{call.organization}/proof")


@style.serves
async def give_style(call: Call) -> File:  # noqa: ARG001
    text = _pages.get_template("style.css").render()
    return File(text.encode(), "text/css; charset=utf-8")


def _render(name: str, words: Words, **shown: Any) -> str:
    at = words.language.tag
    return _pages.get_template(name).render(say=words.say, number=words.number, language=at, **shown)


def _shown(words: Words, noted: Noted) -> dict[str, Any]:
    finding, figures = noted.finding, noted.finding.figures
    left, right = SIDES.get(finding.check, ("", ""))
    return {
        "title": words.say(TITLES[finding.check]),
        "verdict": finding.verdict.value,
        "says": words.say(VERDICTS[finding.verdict]),
        "checked": words.say("Checked {at}", at=words.moment(noted.checked_at, UTC)),
        "organization": str(noted.organization),
        "counts": [(words.say(COUNTS.get(name, name)), words.number(count)) for name, count in figures.counts.items()],
        "left": words.say(left),
        "right": words.say(right),
        "sides": _sides(words, figures.sides),
        "differences": [
            {
                "says": words.say(WORDS[each.word]),
                "where": each.where,
                "found": _amount(words, each.found, each.currency),
                "expected": _amount(words, each.expected, each.currency),
            }
            for each in figures.differences
        ],
        "more": finding.differing - len(figures.differences),
        "head": figures.head,
        "reason": figures.reason,
    }


def _sides(words: Words, sides: dict[str, Both]) -> list[tuple[str, str, str]]:
    return [
        (currency, _amount(words, both.left_minor, currency), _amount(words, both.right_minor, currency))
        for currency, both in sides.items()
    ]


def _amount(words: Words, minor: int | None, currency: str | None) -> str:
    if minor is None:
        return ""
    return words.money(Money(minor, currency)) if currency else words.number(minor)


CONTRACTS: Final = (overall_page, own_page, again, style)
