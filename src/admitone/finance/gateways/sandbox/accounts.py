"""What can happen to an organisation's account at the provider, and to what is paid out to it or to the platform's own
bank, as pure steps.

Promise: an account is `standard`, and takes and pays nothing before its owner has said who they are. What is paid out
leaves the provider's books when it is ordered, and comes back when it fails; a bank may send back what had arrived.
"""

from msgspec.structs import replace

from admitone.finance.gateways.model import MovementKind
from admitone.finance.gateways.sandbox.charges import NewId, No, Step
from admitone.finance.gateways.sandbox.objects import BANK, MILLION, Account, MovementRow, Payout
from admitone.finance.gateways.sandbox.parameters import AccountParameters, PayoutParameters
from admitone.kernel.ids import PLATFORM_ORGANIZATION

ASKED = ("business_profile.url", "external_account", "tos_acceptance.date")


def open_account(given: AccountParameters, now: int, new_id: NewId) -> Step:
    if given.type != "standard":
        raise No("parameter_invalid", "accounts are standard")
    account = Account(
        id=new_id("acct", given.order_key, now),
        status="new",
        created=now // MILLION,
        status_transitions={"new": now},
        type="standard",
        country=given.country,
        email=given.email,
        charges_enabled=False,
        payouts_enabled=False,
        requirements_due=ASKED,
        metadata=given.metadata,
    )
    return Step(account)


def complete(account: Account, now: int) -> Step:
    """Its owner has told everything."""
    return _updated(account, now, "enabled", enabled=True, due=())


def restrict(account: Account, now: int) -> Step:
    """The provider wants to know more, and pays out nothing until then."""
    return _updated(account, now, "restricted", enabled=False, due=("individual.verification.document",))


def _updated(account: Account, now: int, word: str, *, enabled: bool, due: tuple[str, ...]) -> Step:
    at = max(now, *(moment + 1 for moment in account.status_transitions.values()))
    changed = replace(
        account,
        status=word,
        charges_enabled=enabled,
        payouts_enabled=enabled,
        requirements_due=due,
        status_transitions={**account.status_transitions, word: at},
    )
    return Step(changed, [("account.updated", changed)], account=account.id)


def pay_out(account: Account | None, given: PayoutParameters, now: int, new_id: NewId) -> Step:
    """To an account; to none, to the bank."""
    if account and not account.payouts_enabled:
        raise No("payouts_not_allowed", f"{account.id} must tell who it is first")
    if given.amount <= 0:
        raise No("amount_too_small")
    payout = Payout(
        id=new_id("po", given.order_key, now),
        status="pending",
        created=now // MILLION,
        status_transitions={"pending": now},
        amount=given.amount,
        currency=given.currency,
        destination=account.id if account else BANK,
        metadata=given.metadata,
        order_key=given.order_key,
    )
    kind = MovementKind.PAYOUT if account else MovementKind.BANK_PAYOUT
    return Step(payout, movements=[_moved(payout, kind, now, new_id)], account=_told_on(payout))


def close_payout(payout: Payout, now: int, new_id: NewId, *, paid: bool) -> Step:
    """It arrived, or came back."""
    if payout.status != "pending" and (paid or not may_come_back(payout)):
        raise No("payout_unexpected_state", f"{payout.id} is {payout.status}")
    at, word = max(now, *(each + 1 for each in payout.status_transitions.values())), "paid" if paid else "failed"
    closed = replace(
        payout,
        status=word,
        failure_code=None if paid else "account_closed",
        status_transitions={**payout.status_transitions, word: at},
    )
    kind = MovementKind.BANK_PAYOUT_RETURNED if payout.destination == BANK else MovementKind.PAYOUT_RETURNED
    returned = [] if paid else [_moved(closed, kind, at, new_id)]
    return Step(closed, [(f"payout.{word}", closed)], returned, account=_told_on(payout))


def may_come_back(payout: Payout) -> bool:
    return payout.status == "pending" or (payout.destination == BANK and payout.status == "paid")


def _told_on(payout: Payout) -> str | None:
    """The account of which its events are; of what goes to the bank, the platform's own."""
    return None if payout.destination == BANK else payout.destination


def _moved(payout: Payout, kind: MovementKind, at: int, new_id: NewId) -> MovementRow:
    return MovementRow(
        id=new_id("mov", payout.id, kind),
        kind=kind.value,
        reference=payout.id,
        amount=payout.amount,
        currency=payout.currency,
        at=at,
        organization=str(PLATFORM_ORGANIZATION) if payout.destination == BANK else payout.metadata.get("orgId"),
        payment=None,
    )
