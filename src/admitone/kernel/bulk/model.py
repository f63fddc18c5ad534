"""What bulk work is, how far it has come, and what a step is given and gives back.

Promise: work that is open (queued or running) has exactly one turn under way or waiting; a turn that does not follow
the last step has nothing to do.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

import msgspec

from admitone.kernel.errors import NotFound
from admitone.kernel.ids import Id, IdentityId, OrganizationId, from_text, to_text
from admitone.kernel.jobs import Kind
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle

Request = TypeVar("Request")


class BulkId(Id, prefix="blk"):
    """One piece of bulk work."""


class BulkNotFound(NotFound):
    """There is no such bulk work."""

    code = "BULK_NOT_FOUND"


class BulkKindUnknown(NotFound):
    """No package of this version does this kind of bulk work."""

    code = "BULK_KIND_UNKNOWN"
    kind: str


class Status(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_open(self) -> bool:
        return self in (Status.QUEUED, Status.RUNNING)


BULK = Lifecycle(
    "bulk",
    initial=Status.QUEUED,
    moves={
        Status.QUEUED: (Status.RUNNING, Status.DONE, Status.FAILED, Status.CANCELLED),
        Status.RUNNING: (Status.DONE, Status.FAILED, Status.CANCELLED),
        # To the queue by `resume`; straight on, when its dead letter is replayed.
        Status.FAILED: (Status.QUEUED, Status.RUNNING, Status.DONE),
    },
)


class Turn(msgspec.Struct, frozen=True):
    """What a job of bulk work carries: whose turn it is to make which step, counted from 0."""

    bulk: BulkId
    step: int
    resumed: bool = False
    """Whether somebody resumed the work with this turn."""


@dataclass(frozen=True, slots=True)
class Step(Generic[Request]):
    """What a step is given."""

    bulk: BulkId
    organization: OrganizationId
    request: Request
    cursor: Any
    """What the last step left, as JSON has it; nothing before the first."""
    done: int
    caller: Caller


@dataclass(frozen=True, slots=True)
class Progress:
    """What a step did: where the next one begins, how many it did, and whether there is nothing left."""

    cursor: Any
    done: int
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Bulk:
    """Bulk work as it stands."""

    organization_id: UUID
    id: BulkId
    kind: str
    key: str
    request: Any
    cursor: Any
    steps: int
    done: int
    total: int | None
    status: Status
    parent_id: BulkId | None
    requested_by: IdentityId | None
    correlation_id: UUID
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    error: str | None

    def awaits(self, turn: Turn) -> bool:
        """A failed one too: whoever replays the dead letter of its turn resumes it."""
        return self.steps == turn.step and (self.status.is_open or self.status is Status.FAILED)

    @property
    def percentage(self) -> int | None:
        """Whole, rounded down, and 100 only when it is done; nothing while the total is unknown."""
        if self.status is Status.DONE:
            return 100
        if self.total is None:
            return None
        return min(99, self.done * 100 // self.total) if self.total else 0


@dataclass(frozen=True, eq=False)
class BulkKind(Kind[Turn], Generic[Request]):
    """A kind of job whose jobs are the turns of bulk work."""

    takes: type[Request] = field(kw_only=True)

    known: ClassVar[dict[str, "BulkKind[Any]"]] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        if BulkKind.known.setdefault(self.name, self) is not self:
            raise TypeError(f"two kinds of bulk work are called {self.name}")

    @staticmethod
    def named(name: str) -> "BulkKind[Any]":
        """For those who know a stored name only."""
        if name not in BulkKind.known:
            raise BulkKindUnknown(kind=name)
        return BulkKind.known[name]

    def write(self, request: Request) -> Any:
        """As it is stored."""
        return msgspec.to_builtins(request, str_keys=True, enc_hook=to_text)

    def read(self, request: Any) -> Request:
        return msgspec.convert(request, self.takes, str_keys=True, dec_hook=from_text)
