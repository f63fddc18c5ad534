"""The official e-mail: name it, prove it, and ask whether it is proved (CAUTH.01)."""

from typing import Annotated, Final

from msgspec import Meta

from admitone.foundation.identity.api import InvalidEmail, normalise_email
from admitone.foundation.organizations.commands.official_email import (
    LINK,
    set_official_email,
    verify_official_email,
)
from admitone.foundation.organizations.errors import OfficialEmailRequired, OfficialLinkInvalid, OrganizationNotFound
from admitone.foundation.organizations.gate import require_official_email
from admitone.foundation.organizations.model import OfficialEmail, OfficialEmailChange, OfficialEmailProof
from admitone.foundation.organizations.policy import why_not_official
from admitone.foundation.organizations.routes.wires import SETTINGS_R, SETTINGS_RW, SOME, Email, count_letter
from admitone.kernel.contracts import Audience, Call, Contract, Example, Instant, ReasonCode, Wire
from admitone.kernel.crypto import MalformedSecret, read_secret
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import Scope

LINKS_PER_ORGANIZATION: Final = Limit("organizations.official_links", 10, 3_600, Per.ORGANIZATION)
PROOFS_PER_ADDRESS: Final = Limit("organizations.official_proofs", 20, 600, Per.ADDRESS)

Token = Annotated[str, Meta(min_length=10, max_length=120)]


class OfficialRequest(Wire):
    email: Email
    reason_code: ReasonCode


class OfficialAnswer(Wire):
    email: str | None
    verified_at: Instant | None


name = Contract(
    id="ORG.12",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Name the official e-mail; a link goes there, and the address counts when it comes back. "
    "Whoever reads the former one is told.",
    put="/api/org/{organizationId}/official-email",
    takes=OfficialRequest,
    gives=OfficialAnswer,
    refuses=(OrganizationNotFound, InvalidEmail),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_RW,
    limits=(LINKS_PER_ORGANIZATION,),
    verified_only=True,
    step_up=True,
    repeats="the same address gets another link, and the last one counts",
    order_key="organizationId",
    examples=(
        Example(
            "named",
            takes=OfficialRequest(email="Geral@Clube.example", reason_code="NEW_OFFICE"),
            gives=OfficialAnswer(email="geral@clube.example", verified_at=None),
        ),
    ),
)


@name.serves
async def set_address(call: Call, request: OfficialRequest) -> OfficialAnswer:
    wanted = OfficialEmailChange(call.caller, normalise_email(request.email), request.reason_code)
    await count_letter(call, wanted.email)
    official = await call.batch(set_official_email, wanted)
    return OfficialAnswer(email=official.email, verified_at=official.verified_at)


class ProofRequest(Wire):
    token: Token


class ProofAnswer(Wire):
    organization: OrganizationId


prove = Contract(
    id="ORG.13",
    version="1.0.0",
    owner="organizations",
    consumers=("web",),
    summary="Send back the link that was mailed to the official address.",
    post="/api/organizations/official-email/verify",
    takes=ProofRequest,
    gives=ProofAnswer,
    refuses=(OfficialLinkInvalid,),
    audience=Audience.PUBLIC,
    limits=(PROOFS_PER_ADDRESS,),
    repeats="a link counts once",
    order_key="none",
    examples=(
        Example(
            "proved",
            takes=ProofRequest(token=f"{LINK}_{SOME.uuid.hex}_{'0' * 40}"),
            gives=ProofAnswer(organization=SOME),
        ),
    ),
)


@prove.serves
async def verify(call: Call, request: ProofRequest) -> ProofAnswer:
    try:
        secret = read_secret(request.token)
    except MalformedSecret:
        raise OfficialLinkInvalid from None
    if secret.kind != LINK or secret.organization is None:
        raise OfficialLinkInvalid
    proof = OfficialEmailProof(call.caller, secret.digest)
    scope = Scope(secret.organization, "prove an official e-mail")
    return ProofAnswer(organization=await call.batch(verify_official_email, proof, scope=scope))


class GateRequest(Wire):
    reason_code: ReasonCode


class GateAnswer(Wire):
    ok: bool


NOT_YET = why_not_official(OfficialEmail(SOME, "geral@clube.example"), "PAYOUTS_SETTINGS", "req_abc")
assert NOT_YET is not None


gate = Contract(
    id="CAUTH.01",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile", "finance"),
    summary="Whether the organisation has proved its official e-mail, which sensitive changes need.",
    post="/api/org/{organizationId}/official-email/gate",
    takes=GateRequest,
    gives=GateAnswer,
    refuses=(OfficialEmailRequired, OrganizationNotFound),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_R,
    repeats="a check without effects",
    order_key="none",
    examples=(
        Example("proved", takes=GateRequest(reason_code="PAYOUTS_SETTINGS"), gives=GateAnswer(ok=True)),
        Example("not yet", takes=GateRequest(reason_code="PAYOUTS_SETTINGS"), refuses=NOT_YET),
    ),
)


@gate.serves
async def pass_gate(call: Call, request: GateRequest) -> GateAnswer:
    await call.read(require_official_email, call.caller, request.reason_code)
    return GateAnswer(ok=True)


CONTRACTS = (name, prove, gate)
