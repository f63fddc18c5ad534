"""Owners' statements, to download."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from enum import StrEnum
from uuid import UUID

from admitone.finance.payouts import papers
from admitone.finance.payouts.errors import WeekNotOver
from admitone.finance.payouts.routes.wires import FINANCE_PAYOUTS_R, OURS, owner_of
from admitone.finance.payouts.statements import Statement, Week
from admitone.kernel.contracts import Audience, Call, Contract, Example, Stream, Wire, Writes
from admitone.kernel.money import Currency


class Form(StrEnum):
    CSV = "csv"
    PDF = "pdf"


class StatementRequest(Wire):
    week: date
    """Its Monday."""
    currency: Currency
    owner: UUID | None = None
    form: Form = Form.PDF


statement = Contract(
    id="C14.STATEMENT",
    version="1.0.0",
    owner="payouts",
    consumers=("web",),
    summary="What moved for an owner in a week, and what is owed to them: as a page, or as a table.",
    get=f"{OURS}/statement",
    takes=StatementRequest,
    writes=Writes.STREAM,
    refuses=(WeekNotOver,),
    audience=Audience.ORGANIZATION,
    permission=FINANCE_PAYOUTS_R,
    order_key="none",
    examples=(Example("a page", takes=StatementRequest(week=date(2026, 2, 16), currency="EUR")),),
)


@statement.serves
async def download(call: Call, request: StatementRequest) -> Stream:
    week = Week(owner_of(call, request.owner), request.currency, request.week)
    found = await Statement.of(week, call.read)
    name = f"statement-{request.week}-{request.currency}.{request.form}"
    if request.form is Form.CSV:
        return Stream(papers.as_csv(found), download_name=name)
    return Stream(_pdf(call, found), content_type="application/pdf", download_name=name)


async def _pdf(call: Call, found: Statement) -> AsyncIterator[bytes]:
    rows = await papers.gather(found, call.words)
    yield await asyncio.to_thread(papers.as_pdf, found, rows, call.words)


CONTRACTS = (statement,)
