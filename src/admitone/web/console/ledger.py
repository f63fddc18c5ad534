"""Finance: balances, what went through an account, each posting, each payment; payouts, refunds and disputes.

Promise: every amount can be opened until one stands at the posting that it came from, and nothing is added up here
that the ledger does not say itself. A statement is read page by page from its newest line, however long it is.
"""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from admitone.finance.disputes import routes as disputes
from admitone.finance.disputes.routes import CasesRequest, OneRequest
from admitone.finance.ledger import routes as ledger
from admitone.finance.ledger.api import OWN_ACCOUNTS, OwnAccount, TransferId
from admitone.finance.ledger.routes import BalancesRequest, EntriesRequest, StatementRequest, TransferRequest
from admitone.finance.payments.routes import payments
from admitone.finance.payments.routes.payments import OnePaymentRequest, PaymentsRequest
from admitone.finance.payouts.routes import showing
from admitone.finance.payouts.routes.showing import OwnerRequest, PayoutsRequest, SummaryRequest
from admitone.finance.refunds import routes as refunds
from admitone.finance.refunds.routes import RefundsOfRequest, RefundsRequest
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.kernel.authority import FeatureDisabled
from admitone.kernel.contracts import Audience, Call, Contract, Html, Stream, Wire
from admitone.kernel.ids import OrganizationId
from admitone.web.console import desk
from admitone.web.console.books import ACCOUNT_WORDS, ENTRY_WORDS
from admitone.web.console.days import instants_of
from admitone.web.console.place import Place, enter, show_in
from admitone.web.form import Form, Typed, filled
from admitone.web.lists import NEWEST_WORDS, Listing, ListPage, Source, link
from admitone.web.page import page

TAB: Final = "financas"
OVERVIEW: Final = "overview"
TAB_WORDS: Final[dict[str, str]] = {
    "overview": "Overview",
    "ledger": "Ledger",
    "payouts": "Payouts",
    "refunds_disputes": "Refunds and disputes",
}
"""The tabs there are (ORG-030); `dimensoes` and `assinaturas` are not yet."""
PAYOUT_WORDS: Final[dict[str, str]] = {
    "payout_pending": "Planned",
    "processing": "In progress",
    "transferred": "On its way",
    "completed": "Paid out",
    "failed": "It failed",
    "frozen": "Frozen",
}
PAYOUTS: Final = desk.States(
    PAYOUT_WORDS,
    {
        "payout_pending": "waiting",
        "processing": "waiting",
        "transferred": "waiting",
        "completed": "good",
        "failed": "bad",
        "frozen": "twice",
    },
)
BALANCES: Final = Source(
    ledger.list_balances,
    {},
    (
        *("account", "account_class", "payee", "currency"),
        *("debits_minor", "credits_minor", "balance_minor"),
    ),
    name="balances",
    rows=50,
)
LINES: Final = Source(
    ledger.statement,
    NEWEST_WORDS,
    (
        *("transfer", "transaction", "posted_at", "entry_type", "event", "debit_minor", "credit_minor"),
        *("other_account", "payment", "source_type", "source_id", "cause", "reference"),
    ),
    name="statement",
)
PAID_OUT: Final = Source(
    showing.payouts,
    NEWEST_WORDS,
    ("id", "at", "state", "currency", "amount_minor", "recovered_minor", "reference"),
    name="payouts",
)
GIVEN_BACK: Final = Source(
    refunds.refunds,
    NEWEST_WORDS,
    (
        *("refund_id", "payment_id", "created_at", "settled_at", "state", "reason"),
        *("currency", "amount_minor", "fee_minor", "failure"),
    ),
    name="refunds",
)
DISPUTE_WORDS: Final[dict[str, str]] = {
    "OPEN": "Needs an answer",
    "EVIDENCE_SUBMITTED": "The bank decides",
    "WON": "Won",
    "LOST": "Lost",
}
DISPUTES: Final = desk.States(
    DISPUTE_WORDS, {"OPEN": "bad", "EVIDENCE_SUBMITTED": "waiting", "WON": "good", "LOST": "bad"}
)


class FinancePage(ListPage, kw_only=True):
    organization_id: OrganizationId
    tab: Typed = OVERVIEW
    state: Typed = ""
    account: Typed = ""
    disputes: Typed = ""
    """Where the list of disputes goes on."""


