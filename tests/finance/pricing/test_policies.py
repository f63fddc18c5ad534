"""Fee policies as they are set, chosen and kept."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, cast

import asyncpg
import msgspec
import pytest

from admitone.finance.pricing import store
from admitone.finance.pricing.api import (
    CurrencyUnknown,
    FeeMode,
    Policy,
    PolicyChange,
    Priced,
    find_to_pay,
    set_policies,
)
from admitone.finance.pricing.commands import choose_modes
from admitone.finance.pricing.errors import (
    AbsorbedNotAllowed,
    CommissionOutOfRange,
    FeeModeFixed,
    FeePolicyInvalid,
    FeePolicyNeeded,
    FeePolicyNotFound,
)
from admitone.finance.pricing.model import Choice, ModeChoice, Target, Terms
from admitone.finance.pricing.policy import why_not_change
from admitone.finance.pricing.port import PROMOTIONS, Discount
from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import Offer, Wanted
from admitone.foundation.organizations.api import OrganizationNotFound
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.money import Money
from admitone.kernel.scope import Caller, Scope
from tests.finance.pricing.offers import A_STAY, TICKETS, a_policy, an_offer, price_of, prices_of
from tests.people import a_person, an_organization_of

PLATFORM = Scope(PLATFORM_ORGANIZATION, "test")
NOBODY = cast("Tx", None)
"""Who asks it anything fails."""
STAYS = Target(SourceType.STAY_RESERVATION)


@pytest.fixture
async def scope(database: Database) -> Scope:
    return Scope(await an_organization_of(database, await a_person(database)), "test")


def a_change(terms: Terms | int | None, target: Target = Target()) -> PolicyChange:  # noqa: B008, frozen
    return PolicyChange(
        Caller(IdentityId.new()), target, Terms(terms) if isinstance(terms, int) else terms, "NEW_PRICES"
    )


async def changed(database: Database, scope: Scope, *changes: PolicyChange) -> Sequence[Policy | Refusal]:
    return await database.run(scope, lambda tx: set_policies(tx, changes))


async def fee_of(database: Database, scope: Scope, source: Source = TICKETS, currency: str = "EUR") -> tuple[int, str]:
    snapshot = (await price_of(database, scope, an_offer(10_000, source=source, currency=currency))).snapshot
    return snapshot.platform_fee, snapshot.fee_policy_version


@pytest.mark.covers("FIN-032", "FIN-034")
async def test_a_new_version_touches_nothing_that_was_priced_before(database: Database, scope: Scope):
    [first] = await changed(database, scope, a_change(700))
    before = await price_of(database, scope, an_offer(10_000))
    [second] = await changed(database, scope, a_change(900))
    assert isinstance(first, Policy) and isinstance(second, Policy)
    assert (first.version, second.version) == (1, 2)
    assert await fee_of(database, scope) == (900, str(second.id))
    assert Priced.read(before.text, before.hash).snapshot.platform_fee == 700
    assert before.snapshot.fee_policy_version == str(first.id)


@pytest.mark.covers("FIN-033")
async def test_rules_of_a_source_its_type_and_the_organisation(database: Database, scope: Scope):
    targets = [
        Target(),
        Target(TICKETS.type),
        Target(TICKETS.type, TICKETS.id),
        Target(TICKETS.type, TICKETS.id, "EUR"),
    ]
    for number, target in enumerate(targets, 1):
        [policy] = await changed(database, scope, a_change(1000 + number, target))
        assert isinstance(policy, Policy)
        assert await fee_of(database, scope) == (1000 + number, str(policy.id))
    assert (await fee_of(database, scope, currency="BRL"))[0] == 1003
    assert (await fee_of(database, scope, Source(TICKETS.type, "order-2")))[0] == 1002
    assert (await fee_of(database, scope, Source(SourceType.BOOKING, "b-1")))[0] == 1001
    assert (await fee_of(database, scope, A_STAY))[0] == 1500
    for fee in (1003, 1002, 1001, 500):
        await changed(database, scope, a_change(None, targets.pop()))
        assert (await fee_of(database, scope))[0] == fee


async def test_many_prices_are_made_at_once_each_by_its_own_rule(database: Database, scope: Scope):
    sources = [Source(SourceType.TICKET_ORDER, f"order-{number}") for number in range(40)]
    await changed(database, scope, *(a_change(number * 10, Target(s.type, s.id)) for number, s in enumerate(sources)))
    priced = await prices_of(database, scope, [an_offer(10_000, source=source) for source in sources])
    assert [each.snapshot.platform_fee for each in priced if isinstance(each, Priced)] == [n * 10 for n in range(40)]


async def test_a_rule_of_one_organisation_is_nobody_elses(database: Database, scope: Scope):
    other = Scope(await an_organization_of(database, await a_person(database)), "test")
    await changed(database, scope, a_change(700))
    assert (await fee_of(database, other))[0] == 500


@pytest.mark.covers("FIN-033")
async def test_what_the_platform_sets_holds_for_whoever_has_nothing_better(database: Database, scope: Scope):
    only_here = Target(None, None, "ISK")
    [policy] = await changed(database, PLATFORM, a_change(Terms(800, 5), only_here))
    assert isinstance(policy, Policy)
    assert await fee_of(database, scope, currency="ISK") == (805, str(policy.id))
    await changed(database, scope, a_change(900))
    assert (await fee_of(database, scope, currency="ISK"))[0] == 900
    await changed(database, PLATFORM, a_change(None, only_here))
    await changed(database, scope, a_change(None))
    assert (await fee_of(database, scope, currency="ISK"))[0] == 500


@pytest.mark.covers("MOR-020")
async def test_a_new_installation_takes_five_percent_fifteen_of_stays_and_nothing_of_campaigns(
    database: Database, scope: Scope
):
    assert (await fee_of(database, scope))[0] == 500
    assert (await fee_of(database, scope, A_STAY))[0] == 1500
    assert (await fee_of(database, scope, Source(SourceType.COUPON_CAMPAIGN, "c-1")))[0] == 0


@pytest.mark.covers("MOR-022")
@pytest.mark.parametrize(("bps", "fits"), [(499, False), (500, True), (2500, True), (2501, False)])
async def test_the_commission_of_a_stay_is_five_to_twenty_five_percent(
    database: Database, scope: Scope, bps: int, fits: bool
):
    target = Target(A_STAY.type, A_STAY.id)
    [outcome] = await changed(database, scope, a_change(bps, target))
    if fits:
        assert (await fee_of(database, scope, A_STAY))[0] == bps
    else:
        assert outcome == CommissionOutOfRange(least_bps=500, most_bps=2500)
        assert (await fee_of(database, scope, A_STAY))[0] == 1500


@pytest.mark.parametrize(
    ("target", "terms", "refusal"),
    [
        (Target(None, "order-1"), Terms(500), FeePolicyInvalid(what="sourceId")),
        (Target(None, None, "XXX"), Terms(500), CurrencyUnknown()),
        (Target(), Terms(10_001), FeePolicyInvalid(what="feeBps")),
        (Target(), Terms(-1), FeePolicyInvalid(what="feeBps")),
        (Target(), Terms(True), FeePolicyInvalid(what="feeBps")),
        (Target(None, None, "EUR"), Terms(0, 2**53), FeePolicyInvalid(what="feeFixed")),
        (Target(None, None, "EUR"), Terms(0, 0, -1), FeePolicyInvalid(what="min")),
        (Target(None, None, "EUR"), Terms(0, 0, 20, 10), FeePolicyInvalid(what="min")),
        (Target(), Terms(0, 10), FeePolicyInvalid(what="currency")),
        (Target(), Terms(0, 0, None, 10), FeePolicyInvalid(what="currency")),
        (Target(), Terms(500, fee_mode=FeeMode.ABSORBED), AbsorbedNotAllowed()),
        (STAYS, Terms(100), CommissionOutOfRange(least_bps=500, most_bps=2500)),
        (Target(), None, FeePolicyNotFound()),
    ],
)
def test_what_is_no_rule_is_refused(target: Target, terms: Terms | None, refusal: Refusal):
    assert why_not_change(a_change(terms, target), None, platforms=False) == refusal


def test_the_platform_has_a_rule_for_everything_and_none_for_one_source():
    there = a_policy(500, platforms=True)
    assert why_not_change(a_change(None), there, platforms=True) == FeePolicyNeeded()
    assert why_not_change(a_change(None), there, platforms=False) is None
    stays = a_policy(1500, STAYS, platforms=True)
    assert why_not_change(a_change(None, STAYS), stays, platforms=True) == FeePolicyNeeded()
    assert why_not_change(a_change(None, STAYS), stays, platforms=False) is None
    one = Target(SourceType.BOOKING, "b-1")
    assert why_not_change(a_change(500, one), None, platforms=True) == FeePolicyInvalid(what="sourceId")


async def test_a_change_that_changes_nothing_is_no_version_and_one_batch_counts_on(database: Database, scope: Scope):
    outcomes = await changed(
        database, scope, a_change(700), a_change(700), a_change(-1), a_change(800), a_change(None), a_change(None)
    )
    assert [each.version if isinstance(each, Policy) else each.code for each in outcomes] == [
        1,
        1,
        "FEE_POLICY_INVALID",
        2,
        3,
        "FEE_POLICY_NOT_FOUND",
    ]
    [again] = await changed(database, scope, a_change(800))
    assert isinstance(again, Policy) and (again.version, again.retired) == (4, False)


async def test_those_who_change_at_the_same_time_get_versions_of_their_own(database: Database, scope: Scope):
    batcher = Batcher(database)
    everybody = [batcher.submit(set_policies, scope, a_change(bps)) for bps in range(100, 112)]
    one_by_one = [changed(database, scope, a_change(bps, Target(SourceType.BOOKING))) for bps in range(200, 206)]
    await asyncio.gather(*everybody, *one_by_one)
    await batcher.drain()
    numbers = await database.read(scope, _versions)
    assert numbers == list(range(1, 19))


async def test_what_somebody_else_changed_between_two_looks_is_seen(
    database: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
):
    """Whichever is read first, the newest versions or the last number: the other's change comes between them."""
    interrupted = False

    def interrupt(name: str) -> None:
        read = getattr(store, name)

        async def and_then(*args: Any) -> Any:
            nonlocal interrupted
            found = await read(*args)
            if not interrupted:
                interrupted = True
                await changed(database, scope, a_change(700))
            return found

        monkeypatch.setattr(store, name, and_then)

    interrupt("find_newest")
    interrupt("last_policy")
    [again] = await changed(database, scope, a_change(700))
    assert isinstance(again, Policy) and again.version == 1
    assert await database.read(scope, _versions) == [1]


