"""The live door, for whoever watches: counts as they change, counts once, counts by the quarter of an hour."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from typing import Any, Final, cast

from admitone.entitlements.counting import Doors, Flow, count_doors, count_expected, count_gates, doors_of
from admitone.entitlements.routes.doors import CHECKIN_R, DoorId, contract
from admitone.entitlements.store.counts import Quarter, sum_by_quarter
from admitone.kernel.clock import utc
from admitone.kernel.contracts import Call, Contract, Count, Event, Example, Instant, Wire, Writes

QUARTERS: Final = 2_000
"""Three weeks."""
BEGINNING: Final = utc(datetime.fromisoformat("2000-01-01T00:00:00Z"))


class EventRequest(Wire):
    event_id: DoorId


class FlowAnswer(Wire):
    inside: int
    """Entries that stand. Who came back was counted again."""
    admitted: Count
    undone: Count
    duplicates: Count
    denied: Count
    duplicates_per_mille: Count
    denied_per_mille: Count
    """Of all scans."""

    @classmethod
    def told(cls, flow: Flow) -> dict[str, Any]:
        return {
            "inside": flow.inside,
            "admitted": flow.admitted,
            "undone": flow.undone,
            "duplicates": flow.duplicates,
            "denied": flow.denied,
            "duplicates_per_mille": per_mille(flow.duplicates, flow.scans),
            "denied_per_mille": per_mille(flow.denied, flow.scans),
        }


def per_mille(part: int, whole: int) -> int:
    return (part * 2_000 + whole) // (whole * 2) if whole else 0


class GateAnswer(FlowAnswer):
    gate: str


class SessionAnswer(FlowAnswer):
    session_id: str | None
    expected: Count


class CountsAnswer(FlowAnswer):
    event_id: str
    expected: Count
    """Rights that are good now, used or not."""
    gates: list[GateAnswer]
    sessions: list[SessionAnswer]

    @classmethod
    def of(cls, event: str, doors: Doors) -> "CountsAnswer":
        return cls(
            event_id=event,
            expected=doors.expected,
            gates=[GateAnswer(gate=gate, **FlowAnswer.told(flow)) for gate, flow in doors.gates],
            sessions=[
                SessionAnswer(session_id=session or None, expected=expected, **FlowAnswer.told(flow))
                for session, flow, expected in doors.sessions
            ],
            **FlowAnswer.told(doors.flow),
        )


def looking(number: str, summary: str, **more: Any) -> Contract:
    """What whoever may look may do."""
    return contract(number, summary, consumers=("web",), permission=CHECKIN_R, order_key="eventId", **more)


live = looking(
    "C03.LIVE",
    "Counts of an event's doors as they change, as server-sent events; come again when it ends.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/live",
    takes=EventRequest,
    writes=Writes.EVENTS,
    examples=(Example("A festival", takes=EventRequest(event_id="evt-1")),),
)


@live.serves
async def watch(call: Call, request: EventRequest) -> AsyncIterator[Event]:
    return _events(call, request.event_id)


async def _events(call: Call, event: str) -> AsyncIterator[Event]:
    following = call.follow((count_gates, event), (count_expected, event))
    async with aclosing(cast("Any", following)) as said:
        async for counted, expected in said:
            yield Event("counts", CountsAnswer.of(event, doors_of(counted, expected)))


counts = looking(
    "C03.COUNTS",
    "Counts of an event's doors, by gate and by session.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/counts",
    takes=EventRequest,
    gives=CountsAnswer,
    examples=(
        Example(
            "Before anybody came",
            takes=EventRequest(event_id="evt-1"),
            gives=CountsAnswer.of("evt-1", Doors(Flow(), 0, (), ())),
        ),
    ),
)


@counts.serves
async def see_counts(call: Call, request: EventRequest) -> CountsAnswer:
    return CountsAnswer.of(request.event_id, await call.read(count_doors, request.event_id))


class QuartersRequest(Wire):
    event_id: DoorId
    since: Instant = BEGINNING


class QuarterAnswer(Wire):
    begins_at: Instant
    admitted: Count
    undone: Count
    duplicates: Count
    denied: Count


class QuartersAnswer(Wire):
    quarters: list[QuarterAnswer]
    """Those in which something happened, the first one first."""


quarters = looking(
    "C03.QUARTERS",
    "What happened at an event's doors, by the quarter of an hour.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/quarters",
    takes=QuartersRequest,
    gives=QuartersAnswer,
    examples=(
        Example(
            "Before anybody came",
            takes=QuartersRequest(event_id="evt-1"),
            gives=QuartersAnswer(quarters=[]),
        ),
    ),
)


@quarters.serves
async def see_quarters(call: Call, request: QuartersRequest) -> QuartersAnswer:
    found: list[Quarter] = await call.read(sum_by_quarter, request.event_id, request.since, QUARTERS)
    return QuartersAnswer(quarters=[QuarterAnswer(**each._asdict()) for each in found])


CONTRACTS: Final = (live, counts, quarters)
