"""Signing in and up over HTTP.

Promise: whether an address has an account shows nowhere: not in the status, not in the body, not in the time (IDN-012).
Too many letters to one address end in the same answer and no letter (IDN-021).
"""

from typing import Final

from admitone.foundation.identity import passwords, policy
from admitone.foundation.identity.commands import signing_in
from admitone.foundation.identity.emails import normalise_email, subject_of
from admitone.foundation.identity.errors import (
    InvalidCode,
    InvalidCredentials,
    InvalidEmail,
    MissingCredentials,
    SecondFactorRequired,
    WeakPassword,
)
from admitone.foundation.identity.model import (
    CODE_LASTS,
    Attempt,
    ChallengeId,
    Device,
    Finishing,
    Lacking,
    PasswordSignIn,
    Prepared,
    Starting,
)
from admitone.foundation.identity.routes.wire import (
    A_PASSWORD,
    AN_EMAIL,
    DEVICE_COOKIE,
    MAILS_PER_ADDRESS,
    PROOFS_PER_ADDRESS,
    SCOPE,
    SOME_TOKENS,
    Code,
    Email,
    Named,
    Password,
    Token,
    Tokens,
    auth_contract,
)
from admitone.kernel.contracts import Call, Cookie, Example, Wire
from admitone.kernel.crypto import digest_of
from admitone.kernel.errors import Throttled, Unauthenticated
from admitone.kernel.figures import (
    LOGIN_OF_DEVICES_PER_ADDRESS,
    LOGIN_PER_ADDRESS,
    LOGIN_PER_DEVICE,
    LOGIN_PER_IDENTITY,
    RESET_PER_IDENTITY,
)
from admitone.kernel.limits import Hit, by_address

DEVICE_SECONDS: Final = 400 * 24 * 3600
A_CHALLENGE: Final = ChallengeId.parse("chl_0198c9a40000700080000000000000ac")


class LoginRequest(Wire):
    email: Email = ""
    password: Password = ""
    second_factor: Code | None = None


class CodeRequest(Wire):
    email: Email


class SignUpRequest(Named, kw_only=True):
    email: Email
    password: Password


class CodeSent(Wire):
    """A code is on its way, if the address can be written to at all."""

    challenge_id: ChallengeId
    expires_in_seconds: int
    next_step: str = "VERIFY_CODE"


class VerifyRequest(Wire):
    challenge_id: ChallengeId
    code: Code
    second_factor: Code | None = None


class LinkRequest(Wire):
    token: Token
    second_factor: Code | None = None


class CheckEmailAnswer(Wire):
    """The same for every address: go on, and see."""

    ok: bool = True
    next_step: str = "CONTINUE"


SENT: Final = CodeSent(challenge_id=A_CHALLENGE, expires_in_seconds=600)

login = auth_contract(
    "LOGIN",
    "Sign in with an e-mail address and a password.",
    post="/api/auth/login",
    takes=LoginRequest,
    gives=Tokens,
    refuses=(MissingCredentials, InvalidEmail, InvalidCredentials, SecondFactorRequired),
    sets_cookies=(DEVICE_COOKIE,),
    examples=(
        Example("Signed in", takes=LoginRequest(email=AN_EMAIL, password=A_PASSWORD), gives=SOME_TOKENS),
        Example("Wrong", takes=LoginRequest(email=AN_EMAIL, password="?"), refuses=InvalidCredentials()),  # noqa: S106
    ),
)

sign_up = auth_contract(
    "SIGNUP",
    "Begin an account: a code goes to the address, and the account is there when the code comes back.",
    post="/api/auth/signup",
    takes=SignUpRequest,
    gives=CodeSent,
    status=202,
    refuses=(InvalidEmail, WeakPassword),
    limits=(MAILS_PER_ADDRESS,),
    examples=(Example("Sent", takes=SignUpRequest(email=AN_EMAIL, password=A_PASSWORD), gives=SENT),),
)

send_otp = auth_contract(
    "SENDOTP",
    "Send a code with which the owner of the address can sign in, or up.",
    post="/api/auth/send-otp",
    takes=CodeRequest,
    gives=CodeSent,
    status=202,
    refuses=(InvalidEmail,),
    limits=(MAILS_PER_ADDRESS,),
    examples=(Example("Sent", takes=CodeRequest(email=AN_EMAIL), gives=SENT),),
)

verify_otp = auth_contract(
    "VERIFYOTP",
    "Sign in with a code that was sent; the address is verified by it.",
    post="/api/auth/verify-otp",
    takes=VerifyRequest,
    gives=Tokens,
    refuses=(InvalidCode, SecondFactorRequired),
    limits=(PROOFS_PER_ADDRESS,),
    sets_cookies=(DEVICE_COOKIE,),
    examples=(
        Example("Signed in", takes=VerifyRequest(challenge_id=A_CHALLENGE, code="123456"), gives=SOME_TOKENS),
        Example("Wrong", takes=VerifyRequest(challenge_id=A_CHALLENGE, code="000000"), refuses=InvalidCode()),
    ),
)

verify_link = auth_contract(
    "VERIFYLINK",
    "Sign in with a link that was sent; what a guest bought with the address is claimed.",
    post="/api/auth/verify-link",
    takes=LinkRequest,
    gives=Tokens,
    refuses=(InvalidCode, SecondFactorRequired),
    limits=(PROOFS_PER_ADDRESS,),
    sets_cookies=(DEVICE_COOKIE,),
    examples=(Example("Signed in", takes=LinkRequest(token=f"link_0_{'c' * 40}"), gives=SOME_TOKENS),),
)

