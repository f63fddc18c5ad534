"""The manifest of payouts."""

from typing import Final

from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.payouts import errands, routes
from admitone.finance.payouts.alerts import RULES
from admitone.finance.payouts.facts import FACTS
from admitone.finance.payouts.model import OBLIGATION, PAYOUT
from admitone.finance.payouts.routes.wires import (
    FINANCE_PAYOUTS_R,
    FINANCE_PAYOUTS_RW,
    PLATFORM_PAYOUTS_R,
    PLATFORM_PAYOUTS_RW,
)
from admitone.kernel.jobs import Schedule
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

BOOKS: Final = "what was owed and paid to whom is kept for ten years and more, as the ledger is"

MODULE = Module(
    name="payouts",
    contracts=routes.CONTRACTS,
    permissions=(FINANCE_PAYOUTS_R, FINANCE_PAYOUTS_RW, PLATFORM_PAYOUTS_R, PLATFORM_PAYOUTS_RW),
    tables=(
        # An owner may be a person.
        Table("owner", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=BOOKS),
        Table("schedule", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because="it stands as long as its owner"),
        Table("payout", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=BOOKS),
        Table("obligation", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=BOOKS),
        Table("freeze", TableClass.TENANT),
        Table("reported", TableClass.TENANT),
        Table("statement", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=BOOKS),
    ),
    ports=(GATEWAYS,),
    lifecycles=(OBLIGATION, PAYOUT),
    facts=FACTS,
    jobs=errands.JOBS,
    subscriptions=errands.SUBSCRIPTIONS,
    schedules=(
        Schedule("payouts.daily", "0 0 * * *", errands.begin_batches),
        # An hour after the weekly batch, when nothing that was begun in the week is under way any more.
        Schedule("payouts.statements", "0 1 * * 1", errands.begin_statements),
        Schedule("payouts.complete", "*/5 * * * *", errands.complete),
        Schedule("payouts.release", "7 * * * *", errands.release),
    ),
    alerts=RULES,
    listed_statements=(
        "store.sweeping.LIST_ORGANIZATIONS_DUE",
        "store.sweeping.LIST_ORGANIZATIONS_UNRELEASED",
        "store.sweeping.LIST_UNPOSTED",
    ),
    listed_indexes=("payout_unposted",),
)