class AccountPage(ListPage, kw_only=True):
    organization_id: OrganizationId
    account: OwnAccount
    currency: Typed = ""
    payee: Typed = ""
    since: Typed = ""
    until: Typed = ""
    """The last day, by the clock of the organisation."""


class Whose(Wire):
    payee: UUID


class TransferPage(Wire):
    organization_id: OrganizationId
    transfer: TransferId


class PaymentPage(Wire):
    organization_id: OrganizationId
    payment_id: PaymentId
    cursor: Typed = ""


class DisputePage(Wire):
    organization_id: OrganizationId
    dispute_id: Typed


def _page(name: str, summary: str, path: str, takes: type[Wire]) -> Contract:
    return page(
        f"ORG.FINANCE{name}",
        summary,
        get=f"/org/{{organizationId}}/financas{path}",
        takes=takes,
        audience=Audience.PERSON,
    )


finance_page = _page("", "Finance: overview, ledger, payouts, refunds and disputes.", "", FinancePage)
account_page = _page(".ACCOUNT", "What went through an account.", "/accounts/{account}", AccountPage)
transfer_page = _page(".TRANSFER", "One posting.", "/transfers/{transfer}", TransferPage)
payment_page = _page(".PAYMENT", "A payment with its ledger entries.", "/payments/{paymentId}", PaymentPage)
dispute_page = _page(".DISPUTE", "A dispute and what happened to it.", "/disputes/{disputeId}", DisputePage)


@finance_page.serves
async def show_finance(call: Call, request: FinancePage) -> Html | Stream:
    place = await enter(call, request.organization_id)
    if request.tab not in TAB_WORDS:
        raise FeatureDisabled
    tabs = {
        "overview": _overview,
        "ledger": _ledger,
        "payouts": _payouts,
        "refunds_disputes": _refunds_and_disputes,
    }
    shown = await tabs[request.tab](call, place, request)
    if isinstance(shown, Stream):
        return shown
    return _show(call, place, f"console/finance-{request.tab}.html", place.zone, request.tab, **shown)


def _show(call: Call, place: Place, template: str, zone: str, inner: str, *, status: int = 200, **shown: Any) -> Html:
    inner_tabs = [(name, word, link(place.path(TAB), tab=name)) for name, word in TAB_WORDS.items()]
    return show_in(
        call,
        place,
        TAB,
        template,
        status=status,
        zone=zone,
        inner=inner,
        inner_tabs=inner_tabs,
        accounts=ACCOUNT_WORDS,
        entries=ENTRY_WORDS,
        own={str(each) for each in OWN_ACCOUNTS},
        link=link,
        **shown,
    )


async def _overview(call: Call, place: Place, request: FinancePage) -> dict[str, Any]:  # noqa: ARG001, as its siblings
    asked = BalancesRequest(payee=place.id.uuid, limit=100)
    balances = await call.ask(ledger.list_balances, asked, organization=place.id)
    summary = await desk.if_permitted(call.ask(showing.summary, SummaryRequest(), organization=place.id))
    latest = await call.ask(payments.payments, PaymentsRequest(limit=10), organization=place.id)
    return {
        "balances": balances.items,
        "summary": summary.currencies if summary else [],
        "latest": latest.items,
        "payment_states": desk.PAYMENTS,
    }


async def _ledger(call: Call, place: Place, request: FinancePage) -> dict[str, Any] | Stream:
    asked = BALANCES.asked(BalancesRequest, request, account=request.account)
    found = await BALANCES.read(call, request, asked, place.id)
    if isinstance(found, Stream):
        return found
    return {
        "balances": found.items,
        "listing": Listing.of(request, place.path(TAB), {}, found),
        "form": Form.of(request),
        "export": f"/api/org/{place.id}/finance/ledger/export",
    }


async def _payouts(call: Call, place: Place, request: FinancePage) -> dict[str, Any] | Stream:
    asked = PAID_OUT.asked(PayoutsRequest, request, state=request.state)
    found = await PAID_OUT.read(call, request, asked, place.id)
    if isinstance(found, Stream):
        return found
    summary = await call.ask(showing.summary, SummaryRequest(), organization=place.id)
    today = datetime.now(UTC).date()
    return {
        "standing": await call.ask(showing.status, OwnerRequest(), organization=place.id),
        "payouts": found.items,
        "summary": summary.currencies,
        "listing": Listing.of(request, place.path(TAB), NEWEST_WORDS, found),
        "form": Form.of(request),
        "states": PAYOUTS,
        "statement": f"/api/org/{place.id}/payouts/statement",
        "week": today - timedelta(days=today.weekday() + 7),
    }


