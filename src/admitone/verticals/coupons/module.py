"""The manifest of coupons."""

from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from admitone.verticals.coupons import errands, returned, routes, watching
from admitone.verticals.coupons.facts import FACTS
from admitone.verticals.coupons.model import CAMPAIGN, TOKEN

MODULE = Module(
    name="coupons",
    contracts=routes.CONTRACTS,
    permissions=routes.PERMISSIONS,
    limits=routes.LIMITS,
    facts=FACTS,
    jobs=(*errands.JOBS, *returned.JOBS),
    subscriptions=returned.SUBSCRIPTIONS,
    schedules=errands.SCHEDULES,
    alerts=watching.RULES,
    sights=(watching.MONEY,),
    paces=watching.PACES,
    tables=(
        Table(
            "campaign",
            TableClass.TENANT,
            Privacy.PSEUDONYMOUS,
            kept_because="kept with the books of what was sold",
        ),
        Table("token", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=90, aged_by="expires_at"),
        Table("known_token", TableClass.REGISTRY),
    ),
    lifecycles=(CAMPAIGN, TOKEN),
    definer_functions=("know", "known", "forget"),
    listed_statements=(
        "store.sweeping.LIST_DUE",
        "store.sweeping.LIST_WATCHED",
        "store.sweeping.LIST_DIVERGED",
        "store.sweeping.COUNT_WATCHED",
    ),
    listed_indexes=("campaign_due", "campaign_watched", "campaign_diverged", "token_by_age"),
)
