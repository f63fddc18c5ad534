"""The toy's manifest."""

from admitone.kernel.jobs import Subscription
from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from tests.toy import handlers, managing, recounting, routes, wiring  # noqa: F401, wired where it is named
from tests.toy.facts import CounterIncremented
from tests.toy.managing import MANAGE
from tests.toy.model import COUNTER
from tests.toy.routes import INCREMENT, PER_DEVICE, READ

MODULE = Module(
    name="toy",
    contracts=(*routes.CONTRACTS, *managing.CONTRACTS),
    tables=(
        Table("counter", TableClass.TENANT),
        Table(
            "increment",
            TableClass.TENANT,
            Privacy.PSEUDONYMOUS,
            append_only=True,
            retention_days=400,
            aged_by="at",
        ),
        Table("stall", TableClass.TENANT),
        Table("heard", TableClass.TENANT),
        Table("profile", TableClass.IDENTITY, Privacy.PERSONAL, kept_because="the person's own, until erased"),
        Table("nickname", TableClass.REGISTRY, Privacy.PERSONAL, kept_because="the person's own, until erased"),
        Table("credential", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, kept_because="until the member leaves"),
        Table("gate", TableClass.PLATFORM),
    ),
    permissions=(INCREMENT, READ, MANAGE),
    limits=(PER_DEVICE,),
    features=("toy.later",),
    lifecycles=(COUNTER,),
    facts=(CounterIncremented,),
    jobs=(handlers.hear, handlers.perform, handlers.run_errand, recounting.recount),
    subscriptions=(Subscription(CounterIncremented, handlers.hear),),
    listed_statements=("store.LIST_OWN_INCREMENTS",),
    listed_indexes=("increment_by_identity", "increment_by_age"),
    definer_functions=("claim_nickname",),
)
