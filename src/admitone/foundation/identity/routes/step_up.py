"""Step-up over HTTP: prove once more that it is you, for what needs it (ORG-024)."""

from typing import Final

from msgspec.structs import replace

from admitone.foundation.authority.api import STEP_UP_LASTS
from admitone.foundation.identity import passwords, policy
from admitone.foundation.identity.commands import step_up as commands
from admitone.foundation.identity.commands.step_up import StepUp, StepUpCode
from admitone.foundation.identity.errors import (
    IdentityNotFound,
    InvalidCode,
    InvalidCredentials,
    MissingProof,
    SecondFactorRequired,
)
from admitone.foundation.identity.model import CODE_LASTS, ChallengeId, Lacking
from admitone.foundation.identity.routes.signing_in import A_CHALLENGE, SENT, CodeSent
from admitone.foundation.identity.routes.wire import (
    A_PASSWORD,
    CODES_PER_IDENTITY,
    SCOPE,
    SHOWN_PER_IDENTITY,
    Code,
    Password,
    auth_contract,
)
from admitone.kernel import streaks
from admitone.kernel.contracts import Audience, Call, Example, Wire
from admitone.kernel.figures import PASSED_BY_STEP_UP
from admitone.kernel.limits import by_identity
from admitone.kernel.streaks import Mark, Outcome, Result

LASTS_SECONDS: Final = int(STEP_UP_LASTS.total_seconds())


class StepUpRequest(Wire):
    """One of them: a code of the authenticator, the password, or a code that was sent with its challenge."""

    second_factor: Code | None = None
    password: Password | None = None
    challenge_id: ChallengeId | None = None
    code: Code | None = None


class SteppedUp(Wire):
    """For so long this session may do what needs it."""

    expires_in_seconds: int = LASTS_SECONDS


step_up = auth_contract(
    "STEPUP",
    "Prove once more that it is you, for what needs it in this session; whoever has an authenticator shows that.",
    post="/api/auth/step-up",
    takes=StepUpRequest,
    gives=SteppedUp,
    audience=Audience.PERSON,
    refuses=(MissingProof, InvalidCredentials, InvalidCode, SecondFactorRequired),
    limits=(SHOWN_PER_IDENTITY,),
    examples=(
        Example("By password", takes=StepUpRequest(password=A_PASSWORD), gives=SteppedUp()),
        Example("By a code", takes=StepUpRequest(challenge_id=A_CHALLENGE, code="123456"), gives=SteppedUp()),
        Example("Too little", takes=StepUpRequest(password=A_PASSWORD), refuses=SecondFactorRequired()),
    ),
)

send_code = auth_contract(
    "STEPUPCODE",
    "Send a code to one's own address, to prove once more that it is you.",
    post="/api/auth/step-up/send-code",
    gives=CodeSent,
    status=202,
    audience=Audience.PERSON,
    refuses=(IdentityNotFound,),
    limits=(CODES_PER_IDENTITY,),
    examples=(Example("Sent", gives=SENT),),
)

CONTRACTS = (step_up, send_code)


@step_up.serves
async def serve_step_up(call: Call, request: StepUpRequest) -> SteppedUp:
    assert call.identity is not None
    assert call.credential is not None
    attempt = StepUp(call.caller, call.identity, call.credential)
    wrong: InvalidCode | InvalidCredentials = InvalidCode()
    if request.second_factor is not None:
        attempt = replace(attempt, second_factor=request.second_factor)
    elif request.password is not None:
        wrong = InvalidCredentials()
        stored = await call.batch(commands.stored_password, call.identity, scope=SCOPE)
        if not await passwords.matches(request.password, stored):
            raise wrong
        attempt = replace(attempt, password_hash=stored)
    elif request.challenge_id is not None and request.code is not None:
        digests = policy.code_digests(request.challenge_id, request.code)
        attempt = replace(attempt, challenge=request.challenge_id, digests=digests)
    else:
        raise MissingProof
    proved = await call.batch(commands.step_up, attempt, scope=SCOPE)
    if proved.lacking is Lacking.SECOND_FACTOR:
        raise SecondFactorRequired
    if proved.lacking is Lacking.PROOF:
        raise wrong
    passed = [Outcome(Mark(each, by_identity(call.identity)), Result.PASSED) for each in PASSED_BY_STEP_UP]
    await call.batch(streaks.record, tuple(passed), scope=streaks.SCOPE)
    return SteppedUp()


@send_code.serves
async def serve_send_code(call: Call) -> CodeSent:
    assert call.identity is not None
    challenge = ChallengeId.new()
    await call.batch(
        commands.send_code, StepUpCode(call.caller, call.identity, challenge, policy.new_code()), scope=SCOPE
    )
    return CodeSent(challenge_id=challenge, expires_in_seconds=int(CODE_LASTS.total_seconds()))
