"""What an organisation can read of its own books: the accounts that are its business. All of them are for operators."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from admitone.finance.ledger import exporting, queries
from admitone.finance.ledger.exporting import BEGINNING, FIRST, Form
from admitone.finance.ledger.model import (
    CHART,
    OWN_ACCOUNTS,
    Account,
    AccountClass,
    Balance,
    EntryType,
    Event,
    Holding,
    OwnAccount,
    Transfer,
    TransferId,
)
from admitone.finance.ledger.projections import Entry
from admitone.finance.ledger.store import projections as projection_store
from admitone.finance.ledger.store.seals import find_transfers
from admitone.finance.ledger.store.transfers import BEGINNING as START
from admitone.finance.ledger.store.transfers import END, Place
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    Instant,
    Page,
    PageRequest,
    Stream,
    Wire,
    Writes,
    page_of,
)
from admitone.kernel.errors import NotFound
from admitone.kernel.money import Currency
from admitone.kernel.statements import ListOrder

FINANCE_LEDGER_R: Final = "FINANCE_LEDGER_R"

SOMEBODY: Final = UUID("0198c9a4-0000-7000-8000-0000000000aa")
SOME_PAYMENT: Final = PaymentId.parse("pay_0198c9a40000700080000000000000bb")
SOME_TRANSFER: Final = TransferId.parse("tfr_0198c9a40000700080000000000000cc")
THEN: Final = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)


def payee_of(call: Call, payee: UUID | None) -> UUID:
    assert call.organization is not None
    return payee or call.organization.uuid


class BalanceAnswer(Wire):
    account: Account
    account_class: AccountClass
    payee: UUID
    """The organisation itself, or whose money it holds for it."""
    currency: Currency
    debits_minor: int
    credits_minor: int
    balance_minor: int
    """Positive on the side on which accounts of the class grow."""

    @classmethod
    def of(cls, balance: Balance) -> "BalanceAnswer":
        return cls(
            account=balance.holding.account,
            account_class=CHART[balance.holding.account],
            payee=balance.holding.payee,
            currency=balance.holding.currency,
            debits_minor=balance.debits_minor,
            credits_minor=balance.credits_minor,
            balance_minor=balance.minor,
        )


SOME_BALANCE: Final = BalanceAnswer.of(Balance(Holding(Account.ORG, SOMEBODY, "EUR"), 400, 5000))


class BalancesRequest(PageRequest):
    account: OwnAccount | None = None
    payee: UUID | None = None


list_balances = Contract(
    id="LEDGER.01",
    version="1.0.0",
    owner="ledger",
    consumers=("web",),
    summary="What stands on each account, for each payee and currency.",
    get="/api/org/{organizationId}/finance/ledger/balances",
    takes=BalancesRequest,
    gives=Page[BalanceAnswer],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_LEDGER_R,
    order_key="account, payee, currency",
    examples=(
        Example(
            "what is owed to the organisation",
            takes=BalancesRequest(account=OwnAccount.ORG, limit=1),
            gives=Page(items=[SOME_BALANCE], next_cursor=None),
        ),
    ),
)


@list_balances.serves
async def see_balances(call: Call, request: BalancesRequest) -> Page[BalanceAnswer]:
    after = request.after(tuple[Account, UUID, str])
    found = await call.read(
        queries.balances,
        [Account(request.account)] if request.account else sorted(OWN_ACCOUNTS),
        request.payee,
        Holding(*after) if after else None,
        request.limit + 1,
    )
    answers = [BalanceAnswer.of(balance) for balance in found]
    return page_of(answers, request.limit, key=lambda each: (each.account, each.payee, each.currency))


class AsOfRequest(Wire):
    account: OwnAccount
    currency: Currency
    at: Instant
    payee: UUID | None = None


class AsOfAnswer(Wire):
    at: Instant
    balance: BalanceAnswer


balance_as_of = Contract(
    id="LEDGER.02",
    version="1.0.0",
    owner="ledger",
    consumers=("web",),
    summary="What stood on an account at an instant.",
    get="/api/org/{organizationId}/finance/ledger/balance",
    takes=AsOfRequest,
    gives=AsOfAnswer,
    audience=Audience.ORGANIZATION,
    permission=FINANCE_LEDGER_R,
    order_key="none",
    examples=(
        Example(
            "owed to the organisation then",
            takes=AsOfRequest(account=OwnAccount.ORG, currency="EUR", at=THEN),
            gives=AsOfAnswer(at=THEN, balance=SOME_BALANCE),
        ),
    ),
)


@balance_as_of.serves
async def see_balance(call: Call, request: AsOfRequest) -> AsOfAnswer:
    payee = payee_of(call, request.payee)
    found = await call.read(queries.balance_as_of, Account(request.account), payee, request.currency, request.at)
    return AsOfAnswer(at=request.at, balance=BalanceAnswer.of(found))


class StatementRequest(PageRequest, kw_only=True):
    account: OwnAccount
    currency: Currency
    payee: UUID | None = None
    since: Instant | None = None
    until: Instant | None = None
    """Posted before then."""
    order: ListOrder = ListOrder.NEWEST

    def stretch(self) -> tuple[Place, Place]:
        """After which and before which place of the statement the next lines stand."""
        first = (self.since, FIRST) if self.since else START
        last = (self.until, FIRST) if self.until else END
        return self.order.between(self.after(tuple[datetime, UUID]), first, last)


class StatementLine(Wire):
    transfer: TransferId
    transaction: UUID
    entry_type: EntryType
    event: Event
    debit_minor: int
    """Of the two sides one has the amount, the other nothing."""
    credit_minor: int
    other_account: Account
    payment: PaymentId | None
    source_type: str | None
    source_id: str | None
    cause: str
    reference: str | None
    posted_at: Instant

    @classmethod
    def of(cls, transfer: Transfer, account: Account) -> "StatementLine":
        debited = transfer.debit_account is account
        return cls(
            transfer=transfer.id,
            transaction=transfer.transaction_id,
            entry_type=transfer.entry_type,
            event=transfer.event,
            debit_minor=transfer.amount_minor if debited else 0,
            credit_minor=0 if debited else transfer.amount_minor,
            other_account=transfer.credit_account if debited else transfer.debit_account,
            payment=transfer.payment_id,
            source_type=transfer.source_type,
            source_id=transfer.source_id,
            cause=transfer.causation_id,
            reference=transfer.reference,
            posted_at=transfer.posted_at,
        )


statement = Contract(
    id="LEDGER.03",
    version="1.0.0",
    owner="ledger",
    consumers=("web",),
    summary="What went through an account, the newest first unless the oldest are asked for.",
    get="/api/org/{organizationId}/finance/ledger/statement",
    takes=StatementRequest,
    gives=Page[StatementLine],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_LEDGER_R,
    order_key="postedAt, transfer",
    examples=(
        Example(
            "a sale",
            takes=StatementRequest(account=OwnAccount.ORG, currency="EUR", limit=1),
            gives=Page(
                items=[
                    StatementLine(
                        transfer=SOME_TRANSFER,
                        transaction=SOMEBODY,
                        entry_type=EntryType.GROSS,
                        event=Event.CAPTURED,
                        debit_minor=0,
                        credit_minor=5000,
                        other_account=Account.MA,
                        payment=SOME_PAYMENT,
                        source_type="TICKET_ORDER",
                        source_id="to_456",
                        cause="pi_1:captured",
                        reference="ch_1",
                        posted_at=THEN,
                    )
                ],
                next_cursor=None,
            ),
        ),
    ),
)


@statement.serves
async def see_statement(call: Call, request: StatementRequest) -> Page[StatementLine]:
    account = Account(request.account)
    holding = Holding(account, payee_of(call, request.payee), request.currency)
    after, before = request.stretch()
    found = await call.read(queries.statement, holding, before, request.limit + 1, after, request.order)
    lines = [StatementLine.of(transfer, account) for transfer in found]
    return request.page(lines, key=lambda line: (line.posted_at, line.transfer.uuid))


class EntriesRequest(PageRequest, kw_only=True):
    payment_id: PaymentId


class LedgerEntryAnswer(Wire):
    """ORYA's ledger entry (FIN-041)."""

    id: TransferId
    account: Account
    entry_type: EntryType
    amount: int
    """Signed: what it adds to the payee's position."""
    currency: Currency
    payment_id: PaymentId | None
    source_type: str | None
    source_id: str | None
    line: int
    causation_id: str
    correlation_id: UUID
    created_at: Instant

    @classmethod
    def of(cls, entry: Entry) -> "LedgerEntryAnswer":
        return cls(
            id=TransferId(entry.id),
            account=entry.account,
            entry_type=entry.entry_type,
            amount=entry.amount_signed,
            currency=entry.currency,
            payment_id=entry.payment_id,
            source_type=entry.source_type,
            source_id=entry.source_id,
            line=entry.line,
            causation_id=entry.causation_id,
            correlation_id=entry.correlation_id,
            created_at=entry.created_at,
        )


