"""The kernel's own manifest: its tables, and who may know what stands in them."""

from admitone.kernel import operations
from admitone.kernel.alerts import routes as alert_routes
from admitone.kernel.alerts import rules
from admitone.kernel.alerts.facts import AlertRaised, AlertResolved
from admitone.kernel.alerts.runbooks import RULES
from admitone.kernel.alerts.watch import LOGS_URL
from admitone.kernel.bulk import everywhere
from admitone.kernel.bulk import routes as bulk_routes
from admitone.kernel.bulk.model import BULK
from admitone.kernel.crypto import KEYRING
from admitone.kernel.jobs.schedules import Schedule
from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from admitone.kernel.pager import PAGER_SECRET, PAGER_URL, SUBSCRIPTION, TICKET_URL
from admitone.kernel.plans.model import PLAN
from admitone.kernel.retention import enforce_retention

MODULE = Module(
    name="kernel",
    contracts=(*operations.CONTRACTS, *alert_routes.CONTRACTS, bulk_routes.progress),
    permissions=operations.PERMISSIONS,
    jobs=(enforce_retention, everywhere.EVERYWHERE, SUBSCRIPTION.kind),
    schedules=(Schedule("kernel.enforce_retention", "23 * * * *", enforce_retention),),
    lifecycles=(BULK, PLAN),
    tables=(
        Table("tenant", TableClass.TENANT),
        # An answer may say anything that the API says, so it is personal; it is kept for as long as a key is.
        Table("idempotency_key", TableClass.TENANT, Privacy.PERSONAL, append_only=True, retention_days=3),
        Table("limit_counter", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, retention_days=1, aged_by="ends_at"),
        Table("ban", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, retention_days=1, aged_by="ends_at"),
        Table("streak", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, retention_days=1, aged_by="ends_at"),
        Table("breaker", TableClass.PLATFORM, kept_because="one row for each dependency that ever failed"),
        Table(
            "audit_entry",
            TableClass.PLATFORM,
            Privacy.PSEUDONYMOUS,
            append_only=True,
            retention_days=730,
            aged_by="at",
        ),
        Table("migration", TableClass.PLATFORM),
        Table("city", TableClass.PLATFORM),
        Table(
            "event_log",
            TableClass.TENANT,
            Privacy.PSEUDONYMOUS,
            append_only=True,
            retention_days=180,
            partitioned=True,
        ),
        Table("fact_key", TableClass.TENANT, Privacy.PSEUDONYMOUS, append_only=True, retention_days=180),
        Table("outbox", TableClass.TENANT, retention_days=30, aged_by="published_at"),
        # Longer than any fact, which may be kept for a week more than its days.
        Table("inbox", TableClass.TENANT, append_only=True, retention_days=190, aged_by="done_at"),
        Table("job_key", TableClass.PLATFORM, append_only=True, retention_days=190),
        Table("worker", TableClass.PLATFORM, kept_because="a worker that is not seen any more is taken off"),
        Table(
            "job",
            TableClass.PLATFORM,
            Privacy.PSEUDONYMOUS,
            kept_because="a job leaves when it is done, and dies when it cannot be",
        ),
        Table("job_attempt", TableClass.PLATFORM, append_only=True, retention_days=90, aged_by="at"),
        Table("dead_letter", TableClass.PLATFORM, Privacy.PSEUDONYMOUS, retention_days=90, aged_by="died_at"),
        Table("schedule", TableClass.PLATFORM, kept_because="one row for each schedule there is"),
        Table("bulk", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=90, aged_by="finished_at"),
        Table("plan", TableClass.TENANT, Privacy.PSEUDONYMOUS, retention_days=90, aged_by="made_at"),
        Table("alert", TableClass.TENANT, retention_days=90, aged_by="resolved_at"),
    ),
    ports=(KEYRING, RULES),
    config=(PAGER_URL, TICKET_URL, PAGER_SECRET, LOGS_URL),
    facts=(AlertRaised, AlertResolved),
    subscriptions=(SUBSCRIPTION,),
    alerts=rules.RULES,
    listed_statements=(
        "jobs.store.CLAIM_OUTBOX",
        "jobs.store.HAS_DUE_FACTS",
        "jobs.store.MARK_PUBLISHED",
        "jobs.store.PUT_OFF",
        "jobs.leases.PULL_OUTBOX_BACK",
        "jobs.dead.FIND_FACT",
        "jobs.dead.LIST_FACTS",
        "bulk.store.FIND_ANYWHERE",
        "bulk.store.LIST_LATEST",
        "bulk.store.FAIL",
        "bulk.store.LIST_ORGANIZATIONS",
        "bulk.store.LIST_PARTS",
        "bulk.store.SUM_PARTS",
        "alerts.store.COUNT_OUTBOX",
        "alerts.store.FIND_FIRST_OUT",
    ),
    listed_indexes=(
        "event_log_by_correlation",
        "outbox_pending",
        "bulk_by_id",
        "bulk_by_parent",
        # What is overdue is so for everybody.
        "idempotency_key_by_age",
        "fact_key_by_age",
        "outbox_by_age",
        "inbox_by_age",
        "bulk_by_age",
        "plan_by_age",
        "alert_by_age",
    ),
    definer_functions=("add_partitions", "purge", "drop_partition"),
)
