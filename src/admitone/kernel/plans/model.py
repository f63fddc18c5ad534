"""What a plan is, and who makes it.

Promise: two plans have the same digest if and only if they are of one kind, for one request, with the same steps in
the same order.
"""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from admitone.kernel.db import Tx
from admitone.kernel.errors import Conflict, NotFound
from admitone.kernel.ids import Id, IdentityId, from_text, to_text
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle

Request = TypeVar("Request")
Step = TypeVar("Step")


class PlanId(Id, prefix="pln"):
    """One plan."""


class PlanNotFound(NotFound):
    """There is no such plan."""

    code = "PLAN_NOT_FOUND"


class PlanOvertaken(Conflict):
    """Something has changed since this plan was made, so it was not applied."""

    code = "PLAN_OVERTAKEN"
    next_step = "Make a new plan, look at it, and apply that one."


class PlanExpired(Conflict):
    """This plan is too old to be applied."""

    code = "PLAN_EXPIRED"
    next_step = "Make a new plan, look at it, and apply that one."


class PlanTooLarge(Conflict):
    """This plan would have more steps than anybody could look at."""

    code = "PLAN_TOO_LARGE"
    next_step = "Ask for less at a time."
    most: int


class PlanStatus(StrEnum):
    PLANNED = "PLANNED"
    APPLIED = "APPLIED"
    OVERTAKEN = "OVERTAKEN"
    EXPIRED = "EXPIRED"


PLAN = Lifecycle(
    "plan",
    initial=PlanStatus.PLANNED,
    moves={PlanStatus.PLANNED: (PlanStatus.APPLIED, PlanStatus.OVERTAKEN, PlanStatus.EXPIRED)},
)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as it was stored, to be shown."""

    id: PlanId
    kind: str
    request: Any
    steps: list[Any]
    digest: bytes
    status: PlanStatus
    made_at: datetime
    made_by: IdentityId | None
    expires_at: datetime
    applied_at: datetime | None = None
    applied_by: IdentityId | None = None


@dataclass(frozen=True, eq=False)
class Planner(Generic[Request, Step]):
    """Knows what would be done, and does it.

    A step states whatever its doing depends on (the value it saw, not only the row), because what is not in a step
    may change without overtaking the plan. `carry_out` repeats that in the WHERE of its statements
    (`tx.execute_exactly`): a row that changes between the second look and the change overtakes the plan too.
    """

    name: str
    takes: type[Request]
    makes: type[Step]
    survey: Callable[[Tx, Request, int], Awaitable[Sequence[Step]]]
    """`(tx, request, limit)`: the steps that would be made now, in a fixed order. Changes nothing."""
    carry_out: Callable[[Tx, Sequence[Step], Caller], Awaitable[None]]
    most: int = 1_000

    known: ClassVar[dict[str, "Planner[Any, Any]"]] = {}
    """Every planner by its name: a plan that was stored is applied by the one that made it."""

    def __post_init__(self) -> None:
        if Planner.known.setdefault(self.name, self) is not self:
            raise TypeError(f"two planners are called {self.name}")

    async def look(self, tx: Tx, request: Request) -> Sequence[Step]:
        """What would be done now; one step more than may be, if there are too many."""
        return await self.survey(tx, request, self.most + 1)

    def read_request(self, request: Any) -> Request:
        return msgspec.convert(request, self.takes, str_keys=True, dec_hook=from_text)

    def read_steps(self, steps: Any) -> list[Step]:
        kind = list[self.makes]  # type: ignore[name-defined]
        return msgspec.convert(steps, kind, str_keys=True, dec_hook=from_text)

    def digest(self, request: Request, steps: Sequence[Step]) -> bytes:
        return hashlib.sha256(_canonical([self.name, request, list(steps)])).digest()


_canonical = msgspec.json.Encoder(enc_hook=to_text, order="deterministic").encode


def written(value: Any) -> Any:
    """As it is stored."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=to_text)
