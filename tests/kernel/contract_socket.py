"""The desk as a server of its own: `python -m tests.kernel.contract_socket PORT`."""

import asyncio
import signal
import sys

import uvloop
from granian.constants import Interfaces
from granian.server.embed import Server

from admitone.kernel.contracts import Call, Example
from tests.kernel.contract_desk import CONTRACTS, OPEN_STREAMS, Desk, Size, contract

still_open = contract(id="DESK.13", get="/api/open", gives=Size, examples=(Example("none", gives=Size(size=0)),))


@still_open.serves
async def count_open(call: Call) -> Size:
    return Size(size=len(OPEN_STREAMS))


async def say_goodbye() -> None:
    sys.stdout.write(f"stopped with {len(OPEN_STREAMS)} open\n")


async def main(port: int) -> None:
    edge = Desk(*CONTRACTS, still_open, on_shutdown=(say_goodbye,)).edge
    server = Server(edge, port=port, interface=Interfaces.ASGI, websockets=False, log_enabled=False)
    stopping = []

    def stop() -> None:
        server.stop()
        stopping.append(asyncio.create_task(edge.streams.stop()))

    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop)
    await server.serve()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
