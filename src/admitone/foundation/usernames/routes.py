"""What anybody can ask: whose a username is (CON-012: UsernameRegistry.resolveUsername)."""

from admitone.foundation.usernames import api
from admitone.foundation.usernames.errors import UsernameNotFound
from admitone.foundation.usernames.model import OwnerType, Resolved
from admitone.kernel.contracts import Audience, Call, Contract, Example, ShortText, Wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import PeopleScope

PER_ADDRESS = Limit("usernames.resolutions_per_address", count=60, seconds=60, per=Per.ADDRESS)
RESOLVING = PeopleScope("whose a username is")
AN_ORGANIZATION = OrganizationId.parse("org_0198c9a40000700080000000000000aa")


class UsernameRequest(Wire):
    username: ShortText


class UsernameAnswer(Wire):
    """Of a name that is held for whoever left it, it is told that it is held, and not for whom."""

    owner_type: OwnerType | None
    owner_id: str | None
    canonical_username: str
    held: bool

    @classmethod
    def of(cls, resolved: Resolved) -> "UsernameAnswer":
        owner = resolved.owner
        return cls(
            owner_type=OwnerType.of(owner) if owner else None,
            owner_id=str(owner) if owner else None,
            canonical_username=resolved.username,
            held=resolved.is_held,
        )


resolve_username = Contract(
    id="USERNAMES.RESOLVE",
    version="1.0.0",
    owner="usernames",
    consumers=("web", "mobile", "events"),
    summary="Whose a username is.",
    get="/api/usernames/{username}",
    takes=UsernameRequest,
    gives=UsernameAnswer,
    refuses=(UsernameNotFound,),
    audience=Audience.PUBLIC,
    limits=(PER_ADDRESS,),
    order_key="none",
    examples=(
        Example(
            "live",
            takes=UsernameRequest(username="Casa.Fado"),
            gives=UsernameAnswer.of(Resolved("casa.fado", AN_ORGANIZATION)),
        ),
        Example(
            "held",
            takes=UsernameRequest(username="velhonome"),
            gives=UsernameAnswer.of(Resolved("velhonome", None)),
        ),
        Example("unknown", takes=UsernameRequest(username="ninguem"), refuses=UsernameNotFound()),
    ),
)


@resolve_username.serves
async def show(call: Call, request: UsernameRequest) -> UsernameAnswer:
    [resolved] = await call.read(api.resolve, [request.username], scope=RESOLVING)
    if resolved is None:
        raise UsernameNotFound
    return UsernameAnswer.of(resolved)
