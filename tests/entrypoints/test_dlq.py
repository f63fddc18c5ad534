"""Dead letters and retold facts on the command line, as an operator has them."""

import asyncpg
import pytest

from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from tests.builders import an_organization
from tests.entrypoints.operator import Operator
from tests.kernel.test_dead_letters import a_dead_letter, mend


@pytest.mark.covers("PLT-022")
async def test_a_dead_letter_is_listed_shown_and_replayed_once(
    operator: Operator, database: Database, superuser: asyncpg.Connection
):
    scope = await an_organization(database)
    letter = await a_dead_letter(database, superuser, scope)
    await superuser.execute("UPDATE kernel.dead_letter SET error = '[/x] odd' WHERE id = $1", letter.uuid)
    await mend(superuser, scope)

    status, said = await operator.types("dlq", "list", "--kind", "toy.perform", "--most", "10000")
    assert status == 0 and str(letter) in said
    status, said = await operator.types("dlq", "show", str(letter))
    assert status == 0 and "attempt 1" in said and "NOT_RETRYABLE" in said
    status, said = await operator.types("dlq", "replay", str(letter), "--reason", "mended", "--by", "ana")
    assert status == 0 and "job_" in said
    status, said = await operator.types("dlq", "replay", str(letter), "--reason", "mended", "--by", "ana")
    assert status == 1 and "DEAD_LETTER_REPLAYED" in said


async def test_what_does_not_exist_is_one_sentence(operator: Operator):
    for words in (
        ("dlq", "show", "dead_0198c9a40000700080000000000000aa"),
        ("dlq", "show", str(OrganizationId.new())),
        ("dlq", "replay", "--reason", "none named"),
        ("replay", "toy.nobody", "--since", "2026-11-01"),
    ):
        status, said = await operator.types(*words)
        assert status == 1 and "Traceback" not in said and said.count("\n") == 1, said
