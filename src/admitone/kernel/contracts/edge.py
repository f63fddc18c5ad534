"""The edge: one ASGI application that serves every contract the same way.

Promise, for each request and in this order: a correlation id; a route (404, 405); no more body than the contract
takes (413), of the right type (415), of the right form (400, 422); one organisation (403); a caller who may (429, 401,
403); then the handler, and whatever comes of it as an answer or as the error envelope, never as a stack trace.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, BinaryIO, Protocol

from admitone.kernel.batch import Batcher
from admitone.kernel.contracts.admission import Admission, Asked
from admitone.kernel.contracts.answering import STRICT_TRANSPORT, Answer, Answerer, safety_headers
from admitone.kernel.contracts.call import Call, Ground, Rehearsal
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.incoming import ClientLeft, Incoming, Proxies
from admitone.kernel.contracts.media import Writes
from admitone.kernel.contracts.observing import NO_CONTRACT, Observer
from admitone.kernel.contracts.organization import organization_of
from admitone.kernel.contracts.reading import reader_of
from admitone.kernel.contracts.reference import reference_contracts
from admitone.kernel.contracts.refusals import InternalError, NotDoneYet, RouteNotFound, is_common, status_of
from admitone.kernel.contracts.refusing import Reception, Sent, answer_of, standing
from admitone.kernel.contracts.routing import Router
from admitone.kernel.contracts.streaming import OpenStreams
from admitone.kernel.contracts.texts import converted_text
from admitone.kernel.db import Database
from admitone.kernel.errors import Malformed, OutcomeUnknown, Refusal, Unavailable
from admitone.kernel.ids import OrganizationId
from admitone.kernel.patience import Patience
from admitone.kernel.polls import Polls
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics, bind, logger

AUDIT_SECONDS = 1
_NO_CONTENT = safety_headers(None)


class Remembers(Protocol):
    """Where refusals go that are worth remembering."""

    async def refused(
        self, refusal: Refusal, *, contract: str, organization: OrganizationId | None, caller: Caller
    ) -> None: ...


class UndeclaredRefusal(AssertionError):
    """A handler refused with something that its contract does not tell its consumers about."""


class _Served:
    """A contract with everything that was decided once."""

    __slots__ = ("admit", "answer", "contract", "handler", "read")

    def __init__(self, contract: Contract, admission: Admission) -> None:
        if contract.handler is None:
            raise TypeError(f"{contract.id}: nobody serves it")
        self.contract = contract
        self.handler = contract.handler
        self.read = reader_of(contract)
        self.admit = admission.admit
        self.answer = Answerer(contract).answer


class _Progress:
    """How far a request came, or what a page asked for it, for the log line and the audit trail."""

    __slots__ = ("call", "caller", "contract", "handled", "organization", "remembered", "sent")

    def __init__(self, contract: Contract | None = None, organization: OrganizationId | None = None) -> None:
        self.contract = contract
        self.organization = organization
        self.caller: Caller | None = None
        """Who was let in."""
        self.call: Call | None = None
        self.handled = False
        self.remembered = False
        self.sent: Sent | None = None
        """The form of a page, once it was read."""

    @property
    def name(self) -> str:
        return self.contract.id if self.contract else NO_CONTRACT

    @property
    def concerns(self) -> OrganizationId | None:
        return self.call.concerns if self.call else self.organization


class Edge:
    def __init__(
        self,
        contracts: Iterable[Contract],
        *,
        authority: Asked,
        database: Database,
        batcher: Batcher,
        audit: Remembers,
        metrics: Metrics,
        internal_secret: str,
        trusted_proxies: tuple[str, ...] = (),
        session_cookie: str = "session",
        strict: bool = False,
        request_log: BinaryIO | None = None,
        reception: Reception | None = None,
    ) -> None:
        own = tuple(contracts)
        self.contracts = (*own, *reference_contracts(own))
        _refuse_namesakes(self.contracts)
        self.streams = OpenStreams()
        self._router = Router(self.contracts)
        self._served = {
            contract: _Served(contract, Admission(contract, authority, internal_secret, session_cookie))
            for contract in self.contracts
        }
        self._audit = audit
        self._by_id = {contract.id: served for contract, served in self._served.items()}
        asking = (self._ask, self._rehearse, lambda incoming: standing(incoming, self._router))
        self._ground = Ground(database, batcher, Patience(), authority.count, Polls(database), *asking)
        self._reception = reception or Reception()
        self._observer = Observer(metrics, request_log)
        self._log = logger()
        self._proxies = Proxies(trusted_proxies)
        self._strict = strict

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})

    async def _serve(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        began = perf_counter()
        incoming = Incoming(scope, receive, self._proxies, self._ground.patience)
        progress = _Progress()
        try:
            answer = await self._answer(scope, incoming, progress)
        except ClientLeft:
            # Or it sent chunks that cannot be read, and waits: the server does not tell the two apart.
            answer = self._turned_away(Malformed(), incoming, progress)
        except asyncio.CancelledError:
            # The server stops and has no more patience. What was submitted still runs.
            refusal = OutcomeUnknown() if progress.handled else Unavailable()
            answer = self._turned_away(refusal, incoming, progress)
        except Refusal as refusal:
            answer = await self._refused(refusal, incoming, progress)
        except Exception as error:  # noqa: BLE001  Whatever it is, the caller gets an envelope and we get the stack.
            answer = self._failed(error, incoming, progress)
        try:
            await self._send(answer, incoming, receive, send)
        except Exception as error:
            # Too late for an envelope: the server cuts the connection, so that half an answer never looks whole.
            answer.error_code = "CUT_OFF"
            self._say_failed("contract.cut_off", error, incoming, progress)
            raise
        finally:
            self._observer.served(
                progress.name, answer.status, answer.error_code, began, incoming.correlation_id, progress.concerns
            )

    async def _answer(self, scope: Mapping[str, Any], incoming: Incoming, progress: _Progress) -> Answer:
        incoming.settle_repeated(scope["headers"])
        if incoming.method == "OPTIONS":
            allowed = ", ".join(self._router.allowed(incoming.path))
            return Answer(204, _NO_CONTENT, own=[(b"allow", allowed.encode())])
        contract, in_path = self._router.find(incoming.method, incoming.path)
        progress.contract = contract
        served = self._served[contract]
        request = await served.read(incoming, in_path)
        if contract.writes is Writes.PAGE and not contract.is_safe:
            progress.sent = Sent(contract, request)
        if contract.needs_organization:
            progress.organization = organization_of(incoming, in_path)
        caller, granted = await served.admit(incoming, request, progress.organization)
        progress.caller = caller
        call = Call(contract, incoming, self._ground, request, caller, progress.organization, granted.credential)
        progress.call = call
        bind(correlationId=incoming.correlation_text, orgId=progress.organization)
        progress.handled = not contract.is_safe
        handled = served.handler(call) if request is None else served.handler(call, request)
        return served.answer(await handled, call)

    async def _ask(
        self, call: Call, incoming: Incoming, contract: Contract, request: Any, organization: OrganizationId | None
    ) -> Any:
        """One contract on behalf of another: admitted, handled, refused, counted and remembered as if the caller had
        come to it directly."""
        if call.contract.is_safe and not contract.only_reads:
            raise TypeError(f"{call.contract.id} only shows, and asks {contract.id}, which changes something")
        if call.rehearsal and (contract.step_up or not contract.only_reads):
            raise NotDoneYet
        began, progress = perf_counter(), _Progress(contract, organization)
        if organization is not None:
            call.concerns = organization
            bind(orgId=organization)
        told: type[Refusal] | None = InternalError
        try:
            answer = await self._answer_to(call, incoming, progress, request)
            told = None
        except asyncio.CancelledError:
            told = OutcomeUnknown if progress.handled else Unavailable
            raise
        except Refusal as refusal:
            told = type(refusal)
            await self._said_no(refusal, call, incoming, progress)
            raise
        finally:
            status, error_code = (status_of(told), told.code) if told else (contract.status, "")
            self._observer.served(contract.id, status, error_code, began, incoming.correlation_id, organization)
        return answer

    async def _answer_to(self, call: Call, incoming: Incoming, progress: _Progress, request: Any) -> Any:
        contract, organization = progress.contract, progress.organization
        assert contract is not None
        served = self._served[contract]
        caller, granted = await served.admit(incoming, request, organization)
        progress.caller = caller
        inner = call.inner(contract, request, caller, organization, granted.credential)
        progress.handled = not contract.only_reads
        return await (served.handler(inner) if request is None else served.handler(inner, request))

    async def _said_no(self, refusal: Refusal, call: Call, incoming: Incoming, progress: _Progress) -> None:
        """To a page. A deed that was refused is remembered at once, for its form catches the refusal. A look is when
        the page passes the refusal on: pages look at what somebody may not see, to know what to leave out, and nobody
        who opens one has tried anything."""
        assert progress.contract is not None
        first = _first_said(refusal, call)
        if first is None:
            call.told.append((refusal, progress))
        if refusal.audited and not progress.contract.only_reads:
            await self._remember(refusal, incoming, first or progress)

    async def _rehearse(self, incoming: Incoming, rehearsal: Rehearsal) -> Any:
        """A form's own handler, as whoever calls now, with its asking cut off before it changes anything."""
        served = self._by_id.get(rehearsal.contract)
        if served is None:  # Of another release.
            raise RouteNotFound
        takes = served.contract.takes
        request = converted_text(rehearsal.typed, takes) if takes else None
        caller, granted = await served.admit(incoming, request, None)
        inner = Call(served.contract, incoming, self._ground, request, caller, None, granted.credential)
        inner.rehearsal = rehearsal
        return await (served.handler(inner) if request is None else served.handler(inner, request))

    def _turned_away(self, refusal: Refusal, incoming: Incoming, progress: _Progress) -> Answer:
        here = standing(incoming, self._router)
        caller = progress.caller.actor if progress.caller else None
        sent = progress.sent and replace(progress.sent, caller=caller)
        return answer_of(refusal, incoming, progress.contract, self._reception, here=here, sent=sent)

    async def _refused(self, refusal: Refusal, incoming: Incoming, progress: _Progress) -> Answer:
        contract = progress.contract
        # A page passes on what those say whom it asks; it is read by people, who need no list of it.
        is_listed = contract is None or contract.writes is Writes.PAGE or isinstance(refusal, contract.refuses)
        if contract and not is_listed and not is_common(refusal):
            self._undeclared(refusal, contract, incoming)
        if refusal.audited:
            first = _first_said(refusal, progress.call) if progress.call else None
            await self._remember(refusal, incoming, first or progress)
        try:
            return self._turned_away(refusal, incoming, progress)
        except Exception as error:  # noqa: BLE001  A refusal that cannot be told is a bug like any other.
            return self._failed(error, incoming, progress)

    def _undeclared(self, refusal: Refusal, contract: Contract, incoming: Incoming) -> None:
        if self._strict:
            raise UndeclaredRefusal(f"{contract.id} does not declare {type(refusal).__name__}") from refusal
        self._log.error(
            "contract.undeclared_refusal",
            contract=contract.id,
            errorCode=refusal.code,
            correlationId=incoming.correlation_text,
        )

    async def _remember(self, refusal: Refusal, incoming: Incoming, progress: _Progress) -> None:
        """Once, however many pass it on."""
        if progress.remembered:
            return
        progress.remembered = True
        actor = refusal.actor or (progress.caller.actor if progress.caller else None)
        caller = Caller(actor, incoming.correlation_id, None, None, incoming.address)
        organization = progress.organization if progress.caller or refusal.at_home else None
        try:
            async with asyncio.timeout(AUDIT_SECONDS):  # The caller waits; the answer is no in any case.
                await self._audit.refused(refusal, contract=progress.name, organization=organization, caller=caller)
        except Exception:  # noqa: BLE001  The answer is no, whether or not it can be written down; but say so.
            self._log.exception("audit.failed", contract=progress.name, correlationId=incoming.correlation_text)

    def _failed(self, error: Exception, incoming: Incoming, progress: _Progress) -> Answer:
        self._say_failed("contract.failed", error, incoming, progress)
        return self._turned_away(InternalError(), incoming, progress)

    def _say_failed(self, event: str, error: Exception, incoming: Incoming, progress: _Progress) -> None:
        self._log.error(
            event,
            contract=progress.name,
            correlationId=incoming.correlation_text,
            orgId=str(progress.concerns) if progress.concerns else None,
            exc_info=error,
        )

    async def _send(self, answer: Answer, incoming: Incoming, receive: Any, send: Any) -> None:
        headers = [*answer.headers, (b"x-correlation-id", incoming.correlation_text.encode()), *answer.own]
        if incoming.scheme == "https":
            headers.append(STRICT_TRANSPORT)
        if answer.chunks is None and answer.status not in (204, 304):
            headers.append((b"content-length", str(len(answer.content)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        if answer.chunks is None or incoming.method == "HEAD":
            content = b"" if incoming.method == "HEAD" else answer.content
            await send({"type": "http.response.body", "body": content})
        else:
            await self.streams.pour(answer.chunks, receive, send, may_end_early=answer.may_end_early)


def _first_said(refusal: Refusal, call: Call) -> _Progress | None:
    """Where it was said, if it is only passed on."""
    return next((place for said, place in call.told if said is refusal), None)


def _refuse_namesakes(contracts: Iterable[Contract]) -> None:
    seen: dict[str, Contract] = {}
    for contract in contracts:
        if seen.setdefault(contract.id, contract) is not contract:
            raise TypeError(f"{contract.id}: two contracts have this id")