async def _versions(tx: Tx) -> list[int]:
    rows = await tx.fetch("SELECT version FROM pricing.fee_policy WHERE organization_id = $1 ORDER BY version")
    return [row["version"] for row in rows]


async def test_nobody_sets_a_fee_for_an_organisation_that_is_not(database: Database):
    with pytest.raises(OrganizationNotFound):
        await changed(database, Scope(OrganizationId.new(), "test"), a_change(100))


async def test_a_change_is_audited_and_told(database: Database, scope: Scope, superuser: asyncpg.Connection):
    change = a_change(700)
    [policy] = await changed(database, scope, change)
    assert isinstance(policy, Policy)
    organization = scope.organization.uuid
    entry = await superuser.fetchrow(
        "SELECT * FROM kernel.audit_entry WHERE organization_id = $1 AND action = 'pricing.set_fee_policy'",
        organization,
    )
    assert entry is not None and entry["reason_code"] == "NEW_PRICES"
    assert entry["actor_id"] == change.caller.actor.uuid if change.caller.actor else False
    assert msgspec.json.decode(entry["after"])["fee_bps"] == 700
    told = await superuser.fetchval(
        "SELECT payload FROM kernel.event_log WHERE organization_id = $1 AND type = 'pricing.fee_policy_changed'",
        organization,
    )
    assert msgspec.json.decode(told)["feePolicyVersion"] == str(policy.id)


