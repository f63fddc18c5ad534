"""The manifest of entitlements."""

from admitone.entitlements import alerts, comparing, errands, handlers, routes
from admitone.entitlements.facts import FACTS, CheckinAnomaly
from admitone.entitlements.model import ENTITLEMENT
from admitone.entitlements.port import KINDS
from admitone.kernel.jobs import Subscription
from admitone.kernel.manifest import Module, Privacy, Table, TableClass

TWO_YEARS = "kept with what was sold for two years after the event; the person goes by scrubbing the identity"

MODULE = Module(
    name="entitlements",
    contracts=routes.CONTRACTS,
    permissions=routes.PERMISSIONS,
    limits=routes.LIMITS,
    jobs=(*handlers.JOBS, *errands.JOBS, *comparing.JOBS, alerts.tell_of_anomaly),
    subscriptions=(
        *handlers.SUBSCRIPTIONS,
        *errands.SUBSCRIPTIONS,
        *comparing.SUBSCRIPTIONS,
        Subscription(CheckinAnomaly, alerts.tell_of_anomaly),
    ),
    schedules=(*errands.SCHEDULES, *comparing.SCHEDULES),
    alerts=alerts.RULES,
    sights=(alerts.DOORS,),
    paces=alerts.PACES,
    tables=(
        Table("entitlement", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=TWO_YEARS),
        Table("token", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=30, aged_by="valid_until"),
        Table("change", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True, kept_because=TWO_YEARS),
        Table("lease", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=90, aged_by="expires_at"),
        Table("checkin", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True, kept_because=TWO_YEARS),
        Table("tally", TableClass.TENANT, retention_days=800, aged_by="minute"),
        Table("scanner", TableClass.TENANT, kept_because="so few, and staff open them again"),
        Table("claimed", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, kept_because="a guest stays who it became"),
    ),
    lifecycles=(ENTITLEMENT,),
    facts=FACTS,
    ports=(KINDS,),
    listed_statements=(
        "store.wallets.FIND_OWN",
        "store.wallets.LIST_COMING",
        "store.wallets.LIST_PAST",
        "store.sweeping.LIST_UNCODED",
        "store.sweeping.LIST_OVER",
        "store.sweeping.LIST_PAID",
        "store.sweeping.LIST_OF_OWNER",
        "store.scanners.SUM_EVERYWHERE",
        "store.scanners.LIST_CLOSED_EVERYWHERE",
    ),
    listed_indexes=(
        "entitlement_of_owner",
        "entitlement_by_end",
        "entitlement_by_beginning",
        "token_by_age",
        "lease_by_age",
        "tally_by_age",
        "scanner_closed",
    ),
)
