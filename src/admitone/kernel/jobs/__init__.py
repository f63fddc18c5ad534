"""Jobs: everything that happens later, again, or outside.

Promise: a job is durable before anybody is told that it will run; it has its effect exactly once, whatever is killed,
paused or repeated; and what cannot be done is kept as a dead letter with its whole story, never dropped.

    model        what a job, its kind, its lane and its retry policy are
    policy       what follows from a failure (pure)
    store        the statements
    enqueueing   a job by its permanent key; `handing_on`, the platform's for somebody else
    relay        outbox rows become one job for each subscriber
    worker       claims, leases, lanes; `execution` runs what was claimed
    schedules    jobs at instants
    dead         dead letters: listed, shown, replayed
"""

from admitone.kernel.jobs.enqueueing import cancel, enqueue
from admitone.kernel.jobs.handing_on import hand_on
from admitone.kernel.jobs.model import (
    HOST_CALLS,
    NOTIFICATIONS,
    ORDINARY,
    REFUNDS,
    WEBHOOKS,
    WORK,
    Delivered,
    Desk,
    Job,
    Kind,
    Lane,
    Priority,
    Retry,
    Round,
    Subscription,
    errand,
    handler,
)
from admitone.kernel.jobs.schedules import CatchUp, Schedule

__all__ = [
    "HOST_CALLS",
    "NOTIFICATIONS",
    "ORDINARY",
    "REFUNDS",
    "WEBHOOKS",
    "WORK",
    "CatchUp",
    "Delivered",
    "Desk",
    "Job",
    "Kind",
    "Lane",
    "Priority",
    "Retry",
    "Round",
    "Schedule",
    "Subscription",
    "cancel",
    "enqueue",
    "errand",
    "hand_on",
    "handler",
]
