"""The gate of the official e-mail (CAUTH.01): what is sensitive waits until an organisation proved its address.

Promise: fail closed, without effects, and every refusal is in the log with the ids by which it is found again.
"""

from admitone.foundation.organizations.errors import OfficialEmailRequired
from admitone.foundation.organizations.model import OfficialEmail
from admitone.foundation.organizations.policy import why_not_official
from admitone.foundation.organizations.store import organizations as store
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger


def gate(official: OfficialEmail, caller: Caller, reason_code: str) -> OfficialEmailRequired | None:
    """For commands, which answer each of their callers apart."""
    request = str(caller.correlation_id)
    refusal = why_not_official(official, reason_code, request)
    logger().info(
        "official_email.gate",
        requestId=request,
        correlationId=request,
        organizationId=str(official.organization),
        reasonCode=reason_code,
        errorCode=refusal.code if refusal else None,
    )
    return refusal


async def require_official_email(tx: Tx, caller: Caller, reason_code: str) -> None:
    """Raises `OfficialEmailRequired` or `OfficialEmailNotVerified`."""
    if refusal := gate((await store.get_organization(tx)).official, caller, reason_code):
        raise refusal