# -- The tables


@pytest.mark.covers("FIN-032", "FIN-034")
@pytest.mark.parametrize("table", ["fee_policy", "fee_choice", "platform_policy"])
@pytest.mark.parametrize("change", ["UPDATE pricing.{} SET version = 99", "DELETE FROM pricing.{}"])
async def test_a_version_can_be_neither_changed_nor_removed(database_url: str, table: str, change: str):
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("SET ROLE admitone_app")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(change.format(table))
    finally:
        await connection.close()


INTRUDE = f"""
    INSERT INTO pricing.platform_policy (organization_id, id, version, target, fee_bps, fee_fixed_minor, fee_mode, base,
                                         absorbed_allowed, retired, created_at)
    VALUES ('{PLATFORM_ORGANIZATION.uuid}', gen_random_uuid(), 999, '//', 0, 0, 'INCLUDED', 'SUBTOTAL', false, false, now())
"""


async def test_no_organisation_writes_the_platforms_rules(database_url: str, scope: Scope):
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("SET ROLE admitone_app")
        for organization, allowed in ((scope.organization, False), (PLATFORM_ORGANIZATION, True)):
            transaction = connection.transaction()
            await transaction.start()
            await connection.execute("SELECT set_config('app.organization_id', $1, true)", str(organization.uuid))
            if allowed:
                await connection.execute(INTRUDE)
            else:
                with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
                    await connection.execute(INTRUDE)
            await transaction.rollback()
    finally:
        await connection.close()


