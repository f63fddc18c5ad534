"""The toy command: what coalescing gains, what row level security costs, what a lone caller and a locked row feel."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace

import asyncpg

from admitone.kernel.embedded import SUPERUSER, Cluster
from bench.calibration import calibrate, callers
from bench.figures import Figures, ratio, side_by_side
from bench.ground import HERE, RUN_LOGIN, Ground, a_cluster, a_ground, a_script
from bench.load import Plan, Report, in_turns, load
from bench.server import a_server

COALESCED, DIRECT, UNLIMITED = "/api/toy/increments", "/api/toy/direct", "/api/toy/unlimited"


def measure(figures: Figures) -> None:
    with a_cluster() as cluster:
        one = a_ground(cluster, organizations=1)
        print(calibrate(one))
        throughput(figures, one)
        idle(figures, one)
        locked_row(figures, one)
        limits(figures, one)
        row_level_security(figures, cluster)
        many_organizations(figures, cluster)


def throughput(figures: Figures, ground: Ground) -> None:
    print("\nToy command over HTTP, 64 connections, one organisation")
    with ExitStack() as stack:
        together = stack.enter_context(a_server(ground))
        apart = stack.enter_context(a_server(ground, "--one-by-one"))
        reports: dict[str, Report] = {}

        def over_http(name: str, port: int, **changes: object) -> float:
            reports[name] = load(Plan(port, COALESCED, callers(ground), **changes))  # type: ignore[arg-type]
            return reports[name].rate

        coalesced, alone, raw = side_by_side(
            lambda: over_http("coalesced", together),
            lambda: over_http("one by one", apart),
            lambda: one_by_one(ground),
        )
        hot = over_http("coalesced, one hot counter", together, counter="counter_1")
        wide = over_http("coalesced, 256 connections", together, connections=256)
    for name, report in reports.items():
        figures.note(f"{name:28} {report}  [{report.tool}]")
    figures.note(f"{'pgbench, one by one':28} {raw:8,.0f}/s")
    figures.must("coalesced over one by one", coalesced / alone, 3)
    figures.must("coalesced over pgbench", coalesced / raw, 1.5)
    figures.note(f"hot counter over pgbench {hot / raw:.2f} x, 256 connections over pgbench {wide / raw:.2f} x")


def one_by_one(ground: Ground) -> float:
    """pgbench doing what one request does, authority and limit included, one transaction after another."""
    member = ground.members[0]
    blanks = {
        "organization": f"'{member.organization.uuid}'",
        "credential": f"'\\x{member.digest.hex()}'",
        "counters": str(member.counters),
    }
    text = (HERE / "one_by_one.pgb").read_text()
    for name, value in blanks.items():
        text = text.replace(f":{name}", value)
    with a_script(text) as script:
        return ground.pgbench(script, login=RUN_LOGIN, seconds=5)


def idle(figures: Figures, ground: Ground) -> None:
    print("\nA lone caller: coalesced path and direct path, in turns")
    with a_server(ground) as port:
        plans = [Plan(port, path, callers(ground)) for path in (COALESCED, DIRECT)]
        coalesced, direct = in_turns(plans, times=3_000)
    figures.note(f"p50 coalesced {coalesced:.3f} ms, direct {direct:.3f} ms, 3,000 pairs")
    figures.must_not_exceed("delay of a lone caller at the median", (coalesced / direct - 1) * 100, 10)


def locked_row(figures: Figures, ground: Ground) -> None:
    print("\nOne row locked for the whole run, and callers who want it")
    with a_server(ground) as port:
        others = Plan(port, COALESCED, callers(ground), connections=32, seconds=4)
        free = load(others)
        held = asyncio.run(_with_locked_row(ground, others))
    figures.note(f"nothing locked   {free}")
    figures.note(f"one row locked   {held}")
    figures.must("rate of the others with a row locked, over without", held.rate / free.rate, 0.7)


async def _with_locked_row(ground: Ground, others: Plan) -> Report:
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    blocked = replace(others, connections=8, counter="counter_1", may_be_refused=True)
    try:
        async with connection.transaction():
            await connection.execute("SELECT 1 FROM toy.counter WHERE name = 'counter_1' FOR UPDATE")
            wanting = asyncio.create_task(asyncio.to_thread(load, blocked))
            report = await asyncio.to_thread(load, others)
        await wanting
    finally:
        await connection.close()
    return report


def row_level_security(figures: Figures, cluster: Cluster) -> None:
    print("\nRow level security on, and off, in turns, on two databases that are equally new")
    ground = a_ground(cluster, organizations=1, name="bench_guarded")
    lifted = a_ground(cluster, organizations=1, name="bench_bare", policies=False)
    with a_server(ground) as guarded, a_server(lifted) as bare:
        kept = ratio(
            lambda: load(Plan(guarded, COALESCED, callers(ground), seconds=3)).rate,
            lambda: load(Plan(bare, COALESCED, callers(lifted), seconds=3)).rate,
            rounds=7,
        )
    figures.must_not_exceed("cost of row level security", (1 - kept) * 100, 10)


def limits(figures: Figures, ground: Ground) -> None:
    print("\nWith its limit, and without, in turns")
    with a_server(ground) as port:
        kept = ratio(
            lambda: load(Plan(port, COALESCED, callers(ground), seconds=3)).rate,
            lambda: load(Plan(port, UNLIMITED, callers(ground), seconds=3)).rate,
            rounds=7,
        )
    figures.must_not_exceed("cost of limits", (1 - kept) * 100, 10)


def many_organizations(figures: Figures, cluster: Cluster) -> None:
    print("\nThe same load spread over many organisations")
    for number in (100, 5_000):
        ground = a_ground(cluster, organizations=number)
        with a_server(ground) as port:
            figures.note(f"{number:5,} organisations  {load(Plan(port, COALESCED, callers(ground), seconds=5))}")
