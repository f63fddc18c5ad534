"""Progress at the edge, for operations: how far a piece of bulk work is."""

from datetime import UTC, datetime
from typing import Annotated, Final

from msgspec import Meta

from admitone.kernel.bulk import store
from admitone.kernel.bulk.model import Bulk, BulkId, BulkNotFound, Status
from admitone.kernel.contracts import Audience, Call, Contract, Example, Instant, Wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role

WATCH: Final = PlatformScope("show how far bulk work is", Role.RELAY)


class BulkRequest(Wire):
    id: BulkId


class BulkAnswer(Wire):
    id: BulkId
    organization: OrganizationId
    kind: str
    status: Status
    done: int
    total: int | None
    """Unknown where it cannot be counted, or was not yet."""
    percentage: Annotated[int, Meta(ge=0, le=100)] | None
    started_at: Instant
    updated_at: Instant
    finished_at: Instant | None
    error: str | None

    @classmethod
    def of(cls, bulk: Bulk) -> "BulkAnswer":
        return cls(
            id=bulk.id,
            organization=OrganizationId(bulk.organization_id),
            kind=bulk.kind,
            status=bulk.status,
            done=bulk.done,
            total=bulk.total,
            percentage=bulk.percentage,
            started_at=bulk.started_at,
            updated_at=bulk.updated_at,
            finished_at=bulk.finished_at,
            error=bulk.error,
        )


SOME: Final = BulkId.parse("blk_0198c9a40000700080000000000000aa")
HALFWAY: Final = BulkAnswer(
    id=SOME,
    organization=OrganizationId.parse("org_0198c9a40000700080000000000000ab"),
    kind="crm.recount",
    status=Status.RUNNING,
    done=1500,
    total=3000,
    percentage=50,
    started_at=datetime(2026, 3, 1, 9, 0, tzinfo=UTC),
    updated_at=datetime(2026, 3, 1, 9, 1, tzinfo=UTC),
    finished_at=None,
    error=None,
)

progress = Contract(
    id="KERNEL.BULK",
    version="1.0.0",
    owner="kernel",
    consumers=("operations",),
    summary="How far a piece of bulk work is.",
    get="/api/internal/bulk/{id}",
    takes=BulkRequest,
    gives=BulkAnswer,
    refuses=(BulkNotFound,),
    audience=Audience.INTERNAL,
    order_key="none",
    examples=(
        Example("halfway", takes=BulkRequest(id=SOME), gives=HALFWAY),
        Example("unknown", takes=BulkRequest(id=SOME), refuses=BulkNotFound()),
    ),
)


@progress.serves
async def show(call: Call, request: BulkRequest) -> BulkAnswer:
    found = await call.read(store.find_anywhere, request.id, scope=WATCH)
    if found is None:
        raise BulkNotFound
    return BulkAnswer.of(found)
