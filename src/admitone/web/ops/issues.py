"""What is not the same here and at a provider: whose, how old, taken by whom; and closing it."""

from typing import Final

from admitone.finance.reconciliation import routes as reconciliation
from admitone.finance.reconciliation.routes import AdminIssuesRequest, CloseRequest, TakeRequest
from admitone.kernel.contracts import Call, Html, Redirect, Stream, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.web.console.desk import refused
from admitone.web.form import Form, Typed, filled
from admitone.web.lists import NEWEST_WORDS, Listing, ListPage, Source, link
from admitone.web.ops.room import ops_page, show_in_room

DIFFERENCE_WORDS: Final[dict[str, str]] = {
    "MISSING_HERE": "The provider moved it, the ledger lacks it",
    "MISSING_THERE": "The ledger has it, the provider never moved it",
    "AMOUNT": "The amounts differ",
    "FEE": "The fees differ",
    "CURRENCY": "The currencies differ",
    "DUPLICATE": "It stands twice on one side",
    "STAYED": "Money stayed where none should be left",
}
CLOSING_WORDS: Final[dict[str, str]] = {
    "SETTLED_WITH_PROVIDER": "Settled with the provider",
    "CORRECTED": "Corrected",
    "KNOWN_TIMING": "Only a matter of time",
    "FALSE_ALARM": "There was nothing to it",
}


ISSUES: Final = Source(
    reconciliation.issues_of,
    NEWEST_WORDS,
    (
        *("issue_id", "difference", "kind", "reference", "payment_id", "here_minor", "here_currency", "there_minor"),
        *("currency", "responsible", "taken_by", "state", "closed_how", "closed_reason", "closed_by", "closed_at"),
        *("first_seen_at", "last_seen_at", "age_seconds"),
    ),
    name="issues",
    rows=50,
)


class IssuesPage(ListPage):
    organization: Typed = ""
    state: Typed = ""


class TakeForm(Wire):
    issue_id: Typed
    organization: OrganizationId


class CloseForm(TakeForm, kw_only=True):
    reason_code: Typed = ""


issues_page = ops_page(".ISSUES", "What is not the same here and at a provider.", "/issues", IssuesPage)
take = ops_page(".ISSUE.TAKE", "Take an issue.", "/issues/{issueId}/take", TakeForm, post=True)
close = ops_page(".ISSUE.CLOSE", "Close an issue.", "/issues/{issueId}/close", CloseForm, post=True)


@issues_page.serves
async def show_issues(call: Call, request: IssuesPage) -> Html | Stream:
    return await _issues(call, request, Form.of(request))


async def _issues(call: Call, request: IssuesPage, form: Form) -> Html | Stream:
    found = None
    if request.organization:
        which = {"organization": request.organization.strip(), "state": request.state}
        listed = await ISSUES.read(call, request, ISSUES.asked(AdminIssuesRequest, request, **which))
        if isinstance(listed, Stream):
            return listed
        found = listed
    return show_in_room(
        call,
        "issues",
        "ops/issues.html",
        status=form.status,
        form=form,
        organization=request.organization,
        figures=await call.ask(reconciliation.figures_for_people),
        whose=await call.ask(reconciliation.whose),
        found=found,
        listing=Listing.of(request, "/ops/issues", NEWEST_WORDS, found),
        differences=DIFFERENCE_WORDS,
        reasons=CLOSING_WORDS,
        link=link,
    )


@take.serves
async def take_issue(call: Call, form: TakeForm) -> Redirect:
    await call.ask(reconciliation.takes, filled(TakeRequest, organization=form.organization, issue_id=form.issue_id))
    return Redirect(link("/ops/issues", organization=form.organization))


@close.serves
async def close_issue(call: Call, form: CloseForm) -> Html | Stream | Redirect:
    whose = str(form.organization)
    try:
        asked = filled(CloseRequest, organization=whose, issue_id=form.issue_id, reason_code=form.reason_code)
        await call.ask(reconciliation.closes, asked)
    except Refusal as refusal:
        return await _issues(call, IssuesPage(organization=whose), refused(call, form, refusal))
    return Redirect(link("/ops/issues", organization=whose))


CONTRACTS: Final = (issues_page, take, close)
