"""Every page of this part."""

from typing import Final

from admitone.web.door import checkin, confirming, installing, opening, people, scanner

CONTRACTS: Final = (
    *checkin.CONTRACTS,
    *scanner.CONTRACTS,
    *people.CONTRACTS,
    *confirming.CONTRACTS,
    *opening.CONTRACTS,
    *installing.CONTRACTS,
)
