"""A call: one request that was let in, as its handler sees it.

Promise: whatever a handler does through its call happens in the caller's organisation, under the request's
idempotency key and correlation id, and is waited for no longer than the contract says. An input that was submitted
runs even when nobody waits any more.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar
from uuid import UUID

from admitone.kernel.authority import Audience
from admitone.kernel.batch import Answered, Batcher
from admitone.kernel.commands import Command
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.incoming import Headers, Incoming
from admitone.kernel.contracts.wire import to_canonical
from admitone.kernel.db import Database, WritingScope
from admitone.kernel.errors import OutcomeUnknown, Refusal, Unavailable
from admitone.kernel.idempotency import Keyed
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.limits import Hit
from admitone.kernel.patience import Patience
from admitone.kernel.polls import Polls, Question
from admitone.kernel.scope import Caller, IdentityScope, PeopleScope, PlatformScope, Scope
from admitone.kernel.words import Language, Words

Outcome = TypeVar("Outcome")
Result = TypeVar("Result")
Input = TypeVar("Input")


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie to set; safe unless somebody says otherwise. `max_age_seconds=0` takes it away."""

    name: str
    value: str
    max_age_seconds: int | None = None
    path: str = "/"
    http_only: bool = True
    secure: bool = True
    same_site: Literal["Lax", "Strict", "None"] = "Lax"

    def __post_init__(self) -> None:
        if any(sign in self.name + self.value + self.path for sign in ';, \r\n"\\') or not self.value.isascii():
            raise ValueError(f"cookie {self.name!r} has a value that a header cannot carry")

    def header(self) -> str:
        parts = [f"{self.name}={self.value}", f"Path={self.path}", f"SameSite={self.same_site}"]
        if self.max_age_seconds is not None:
            parts.append(f"Max-Age={self.max_age_seconds}")
        if self.http_only:
            parts.append("HttpOnly")
        if self.secure:
            parts.append("Secure")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a call stands on: the same for all calls of one edge."""

    database: Database
    batcher: Batcher
    patience: Patience
    count: Callable[..., Awaitable[None]]
    polls: Polls
    ask: "Callable[[Call, Incoming, Contract, Any, OrganizationId | None], Awaitable[Any]]"
    rehearse: "Callable[[Incoming, Rehearsal], Awaitable[Any]]"
    standing: Callable[[Incoming], str]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A form as it was sent once, to be shown again without being done."""

    contract: str
    """Of the page that takes it, by its id."""
    typed: Mapping[str, Any]
    here: str
    """Where it stood."""


