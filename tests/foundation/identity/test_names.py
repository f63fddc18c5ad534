"""What somebody is called is read by others, in letters and lists."""

import pytest

from tests.foundation.identity.house import PASSWORD, House, an_email


@pytest.mark.parametrize(
    ("written", "kept"),
    [("  Ana \n Silva\t", "Ana Silva"), ("\u202eanA\u202c", "anA"), ("Ana\r\nBcc: eva", "Ana Bcc: eva")],
)
async def test_a_name_is_one_line_that_is_read_in_one_direction(house: House, written: str, kept: str):
    ana = house.a_visitor(email=an_email())
    asked = await ana.post("signup", email=ana.email, password=PASSWORD, displayName=written)
    ana.tokens = (await house.verifies(ana, asked)).json()
    assert (await ana.me()).json()["displayName"] == kept
    changed = await ana.send("PATCH", "me", ana.bearer, json={"displayName": f"{written} II"})
    assert changed.json()["displayName"] == f"{kept} II"


@pytest.mark.parametrize("written", [" ", "\n\t", "\u202e\u202c", "\u200b", "\u3000"])
async def test_a_name_that_nobody_can_read_is_none(house: House, written: str):
    ana = await house.a_user()
    answers = [
        await ana.send("PATCH", "me", ana.bearer, json={"displayName": written}),
        await ana.post("signup", email=an_email(), password=PASSWORD, displayName=written),
    ]
    assert [answer.status_code for answer in answers] == [422] * 2, answers[0].text
