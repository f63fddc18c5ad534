"""Who may come in.

Promise: one question to the authority per request, with everything it needs to decide (credential, organisation,
permission, gate, limits); what it does not grant does not go on, and what it grants is what was asked.
"""

from typing import Any, Protocol

from admitone.kernel.authority import Ask, Audience, Granted
from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.credentials import credential_of, refuse_cross_site, refuse_outsiders
from admitone.kernel.contracts.incoming import Incoming
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Hit, Limit
from admitone.kernel.scope import Caller

_ANONYMOUS = (Audience.PUBLIC, Audience.INTERNAL)


class Asked(Protocol):
    """Whom the edge asks whether a caller may."""

    async def ask(self, ask: Ask) -> Granted: ...

    async def count(self, *hits: Hit) -> None: ...


class Admission:
    """How the callers of one contract are let in."""

    def __init__(self, contract: Contract, authority: Asked, internal_secret: str, session_cookie: str) -> None:
        self._contract = contract
        self._authority = authority
        self._internal_secret = internal_secret
        self._session_cookie = session_cookie
        self._limits = tuple(limit for limit in contract.limits if not limit.per.is_in_request)
        self._limits_of_request = tuple(limit for limit in contract.limits if limit.per.is_in_request)
        self._anonymous = contract.audience in _ANONYMOUS and not contract.recognizes
        self._open = contract.is_open

    async def admit(
        self, incoming: Incoming, request: Any, organization: OrganizationId | None
    ) -> tuple[Caller, Granted]:
        """The caller, if it may, and what it was granted."""
        contract = self._contract
        device = incoming.device or (contract.device(request) if contract.device else None)
        caller = Caller(None, incoming.correlation_id, None, device, incoming.address)
        if contract.audience is Audience.INTERNAL:
            refuse_outsiders(incoming, self._internal_secret)
        elif not incoming.is_safe and (contract.sets_cookies or b"authorization" not in incoming.headers):
            # Also where no cookie counts: another site's page has no business with us (IDN-013).
            sent = any(name in contract.sets_cookies for name, _ in incoming.cookies())
            refuse_cross_site(incoming, silent_is_ours=not sent)
        if self._open:
            return caller, Granted()
        granted = await self._authority.ask(self._ask(incoming, request, organization, caller))
        if organization is not None and granted.organization != organization:
            raise AssertionError(f"{contract.id}: asked for {organization}, granted for {granted.organization}")
        proved = granted.device or caller.device
        return Caller(granted.identity, caller.correlation_id, None, proved, caller.address), granted

    def _ask(self, incoming: Incoming, request: Any, organization: OrganizationId | None, caller: Caller) -> Ask:
        contract = self._contract
        return Ask(
            contract.audience,
            None if self._anonymous else credential_of(incoming, self._session_cookie),
            organization,
            contract.permission,
            contract.gate,
            caller,
            self._limits,
            _hits(self._limits_of_request, request) if self._limits_of_request else (),
            contract.stoppable,
            contract.guards(request) if contract.guards else (),
            contract.verified_only,
            contract.step_up,
        )


def _hits(limits: tuple[Limit, ...], request: Any) -> tuple[Hit, ...]:
    return tuple(Hit(limit, limit.subject(request)) for limit in limits if limit.subject)
