"""Plan, then apply: what somebody was shown is what happens, or nothing does.

Promise: a plan is the list of steps that would be made now, stored as it was shown. To apply it is to look again, in
the applying transaction: if the very same steps would be made, the stored ones are, once, and the trail says who and
why; if not, the plan is over and nothing else is written. A plan is good for an hour.

    model      what a plan and a planner are
    applying   make, apply
    wires      what is told of a plan
    store      the statements
"""

from admitone.kernel.plans.applying import Applied, Draft, Order, apply, get, make
from admitone.kernel.plans.model import (
    Plan,
    PlanExpired,
    PlanId,
    Planner,
    PlanNotFound,
    PlanOvertaken,
    PlanStatus,
    PlanTooLarge,
)
from admitone.kernel.plans.wires import AppliedAnswer, PlanAnswer

__all__ = [
    "Applied",
    "AppliedAnswer",
    "Draft",
    "Order",
    "Plan",
    "PlanAnswer",
    "PlanExpired",
    "PlanId",
    "PlanNotFound",
    "PlanOvertaken",
    "PlanStatus",
    "PlanTooLarge",
    "Planner",
    "apply",
    "get",
    "make",
]
