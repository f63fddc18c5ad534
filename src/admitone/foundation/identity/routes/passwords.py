"""Passwords over HTTP: forgotten, found again, changed."""

from typing import Final

from admitone.foundation.identity import passwords
from admitone.foundation.identity.commands import accounts, signing_in
from admitone.foundation.identity.commands import passwords as commands
from admitone.foundation.identity.commands.passwords import Forgotten, Reset
from admitone.foundation.identity.emails import normalise_email
from admitone.foundation.identity.errors import (
    IdentityNotFound,
    InvalidCredentials,
    InvalidEmail,
    ResetLinkFailed,
    WeakPassword,
)
from admitone.foundation.identity.model import ChallengeId, NewPassword, Prepared
from admitone.foundation.identity.routes.signing_in import may_write
from admitone.foundation.identity.routes.wire import (
    A_PASSWORD,
    AN_EMAIL,
    MAILS_PER_ADDRESS,
    PROOFS_PER_ADDRESS,
    SCOPE,
    Email,
    Password,
    Token,
    auth_contract,
)
from admitone.kernel.contracts import Audience, Call, Example, Wire
from admitone.kernel.crypto import new_secret
from admitone.kernel.limits import Limit, Per

A_TOKEN: Final = f"reset_0_{'d' * 40}"
CHANGES_PER_IDENTITY: Final = Limit("identity.password_changes", 5, 600, Per.IDENTITY)


class ResetRequest(Wire):
    email: Email


class ResetRequested(Wire):
    """If the address has an account, a link is on its way."""

    ok: bool = True
    next_step: str = "CHECK_MAIL"


class ResetCompletion(Wire):
    token: Token
    new_password: Password


class PasswordChange(Wire):
    new_password: Password
    current_password: Password = ""


class PasswordSet(Wire):
    ok: bool = True
    next_step: str = "SIGN_IN"


request_reset = auth_contract(
    "RESETREQUEST",
    "Ask for a link with which a new password can be set.",
    post="/api/auth/password/reset-request",
    takes=ResetRequest,
    gives=ResetRequested,
    status=202,
    refuses=(InvalidEmail,),
    limits=(MAILS_PER_ADDRESS,),
    examples=(Example("Asked", takes=ResetRequest(email=AN_EMAIL), gives=ResetRequested()),),
)

complete_reset = auth_contract(
    "RESET",
    "Set a new password with the link; every session ends.",
    post="/api/auth/password/reset",
    takes=ResetCompletion,
    gives=PasswordSet,
    refuses=(ResetLinkFailed, WeakPassword),
    limits=(PROOFS_PER_ADDRESS,),
    examples=(Example("Set", takes=ResetCompletion(token=A_TOKEN, new_password=A_PASSWORD), gives=PasswordSet()),),
)

change_password = auth_contract(
    "CHANGEPASSWORD",
    "Change the password; every other session ends.",
    post="/api/auth/password/change",
    takes=PasswordChange,
    gives=PasswordSet,
    audience=Audience.PERSON,
    refuses=(InvalidCredentials, WeakPassword, IdentityNotFound),
    limits=(CHANGES_PER_IDENTITY,),
    examples=(
        Example(
            "Changed",
            takes=PasswordChange(current_password=A_PASSWORD, new_password="four brave otters"),  # noqa: S106
            gives=PasswordSet(next_step="NONE"),
        ),
    ),
)

CONTRACTS = (request_reset, complete_reset, change_password)


@request_reset.serves
async def serve_request_reset(call: Call, request: ResetRequest) -> ResetRequested:
    email = normalise_email(request.email)
    if await may_write(call, email):
        forgotten = Forgotten(call.caller, Prepared(email, call.language), ChallengeId.new(), new_secret("reset", None))
        await call.batch(commands.forget, forgotten, scope=SCOPE)
    return ResetRequested()


@complete_reset.serves
async def serve_complete_reset(call: Call, request: ResetCompletion) -> PasswordSet:
    passwords.refuse_weak(request.new_password)
    hashed = await passwords.hash_of(request.new_password)
    await call.batch(commands.reset, Reset(call.caller, request.token, hashed), scope=SCOPE)
    return PasswordSet()


@change_password.serves
async def serve_change_password(call: Call, request: PasswordChange) -> PasswordSet:
    """Whoever never had a password proves the address instead, and resets it."""
    assert call.identity is not None
    me = await call.batch(accounts.show, call.identity, scope=SCOPE)
    passwords.refuse_weak(request.new_password, me.profile.email)
    account = await call.batch(signing_in.find, me.profile.email, scope=SCOPE)
    stored = account.password_hash if account else None
    if not await passwords.matches(request.current_password, stored):
        raise InvalidCredentials
    new = NewPassword(
        call.caller, await passwords.hash_of(request.new_password), call.identity, stored, but=call.credential
    )
    await call.batch(commands.change, new, scope=SCOPE)
    return PasswordSet(next_step="NONE")
