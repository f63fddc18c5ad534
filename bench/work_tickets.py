"""The worker under load: all that `admitone worker` does, its own tickets included, with the sandbox of the bench. It
writes every letter, and drops it where a mail server would take it.

usage: python -m bench.work_tickets
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.headerregistry import Address
from typing import Self

from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.entrypoints.worker import assemble, work
from admitone.foundation.mail.model import Fate
from admitone.foundation.mail.postman import Postman
from admitone.foundation.mail.writing import Mail
from admitone.kernel.config import Config
from bench.shop import paid_at_the_sandbox

SENDER = Address("Tickets", "no-reply", "tickets.example")


class Bin:
    @asynccontextmanager
    async def set_out(self) -> AsyncIterator[Self]:
        yield self

    async def carry(self, mail: Mail) -> Fate:  # noqa: ARG002
        return Fate.SENT


if __name__ == "__main__":
    config = Config.load(os.environ, [key for module in MODULES for key in module.config])
    wire(config)
    postman = Postman(Bin(), SENDER, "https://tickets.example")
    workshop = assemble(config, MODULES, services={Postman: postman})
    wire_outside(config, workshop.outbound)
    with paid_at_the_sandbox():
        work(workshop)