SOUND: dict[str, Any] = {
    "version": 1,
    "source_type": None,
    "source_id": None,
    "currency": "EUR",
    "target": "//EUR",
    "fee_bps": 500,
    "fee_fixed_minor": 10,
    "min_minor": 5,
    "max_minor": 50,
    "fee_mode": "INCLUDED",
    "base": "SUBTOTAL",
    "absorbed_allowed": False,
    "retired": False,
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 0},
        {"source_type": "CAR", "target": "CAR//EUR"},
        {"source_id": "order-1", "target": "/order-1/EUR"},
        {"source_type": "BOOKING", "source_id": "a/b", "target": "BOOKING/a/b/EUR"},
        {"source_type": "BOOKING"},
        {"currency": "eur", "target": "//eur"},
        {"currency": None, "target": "//"},
        {"fee_bps": 10_001},
        {"fee_bps": -1},
        {"fee_fixed_minor": -1},
        {"min_minor": -1},
        {"min_minor": 51},
        {"max_minor": 10**12 + 1},
        {"fee_mode": "FREE"},
        {"fee_mode": "ABSORBED"},
        {"base": "GROSS"},
        {"source_type": "STAY_RESERVATION", "target": "STAY_RESERVATION//EUR", "fee_bps": 499},
    ],
    ids=str,
)
@pytest.mark.parametrize("table", ["fee_policy", "platform_policy"])
async def test_the_tables_take_no_rule_that_is_none(superuser: asyncpg.Connection, table: str, wrong: dict[str, Any]):
    async def insert(values: dict[str, Any]) -> None:
        names = ", ".join(values)
        places = ", ".join(f"${place}" for place in range(1, len(values) + 1))
        await superuser.execute(
            f"INSERT INTO pricing.{table} (organization_id, id, created_at, {names})"
            f" VALUES ('{PLATFORM_ORGANIZATION.uuid}', gen_random_uuid(), now(), {places})",
            *values.values(),
        )

    async with superuser.transaction():
        await superuser.execute("SAVEPOINT before")
        await insert({**SOUND, "version": 10**6})
        await superuser.execute("ROLLBACK TO SAVEPOINT before")
        with pytest.raises(asyncpg.CheckViolationError):
            await insert({**SOUND, "version": 10**6, **wrong})
        await superuser.execute("ROLLBACK TO SAVEPOINT before")


@pytest.mark.parametrize(("source_type", "kept"), [(None, True), ("STAY_RESERVATION", True), ("BOOKING", False)])
async def test_the_platform_keeps_the_rules_without_which_there_would_be_none(
    superuser: asyncpg.Connection, source_type: str | None, kept: bool
):
    retired = f"""
        INSERT INTO pricing.platform_policy (organization_id, id, version, source_type, target, fee_bps, fee_fixed_minor,
                                             fee_mode, base, absorbed_allowed, retired, created_at)
        VALUES ('{PLATFORM_ORGANIZATION.uuid}', gen_random_uuid(), 1000001, $1::text, COALESCE($1, '') || '//', 500, 0,
                'INCLUDED', 'SUBTOTAL', false, true, now())
    """
    transaction = superuser.transaction()
    await transaction.start()
    with pytest.raises(asyncpg.CheckViolationError) if kept else nullcontext():
        await superuser.execute(retired, source_type)
    await transaction.rollback()


