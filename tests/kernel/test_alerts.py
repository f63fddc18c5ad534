"""One open alert of one thing, whoever raises it how often; told when it is opened and when it is over."""

import asyncio
from dataclasses import replace

import asyncpg
import httpx
import pytest

from admitone.kernel.alerts import ALERTS, Resolution, raise_alerts, resolve_alerts
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller
from tests.alerts import TOY_RULE, alerts_about, an_alert, told_about
from tests.builders import an_organization, at_the_same_time
from tests.conftest import INTERNAL_SECRET


async def raised(database: Database, *alerts) -> list:
    return list(await database.run(ALERTS, lambda tx: raise_alerts(tx, alerts)))


async def resolved(database: Database, *alerts) -> list:
    wanted = [Resolution(alert.rule, alert.subject) for alert in alerts]
    return list(await database.run(ALERTS, lambda tx: resolve_alerts(tx, wanted)))


@pytest.mark.covers("OPS-001")
async def test_opening_tells_everything_that_a_human_needs(database: Database, superuser: asyncpg.Connection):
    concerned, caller = OrganizationId.new(), Caller()
    link = f"https://logs.example.org/search?q=correlationId:{caller.correlation_id}"
    alert = an_alert(
        detail="it broke for ana@example.org",
        organization=concerned,
        entities={"eventId": "evt_1", "paymentId": "pay_2"},
        caller=caller,
        link=link,
    )
    assert await raised(database, alert) == [True]
    [told] = await told_about(superuser, alert.subject)
    [row] = await alerts_about(superuser, alert.subject)
    assert told == {
        "alertId": f"alr_{row['id'].hex}",
        "rule": "toy.broken",
        "alertClass": "PAGER",
        "says": "The toy is broken.",
        "threshold": "> 0 at once",
        "owner": "toy",
        "runbook": "docs/runbooks/planted.md",
        "about": alert.subject,
        "organization": str(concerned),
        "entities": {"eventId": "evt_1", "paymentId": "pay_2"},
        "correlationId": str(caller.correlation_id),
        "detail": "it broke for [redacted]",
        "link": link,
    }
    assert (row["class"], row["concerns"], row["times"]) == ("PAGER", concerned.uuid, 1)
    assert row["correlation_id"] == caller.correlation_id and "ana@" not in row["detail"]


async def test_the_same_again_is_counted_and_not_told(database: Database, superuser: asyncpg.Connection):
    alert, other = an_alert(), an_alert()
    assert await raised(database, alert, other, alert) == [True, True, False]
    assert await raised(database, replace(alert, detail="worse")) == [False]
    [row] = await alerts_about(superuser, alert.subject)
    assert (row["times"], row["detail"]) == (3, "worse") and row["last_seen_at"] > row["first_seen_at"]
    assert len(await told_about(superuser, alert.subject)) == 1


async def test_what_comes_again_after_it_was_over_is_a_new_alert(database: Database, superuser: asyncpg.Connection):
    alert = an_alert()
    assert await resolved(database, alert) == [False]
    await raised(database, alert)
    assert await resolved(database, alert, alert, an_alert()) == [True, True, False]
    assert await resolved(database, alert) == [False]
    assert await raised(database, alert) == [True]
    first, second = await alerts_about(superuser, alert.subject)
    assert first["resolved_at"] is not None and second["resolved_at"] is None
    assert len(await told_about(superuser, alert.subject)) == 2
    [over] = await told_about(superuser, alert.subject, "ops.alert_resolved")
    assert (over["alertId"], over["rule"], over["alertClass"]) == (f"alr_{first['id'].hex}", "toy.broken", "PAGER")


async def test_many_who_raise_at_once_open_one(database: Database, superuser: asyncpg.Connection):
    alerts = [an_alert() for _ in range(5)]
    orders = [alerts, alerts[::-1]] * 4

    async def work(tx: Tx) -> list[bool]:
        return list(await raise_alerts(tx, orders.pop()))

    outcomes = await at_the_same_time(8, work, database, ALERTS)
    assert [each for each in outcomes if isinstance(each, BaseException)] == []
    for alert in alerts:
        [row] = await alerts_about(superuser, alert.subject)
        assert row["times"] == 8
        assert len(await told_about(superuser, alert.subject)) == 1


async def test_callers_that_raise_together_share_a_transaction(batcher: Batcher, superuser: asyncpg.Connection):
    alert = an_alert()
    answers = await asyncio.gather(*(batcher.submit(raise_alerts, ALERTS, alert) for _ in range(20)))
    assert sum(answer.outcome for answer in answers) == 1
    [row] = await alerts_about(superuser, alert.subject)
    assert row["times"] == 20


async def test_an_alert_whose_transaction_fails_was_never_raised(database: Database, superuser: asyncpg.Connection):
    alert = an_alert()

    async def work(tx: Tx) -> None:
        await raise_alerts(tx, [alert])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.run(ALERTS, work)
    assert await alerts_about(superuser, alert.subject) == [] == await told_about(superuser, alert.subject)


async def test_no_organisation_raises_sees_or_resolves_alerts(database: Database, superuser: asyncpg.Connection):
    scope, alert = await an_organization(database), an_alert()
    await raised(database, alert)
    for work in (raise_alerts, lambda tx, _: resolve_alerts(tx, [Resolution(TOY_RULE, alert.subject)])):
        with pytest.raises(TypeError):
            await database.run(scope, lambda tx, work=work: work(tx, [alert]))
    seen = await database.read(scope, lambda tx: tx.fetch("SELECT id FROM kernel.alert WHERE $1::uuid IS NOT NULL"))
    assert seen == []


async def test_operations_can_list_what_is_open(database: Database, http: httpx.AsyncClient):
    alerts = [an_alert(organization=OrganizationId.new(), entities={"n": str(n)}) for n in range(3)]
    for alert in alerts:
        await raised(database, alert)
    await resolved(database, alerts[1])
    assert (await http.get("/api/internal/alerts")).status_code == 403
    secret = {"x-orya-internal-secret": INTERNAL_SECRET}
    found, cursor = [], {}
    while True:
        answer = (await http.get("/api/internal/alerts", params={"limit": 1, **cursor}, headers=secret)).json()
        found += answer["items"]
        if not answer["nextCursor"] or len(found) > 200:
            break
        cursor = {"cursor": answer["nextCursor"]}
    ours = [each for each in found if each["about"] in {alert.subject for alert in alerts}]
    assert [each["about"] for each in ours] == [alerts[2].subject, alerts[0].subject], "newest first, open ones only"
    assert ours[0]["organization"] == str(alerts[2].organization) and ours[0]["entities"] == {"n": "2"}
    assert (ours[0]["alertClass"], ours[0]["times"]) == ("PAGER", 1)
