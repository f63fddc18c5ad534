"""Every page of this part."""

from typing import Final

from admitone.web.wallet import tickets, wallet

CONTRACTS: Final = (*wallet.CONTRACTS, *tickets.CONTRACTS)
