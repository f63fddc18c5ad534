"""The desk as a server of its own: `python -m tests.kernel.contract_socket PORT [refuse]`."""

import asyncio
import sys
from contextlib import nullcontext
from types import SimpleNamespace

from admitone.entrypoints.http import NoDatabase
from admitone.entrypoints.serve import serve
from admitone.kernel.contracts import Call, Example
from tests.kernel.contract_desk import CONTRACTS, OPEN_STREAMS, Desk, Size, contract

EXAMPLES = (Example("none", gives=Size(size=0)),)
still_open = contract(id="DESK.13", get="/api/open", gives=Size, examples=EXAMPLES)
slow = contract(id="DESK.14", get="/api/slow", gives=Size, examples=EXAMPLES)
never = contract(id="DESK.15", get="/api/never", gives=Size, examples=EXAMPLES)


@still_open.serves
async def count_open(call: Call) -> Size:
    return Size(size=len(OPEN_STREAMS))


@slow.serves
async def take_time(call: Call) -> Size:
    await asyncio.sleep(0.5)
    return Size(size=1)


@never.serves
async def take_for_ever(call: Call) -> Size:
    try:
        await asyncio.sleep(600)
    finally:
        print("cancelled", flush=True)
    return Size(size=1)


async def start() -> None:
    if "refuse" in sys.argv:
        raise NoDatabase("The login is too strong.")


async def close() -> None:
    print(f"stopped with {len(OPEN_STREAMS)} open", flush=True)


if __name__ == "__main__":
    edge = Desk(*CONTRACTS, still_open, slow, never).edge
    application = SimpleNamespace(edge=edge, start=start, close=close, watch=nullcontext())
    serve(application, "127.0.0.1", int(sys.argv[1]), beside="beside" in sys.argv)
