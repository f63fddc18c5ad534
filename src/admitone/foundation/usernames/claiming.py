"""Taking a name, over HTTP: people for themselves, organisations by whoever may change their settings."""

from typing import Final

from admitone.foundation.usernames import api
from admitone.foundation.usernames.errors import UsernameCooldown, UsernameInvalid, UsernameTaken
from admitone.foundation.usernames.model import Claim, Claimed, PersonalClaim
from admitone.kernel.commands import Command
from admitone.kernel.contracts import Audience, Call, Contract, Example, ShortText, Wire
from admitone.kernel.db import PeopleTx, Tx
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import PeopleScope

SETTINGS_RW: Final = "SETTINGS_RW"
PER_IDENTITY: Final = Limit("usernames.claims_per_identity", count=20, seconds=600, per=Per.IDENTITY)
"""Whoever asks for one name after another wants to know which are taken."""
SCOPE: Final = PeopleScope("take a username")
REPEATS: Final = "claiming the name that one has changes nothing"

claim_for_people: Command[PeopleTx, PersonalClaim, Claimed] = Command(
    api.claim_for_people, name="usernames.claim_for_people", outcome=Claimed
)
claim_for_organization: Command[Tx, Claim, Claimed] = Command(
    api.claim_for_organization, name="usernames.claim_for_organization", outcome=Claimed
)


class ClaimRequest(Wire):
    username: ShortText


class ClaimAnswer(Wire):
    username: str
    """As it is written from now on."""


EXAMPLES: Final = (
    Example("taken", takes=ClaimRequest(username="Casa.Fado"), gives=ClaimAnswer(username="casa.fado")),
    Example("somebody else's", takes=ClaimRequest(username="casa.fado"), refuses=UsernameTaken()),
)

claim_own = Contract(
    id="USERNAMES.CLAIM",
    version="1.0.0",
    owner="usernames",
    consumers=("web", "mobile"),
    summary="Go by a username; the former one is held for fifteen days.",
    put="/api/auth/me/username",
    takes=ClaimRequest,
    gives=ClaimAnswer,
    refuses=(UsernameInvalid, UsernameTaken, UsernameCooldown),
    audience=Audience.PERSON,
    verified_only=True,
    limits=(PER_IDENTITY,),
    repeats=REPEATS,
    order_key="none",
    examples=EXAMPLES,
)

claim_ours = Contract(
    id="USERNAMES.CLAIMORG",
    version="1.0.0",
    owner="usernames",
    consumers=("console",),
    summary="Let an organisation go by a username; the former one is held for fifteen days.",
    put="/api/org/{organizationId}/username",
    takes=ClaimRequest,
    gives=ClaimAnswer,
    refuses=(UsernameInvalid, UsernameTaken, UsernameCooldown),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_RW,
    limits=(PER_IDENTITY,),
    repeats=REPEATS,
    order_key="none",
    examples=EXAMPLES,
)


@claim_own.serves
async def take_own(call: Call, request: ClaimRequest) -> ClaimAnswer:
    assert call.identity is not None
    wanted = PersonalClaim(call.caller, call.identity, request.username)
    return ClaimAnswer(username=(await call.batch(claim_for_people, wanted, scope=SCOPE)).username)


@claim_ours.serves
async def take_ours(call: Call, request: ClaimRequest) -> ClaimAnswer:
    claimed = await call.batch(claim_for_organization, Claim(call.caller, request.username))
    return ClaimAnswer(username=claimed.username)