async def _refunds_and_disputes(call: Call, place: Place, request: FinancePage) -> dict[str, Any] | Stream:
    asked = GIVEN_BACK.asked(RefundsRequest, request, state=request.state)
    found = await GIVEN_BACK.read(call, request, asked, place.id)
    if isinstance(found, Stream):
        return found
    some = filled(CasesRequest, cursor=request.disputes, limit=str(desk.ROWS))
    cases = await desk.if_permitted(call.ask(disputes.cases, some, organization=place.id))
    return {
        "refunds": found.items,
        "listing": Listing.of(request, place.path(TAB), NEWEST_WORDS, found),
        "cases": cases.items if cases else [],
        "more_cases": cases
        and cases.next_cursor
        and link(place.path(TAB), tab=request.tab, disputes=cases.next_cursor),
        "form": Form.of(request),
        "refund_states": desk.REFUNDS,
        "dispute_states": DISPUTES,
    }


@account_page.serves
async def show_account(call: Call, request: AccountPage) -> Html | Stream:
    place = await enter(call, request.organization_id)
    zone = place.zone
    whose = filled(Whose, payee=request.payee or str(place.id.uuid)).payee
    seen = await LINES.look(call, request, partial(_statement, request, whose, zone), place.id)
    if isinstance(seen, Stream):
        return seen
    found, form = seen
    held = await call.ask(
        ledger.list_balances, BalancesRequest(account=request.account, payee=whose, limit=100), organization=place.id
    )
    return _show(
        call,
        place,
        "console/account.html",
        zone,
        "ledger",
        status=form.status,
        form=form,
        account=request.account,
        currency=request.currency,
        balance=next((each for each in held.items if each.currency == request.currency), None),
        lines=found.items if found else [],
        listing=Listing.of(request, place.path(TAB, "accounts", request.account), NEWEST_WORDS, found, but="account"),
    )


def _statement(request: AccountPage, payee: UUID, zone_name: str) -> StatementRequest:
    since, until = instants_of(request.since, request.until, zone_name)
    whose = {"account": request.account, "currency": request.currency, "payee": payee}
    return LINES.asked(StatementRequest, request, **whose, since=since, until=until)


@transfer_page.serves
async def show_transfer(call: Call, request: TransferPage) -> Html:
    place = await enter(call, request.organization_id)
    found = await call.ask(ledger.one_transfer, TransferRequest(transfer=request.transfer), organization=place.id)
    zone = place.zone
    return _show(call, place, "console/transfer.html", zone, "ledger", posted=found, order=_order_of(place, found))


def _order_of(place: Place, found: Any) -> str | None:
    """Where what was paid for is shown, if we show it."""
    return place.path("orders", found.source_id) if found.source_type == SourceType.TICKET_ORDER else None


@payment_page.serves
async def show_payment(call: Call, request: PaymentPage) -> Html:
    place = await enter(call, request.organization_id)
    own = request.payment_id
    found = await call.ask(payments.payment, OnePaymentRequest(payment_id=own), organization=place.id)
    lines = await call.ask(
        ledger.entries, filled(EntriesRequest, payment_id=own, cursor=request.cursor), organization=place.id
    )
    returned = await desk.if_permitted(
        call.ask(refunds.refunds_of, RefundsOfRequest(payment_id=own), organization=place.id)
    )
    more = lines.next_cursor and link(place.path(TAB, "payments", own), cursor=lines.next_cursor)
    return _show(
        call,
        place,
        "console/payment.html",
        place.zone,
        "ledger",
        payment=found,
        lines=lines.items,
        is_whole=not request.cursor and not more,
        next_page=more,
        returned=returned or [],
        order=_order_of(place, found),
        payment_states=desk.PAYMENTS,
        refund_states=desk.REFUNDS,
    )


@dispute_page.serves
async def show_dispute(call: Call, request: DisputePage) -> Html:
    place = await enter(call, request.organization_id)
    found = await call.ask(disputes.case, filled(OneRequest, dispute_id=request.dispute_id), organization=place.id)
    zone = place.zone
    return _show(call, place, "console/dispute.html", zone, "refunds_disputes", found=found, dispute_states=DISPUTES)


CONTRACTS: Final = (finance_page, account_page, transfer_page, payment_page, dispute_page)
