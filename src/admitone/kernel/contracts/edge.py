"""The edge: one ASGI application that serves every contract the same way.

Promise, for each request and in this order: a correlation id; a route (404, 405); no more body than the contract
takes (413), of the right type (415), of the right form (400, 422); one organisation (403); a caller who may (429, 401,
403); then the handler, and whatever comes of it as an answer or as the error envelope, never as a stack trace.
"""

import asyncio
from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any, BinaryIO, Protocol

from admitone.kernel.batch import Batcher
from admitone.kernel.contracts.admission import Admission, Asked
from admitone.kernel.contracts.answering import STRICT_TRANSPORT, Answer, Answerer, safety_headers
from admitone.kernel.contracts.call import Call, Ground
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.incoming import ClientLeft, Incoming, Proxies
from admitone.kernel.contracts.observing import NO_CONTRACT, Observer
from admitone.kernel.contracts.organization import organization_of
from admitone.kernel.contracts.reading import reader_of
from admitone.kernel.contracts.reference import reference_contracts
from admitone.kernel.contracts.refusals import InternalError, is_common
from admitone.kernel.contracts.refusing import answer_of
from admitone.kernel.contracts.routing import Router
from admitone.kernel.contracts.streaming import OpenStreams
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
    """How far a request came, for the log line and the audit trail."""

    __slots__ = ("caller", "contract", "handled", "organization")

    def __init__(self) -> None:
        self.contract: Contract | None = None
        self.organization: OrganizationId | None = None
        self.caller: Caller | None = None
        """Who was let in."""
        self.handled = False


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
        self._ground = Ground(database, batcher, Patience(), authority.count, Polls(database))
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
            answer = answer_of(Malformed(), incoming, progress.contract)
        except asyncio.CancelledError:
            # The server stops and has no more patience. What was submitted still runs.
            refusal = OutcomeUnknown() if progress.handled else Unavailable()
            answer = answer_of(refusal, incoming, progress.contract)
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
            contract = progress.contract.id if progress.contract else NO_CONTRACT
            self._observer.served(
                contract, answer.status, answer.error_code, began, incoming.correlation_id, progress.organization
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
        if contract.needs_organization:
            progress.organization = organization_of(incoming, in_path)
        caller, granted = await served.admit(incoming, request, progress.organization)
        progress.caller = caller
        call = Call(contract, incoming, self._ground, request, caller, progress.organization, granted.credential)
        bind(correlationId=incoming.correlation_text, orgId=progress.organization)
        progress.handled = not contract.is_safe
        handled = served.handler(call) if request is None else served.handler(call, request)
        return served.answer(await handled, call)

    async def _refused(self, refusal: Refusal, incoming: Incoming, progress: _Progress) -> Answer:
        contract = progress.contract
        if contract and not isinstance(refusal, contract.refuses) and not is_common(refusal):
            self._undeclared(refusal, contract, incoming)
        if refusal.audited:
            await self._remember(refusal, incoming, progress)
        try:
            return answer_of(refusal, incoming, contract)
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
        contract = progress.contract.id if progress.contract else NO_CONTRACT
        actor = refusal.actor or (progress.caller.actor if progress.caller else None)
        caller = Caller(actor, incoming.correlation_id, None, None, incoming.address)
        organization = progress.organization if progress.caller or refusal.at_home else None
        try:
            async with asyncio.timeout(AUDIT_SECONDS):  # The caller waits; the answer is no in any case.
                await self._audit.refused(refusal, contract=contract, organization=organization, caller=caller)
        except Exception:  # noqa: BLE001  The answer is no, whether or not it can be written down; but say so.
            self._log.exception("audit.failed", contract=contract, correlationId=incoming.correlation_text)

    def _failed(self, error: Exception, incoming: Incoming, progress: _Progress) -> Answer:
        self._say_failed("contract.failed", error, incoming, progress)
        return answer_of(InternalError(), incoming, progress.contract)

    def _say_failed(self, event: str, error: Exception, incoming: Incoming, progress: _Progress) -> None:
        self._log.error(
            event,
            contract=progress.contract.id if progress.contract else NO_CONTRACT,
            correlationId=incoming.correlation_text,
            orgId=str(progress.organization) if progress.organization else None,
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


def _refuse_namesakes(contracts: Iterable[Contract]) -> None:
    seen: dict[str, Contract] = {}
    for contract in contracts:
        if seen.setdefault(contract.id, contract) is not contract:
            raise TypeError(f"{contract.id}: two contracts have this id")
