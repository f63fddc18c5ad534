"""A gate: somebody, or something, that scans over HTTP; and a clock that can be moved while they do."""

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

import httpx

from admitone.entitlements.model import EntitlementId
from admitone.entrypoints.http import Application
from admitone.kernel.clock import Clock
from tests.entitlements.rights import EVENT, Hall

CONSUME = "/api/internal/checkin/consume"
KEYS = count()
NEVER_MADE = "A1:" + "A" * 32


@dataclass
class Gate:
    site: httpx.AsyncClient
    hall: Hall
    device: str | None = "north-1"
    headers: dict[str, str] = field(default_factory=dict)
    event: str = EVENT

    def __post_init__(self) -> None:
        self.headers = {"x-orya-org-id": str(self.hall.organization)} | (self.headers or self.hall.staff.headers)

    @property
    def base(self) -> str:
        return f"/api/org/{self.hall.organization}/checkin"

    async def scan(self, code: str, **more: Any) -> httpx.Response:
        said = {"qrPayload": code, "eventId": self.event, "idempotencyKey": f"scan-{next(KEYS)}"}
        device = {"deviceId": self.device} if self.device else {}
        return await self.site.post(CONSUME, json=said | device | more, headers=self.headers)

    async def by_hand(self, right: EntitlementId, **more: Any) -> httpx.Response:
        said = {"eventId": self.event, "idempotencyKey": f"scan-{next(KEYS)}"} | more
        device = {"deviceId": self.device} if self.device else {}
        return await self.site.post(
            f"{self.base}/entitlements/{right}/consume", json=said | device, headers=self.headers
        )

    async def undo(self, checkin: str, **more: Any) -> httpx.Response:
        said = {"reasonCode": "WRONG_PERSON", "idempotencyKey": f"undo-{next(KEYS)}"} | more
        return await self.site.post(f"{self.base}/{checkin}/undo", json=said, headers=self.headers)

    async def confirm(self, device: str | None = None, **more: Any) -> httpx.Response:
        said = {"eventId": self.event, "reasonCode": "STAFF_PRESENT"} | more
        path = f"{self.base}/devices/{device or self.device}/confirm"
        return await self.site.post(path, json=said, headers=self.hall.staff.headers)


def told(answer: httpx.Response) -> tuple[int, str | None]:
    """The status, and what it was refused with: by the edge, or by the door."""
    body = answer.json() if answer.content else {}
    return answer.status_code, body.get("errorCode") or body.get("reasonCode")


IN = (200, None)


class Later:
    """While the clock of the application is ahead."""

    def __init__(self, application: Application, **by: float) -> None:
        self._database, self._by = application.database, timedelta(**by)

    def __enter__(self) -> None:
        self._clock = self._database._clock
        self._database._clock = Clock(self._by)

    def __exit__(self, *exception: object) -> None:
        self._database._clock = self._clock
