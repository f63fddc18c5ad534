"""The kernel's own rules: jobs, dead letters, the relay, answers of the API, the database and its logs.

Promise: these are the rows of the table of OPS-002 that concern what exists here, with its figures; other packages
declare theirs. `watch` raises these for as long as it sees them, and knows when they are over; whoever raises others
resolves them.
"""

from typing import Final

from admitone.kernel.alerts.model import Above, AlertClass, AlertRule, ShareAbove

OWNER: Final = "platform operations"

DEAD_CRITICAL = AlertRule(
    "jobs.dead_critical",
    AlertClass.PAGER,
    Above(0),
    OWNER,
    "dlq-growth",
    "A critical job (payments, entitlements, paging) is a dead letter: somebody paid or is owed, and it is not done.",
)
DEAD = AlertRule(
    "jobs.dead",
    AlertClass.PAGER,
    Above(0, seconds=600),
    OWNER,
    "dlq-growth",
    "Dead letters have been lying there for ten minutes and nobody replayed them.",
)
RETRIES_EXHAUSTED = AlertRule(
    "jobs.retries_exhausted",
    AlertClass.PAGER,
    Above(0),
    OWNER,
    "dlq-growth",
    "A job failed as often as it may and was given up.",
)
CRITICAL_DELAY = AlertRule(
    "jobs.critical_delay",
    AlertClass.PAGER,
    Above(120),
    OWNER,
    "slow-jobs",
    "Payments or entitlements wait for more than two minutes: too few workers, or none.",
)
SLOW = AlertRule(
    "jobs.slow",
    AlertClass.TICKET,
    ShareAbove(5, seconds=900, beyond=300),
    OWNER,
    "slow-jobs",
    "One job in twenty of this lane began more than five minutes late within the last quarter of an hour.",
)
NOT_CLAIMED = AlertRule(
    "jobs.not_claimed",
    AlertClass.TICKET,
    Above(300, seconds=900),
    OWNER,
    "slow-jobs",
    "Jobs of this lane are overdue and nobody has begun them for a quarter of an hour.",
)
RELAY_STUCK = AlertRule(
    "relay.stuck",
    AlertClass.PAGER,
    Above(120),
    OWNER,
    "stuck-relay",
    "Facts have been waiting for more than two minutes to be told to their subscribers.",
)
UNKNOWN_FACTS = AlertRule(
    "relay.unknown_facts",
    AlertClass.TICKET,
    Above(0, seconds=600),
    OWNER,
    "stuck-relay",
    "There are facts that no running version knows; they are put off again and again.",
)
NO_PARTITION = AlertRule(
    "logs.no_partition",
    AlertClass.PAGER,
    Above(0),
    OWNER,
    "stuck-relay",
    "In a week this log has nowhere to write to, and nothing can be sold any more.",
)
ERRORS = AlertRule(
    "api.errors",
    AlertClass.TICKET,
    ShareAbove(1, seconds=300),
    OWNER,
    "api-errors",
    "More than one call in a hundred failed by our own fault within five minutes.",
)
MANY_ERRORS = AlertRule(
    "api.many_errors",
    AlertClass.PAGER,
    ShareAbove(3, seconds=300),
    OWNER,
    "api-errors",
    "More than three calls in a hundred failed by our own fault within five minutes.",
)
DATABASE_DOWN = AlertRule(
    "database.down",
    AlertClass.PAGER,
    Above(0, seconds=30),
    OWNER,
    "database-down",
    "A process has not reached its database for half a minute.",
)

RULES: Final = (
    DEAD_CRITICAL,
    DEAD,
    RETRIES_EXHAUSTED,
    CRITICAL_DELAY,
    SLOW,
    NOT_CLAIMED,
    RELAY_STUCK,
    UNKNOWN_FACTS,
    NO_PARTITION,
    ERRORS,
    MANY_ERRORS,
    DATABASE_DOWN,
)
