"""Who may buy, and how people are let in: the rules of an event, version after version."""

from typing import Final

from admitone.kernel.contracts import Call, Count, Example, Instant, Page, PageRequest, Wire, page_of
from admitone.kernel.ids import IdentityId
from admitone.verticals.events.commands.planning import PolicyChange, change_policy
from admitone.verticals.events.errors import (
    EventIsCancelled,
    EventNotFound,
    EventOvertaken,
    LegacyPayload,
    PolicyInvalid,
    PolicyTightens,
)
from admitone.verticals.events.model import EventId
from admitone.verticals.events.policy import Caution, cautions_of
from admitone.verticals.events.routes.answers import AN_EVENT, EventAnswer, shown
from admitone.verticals.events.routes.legacy import LegacyFields, policy_in
from admitone.verticals.events.routes.wires import EVENTS_R, SOME_EVENT, SOONER, PolicyWire, Version, organisers
from admitone.verticals.events.store.events import find_policies
from admitone.verticals.events.store.planning import PolicyRow, list_policies

LAST: Final = 2**31 - 1


class PolicyRequest(LegacyFields, kw_only=True):
    event_id: EventId
    access_policy: PolicyWire | None = None
    policy_version: Version | None = None
    """As it was seen; left out, whichever is in force."""


change = organisers(
    "13",
    "Change who may buy and how people are let in. Once something is sold, nothing is made harder for anybody.",
    put="/api/org/{organizationId}/events/{eventId}/access-policy",
    takes=PolicyRequest,
    gives=EventAnswer,
    refuses=(EventNotFound, EventOvertaken, EventIsCancelled, PolicyInvalid, PolicyTightens, LegacyPayload),
    repeats="the same rules twice are one version",
    examples=(
        Example(
            "Everybody",
            takes=PolicyRequest(event_id=SOME_EVENT, access_policy=PolicyWire(), policy_version=1),
            gives=AN_EVENT,
        ),
        Example(
            "Harder",
            takes=PolicyRequest(
                event_id=SOME_EVENT, access_policy=PolicyWire(guest_checkout_allowed=False), policy_version=1
            ),
            refuses=PolicyTightens(fields=("guest_checkout_allowed",)),
        ),
    ),
)


@change.serves
async def set_rules(call: Call, request: PolicyRequest) -> EventAnswer:
    before = (await call.read(find_policies, [request.event_id])).get(request.event_id)
    if before is None:
        raise EventNotFound
    if request.policy_version not in (None, before.version):
        raise EventOvertaken(version=before.version)
    policy = policy_in(request, request.access_policy, before)
    await call.batch(change_policy, PolicyChange(call.caller, request.event_id, policy))
    return await shown(call, request.event_id)


class VersionAnswer(Wire):
    policy_version: Count
    access_policy: PolicyWire
    warnings: list[Caution]
    created_at: Instant
    created_by: IdentityId | None

    @classmethod
    def of(cls, row: PolicyRow) -> "VersionAnswer":
        return cls(
            policy_version=row.policy.version,
            access_policy=PolicyWire.of(row.policy),
            warnings=cautions_of(row.policy),
            created_at=row.created_at,
            created_by=row.actor_id,
        )


class VersionsRequest(PageRequest, kw_only=True):
    event_id: EventId


versions = organisers(
    "14",
    "The rules of an event as they were, the newest first.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/access-policy",
    takes=VersionsRequest,
    gives=Page[VersionAnswer],
    examples=(
        Example(
            "One",
            takes=VersionsRequest(event_id=SOME_EVENT),
            gives=Page(
                items=[
                    VersionAnswer(
                        policy_version=1,
                        access_policy=PolicyWire(),
                        warnings=[],
                        created_at=SOONER,
                        created_by=None,
                    )
                ],
                next_cursor=None,
            ),
        ),
    ),
)


@versions.serves
async def see_rules(call: Call, request: VersionsRequest) -> Page[VersionAnswer]:
    (below,) = request.after(tuple[int]) or (LAST,)
    rows = await call.read(list_policies, request.event_id, min(below, LAST), request.limit + 1)
    return page_of([VersionAnswer.of(each) for each in rows], request.limit, lambda each: (each.policy_version,))


CONTRACTS: Final = (change, versions)
