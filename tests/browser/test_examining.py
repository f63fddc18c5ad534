"""The examiner itself: what it must see, it sees."""

import pytest

from tests.browser.budget import Scale
from tests.browser.conftest import Visits
from tests.browser.examining import complaints_about

FINE = """<!doctype html><html lang="en"><head><title>Fine</title></head><body>
<main><h1>Fine</h1><label for="a">Name</label><input id="a" height="44"></main>
<style>input, button { height: 44px; }</style>%s</body></html>"""


@pytest.mark.parametrize(
    ("flaw", "complaint"),
    [
        ('<input id="b">', "no label"),
        ("<button></button>", "nothing is said"),
        ('<img src="/x">', "without words"),
        ("<h3>Too deep</h3>", "level 3 follows"),
        ("<h1>Another</h1>", "2 first headings"),
        ('<p id="a">Twice</p>', "stands twice"),
        ('<p class="pale">Pale</p><style>.pale { color: #aaa; }</style>', "contrast 2.3"),
        ('<div class="wide">x</div><style>.wide { width: 3000px; }</style>', "wider than the screen"),
        ('<button class="low">Low</button><style>.low { height: 20px !important; }</style>', "pixels high"),
        ("<table><tr><td>1</td></tr></table>", "without headings"),
        ('<label for="nobody">Who</label>', "label of nothing"),
        ('<svg width="9" height="9"></svg>', "neither hidden nor named"),
        (
            '<p class="sum">4,00&nbsp;€</p><style>.sum { width: 4ch; overflow-wrap: anywhere; }</style>',
            "words in pieces",
        ),
        ('<p class="thin">Narrow</p><style>.thin { width: 1em; overflow-wrap: anywhere; }</style>', "words in pieces"),
    ],
)
async def test_a_flaw_is_named(visit: Visits, flaw: str, complaint: str):
    page = await visit("/sign-in", bypass_csp=True)
    await page.set_content(FINE % flaw)
    found = await complaints_about(page)
    assert any(complaint in each for each in found), found
    visit.troubles.clear()


async def test_what_is_fine_is_fine(visit: Visits):
    page = await visit("/sign-in", bypass_csp=True)
    await page.set_content(FINE % "")
    assert await complaints_about(page) == []
    for scheme in ("light", "dark"):
        for phone in (True, False):
            assert await complaints_about(await visit("/sign-in", phone=phone, color_scheme=scheme)) == []


HEAVY = f"""<!doctype html><html lang="en"><head><title>Heavy</title><script src="/slow.js"></script></head><body>
<div id="late"></div><p>Words that move.</p>{"<i>x</i>" * 2_000}<!-- {"x" * 60_000} -->
<script>setTimeout(() => {{ document.getElementById("late").style.height = "600px"; }}, 100);</script></body></html>"""


async def test_what_is_too_much_is_weighed(visit: Visits):
    page = await visit("/sign-in")
    await page.route("**/heavy", lambda route: route.fulfill(body=HEAVY, content_type="text/html"))
    await page.route("**/slow.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    scale = await Scale.under(page)
    await page.goto("/heavy")
    await page.wait_for_timeout(500)
    found = " ".join(await scale.complaints())
    for complaint in ("bytes over the wire", "elements", "layout shift of <body>", "scripts that it waits for: 2"):
        assert complaint in found
    await page.goto("/sign-in")
    assert await scale.complaints() == []
    assert 5_000 < scale.bytes < 50_000
