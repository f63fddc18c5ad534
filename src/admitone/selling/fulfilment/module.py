"""The manifest of fulfilment."""

from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from admitone.selling.fulfilment import alerts, handlers, routes
from admitone.selling.fulfilment.model import OPERATION
from admitone.selling.fulfilment.port import RECIPES

MODULE = Module(
    name="fulfilment",
    contracts=routes.CONTRACTS,
    permissions=(routes.PLATFORM_FULFILMENT_R,),
    jobs=handlers.JOBS,
    subscriptions=handlers.SUBSCRIPTIONS,
    alerts=(alerts.FAILING,),
    sights=(alerts.OPERATIONS,),
    tables=(
        Table(
            "operation",
            TableClass.TENANT,
            Privacy.PSEUDONYMOUS,
            kept_because="what was handed over once is never handed over again, as long as its payment is there",
        ),
    ),
    lifecycles=(OPERATION,),
    ports=(RECIPES,),
    listed_statements=("store.LIST_FRUITLESS", "store.COUNT_SINCE", "store.COUNT_UNFINISHED"),
    listed_indexes=("operation_unfinished", "operation_fruitless", "operation_by_change"),
)
