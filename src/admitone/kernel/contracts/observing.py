"""What we say about each request: figures per contract and one line of log.

Promise: no request is answered in silence (C-G07). The line holds nothing but what we made up ourselves (a contract,
a status, a code, ids), so it needs no redaction and costs next to nothing.
"""

import asyncio
import sys
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, BinaryIO
from uuid import UUID

import msgspec

from admitone.kernel.ids import OrganizationId
from admitone.kernel.telemetry import Metrics

NO_CONTRACT = "none"


class Served(msgspec.Struct, kw_only=True, rename="camel"):
    """The log line of one request."""

    at: datetime
    level: str
    event: str = "contract.served"
    contract: str
    status: int
    error_code: str | None
    ms: float
    correlation_id: UUID
    org_id: str | None


class Observer:
    def __init__(self, metrics: Metrics, lines: BinaryIO | None = None) -> None:
        self._metrics = metrics
        self._lines = lines or sys.stdout.buffer
        self._flushing = False
        self._encode = msgspec.json.Encoder().encode
        self._counters: dict[tuple[str, int, str], Any] = {}
        self._latencies: dict[str, Any] = {}

    def served(
        self,
        contract: str,
        status: int,
        error_code: str,
        began: float,
        correlation_id: UUID,
        organization: OrganizationId | None,
    ) -> None:
        seconds = perf_counter() - began
        self._count(contract, status, error_code, seconds)
        line = Served(
            at=datetime.now(UTC),
            level="error" if status >= 500 else "info",
            contract=contract,
            status=status,
            error_code=error_code or None,
            ms=round(seconds * 1000, 3),
            correlation_id=correlation_id,
            org_id=str(organization) if organization else None,
        )
        self._lines.write(self._encode(line) + b"\n")
        if not self._flushing:
            # Once per turn of the loop: requests that are answered together share one system call.
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        self._lines.flush()

    def _count(self, contract: str, status: int, error_code: str, seconds: float) -> None:
        name = (contract, status, error_code)
        counter = self._counters.get(name)
        if counter is None:
            counter = self._counters[name] = self._metrics.requests.labels(contract, str(status), error_code)
        latency = self._latencies.get(contract)
        if latency is None:
            latency = self._latencies[contract] = self._metrics.latency.labels(contract)
        counter.inc()
        latency.observe(seconds)
