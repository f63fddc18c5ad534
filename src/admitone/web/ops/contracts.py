"""Every page of this part."""

from typing import Final

from admitone.kernel.contracts import Contract
from admitone.web.ops import gates, issues, jobs, webhooks

CONTRACTS: Final[tuple[Contract, ...]] = (
    *jobs.CONTRACTS,
    *issues.CONTRACTS,
    *gates.CONTRACTS,
    *webhooks.CONTRACTS,
)
