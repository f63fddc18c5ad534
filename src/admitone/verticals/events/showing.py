"""Whether an organisation has events switched on.

Promise (ORG-013): while it has not, nothing that it has on stands in lists and feeds, and nothing is sold for it;
whoever has the link of an event reads that. What was ordered before is paid for, handed over and shown as ever.
"""

from typing import Final

from admitone.foundation.authority.api import OrganizationModule, list_modules
from admitone.kernel.db import Tx

MODULE: Final = OrganizationModule.EVENTOS


async def is_open(tx: Tx) -> bool:
    return (await list_modules(tx)).get(MODULE, False)
