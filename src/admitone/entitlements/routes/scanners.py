"""Scanners of an event: what they were shown, which are closed, and opening one again."""

from datetime import datetime
from typing import Final

import msgspec

from admitone.entitlements import policy
from admitone.entitlements.commands.watching import Opening, open_scanners
from admitone.entitlements.routes.doors import CHECKIN_RW, DoorId, Scanner, contract
from admitone.entitlements.routes.live import BEGINNING, EventRequest, looking, per_mille
from admitone.entitlements.store.scanners import Remembered, Used, find_closed, list_scanners, sum_by_device
from admitone.kernel.contracts import Call, Count, Example, Instant, ReasonCode, Wire
from admitone.kernel.db import Tx

MOST: Final = 1_000


class ShownAnswer(Wire):
    scans: Count
    refused: Count
    """Duplicates and what was not good."""
    refused_per_mille: Count

    @classmethod
    def of(cls, scans: int, refused: int) -> "ShownAnswer":
        return cls(scans=scans, refused=refused, refused_per_mille=per_mille(refused, scans))


class ScannerAnswer(Wire):
    device_id: str
    gate: str
    last_minute: Instant | None
    """In which it scanned last."""
    recent: ShownAnswer
    """Within ten minutes."""
    in_all: ShownAnswer
    closed: bool
    closed_at: Instant | None
    warned_at: Instant | None
    opened_at: Instant | None


class ScannersAnswer(Wire):
    scanners: list[ScannerAnswer]
    warns_from_per_mille: Count = policy.WARN_PERCENT * 10
    closes_from_per_mille: Count = policy.CLOSE_PERCENT * 10
    fewest_scans: Count = policy.FEWEST_SCANS


class Known(msgspec.Struct, frozen=True):
    device: str
    used: Used | None
    remembered: Remembered | None


async def list_known(tx: Tx, event: str) -> list[Known]:
    used = {each.device: each for each in await sum_by_device(tx, event, tx.now - policy.WATCHED, MOST)}
    remembered = await list_scanners(tx, event, MOST)
    return [Known(device, used.get(device), remembered.get(device)) for device in sorted({*used, *remembered})]


scanners = looking(
    "C03.SCANNERS",
    "The scanners of an event: what they were shown, and which are closed.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/scanners",
    takes=EventRequest,
    gives=ScannersAnswer,
    examples=(
        Example(
            "One that is closed",
            takes=EventRequest(event_id="evt-1"),
            gives=ScannersAnswer(
                scanners=[
                    ScannerAnswer(
                        device_id="north-1",
                        gate="North",
                        last_minute=BEGINNING,
                        recent=ShownAnswer.of(30, 6),
                        in_all=ShownAnswer.of(400, 9),
                        closed=True,
                        closed_at=BEGINNING,
                        warned_at=None,
                        opened_at=None,
                    )
                ]
            ),
        ),
    ),
)


@scanners.serves
async def see_scanners(call: Call, request: EventRequest) -> ScannersAnswer:
    known: list[Known] = await call.read(list_known, request.event_id)
    return ScannersAnswer(scanners=[_answer(each) for each in known])


def _answer(known: Known) -> ScannerAnswer:
    used, said = known.used, known.remembered or Remembered(None, None, None)
    last: datetime | None = used.last_minute if used else None
    return ScannerAnswer(
        device_id=known.device,
        gate=used.gate if used else "",
        last_minute=last,
        recent=ShownAnswer.of(used.recent_scans, used.recent_refused) if used else ShownAnswer.of(0, 0),
        in_all=ShownAnswer.of(used.scans, used.refused) if used else ShownAnswer.of(0, 0),
        closed=said.closed_at is not None,
        closed_at=said.closed_at,
        warned_at=said.warned_at,
        opened_at=said.opened_at,
    )


# -- This very scanner


class OwnScannerAnswer(Wire):
    device_id: str | None
    """None: it is known by the person who holds it."""
    closed: bool


own_scanner = contract(
    "C03.SCANNER",
    "Whether the caller may let people in here, and whether the scanner in their hand is closed.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/scanner",
    consumers=("web",),
    permission=CHECKIN_RW,
    takes=EventRequest,
    gives=OwnScannerAnswer,
    order_key="none",
    examples=(
        Example(
            "Ready",
            takes=EventRequest(event_id="evt-1"),
            gives=OwnScannerAnswer(device_id="north-1", closed=False),
        ),
    ),
)


@own_scanner.serves
async def see_own_scanner(call: Call, request: EventRequest) -> OwnScannerAnswer:
    device = call.caller.device
    closed = await call.read(find_closed, {(request.event_id, device or str(call.identity))})
    return OwnScannerAnswer(device_id=device, closed=bool(closed))


class OpenRequest(Wire):
    event_id: DoorId
    device_id: Scanner
    reason_code: ReasonCode


open_again = contract(
    "C03.OPEN",
    "Open a scanner again that was closed for an event; it is counted anew.",
    post="/api/org/{organizationId}/checkin/events/{eventId}/scanners/{deviceId}/open",
    consumers=("web",),
    permission=CHECKIN_RW,
    takes=OpenRequest,
    gives=None,
    step_up=True,
    repeats="what is open stays open",
    order_key="deviceId",
    examples=(
        Example(
            "A crowd with old screenshots",
            takes=OpenRequest(event_id="evt-1", device_id="north-1", reason_code="OLD_SCREENSHOTS"),
        ),
    ),
)


@open_again.serves
async def open_scanner(call: Call, request: OpenRequest) -> None:
    await call.batch(open_scanners, Opening(call.caller, request.event_id, request.device_id, request.reason_code))


CONTRACTS: Final = (scanners, own_scanner, open_again)