# -- What an organisation chooses


async def chosen(database: Database, scope: Scope, *wanted: tuple[FeeMode | None, SourceType | None]) -> list[Any]:
    choices = [ModeChoice(Caller(IdentityId.new()), source_type, mode) for mode, source_type in wanted]
    return list(await database.run(scope, lambda tx: choose_modes(tx, choices)))


@pytest.mark.covers("FIN-033")
async def test_an_organisation_chooses_its_mode_and_never_its_fee(database: Database, scope: Scope):
    [choice] = await chosen(database, scope, (FeeMode.ADDED, None))
    assert isinstance(choice, Choice)
    snapshot = (await price_of(database, scope, an_offer(1000))).snapshot
    assert (snapshot.platform_fee, snapshot.total, snapshot.fee_mode) == (50, 1050, FeeMode.ADDED)
    [policy] = await changed(database, scope, a_change(700))
    assert isinstance(policy, Policy)
    assert await fee_of(database, scope) == (700, f"{policy.id}+{choice.id}")
    await chosen(database, scope, (None, None))
    assert await fee_of(database, scope) == (700, str(policy.id))


async def test_what_one_costs_is_shown_for_many_prices_by_the_rule_of_each_currency(database: Database, scope: Scope):
    await chosen(database, scope, (FeeMode.ADDED, TICKETS.type))
    await changed(database, scope, a_change(Terms(300, 25), Target(TICKETS.type, currency="BRL")))
    prices = [Money(0, "EUR"), Money(2550, "EUR"), Money(1190, "BRL"), Money(0, "BRL")]
    shown = await database.read(scope, lambda tx: find_to_pay(tx, TICKETS.type, prices))
    charged = [await price_of(database, scope, an_offer(each.minor, currency=each.currency)) for each in prices]
    assert [shown[each].minor for each in prices] == [each.snapshot.total for each in charged] == [0, 2678, 1251, 0]
    assert await find_to_pay(NOBODY, TICKETS.type, prices[:1]) == {prices[0]: prices[0]}, "and nothing costs nothing"


async def test_absorbing_is_for_those_whose_policy_allows_it(database: Database, scope: Scope):
    assert await chosen(database, scope, (FeeMode.ABSORBED, None)) == [AbsorbedNotAllowed()]
    await changed(database, scope, a_change(Terms(500, absorbed_allowed=True), Target(SourceType.TICKET_ORDER)))
    outcomes = await chosen(
        database,
        scope,
        (FeeMode.ABSORBED, SourceType.TICKET_ORDER),
        (FeeMode.ABSORBED, SourceType.TICKET_ORDER),
        (FeeMode.ABSORBED, SourceType.BOOKING),
        (FeeMode.ADDED, SourceType.STAY_RESERVATION),
    )
    assert outcomes[0] == outcomes[1] and outcomes[0].version == 1
    assert outcomes[2:] == [AbsorbedNotAllowed(), FeeModeFixed()]
    assert (await price_of(database, scope, an_offer(1000))).snapshot.fee_shown is None
    await changed(database, scope, a_change(Terms(500), Target(SourceType.TICKET_ORDER)))
    assert (await price_of(database, scope, an_offer(1000))).snapshot.fee_mode is FeeMode.INCLUDED


# -- Promotions


class HalfOff:
    """Half the price for whoever has the code."""

    async def discounts(self, tx: Tx, wanted: Sequence[tuple[Wanted, Offer]]) -> list[tuple[Discount, ...]]:
        return [
            (Discount(offer.lines[0].unit_price_minor // 2, "promo_1", "HALF", "Half off", "PERCENT", 5000),)
            for _, offer in wanted
        ]


async def test_promotions_are_asked_for_sound_offers_only(database: Database, scope: Scope):
    with PROMOTIONS.wired(HalfOff()):
        refused, priced = await prices_of(database, scope, [an_offer(), an_offer(1000)])
    assert isinstance(refused, Refusal) and isinstance(priced, Priced)
    assert (priced.snapshot.discounts, priced.snapshot.total, priced.snapshot.platform_fee) == (500, 500, 25)
    assert priced.snapshot.promotions[0].code_snapshot == "HALF"
