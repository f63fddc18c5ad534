"""What is asked about payments, without changing anything."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import msgspec

from admitone.finance.gateways.api import Provider
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.model import IntentAction, IntentState, KnownAccount, Payment, RecordedFact, Way
from admitone.finance.payments.onboarding import missing_of
from admitone.finance.payments.policy import Happened
from admitone.finance.payments.store import intents
from admitone.finance.payments.store import payments as store
from admitone.finance.payments.store.accounts import find_accounts
from admitone.finance.payments.store.facts import find_facts
from admitone.finance.payments.store.standing import find_hold
from admitone.finance.payments.ways import unseal
from admitone.finance.sources.api import PaymentId
from admitone.foundation.organizations import api as organizations
from admitone.kernel.db import IdentityTx, Tx


async def find_payment(tx: Tx, payment: PaymentId) -> Payment | None:
    return (await store.find_payments(tx, [payment])).get(payment)


class ToldDispute(msgspec.Struct, frozen=True):
    """What is known of one dispute of a payment, in whatever order it was told."""

    reference: str
    opened_at: datetime
    """Of one of which only the end was told: when it ended."""
    amount_minor: int
    currency: str
    reason: str
    """The provider's word for it."""
    fee_minor: int
    """What the provider took for it, less what it gave back."""
    won_at: datetime | None
    lost_at: datetime | None


async def find_disputes(tx: Tx, ids: Collection[PaymentId]) -> dict[PaymentId, list[ToldDispute]]:
    """Every dispute of these payments that a provider told of, the first one first."""
    return {own: disputes_in(facts) for own, facts in (await find_facts(tx, ids)).items()}


def disputes_in(facts: Sequence[RecordedFact]) -> list[ToldDispute]:
    happened = Happened(facts)
    every = [dispute for each in (happened, *happened.others) for dispute in _disputes_of(each)]
    return sorted(every, key=lambda dispute: (dispute.opened_at, dispute.reference))


def _disputes_of(happened: Happened) -> Iterator[ToldDispute]:
    for reference in happened.disputes:
        opened, won, lost = (each.get(reference) for each in (happened.opened, happened.won, happened.lost))
        first = opened or lost or won
        assert first is not None
        yield ToldDispute(
            reference,
            first.at,
            first.amount_minor,
            first.currency,
            first.code,
            max((opened.fee_minor if opened else 0) - (won.fee_minor if won else 0), 0),
            won.at if won else None,
            lost.at if lost else None,
        )


async def find_with_net(tx: Tx, payment: PaymentId) -> tuple[Payment, int | None] | None:
    """With what the ledger says is the organisation's of it."""
    found = await find_payment(tx, payment)
    if found is None:
        return None
    net = (await ledger.net_of(tx, [payment])).get((payment, found.currency))
    return found, net.minor if net else None


class Standing(msgspec.Struct, frozen=True):
    """How far an organisation is on its way to take payments."""

    missing: tuple[str, ...]
    account: KnownAccount | None
    hold: str | None


async def find_standing(tx: Tx, provider: Provider | None, livemode: bool) -> Standing:
    organization = await organizations.get_organization(tx)
    missing = missing_of(organization, await organizations.list_acceptances(tx))
    known = await find_accounts(tx)
    account = known.get((provider, livemode)) if provider else None
    return Standing(missing, account, await find_hold(tx))


async def find_way(tx: Tx, payment: Payment) -> Way:
    """How its buyer goes on, as far as its provider has answered."""
    opening = [
        each
        for each in (await intents.find_intents(tx, [payment.id]))[payment.id]
        if each.action is IntentAction.OPEN and each.state is IntentState.DONE
    ]
    return unseal(payment.organization, opening[0]) if opening else Way()


async def find_own(tx: IdentityTx, payment: PaymentId) -> Payment | None:
    return await store.find_own(tx, payment)