entries = Contract(
    id="LEDGER.04",
    version="1.0.0",
    owner="ledger",
    consumers=("web",),
    summary="The ledger entries of a payment; their sum is what of it is the payee's.",
    get="/api/org/{organizationId}/finance/ledger/payments/{paymentId}/entries",
    takes=EntriesRequest,
    gives=Page[LedgerEntryAnswer],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_LEDGER_R,
    order_key="id, account",
    examples=(
        Example(
            "a fee",
            takes=EntriesRequest(payment_id=SOME_PAYMENT, limit=1),
            gives=Page(
                items=[
                    LedgerEntryAnswer(
                        id=SOME_TRANSFER,
                        account=Account.ORG,
                        entry_type=EntryType.PLATFORM_FEE,
                        amount=-300,
                        currency="EUR",
                        payment_id=SOME_PAYMENT,
                        source_type="TICKET_ORDER",
                        source_id="to_456",
                        line=0,
                        causation_id="pi_1:captured",
                        correlation_id=SOMEBODY,
                        created_at=THEN,
                    )
                ],
                next_cursor=None,
            ),
        ),
    ),
)


@entries.serves
async def see_entries(call: Call, request: EntriesRequest) -> Page[LedgerEntryAnswer]:
    after = request.after(tuple[UUID, str]) or (FIRST, "")
    found = await call.read(projection_store.list_entries_of_payment, request.payment_id, after, request.limit + 1)
    answers = [LedgerEntryAnswer.of(entry) for entry in found]
    return page_of(answers, request.limit, key=lambda each: (each.id.uuid, each.account))


