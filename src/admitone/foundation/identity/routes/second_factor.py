"""Authenticators over HTTP.

What somebody may show is counted (`SHOWN_PER_IDENTITY`). Whoever is not signed in yet is counted where they sign in: by
the attempts at a password (IDN-020), or by those of a code that was sent, of which there are few.
"""

from typing import Annotated, Final

import pyotp
from msgspec import Meta

from admitone.foundation.identity.commands import second_factor
from admitone.foundation.identity.commands.factors import new_recovery_codes, recovery_digest
from admitone.foundation.identity.commands.second_factor import Confirmation, Enrolment, Removal
from admitone.foundation.identity.errors import IdentityNotFound, InvalidCode, NoSecondFactor
from admitone.foundation.identity.routes.wire import (
    BY_OWNER,
    SCOPE,
    SHOWN_PER_IDENTITY,
    Code,
    auth_contract,
)
from admitone.kernel.contracts import Audience, Call, Example, ReasonCode, Wire

A_SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"  # noqa: S105
SOME_CODES: Final = ("abcd-efgh-jkmn-pqrs",) * 10


class EnrolRequest(Wire):
    reason_code: ReasonCode = BY_OWNER


class Enrolled(Wire):
    """For an authenticator, by hand or as the address of a QR code. It counts when a code of it was shown."""

    secret: str
    uri: str
    next_step: str = "CONFIRM_CODE"


class CodeShown(Wire):
    code: Code


class Confirmed(Wire):
    """Each code is worth one use, for the day that the authenticator is lost. They are shown this once."""

    recovery_codes: Annotated[tuple[str, ...], Meta(max_length=10)]


class Disabled(Wire):
    ok: bool = True


enrol = auth_contract(
    "TOTPENROL",
    "Begin to set up an authenticator; the one that there is goes on until the new one is confirmed.",
    post="/api/auth/totp/enrol",
    takes=EnrolRequest,
    gives=Enrolled,
    audience=Audience.PERSON,
    verified_only=True,  # Or whoever had the account before its address was proved could lock the owner out.
    step_up=True,
    refuses=(IdentityNotFound,),
    examples=(
        Example(
            "Begun",
            takes=EnrolRequest(),
            gives=Enrolled(secret=A_SECRET, uri=f"otpauth://totp/Admit%20One:ana%40example.org?secret={A_SECRET}"),
        ),
    ),
)

confirm = auth_contract(
    "TOTPCONFIRM",
    "Confirm an authenticator with a code of it; codes for the day that it is lost come once.",
    post="/api/auth/totp/confirm",
    takes=CodeShown,
    gives=Confirmed,
    audience=Audience.PERSON,
    refuses=(NoSecondFactor, InvalidCode),
    limits=(SHOWN_PER_IDENTITY,),
    examples=(
        Example("Confirmed", takes=CodeShown(code="123456"), gives=Confirmed(recovery_codes=SOME_CODES)),
        Example("Wrong", takes=CodeShown(code="000000"), refuses=InvalidCode()),
    ),
)

disable = auth_contract(
    "TOTPDISABLE",
    "Take the authenticator away, with a code of it or one for the day that it is lost.",
    post="/api/auth/totp/disable",
    takes=CodeShown,
    gives=Disabled,
    audience=Audience.PERSON,
    refuses=(NoSecondFactor, InvalidCode),
    limits=(SHOWN_PER_IDENTITY,),
    examples=(Example("Gone", takes=CodeShown(code="123456"), gives=Disabled()),),
)

CONTRACTS = (enrol, confirm, disable)


@enrol.serves
async def serve_enrol(call: Call, request: EnrolRequest) -> Enrolled:
    assert call.identity is not None
    secret = pyotp.random_base32()
    enrolment = Enrolment(call.caller, call.identity, secret, request.reason_code)
    return Enrolled(secret=secret, uri=await call.batch(second_factor.enrol, enrolment, scope=SCOPE))


@confirm.serves
async def serve_confirm(call: Call, request: CodeShown) -> Confirmed:
    assert call.identity is not None
    codes = new_recovery_codes()
    digests = tuple(recovery_digest(code) for code in codes)
    confirmation = Confirmation(call.caller, call.identity, request.code, digests)
    await call.batch(second_factor.confirm, confirmation, scope=SCOPE)
    return Confirmed(recovery_codes=codes)


@disable.serves
async def serve_disable(call: Call, request: CodeShown) -> Disabled:
    assert call.identity is not None
    await call.batch(second_factor.disable, Removal(call.caller, call.identity, request.code), scope=SCOPE)
    return Disabled()
