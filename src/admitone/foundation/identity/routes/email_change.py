"""Another address over HTTP (IDN-016: only whoever has proved the former one)."""

from admitone.foundation.identity import policy
from admitone.foundation.identity.commands import email_change
from admitone.foundation.identity.commands.email_change import EmailProof, EmailWish, Outcome
from admitone.foundation.identity.emails import normalise_email
from admitone.foundation.identity.errors import EmailExists, IdentityNotFound, InvalidCode, InvalidEmail
from admitone.foundation.identity.model import CODE_LASTS, ChallengeId
from admitone.foundation.identity.routes.signing_in import A_CHALLENGE, SENT, CodeSent, may_write
from admitone.foundation.identity.routes.wire import (
    AN_EMAIL,
    BY_OWNER,
    CODES_PER_IDENTITY,
    MAILS_PER_ADDRESS,
    SCOPE,
    SHOWN_PER_IDENTITY,
    Code,
    Email,
    auth_contract,
)
from admitone.kernel.contracts import Audience, Call, Example, ReasonCode, Wire


class EmailChangeRequest(Wire):
    new_email: Email
    reason_code: ReasonCode = BY_OWNER


class EmailConfirmation(Wire):
    challenge_id: ChallengeId
    code: Code


class EmailChanged(Wire):
    """Every other session has ended."""

    ok: bool = True


change = auth_contract(
    "CHANGEEMAIL",
    "Ask for another address: a code goes there, whoever it belongs to, if that can be.",
    post="/api/auth/email/change",
    takes=EmailChangeRequest,
    gives=CodeSent,
    status=202,
    audience=Audience.PERSON,
    verified_only=True,
    step_up=True,
    refuses=(InvalidEmail, IdentityNotFound),
    limits=(CODES_PER_IDENTITY, MAILS_PER_ADDRESS),
    examples=(Example("Sent", takes=EmailChangeRequest(new_email=AN_EMAIL), gives=SENT),),
)

confirm = auth_contract(
    "CONFIRMEMAIL",
    "Take the new address with the code that was sent there; every other session ends.",
    post="/api/auth/email/confirm",
    takes=EmailConfirmation,
    gives=EmailChanged,
    audience=Audience.PERSON,
    refuses=(InvalidCode, EmailExists),
    limits=(SHOWN_PER_IDENTITY,),
    examples=(
        Example("Changed", takes=EmailConfirmation(challenge_id=A_CHALLENGE, code="123456"), gives=EmailChanged()),
        Example("Wrong", takes=EmailConfirmation(challenge_id=A_CHALLENGE, code="000000"), refuses=InvalidCode()),
    ),
)

CONTRACTS = (change, confirm)


@change.serves
async def serve_change(call: Call, request: EmailChangeRequest) -> CodeSent:
    assert call.identity is not None
    email = normalise_email(request.new_email)
    challenge = ChallengeId.new()
    answer = CodeSent(challenge_id=challenge, expires_in_seconds=int(CODE_LASTS.total_seconds()))
    if await may_write(call, email):
        wish = EmailWish(call.caller, call.identity, email, challenge, policy.new_code(), request.reason_code)
        await call.batch(email_change.start, wish, scope=SCOPE)
    return answer


@confirm.serves
async def serve_confirm(call: Call, request: EmailConfirmation) -> EmailChanged:
    assert call.identity is not None
    assert call.credential is not None
    digests = policy.code_digests(request.challenge_id, request.code)
    proof = EmailProof(call.caller, call.identity, call.credential, request.challenge_id, digests)
    match await call.batch(email_change.confirm, proof, scope=SCOPE):
        case Outcome.CHANGED:
            return EmailChanged()
        case Outcome.TAKEN:
            raise EmailExists
        case Outcome.WRONG:
            raise InvalidCode
