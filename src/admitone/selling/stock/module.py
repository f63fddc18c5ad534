"""The manifest of stock."""

from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from admitone.selling.stock import comparing, errands
from admitone.selling.stock.facts import FACTS
from admitone.selling.stock.model import HOLD

WITH_ORDERS = (
    "kept with the orders that it was sold under; a buyer is an id, whose person goes by scrubbing the identity"
)

MODULE = Module(
    name="stock",
    jobs=(*errands.JOBS, *comparing.JOBS),
    subscriptions=comparing.SUBSCRIPTIONS,
    schedules=(*errands.SCHEDULES, *comparing.SCHEDULES),
    alerts=(comparing.STRAYED,),
    tables=(
        Table("pool", TableClass.TENANT),
        # What ended and came to nothing goes; what was sold never ends.
        Table("portion", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=90, aged_by="ended_at"),
        Table("given_back", TableClass.TENANT, append_only=True, kept_because=WITH_ORDERS),
        Table("unit", TableClass.TENANT),
    ),
    lifecycles=(HOLD,),
    facts=FACTS,
    listed_statements=("store.sweeping.LIST_OVERDUE", "store.sweeping.LIST_POOLS"),
    listed_indexes=("portion_by_end", "portion_by_age"),
)