class Call:
    def __init__(
        self,
        contract: Contract,
        incoming: Incoming,
        ground: Ground,
        request: Any,
        caller: Caller,
        organization: OrganizationId | None,
        credential: UUID | None = None,
    ) -> None:
        self.contract = contract
        self.caller = caller
        self.organization = organization
        self.concerns = organization
        """Whose business it is: of a page, the organisation that it asked about last."""
        self.credential = credential
        """By which session or key the caller is known."""
        self.told: list[tuple[Refusal, Any]] = []
        """What those refused whom it asked, and where they did."""
        self.rehearsal: Rehearsal | None = None
        """Whether what is asked for is only shown again: nothing that changes anything is asked then."""
        self.set_cookies: list[Cookie] = []
        self.replayed: bool | None = None
        self._incoming = incoming
        self._ground = ground
        self._request = request
        self._under_key: set[str] = set()

    @property
    def identity(self) -> IdentityId | None:
        return self.caller.actor

    @property
    def correlation_id(self) -> UUID:
        return self.caller.correlation_id

    @property
    def headers(self) -> Headers:
        return Headers(self._incoming.headers)

    @property
    def body(self) -> bytes:
        """The raw bytes, of contracts that read RAW."""
        return self._incoming.body

    @property
    def query(self) -> str:
        """As it was sent, without the question mark, for whoever must know its very bytes."""
        return self._incoming.query.decode("latin-1")

    @property
    def language(self) -> Language:
        return self._incoming.language

    @property
    def words(self) -> Words:
        return Words(self.language)

    @cached_property
    def cookies(self) -> dict[str, str]:
        return dict(self._incoming.cookies())

    def set_cookie(self, cookie: Cookie) -> None:
        if cookie.name not in self.contract.sets_cookies:
            raise TypeError(f"{self.contract.id}: cookie {cookie.name!r} is not declared")
        self.set_cookies.append(cookie)

    @property
    def path(self) -> str:
        return self._incoming.path

    @property
    def here(self) -> str:
        """Where whoever calls sees a page: the one that they asked for, or on which the form stood that they sent."""
        return self.rehearsal.here if self.rehearsal else self._ground.standing(self._incoming)

    @property
    def origin(self) -> str:
        """Where the caller found us, as in `https://tickets.example`."""
        return f"{self._incoming.scheme}://{self.headers.get('host') or 'localhost'}"

    async def ask(self, contract: Contract, request: Any = None, *, organization: OrganizationId | None = None) -> Any:
        """What another contract answers to the same caller, who passes everything that its own callers pass."""
        return await self._ground.ask(self, self._incoming, contract, request, organization)

    async def rehearse(self, rehearsal: Rehearsal) -> Any:
        """The page that shows a form again with what was typed. Its own handler shows it, which is refused whatever
        would change something (`NotDoneYet`)."""
        return await self._ground.rehearse(self._incoming, rehearsal)

    def inner(
        self,
        contract: Contract,
        request: Any,
        caller: Caller,
        organization: OrganizationId | None,
        credential: UUID | None,
    ) -> "Call":
        """A call of another contract by way of this one, whose answer carries the cookies of both."""
        call = Call(contract, self._incoming, self._ground, request, caller, organization, credential)
        call.set_cookies = self.set_cookies
        call.told = self.told
        call.rehearsal = self.rehearsal
        return call

    async def count(self, *hits: Hit) -> None:
        """Count what only the handler knows how to name; raises `Throttled` when it is too much."""
        await self._ground.count(*hits)

    async def batch(
        self, command: Command[Any, Input, Outcome], each: Input, *, scope: WritingScope | None = None
    ) -> Outcome:
        """Run the command for this input, together with whoever calls it at the same time."""
        scope = scope or self._own_scope()
        keyed = self._keyed(command, scope)
        return await self._answered(self._ground.batcher.submit(command, scope, each, keyed), keyed)

    async def run(
        self, command: Command[Any, Input, Outcome], each: Input, *, scope: WritingScope | None = None
    ) -> Outcome:
        """Run the command for this input alone."""
        scope = scope or self._own_scope()
        keyed = self._keyed(command, scope)
        return await self._answered(self._ground.batcher.run_one(command, scope, each, keyed), keyed)

    async def read(
        self,
        query: Callable[..., Awaitable[Result]],
        *args: Any,
        scope: Scope | IdentityScope | PeopleScope | PlatformScope | None = None,
    ) -> Result:
        """Ask, without changing anything."""
        reading = self._ground.database.read(scope or self._reading_scope(), query, *args)
        try:
            return await self._ground.patience.within(self.contract.wait_seconds, reading)
        except TimeoutError:
            raise Unavailable() from None

    def follow(self, *questions: Question) -> AsyncIterator[tuple[Any, ...]]:
        """What each query says now, with what it takes, and whenever one says something else; whoever follows the same
        shares the asking."""
        return self._ground.polls.follow(self._reading_scope(), *questions)

    async def _answered(self, submitted: Awaitable[Answered[Outcome]], keyed: Keyed | None) -> Outcome:
        try:
            answered = await self._ground.patience.within(self.contract.wait_seconds, submitted)
        except TimeoutError:
            raise (Unavailable() if self.contract.only_reads else OutcomeUnknown()) from None
        if keyed is not None:
            # A handler may run two commands; the answer is a repetition only when both are.
            self.replayed = answered.replayed and self.replayed is not False
        return answered.outcome

    def _own_scope(self) -> Scope:
        if self.contract.audience is not Audience.ORGANIZATION or self.organization is None:
            raise TypeError(f"{self.contract.id}: {self.contract.audience.name} has no scope of its own; name one")
        return Scope(self.organization)

    def _reading_scope(self) -> Scope | IdentityScope:
        if self.contract.audience is Audience.PERSON and self.identity is not None:
            return IdentityScope(self.identity)
        return self._own_scope()

    def _keyed(self, command: Command[Any, Any, Any], scope: WritingScope) -> Keyed | None:
        # The platform is no organisation, and keeps no answers: what is counted there is counted again.
        if self.contract.idempotent_by is None or isinstance(scope, PlatformScope):
            return None
        if command.name in self._under_key:
            raise TypeError(f"{self.contract.id} runs {command.name} twice under one key; give it both inputs at once")
        self._under_key.add(command.name)
        # Where devices are told apart each has keys of its own: what one was answered is no answer for another.
        device = f"/{self.caller.device}" if self.contract.device else ""
        return Keyed.of(
            contract=f"{self.contract.id}:{command.name}",
            caller=self.caller.key + device,
            key=getattr(self._request, self.contract.fields[self.contract.idempotent_by].name),
            request=to_canonical(self._request) + self._incoming.body,
        )
