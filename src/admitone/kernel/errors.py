"""What a caller can cause and must understand: refusals.

Promise: every refusal has a stable code, a sentence for a person, what to do next, and typed facts; it knows
nothing of HTTP (one table at the edge chooses the status). A refusal may be raised, or returned by a command as
the outcome of one input among many. Bugs are not refusals: they raise whatever they raise, and nobody catches them.

    Refusal
    ├── Malformed            the bytes cannot be read at all
    ├── Invalid              readable, but not what the contract takes
    ├── Unauthenticated      we do not know who you are
    ├── Forbidden            we know, and the answer is no
    ├── NotFound             there is no such thing for you
    ├── PaymentRequired      it has to be paid first
    ├── Gone                 it was there, and is over
    ├── Conflict             it contradicts what is already so
    ├── TooLarge             more bytes than the contract takes
    ├── Throttled            too often
    └── Unavailable          not now; trying again is right
        └── OutcomeUnknown   it may have happened: repeat with the same key
"""

from typing import Any, ClassVar, Self, dataclass_transform

import msgspec

_ENVELOPE = frozenset({"error_code", "message", "retryable", "correlation_id", "next_step"})


@dataclass_transform(kw_only_default=True)
class Refusal(Exception):
    """The request was refused."""

    code: ClassVar[str] = "REFUSED"
    retryable: ClassVar[bool] = False
    next_step: ClassVar[str] = ""
    """What the caller can do about it, in one sentence."""
    audited: ClassVar[bool] = False
    """Whether the refusal itself is worth an entry in the audit trail."""

    facts: ClassVar[tuple[str, ...]] = ()

    actor: ClassVar[Any] = None
    """Who was refused, where that is known; for the audit trail, never for the caller."""

    def __init_subclass__(cls) -> None:
        own = [name for name, kind in cls.__annotations__.items() if "ClassVar" not in str(kind)]
        if taken := _ENVELOPE.intersection(own):
            raise TypeError(f"{cls.__name__}: the envelope already has {', '.join(sorted(taken))}")
        cls.facts = (*cls.facts, *(name for name in own if name not in cls.facts))

    def __init__(self, **facts: Any) -> None:
        missing = [name for name in self.facts if name not in facts and not hasattr(type(self), name)]
        strange = facts.keys() - set(self.facts)
        if missing or strange:
            raise TypeError(f"{type(self).__name__} takes {self.facts}; missing {missing}, unknown {sorted(strange)}")
        super().__init__(self.message())
        for name, value in facts.items():
            setattr(self, name, value)

    at_home: ClassVar[bool] = False
    """Whether whoever was refused belongs to the organisation they named: a stranger writes into nobody's trail."""

    def to(self, actor: Any, *, at_home: bool = False) -> Self:
        """Say who was refused."""
        self.__dict__.update(actor=actor, at_home=at_home)
        return self

    @classmethod
    def message(cls) -> str:
        """The first line of the docstring: one sentence that a person understands."""
        return (cls.__doc__ or "").strip().splitlines()[0]

    def stated(self) -> dict[str, Any]:
        """The typed facts under their names on the wire."""
        facts = {camel(name): getattr(self, name) for name in self.facts}
        stated: dict[str, Any] = msgspec.to_builtins(facts, str_keys=True, enc_hook=str)
        return stated

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.stated() == other.stated()

    def __hash__(self) -> int:
        return hash(self.code)


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


class Malformed(Refusal):
    """The request cannot be read."""

    code = "MALFORMED_REQUEST"


class Invalid(Refusal):
    """The request does not have the form that this operation takes."""

    code = "VALIDATION_FAILED"


class Unauthenticated(Refusal):
    """Sign in first, or send a valid key."""

    code = "UNAUTHENTICATED"


class Forbidden(Refusal):
    """You may not do this."""

    code = "FORBIDDEN"


class NotFound(Refusal):
    """There is nothing here for you."""

    code = "NOT_FOUND"


class PaymentRequired(Refusal):
    """This has to be paid first."""

    code = "PAYMENT_REQUIRED"


class Gone(Refusal):
    """This was there, and is over."""

    code = "GONE"


class Conflict(Refusal):
    """This contradicts what is already so."""

    code = "CONFLICT"


class TooLarge(Refusal):
    """The request is larger than this operation takes."""

    code = "REQUEST_TOO_LARGE"
    limit_bytes: int


class Throttled(Refusal):
    """Too many requests; wait a little."""

    code = "RATE_LIMITED"
    retryable = True
    retry_after_seconds: int


class Unavailable(Refusal):
    """The service cannot answer right now; try again."""

    code = "SERVICE_UNAVAILABLE"
    retryable = True
    retry_after_seconds: int = 1


class OutcomeUnknown(Unavailable):
    """We cannot tell yet whether this was done; repeat it with the same key to find out."""

    code = "OUTCOME_UNKNOWN"
