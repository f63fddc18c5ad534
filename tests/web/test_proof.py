"""The proof as people see it: an organisation its own, platform people all of them."""

import re
from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.finance.lives import FEES, PAY, live
from tests.finance.proof.books import Vandal, proved, rolled
from tests.finance.proof.test_edge import SPOILS_A_BALANCE
from tests.finance.world import World, a_world
from tests.people import a_platform_admin


@pytest.fixture
async def sold(database: Database, batcher: Batcher) -> AsyncIterator[World]:
    async with a_world(database, batcher) as world:
        await live(world, (PAY, FEES))
        await rolled(world)
        yield world


async def test_an_organisation_has_its_own_page_with_a_button(
    site: httpx.AsyncClient, sold: World, superuser: asyncpg.Connection
):
    path = f"/org/{sold.organization}/proof"
    empty = await site.get(path, headers=sold.owner.headers)
    assert "Nothing was recomputed yet." in empty.text
    pressed = await site.post(path, headers=sold.owner.headers)
    assert (pressed.status_code, pressed.headers["location"]) == (303, path)
    page = await site.get(path, headers=sold.owner.headers | {"accept-language": "pt-PT"})
    assert page.headers["content-type"].startswith("text/html")
    assert page.text.count('<span class="state good">') == 4
    assert "Provado" in page.text
    assert '<html lang="pt-PT">' in page.text
    assert re.findall(r'(?:src|href)="(?![/#])', page.text) == []
    await Vandal(superuser, sold).spoil("ledger.balance", SPOILS_A_BALANCE)
    await site.post(path, headers=sold.owner.headers)
    red_page = await site.get(path, headers=sold.owner.headers)
    assert "Does not prove" in red_page.text
    assert "The balance is not the sum of its transfers" in red_page.text
    assert "org_payable EUR" in red_page.text
    assert '<span class="state bad">' in red_page.text


async def test_platform_people_see_the_page_over_all_and_others_a_hint(
    site: httpx.AsyncClient, sold: World, batcher: Batcher
):
    await proved(sold.database, batcher, sold.organization)
    admin = await a_platform_admin(sold.database)
    page = await site.get("/proof", headers=admin.headers)
    assert page.status_code == 200
    assert "All organisations" in page.text
    assert "Debits equal credits" in page.text
    nobody = await site.get("/proof", headers={"accept": "text/html"})
    assert (nobody.status_code, nobody.headers["location"]) == (303, "/sign-in?next=%2Fproof")
    assert nobody.headers["content-type"].startswith("text/html")
    assert (await site.get("/proof", headers=sold.owner.headers)).status_code == 403
    assert (await site.get(f"/org/{sold.organization}/proof", headers={"accept": "text/html"})).status_code == 303