check_email = auth_contract(
    "CHECKEMAIL",
    "Whether an address can be gone on with; never whether it is known.",
    post="/api/auth/check-email",
    takes=CodeRequest,
    gives=CheckEmailAnswer,
    refuses=(InvalidEmail,),
    limits=(PROOFS_PER_ADDRESS,),
    examples=(Example("Go on", takes=CodeRequest(email=AN_EMAIL), gives=CheckEmailAnswer()),),
)

check_email_by_get = auth_contract(
    "CHECKEMAILGET",
    "Whether an address can be gone on with; never whether it is known.",
    get="/api/auth/check-email",
    takes=CodeRequest,
    gives=CheckEmailAnswer,
    refuses=(InvalidEmail,),
    limits=(PROOFS_PER_ADDRESS,),
    examples=(Example("Go on", takes=CodeRequest(email=AN_EMAIL), gives=CheckEmailAnswer()),),
)

CONTRACTS = (login, sign_up, send_otp, verify_otp, verify_link, check_email, check_email_by_get)


@login.serves
async def serve_login(call: Call, request: LoginRequest) -> Tokens:
    if not request.email or not request.password:
        raise MissingCredentials
    email = normalise_email(request.email)
    await count_sign_in(call, email)
    outcome = await _compare(call, request, email)
    if outcome.lacking is Lacking.PROOF:  # The hash changed since it was read, perhaps to a better one: look again.
        outcome = await _compare(call, request, email)
    return signed_in(call, outcome, wrong=InvalidCredentials())


async def _compare(call: Call, request: LoginRequest, email: str) -> Attempt:
    account = await call.batch(signing_in.find, email, scope=SCOPE)
    stored = account.password_hash if account else None
    if not await passwords.matches(request.password, stored) or account is None or stored is None:
        raise InvalidCredentials
    better = await passwords.hash_of(request.password) if passwords.is_outdated(stored) else None
    signing = PasswordSignIn(call.caller, account.identity, stored, better, device_of(call), request.second_factor)
    return await call.batch(signing_in.sign_in_with_password, signing, scope=SCOPE)


async def count_sign_in(call: Call, email: str) -> None:
    """Devices that the owner signed in on before are counted by themselves, so no stranger locks the owner out."""
    known = knows_device(call, email)
    # One after the other: whoever tried too often from one place uses up nobody's attempts any more.
    place = LOGIN_OF_DEVICES_PER_ADDRESS if known else LOGIN_PER_ADDRESS
    await call.count(Hit(place, by_address(call.caller.address)))
    await call.count(Hit(LOGIN_PER_DEVICE if known else LOGIN_PER_IDENTITY, subject_of(email)))


async def may_write(call: Call, email: str) -> bool:
    """Whether one more letter may go there: how many did is its owner's matter, so nobody is told. Strangers who ask
    for letters use up none of those that the owner's own devices ask for."""
    whose = "devices:" if knows_device(call, email) else ""
    try:
        await call.count(Hit(RESET_PER_IDENTITY, whose + subject_of(email)))
    except Throttled:
        return False
    return True


def knows_device(call: Call, email: str) -> bool:
    return policy.is_known_device(call.cookies.get(DEVICE_COOKIE), email)


def device_of(call: Call) -> Device:
    return Device((call.headers.get("user-agent") or "?")[:100], call.cookies.get(DEVICE_COOKIE))


def signed_in(call: Call, attempt: Attempt, wrong: Unauthenticated) -> Tokens:
    if attempt.lacking is Lacking.SECOND_FACTOR:
        raise SecondFactorRequired
    if attempt.opened is None:
        raise wrong
    if not knows_device(call, attempt.email):
        value = policy.new_device_cookie(attempt.email)
        # For all of the site: people sign in on a page, which must know the device as the API does.
        call.set_cookie(Cookie(DEVICE_COOKIE, value, DEVICE_SECONDS))
    return Tokens.of(attempt.opened)


@sign_up.serves
async def serve_sign_up(call: Call, request: SignUpRequest) -> CodeSent:
    email = normalise_email(request.email)
    passwords.refuse_weak(request.password, email)
    hashed = await passwords.hash_of(request.password)
    return await send_code(call, Prepared(email, call.language, hashed, request.display_name), signs_up=True)


@send_otp.serves
async def serve_send_otp(call: Call, request: CodeRequest) -> CodeSent:
    return await send_code(call, Prepared(normalise_email(request.email), call.language))


async def send_code(call: Call, prepared: Prepared, *, signs_up: bool = False) -> CodeSent:
    challenge = ChallengeId.new()
    answer = CodeSent(challenge_id=challenge, expires_in_seconds=int(CODE_LASTS.total_seconds()))
    if await may_write(call, prepared.email):
        starting = Starting(call.caller, prepared, policy.new_code(), challenge, signs_up)
        await call.batch(signing_in.start, starting, scope=SCOPE)
    return answer


@verify_otp.serves
async def serve_verify_otp(call: Call, request: VerifyRequest) -> Tokens:
    digests = policy.code_digests(request.challenge_id, request.code)
    finishing = Finishing(call.caller, digests, request.challenge_id, request.second_factor, device_of(call))
    return signed_in(call, await call.batch(signing_in.finish, finishing, scope=SCOPE), wrong=InvalidCode())


@verify_link.serves
async def serve_verify_link(call: Call, request: LinkRequest) -> Tokens:
    finishing = Finishing(call.caller, (digest_of(request.token),), None, request.second_factor, device_of(call))
    return signed_in(call, await call.batch(signing_in.finish, finishing, scope=SCOPE), wrong=InvalidCode())


@check_email.serves
@check_email_by_get.serves
async def serve_check_email(call: Call, request: CodeRequest) -> CheckEmailAnswer:  # noqa: ARG001
    normalise_email(request.email)
    return CheckEmailAnswer()
