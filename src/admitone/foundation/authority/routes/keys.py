"""Keys of an organisation's programs, and of its scanners at the door."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from admitone.foundation.authority.commands import keys as commands
from admitone.foundation.authority.commands.keys import Create, Created, Revoke, secret_of
from admitone.foundation.authority.errors import (
    ExpiryOutOfRange,
    ScopeNotForPurpose,
    ScopeNotHeld,
    ServiceKeyNotFound,
)
from admitone.foundation.authority.model import KeyPurpose, ServiceKeyId
from admitone.foundation.authority.queries import READING, find_scopes
from admitone.foundation.authority.store import keys as store
from admitone.foundation.authority.store.keys import KeptKey
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    IdempotencyKey,
    Instant,
    Page,
    PageRequest,
    ReasonCode,
    Wire,
    page_of,
)
from admitone.kernel.crypto import CannotOpen
from admitone.kernel.idempotency import AnswerOutdated
from admitone.kernel.ids import IdentityId

SEE, CHANGE = "SETTINGS_R", "SETTINGS_RW"

Label = Annotated[str, Meta(min_length=1, max_length=100)]
KeyScope = Annotated[str, Meta(pattern=r"^[A-Z]+(_[A-Z]+)*_(R|RW|\*)$(?!\n)", max_length=64)]

A_KEY = ServiceKeyId.parse("key_0198c9a40000700080000000000000aa")
A_MEMBER = IdentityId.parse("idn_0198c9a40000700080000000000000ab")
AN_INSTANT = datetime.fromisoformat("2026-03-01T02:00:00Z")
A_SECRET = f"{{}}_{'0198c9a40000700080000000000000ac'}_{'0' * 40}"


class KeyAnswer(Wire):
    id: ServiceKeyId
    label: str
    scopes: list[str]
    created_by: IdentityId | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    @classmethod
    def of(cls, key: KeptKey) -> "KeyAnswer":
        return cls(
            id=key.id,
            label=key.label,
            scopes=list(key.scopes),
            created_by=key.created_by,
            created_at=key.created_at,
            expires_at=key.expires_at,
            revoked_at=key.revoked_at,
        )


class NewKeyAnswer(Wire):
    id: ServiceKeyId
    secret: str
    """Shown now and never again."""
    created_at: datetime
    expires_at: datetime | None


class KeyRequest(Wire, kw_only=True):
    label: Label
    scopes: Annotated[tuple[KeyScope, ...], Meta(min_length=1, max_length=40)]
    expires_at: Instant | None = None
    reason_code: ReasonCode
    idempotency_key: IdempotencyKey


class DeviceRequest(Wire, kw_only=True):
    label: Label
    scopes: Annotated[tuple[Literal["CHECKIN_R", "CHECKIN_RW"], ...], Meta(min_length=1, max_length=2)] = (
        "CHECKIN_RW",
    )
    expires_at: Instant | None = None
    reason_code: ReasonCode
    idempotency_key: IdempotencyKey


class RevokeRequest(Wire):
    key: ServiceKeyId


def _a_key(*scopes: str) -> KeyAnswer:
    return KeyAnswer(
        id=A_KEY,
        label="till",
        scopes=list(scopes),
        created_by=A_MEMBER,
        created_at=AN_INSTANT,
        expires_at=None,
        revoked_at=None,
    )


def _a_new_key(kind: str) -> NewKeyAnswer:
    return NewKeyAnswer(id=A_KEY, secret=A_SECRET.format(kind), created_at=AN_INSTANT, expires_at=None)


create_key = Contract(
    id="AUTHORITY.KEY.CREATE",
    version="1.0.0",
    owner="authority",
    consumers=("console",),
    summary="Make a key for a program, with scopes that its maker has.",
    post="/api/org/{organizationId}/service-keys",
    takes=KeyRequest,
    gives=NewKeyAnswer,
    refuses=(ScopeNotHeld, ScopeNotForPurpose, ExpiryOutOfRange),
    audience=Audience.ORGANIZATION,
    permission=CHANGE,
    verified_only=True,
    step_up=True,
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=(
        Example(
            "made",
            takes=KeyRequest(label="till", scopes=("EVENTS_R",), reason_code="NEW_TILL", idempotency_key="till-1"),
            gives=_a_new_key("key"),
        ),
        Example(
            "too much",
            takes=KeyRequest(label="till", scopes=("FINANCE_RW",), reason_code="NEW_TILL", idempotency_key="till-2"),
            refuses=ScopeNotHeld(scope="FINANCE_RW"),
        ),
    ),
)


@create_key.serves
async def make_key(call: Call, request: KeyRequest) -> NewKeyAnswer:
    return await _make(call, KeyPurpose.API, request)


A_DEVICE = DeviceRequest(label="gate 1", reason_code="NEW_DOOR", idempotency_key="gate-1")

create_device = Contract(
    id="AUTHORITY.DEVICE.CREATE",
    version="1.0.0",
    owner="authority",
    consumers=("console", "door"),
    summary="Make a key for a scanner, which is good for check-in and nothing else.",
    post="/api/org/{organizationId}/devices",
    takes=DeviceRequest,
    gives=NewKeyAnswer,
    refuses=(ScopeNotHeld, ExpiryOutOfRange),
    audience=Audience.ORGANIZATION,
    permission=CHANGE,
    verified_only=True,
    step_up=True,
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=(
        Example(
            "made",
            takes=DeviceRequest(label="gate 1", reason_code="NEW_DOOR", idempotency_key="gate-1"),
            gives=_a_new_key("scan"),
        ),
    ),
)


@create_device.serves
async def make_device(call: Call, request: DeviceRequest) -> NewKeyAnswer:
    return await _make(call, KeyPurpose.SCANNER, request)


async def _make(call: Call, purpose: KeyPurpose, request: KeyRequest | DeviceRequest) -> NewKeyAnswer:
    assert call.organization is not None
    assert call.identity is not None
    held = await call.read(find_scopes, call.organization, call.identity, scope=READING)
    wanted = Create(call.caller, purpose, request.label, request.scopes, held, request.expires_at, request.reason_code)
    created = await call.batch(commands.create, wanted)
    return NewKeyAnswer(
        id=created.id, secret=_shown(call, created), created_at=created.created_at, expires_at=request.expires_at
    )


def _shown(call: Call, created: Created) -> str:
    assert call.organization is not None
    try:
        return secret_of(created, call.organization)
    except CannotOpen:
        raise AnswerOutdated() from None


list_keys = Contract(
    id="AUTHORITY.KEYS",
    version="1.0.0",
    owner="authority",
    consumers=("console",),
    summary="The keys of programs, the oldest first, those that were revoked too.",
    get="/api/org/{organizationId}/service-keys",
    takes=PageRequest,
    gives=Page[KeyAnswer],
    audience=Audience.ORGANIZATION,
    permission=SEE,
    order_key="time",
    examples=(Example("one", takes=PageRequest(limit=1), gives=Page(items=[_a_key("EVENTS_R")], next_cursor=None)),),
)


@list_keys.serves
async def show_keys(call: Call, request: PageRequest) -> Page[KeyAnswer]:
    return await _page(call, request, KeyPurpose.API)


list_devices = Contract(
    id="AUTHORITY.DEVICES",
    version="1.0.0",
    owner="authority",
    consumers=("console", "door"),
    summary="The keys of scanners, the oldest first, those that were revoked too.",
    get="/api/org/{organizationId}/devices",
    takes=PageRequest,
    gives=Page[KeyAnswer],
    audience=Audience.ORGANIZATION,
    permission=SEE,
    order_key="time",
    examples=(Example("one", takes=PageRequest(limit=1), gives=Page(items=[_a_key("CHECKIN_RW")], next_cursor=None)),),
)


@list_devices.serves
async def show_devices(call: Call, request: PageRequest) -> Page[KeyAnswer]:
    return await _page(call, request, KeyPurpose.SCANNER)


async def _page(call: Call, request: PageRequest, purpose: KeyPurpose) -> Page[KeyAnswer]:
    (after,) = request.after(tuple[UUID]) or (UUID(int=0),)
    keys = await call.read(store.list_keys, purpose, after, request.limit + 1)
    return page_of([KeyAnswer.of(key) for key in keys], request.limit, key=lambda answer: (answer.id.uuid,))


revoke_key = Contract(
    id="AUTHORITY.KEY.REVOKE",
    version="1.0.0",
    owner="authority",
    consumers=("console",),
    summary="Revoke the key of a program; it is dead on its next call.",
    delete="/api/org/{organizationId}/service-keys/{key}",
    takes=RevokeRequest,
    refuses=(ServiceKeyNotFound,),
    audience=Audience.ORGANIZATION,
    permission=CHANGE,
    repeats="what is revoked stays so",
    order_key="none",
    examples=(Example("revoked", takes=RevokeRequest(key=A_KEY)),),
)


@revoke_key.serves
async def end_key(call: Call, request: RevokeRequest) -> None:
    await call.batch(commands.revoke, Revoke(call.caller, KeyPurpose.API, request.key))


revoke_device = Contract(
    id="AUTHORITY.DEVICE.REVOKE",
    version="1.0.0",
    owner="authority",
    consumers=("console", "door"),
    summary="Revoke the key of a scanner; it is dead on its next call.",
    delete="/api/org/{organizationId}/devices/{key}",
    takes=RevokeRequest,
    refuses=(ServiceKeyNotFound,),
    audience=Audience.ORGANIZATION,
    permission=CHANGE,
    repeats="what is revoked stays so",
    order_key="none",
    examples=(Example("revoked", takes=RevokeRequest(key=A_KEY)),),
)


@revoke_device.serves
async def end_device(call: Call, request: RevokeRequest) -> None:
    await call.batch(commands.revoke, Revoke(call.caller, KeyPurpose.SCANNER, request.key))


CONTRACTS = (list_keys, create_key, revoke_key, list_devices, create_device, revoke_device)
