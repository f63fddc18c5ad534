"""The kernel's own manifest: its tables, and who may know what stands in them."""

from admitone.kernel.alerts import routes, rules
from admitone.kernel.alerts.facts import AlertRaised, AlertResolved
from admitone.kernel.alerts.watch import LOGS_URL
from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from admitone.kernel.pager import PAGER_SECRET, PAGER_URL, SUBSCRIPTION, TICKET_URL

MODULE = Module(
    name="kernel",
    contracts=routes.CONTRACTS,
    tables=(
        Table("tenant", TableClass.TENANT),
        # An answer may say anything that the API says, so it is personal; it is kept for as long as a key is.
        Table("idempotency_key", TableClass.TENANT, Privacy.PERSONAL, retention_days=3, append_only=True),
        Table("limit_counter", TableClass.PLATFORM, Privacy.PSEUDONYMOUS),
        Table("audit_entry", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, append_only=True),
        Table("migration", TableClass.PLATFORM),
        # Dropped by the partition.
        Table("event_log", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=180, append_only=True),
        Table("fact_key", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=180, append_only=True),
        Table("outbox", TableClass.TENANT, retention_days=30),
        Table("inbox", TableClass.TENANT, retention_days=180, append_only=True),
        Table("job_key", TableClass.PLATFORM, retention_days=180, append_only=True),
        Table("worker", TableClass.PLATFORM),
        Table("job", TableClass.PLATFORM, Privacy.PSEUDONYMOUS),
        Table("job_attempt", TableClass.PLATFORM, retention_days=90, append_only=True),
        Table("dead_letter", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, retention_days=90),
        Table("schedule", TableClass.PLATFORM),
        Table("alert", TableClass.TENANT),
    ),
    config=(PAGER_URL, TICKET_URL, PAGER_SECRET, LOGS_URL),
    facts=(AlertRaised, AlertResolved),
    jobs=(SUBSCRIPTION.kind,),
    subscriptions=(SUBSCRIPTION,),
    alerts=rules.RULES,
    listed_statements=(
        "jobs.store.CLAIM_OUTBOX",
        "jobs.store.MARK_PUBLISHED",
        "jobs.store.PUT_OFF",
        "jobs.store.PULL_OUTBOX_BACK",
        "alerts.store.COUNT_OUTBOX",
        "alerts.store.FIND_FIRST_OUT",
    ),
    listed_indexes=("event_log_by_correlation", "outbox_pending"),
    definer_functions=("add_partitions",),
)
