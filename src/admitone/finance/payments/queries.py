"""What is asked about payments, without changing anything."""

from collections.abc import Collection

import msgspec

from admitone.finance.gateways.api import Provider
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.model import KnownAccount, Payment
from admitone.finance.payments.onboarding import missing_of
from admitone.finance.payments.policy import Happened
from admitone.finance.payments.store import payments as store
from admitone.finance.payments.store.accounts import find_accounts
from admitone.finance.payments.store.standing import find_hold
from admitone.finance.sources.api import PaymentId
from admitone.foundation.organizations import api as organizations
from admitone.kernel.db import IdentityTx, Tx


async def find_payment(tx: Tx, payment: PaymentId) -> Payment | None:
    return (await store.find_payments(tx, [payment])).get(payment)


async def find_with_net(tx: Tx, payment: PaymentId) -> tuple[Payment, int | None] | None:
    """With what the ledger says is the organisation's of it."""
    found = await find_payment(tx, payment)
    if found is None:
        return None
    net = (await ledger.net_of(tx, [payment])).get((payment, found.currency))
    return found, net.minor if net else None


async def find_disputed(tx: Tx, payments: Collection[PaymentId]) -> set[PaymentId]:
    """Those of which a dispute is open, whatever else became of them."""
    facts = await store.find_facts(tx, payments)
    return {own for own, known in facts.items() if _is_disputed(Happened(known))}


def _is_disputed(happened: Happened) -> bool:
    every = (happened, *happened.others)
    return any(each.opened.keys() - each.won.keys() - each.lost.keys() for each in every)


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


async def find_own(tx: IdentityTx, payment: PaymentId) -> Payment | None:
    return await store.find_own(tx, payment)
