"""Offers, rules and policies, as tests need them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from admitone.finance.pricing import store
from admitone.finance.pricing.api import FeeMode, Priced, Snapshot, price
from admitone.finance.pricing.model import Choice, FeeChoiceId, FeePolicyId, InForce, Policy, Target, Terms
from admitone.finance.pricing.policy import compute_pricing
from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import Line, Offer, Wanted
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import Caller, Scope

THEN = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
TICKETS = Source(SourceType.TICKET_ORDER, "order-1")
BUYER = IdentityId.new()
A_STAY = Source(SourceType.STAY_RESERVATION, "stay-1")


def an_offer(
    *lines: Line | tuple[int, int] | int, source: Source = TICKETS, currency: str = "EUR", **more: Any
) -> Offer:
    """Of lines, or of prices, or of prices and quantities."""
    shown = tuple(_line(number, each) for number, each in enumerate(lines))
    return Offer(source, BUYER, currency, shown, THEN, "It", **more)


def _line(number: int, each: Line | tuple[int, int] | int) -> Line:
    if isinstance(each, Line):
        return each
    unit, quantity = each if isinstance(each, tuple) else (each, 1)
    return Line(f"line-{number}", f"Line {number}", unit, quantity)


def wanted(offer: Offer) -> Wanted:
    return Wanted(Caller(), offer.source, is_signed_in=True)


def a_rule(
    bps: int = 500, fixed: int = 0, *, mode: FeeMode = FeeMode.INCLUDED, currency: str | None = "EUR", **more: Any
) -> InForce:
    return InForce("fee_1", currency, Terms(bps, fixed, **more), mode)


def computed(offer: Offer, rule: InForce | None = None, *promised: Any) -> Snapshot:
    snapshot = compute_pricing(offer, rule or a_rule(), promised)
    assert isinstance(snapshot, Snapshot), snapshot
    return snapshot


def a_policy(
    bps: int,
    target: Target = Target(),  # noqa: B008, frozen
    *,
    version: int = 1,
    platforms: bool = False,
    retired: bool = False,
    **terms: Any,
) -> Policy:
    organization = PLATFORM_ORGANIZATION if platforms else OrganizationId.new()
    return Policy(FeePolicyId.new(), organization, version, target, Terms(bps, **terms), retired, None, THEN)


def a_choice(mode: FeeMode | None, source_type: SourceType | None = None) -> Choice:
    return Choice(FeeChoiceId.new(), 1, source_type, mode, None, THEN)


async def a_shop(database: Database) -> Scope:
    """An organisation that sells, without policies of its own."""
    scope = Scope(OrganizationId.new(), "test")

    async def open_it(tx: Tx) -> None:
        await tx.execute("INSERT INTO kernel.tenant (id, created_at) VALUES ($1, $2)", tx.now)

    await database.run(scope, open_it)
    return scope


async def put(database: Database, scope: Scope, *policies: Policy) -> None:
    await database.run(scope, lambda tx: store.insert_policies(tx, policies))


async def prices_of(database: Database, scope: Scope, offers: Sequence[Offer]) -> list[Priced | Refusal]:
    return await database.read(scope, lambda tx: price(tx, [wanted(each) for each in offers], offers))


async def price_of(database: Database, scope: Scope, offer: Offer) -> Priced:
    [priced] = await prices_of(database, scope, [offer])
    assert isinstance(priced, Priced), priced
    return priced
