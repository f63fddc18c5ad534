"""The manifest of events."""

from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from admitone.verticals.events import (
    announcing,
    billing,
    calling_off,
    following,
    receipts,
    reconciling,
    refunded,
    routes,
    tracking,
    unpaid,
)
from admitone.verticals.events.facts import FACTS
from admitone.verticals.events.model import EVENT, ORDER
from admitone.verticals.events.port import INVITES

TEN_YEARS = "kept with the books of what was sold"

MODULE = Module(
    name="events",
    contracts=routes.CONTRACTS,
    permissions=routes.PERMISSIONS,
    limits=routes.LIMITS,
    facts=FACTS,
    jobs=(
        *announcing.JOBS,
        *billing.JOBS,
        *calling_off.JOBS,
        *following.JOBS,
        *receipts.JOBS,
        *reconciling.JOBS,
        *refunded.JOBS,
        *tracking.JOBS,
        *unpaid.JOBS,
    ),
    subscriptions=(
        *announcing.SUBSCRIPTIONS,
        *calling_off.SUBSCRIPTIONS,
        *following.SUBSCRIPTIONS,
        *receipts.SUBSCRIPTIONS,
        *reconciling.SUBSCRIPTIONS,
        *refunded.SUBSCRIPTIONS,
        *tracking.SUBSCRIPTIONS,
        *unpaid.SUBSCRIPTIONS,
    ),
    schedules=(*announcing.SCHEDULES, *billing.SCHEDULES, *reconciling.SCHEDULES),
    alerts=(reconciling.DIFFERS,),
    ports=(INVITES,),
    tables=(
        Table("event", TableClass.TENANT, kept_because=TEN_YEARS),
        Table("session", TableClass.TENANT, kept_because=TEN_YEARS),
        Table("shared_pool", TableClass.TENANT, kept_because=TEN_YEARS),
        Table("ticket_type", TableClass.TENANT, kept_because=TEN_YEARS),
        Table("access_policy", TableClass.TENANT, append_only=True, kept_because=TEN_YEARS),
        Table("ticket_order", TableClass.TENANT, Privacy.PERSONAL, kept_because=TEN_YEARS),
        Table("order_line", TableClass.TENANT, append_only=True, kept_because=TEN_YEARS),
        Table("ticket", TableClass.TENANT, Privacy.PSEUDONYMOUS, kept_because=TEN_YEARS),
        Table("guest_link", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=30, aged_by="expires_at"),
        Table("house", TableClass.PLATFORM, kept_because="whether an organisation's events stand in lists"),
        Table(
            "listing", TableClass.PLATFORM, kept_because="where each event is kept, for as long as its page is there"
        ),
    ),
    lifecycles=(EVENT, ORDER),
    listed_statements=("store.orders.LIST_OWN", "store.orders.FIND_OWN", "store.rotation.LIST_STALE"),
    listed_indexes=("ticket_order_by_key", "ticket_order_of_buyer", "ticket_of_owner", "guest_link_by_age"),
)
