"""The manifest of reconciliation."""

from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.payouts.facts import PayoutUnknown
from admitone.finance.reconciliation import errands, routes
from admitone.finance.reconciliation.alerting import RULES
from admitone.finance.reconciliation.facts import (
    ReconciliationFinished,
    ReconciliationIssueClosed,
    ReconciliationIssueOpened,
    ReconciliationOfAllWanted,
    ReconciliationWanted,
)
from admitone.finance.reconciliation.model import ISSUE, RUN
from admitone.kernel.jobs import Schedule, Subscription
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

MODULE = Module(
    name="reconciliation",
    contracts=routes.CONTRACTS,
    tables=(
        Table("standing", TableClass.TENANT),
        Table("run", TableClass.TENANT),
        Table(
            "issue",
            TableClass.TENANT,
            Privacy.PSEUDONYMOUS,
            kept_because="what differed, and who closed it, is part of the books",
        ),
    ),
    permissions=routes.PERMISSIONS,
    ports=(GATEWAYS,),
    lifecycles=(RUN, ISSUE),
    facts=(
        ReconciliationWanted,
        ReconciliationOfAllWanted,
        ReconciliationFinished,
        ReconciliationIssueOpened,
        ReconciliationIssueClosed,
    ),
    jobs=(
        errands.reconcile,
        errands.reconcile_all,
        errands.reconcile_daily,
        errands.catch_up,
        errands.see_to_payout,
        errands.reconcile_pix,
        errands.watch,
    ),
    subscriptions=(
        Subscription(ReconciliationWanted, errands.reconcile),
        Subscription(ReconciliationOfAllWanted, errands.reconcile_all),
        Subscription(PayoutUnknown, errands.see_to_payout),
    ),
    schedules=(
        errands.DAILY,
        Schedule("reconciliation.catch_up", "45 * * * *", errands.catch_up),
        Schedule("reconciliation.pix", "25 * * * *", errands.reconcile_pix),
        Schedule("reconciliation.watch", "*/5 * * * *", errands.watch),
    ),
    alerts=RULES,
    listed_statements=(
        "store.watching.COUNT_LATE",
        "store.watching.LIST_LATE",
        "store.watching.COUNT_OPEN",
        "store.watching.LIST_WHOSE",
    ),
    listed_indexes=("standing_by_lag", "issue_by_age"),
)