class TransferNotFound(NotFound):
    """There is no such transfer in your books."""

    code = "TRANSFER_NOT_FOUND"


class TransferRequest(Wire):
    transfer: TransferId


class TransferAnswer(Wire):
    """The posting itself: from the credited account to the debited one."""

    transfer: TransferId
    transaction: UUID
    entry_type: EntryType
    event: Event
    debit_account: Account
    credit_account: Account
    amount_minor: int
    currency: Currency
    payee: UUID
    payment: PaymentId | None
    source_type: str | None
    source_id: str | None
    cause: str
    reference: str | None
    correlation_id: UUID
    posted_at: Instant

    @classmethod
    def of(cls, transfer: Transfer) -> "TransferAnswer":
        return cls(
            transfer=transfer.id,
            transaction=transfer.transaction_id,
            payee=transfer.payee_id,
            payment=transfer.payment_id,
            cause=transfer.causation_id,
            **{name: getattr(transfer, name) for name in AS_POSTED},
        )


AS_POSTED: Final = (
    "entry_type",
    "event",
    "debit_account",
    "credit_account",
    "amount_minor",
    "currency",
    "source_type",
    "source_id",
    "reference",
    "correlation_id",
    "posted_at",
)

one_transfer = Contract(
    id="LEDGER.06",
    version="1.0.0",
    owner="ledger",
    consumers=("web",),
    summary="One transfer of an account that is the organisation's business, as it was posted.",
    get="/api/org/{organizationId}/finance/ledger/transfers/{transfer}",
    takes=TransferRequest,
    gives=TransferAnswer,
    refuses=(TransferNotFound,),
    audience=Audience.ORGANIZATION,
    permission=FINANCE_LEDGER_R,
    order_key="none",
    examples=(Example("another's", takes=TransferRequest(transfer=SOME_TRANSFER), refuses=TransferNotFound()),),
)


@one_transfer.serves
async def see_transfer(call: Call, request: TransferRequest) -> TransferAnswer:
    found = (await call.read(find_transfers, [request.transfer.uuid])).get(request.transfer.uuid)
    if found is None or OWN_ACCOUNTS.isdisjoint({found.debit_account, found.credit_account}):
        raise TransferNotFound
    return TransferAnswer.of(found)


class ExportRequest(Wire):
    form: Form


export = Contract(
    id="LEDGER.05",
    version="1.0.0",
    owner="ledger",
    consumers=("web",),
    summary="The ledger up to its last seal as CSV: signed entries, or a journal of debits and credits.",
    get="/api/org/{organizationId}/finance/ledger/export",
    takes=ExportRequest,
    writes=Writes.STREAM,
    audience=Audience.ORGANIZATION,
    permission=FINANCE_LEDGER_R,
    order_key="id",
    examples=(Example("For the accountant", takes=ExportRequest(form=Form.JOURNAL)),),
)


@export.serves
async def download(call: Call, request: ExportRequest) -> Stream:
    return Stream(_csv(call, request.form), download_name=f"ledger-{request.form}.csv")


async def _csv(call: Call, form: Form) -> AsyncIterator[str]:
    yield exporting.headings(form)
    end, after = await call.read(exporting.export_end), BEGINNING
    while (page := await call.read(exporting.export_page, form, after, end.number, OWN_ACCOUNTS)).transfers:
        after = page.last
        yield page.text


CONTRACTS: Final = (list_balances, balance_as_of, statement, entries, one_transfer, export)
