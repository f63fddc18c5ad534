"""Sign in with Apple over HTTP (IDN-019). Where no app is configured these answer FEATURE_DISABLED."""

from typing import Annotated, Final

from msgspec import Meta

from admitone.foundation.identity.apple import LONGEST
from admitone.foundation.identity.commands import apple
from admitone.foundation.identity.commands.apple import AppleLink, AppleSignIn, AppleUnlink
from admitone.foundation.identity.errors import (
    AlreadyLinked,
    AppleIdentityInvalid,
    AppleIdentityMissing,
    AppleNotLinked,
    AppleUnavailable,
    IdentityNotFound,
    SecondFactorRequired,
)
from admitone.foundation.identity.model import Lacking
from admitone.foundation.identity.port import APPLE
from admitone.foundation.identity.routes.signing_in import device_of, signed_in
from admitone.foundation.identity.routes.wire import (
    BY_OWNER,
    DEVICE_COOKIE,
    PROOFS_PER_ADDRESS,
    SCOPE,
    SHOWN_PER_IDENTITY,
    SOME_TOKENS,
    Code,
    Tokens,
    auth_contract,
)
from admitone.foundation.identity.store.apple import subject_hashes
from admitone.kernel.authority import FeatureDisabled
from admitone.kernel.contracts import Audience, Call, Example, ReasonCode, Wire
from admitone.kernel.limits import Hit

IdentityToken = Annotated[str, Meta(max_length=LONGEST)]
Nonce = Annotated[str, Meta(min_length=1, max_length=255)]
A_TOKEN: Final = "eyJraWQiOiJfIiwiYWxnIjoiUlMyNTYifQ.eyJzdWIiOiJfIn0.c2lnbmVk"  # noqa: S105


class AppleLinkRequest(Wire):
    """`nonce` as it was made; the token has its SHA-256."""

    identity_token: IdentityToken = ""
    nonce: Nonce | None = None
    reason_code: ReasonCode = BY_OWNER


class AppleSignInRequest(Wire):
    identity_token: IdentityToken = ""
    nonce: Nonce | None = None
    second_factor: Code | None = None


class AppleUnlinkRequest(Wire):
    reason_code: ReasonCode = BY_OWNER


class AppleChanged(Wire):
    ok: bool = True


OF_TOKENS: Final = (AppleIdentityMissing, AppleIdentityInvalid, AppleUnavailable, FeatureDisabled)

link = auth_contract(
    "APPLELINK",
    "Link an Apple identity to one's account, to sign in with it from now on.",
    post="/api/auth/apple/link",
    takes=AppleLinkRequest,
    gives=AppleChanged,
    audience=Audience.PERSON,
    verified_only=True,
    step_up=True,
    refuses=(*OF_TOKENS, AlreadyLinked, IdentityNotFound),
    limits=(SHOWN_PER_IDENTITY,),
    examples=(
        Example("Linked", takes=AppleLinkRequest(identity_token=A_TOKEN), gives=AppleChanged()),
        Example("Another's", takes=AppleLinkRequest(identity_token=A_TOKEN), refuses=AlreadyLinked()),
    ),
)

sign_in = auth_contract(
    "APPLESIGNIN",
    "Sign in with an Apple identity; one that is new here, with an address that is new here, signs up.",
    post="/api/auth/apple/sign-in",
    takes=AppleSignInRequest,
    gives=Tokens,
    refuses=(*OF_TOKENS, AppleNotLinked, SecondFactorRequired),
    limits=(PROOFS_PER_ADDRESS,),
    sets_cookies=(DEVICE_COOKIE,),
    examples=(
        Example("Signed in", takes=AppleSignInRequest(identity_token=A_TOKEN), gives=SOME_TOKENS),
        Example("Nobody's", takes=AppleSignInRequest(identity_token=A_TOKEN), refuses=AppleNotLinked()),
    ),
)

unlink = auth_contract(
    "APPLEUNLINK",
    "Unlink the Apple identity from one's account.",
    post="/api/auth/apple/unlink",
    takes=AppleUnlinkRequest,
    gives=AppleChanged,
    audience=Audience.PERSON,
    step_up=True,
    examples=(Example("Unlinked", takes=AppleUnlinkRequest(), gives=AppleChanged()),),
)

CONTRACTS = (link, sign_in, unlink)


@link.serves
async def serve_link(call: Call, request: AppleLinkRequest) -> AppleChanged:
    assert call.identity is not None
    if not request.identity_token:
        raise AppleIdentityMissing
    token = await APPLE().read(request.identity_token, request.nonce, call.caller)
    await call.batch(apple.link, AppleLink(call.caller, call.identity, token, request.reason_code), scope=SCOPE)
    return AppleChanged()


@sign_in.serves
async def serve_sign_in(call: Call, request: AppleSignInRequest) -> Tokens:
    if not request.identity_token:
        raise AppleIdentityMissing
    token = await APPLE().read(request.identity_token, request.nonce, call.caller)
    if request.second_factor:  # A token can be shown again, so what is guessed beside it is counted.
        await call.count(Hit(SHOWN_PER_IDENTITY, f"apple:{subject_hashes(token.subject)[0].digest.hex()}"))
    signing = AppleSignIn(call.caller, token, call.language, request.second_factor, device_of(call))
    attempt = await call.batch(apple.sign_in, signing, scope=SCOPE)
    if attempt.lacking is Lacking.ACCOUNT:
        raise AppleNotLinked
    return signed_in(call, attempt, wrong=AppleIdentityInvalid())


@unlink.serves
async def serve_unlink(call: Call, request: AppleUnlinkRequest) -> AppleChanged:
    assert call.identity is not None
    await call.batch(apple.unlink, AppleUnlink(call.caller, call.identity, request.reason_code), scope=SCOPE)
    return AppleChanged()
