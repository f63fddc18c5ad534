"""Five thousand codes that must not open the door, and one that must, once."""

import asyncio
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from admitone.entitlements.codes import digest_of
from admitone.entitlements.commands.changing import Disowning, Revoking, Suspension, revoke, revoke_codes, suspend
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.model import Hold, Reason, Revocation, Scan, Verdict
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.entitlements.rights import EVENT, Hall, a_hall, all_of

HOSTILE = 5_000
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
ADMITTED = "SELECT count(*) AS n FROM entitlements.checkin WHERE organization_id = $1 AND admitted"
LOGGED = "SELECT count(*) AS n FROM entitlements.checkin WHERE organization_id = $1"


async def hostile_codes(hall: Hall, elsewhere: Hall, dice: random.Random) -> dict[str, list[str]]:
    """Of each sort some, as an attacker would have them."""
    used, held, gone, lost, other, stranger, kept = [await hall.grant() for _ in range(5)] + [
        await elsewhere.grant(),
        await hall.grant(event_id="evt-other"),
    ]
    codes = {
        "used": [await hall.code(used)],
        "held": [await hall.code(held)],
        "gone": [await hall.code(gone)],
        "lost": [await hall.code(lost)],
        "stranger": [await elsewhere.code(stranger)],
        "other event": [await hall.code(kept)],
    }
    assert (await hall.scan(codes["used"][0])).allow
    await hall.submit(suspend, Suspension(hall.staff.caller, held.id, Hold.DISPUTE))
    await hall.submit(revoke, Revoking(hall.staff.caller, gone.id, Revocation.REFUND))
    await hall.submit(revoke_codes, Disowning(hall.staff.caller, lost.id, "LOST_PHONE"))
    near = await hall.code(other)
    codes["nearly right"] = [
        near[:at] + dice.choice(ALPHABET.replace(near[at], "")) + near[at + 1 :] for at in range(3, 35)
    ]
    codes["made up"] = ["A1:" + "".join(dice.choices(ALPHABET, k=32)) for _ in range(200)]
    codes["rubbish"] = ["", "A1:", "'; DROP TABLE entitlements.token; --", "\x00", "é" * 40, "A" * 64, "A1:" + "=" * 32]
    return codes


WHY = {
    "used": Reason.ALREADY_CONSUMED,
    "held": Reason.ENTITLEMENT_NOT_ACTIVE,
    "gone": Reason.ENTITLEMENT_NOT_ACTIVE,
    "lost": Reason.TOKEN_EXPIRED,
    "stranger": Reason.INVALID_TOKEN,
    "other event": Reason.WRONG_EVENT,
    "nearly right": Reason.INVALID_TOKEN,
    "made up": Reason.INVALID_TOKEN,
    "rubbish": Reason.INVALID_TOKEN,
}


@pytest.mark.covers("ENT-014", "ENT-026", "INV-I09")
async def test_of_five_thousand_hostile_codes_none_opens_the_door(hall: Hall, database: Database, batcher: Batcher):
    dice = random.Random(7)
    codes = await hostile_codes(hall, await a_hall(database, batcher), dice)
    shown = [(sort, dice.choice(codes[sort])) for sort in dice.choices(sorted(codes), k=HOSTILE)]
    said: Counter[tuple[str, Reason | None]] = Counter()
    for first in range(0, HOSTILE, 250):
        page = shown[first : first + 250]
        # No device: what one device is shown so often is another test's.
        scans = [hall.a_scan(code) for _, code in page]
        verdicts: list[Verdict] = await asyncio.gather(*(hall.submit(consume, each) for each in scans))
        assert not any(each.allow for each in verdicts)
        for (sort, _), verdict in zip(page, verdicts, strict=True):
            said[sort, verdict.reason] += 1
            if verdict.reason in (Reason.INVALID_TOKEN, Reason.WRONG_EVENT):
                assert (verdict.entitlement, verdict.label, verdict.policy_version) == (None, None, None)
    assert dict(said.keys()) == WHY
    [admitted], [logged] = await all_of(hall, ADMITTED), await all_of(hall, LOGGED)
    assert (admitted["n"], logged["n"]) == (1, HOSTILE + 1)


@pytest.mark.covers("ENT-009")
async def test_an_old_picture_of_a_code_opens_nothing(hall: Hall, superuser):
    ticket = await hall.grant()
    code = await hall.code(ticket)
    past = datetime.now(UTC) - timedelta(seconds=1)
    await superuser.execute(
        "UPDATE entitlements.token SET valid_from = $2, valid_until = $3 WHERE entitlement_id = $1",
        ticket.id.uuid,
        past - timedelta(hours=24),
        past,
    )
    assert (await hall.scan(code)).reason is Reason.TOKEN_EXPIRED


@pytest.mark.covers("ENT-009")
async def test_no_table_no_log_and_no_fact_holds_a_code(hall: Hall, superuser, capsys):
    code = await hall.code(await hall.grant())
    await hall.scan(code)
    await hall.scan(code)
    tables = await superuser.fetch(
        "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables"
        " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    for table in tables:
        found = await superuser.fetchval(
            f"SELECT count(*) FROM {table['name']} AS t WHERE t::text LIKE $1", f"%{code[3:]}%"
        )
        assert found == 0, table["name"]
    told = capsys.readouterr()
    assert code[3:] not in told.out + told.err


async def test_a_code_typed_by_hand_is_the_same_code(hall: Hall):
    code = await hall.code(await hall.grant())
    assert digest_of(f"  {code.lower()}\n") == digest_of(code)
    assert (await hall.scan(code.lower())).allow


async def test_a_scan_that_names_a_strangers_right_by_hand_learns_nothing(hall: Hall, database, batcher):
    from admitone.entitlements.model import CheckinPolicy, Method, Place

    elsewhere = await a_hall(database, batcher)
    theirs = await elsewhere.grant(policy=CheckinPolicy(methods=(Method.MANUAL,)))
    named = Scan(hall.staff.caller, Place(EVENT), entitlement=theirs.id)
    verdict: Verdict = await hall.submit(consume, named)
    assert (verdict.allow, verdict.reason, verdict.entitlement) == (False, Reason.INVALID_TOKEN, None)
