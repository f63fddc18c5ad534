"""Sessions: made cookies by one operation alone, rotated, and never anybody else's."""

import asyncio
from datetime import timedelta
from http.cookiejar import Cookie
from http.cookies import SimpleCookie

import httpx
import msgspec
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.identity.routes import CONTRACTS
from admitone.foundation.identity.routes.wire import DEVICE_COOKIE, HINT_COOKIE, REFRESH_COOKIE, SESSION_COOKIE
from admitone.kernel.config import CRON_SECRET
from admitone.kernel.contracts.wire import to_json
from tests.foundation.identity.house import ANOTHER_PASSWORD, OUR_ORIGIN, PASSWORD, House, Visitor

POSTS = [(contract.method, contract.path.removeprefix("/api/auth/")) for contract in CONTRACTS if not contract.is_safe]


def cookies_of(answer: httpx.Response) -> dict[str, str]:
    """The headers that set one, by the cookie's name."""
    return {header.partition("=")[0]: header for header in answer.headers.get_list("set-cookie")}


def value_of(header: str) -> str:
    return next(iter(SimpleCookie(header).values())).value


def kept_back(visitor: Visitor) -> Cookie:
    """The strict cookie, which a browser keeps back on every step of a way that began elsewhere."""
    jar = visitor.http.cookies.jar
    strict = next(each for each in jar if each.name == REFRESH_COOKIE)
    jar.clear(strict.domain, strict.path, strict.name)
    return strict


def worthless(cookie: Cookie) -> Cookie:
    cookie.value = "refresh_0_spent"
    return cookie


@pytest.mark.covers("IDN-014")
def test_refresh_alone_makes_cookies_of_tokens(behind_proxy: Application):
    setting = {
        contract.path: contract.sets_cookies
        for contract in behind_proxy.edge.contracts
        if {SESSION_COOKIE, REFRESH_COOKIE} & set(contract.sets_cookies) and contract.owner == "identity"
    }
    paths = ["/api/auth/refresh", "/api/auth/resume", "/api/auth/logout", "/api/auth/clear"]
    assert setting == dict.fromkeys(paths, (SESSION_COOKIE, REFRESH_COOKIE, HINT_COOKIE))


@pytest.mark.covers("IDN-014")
async def test_a_page_whose_session_ran_out_goes_on_where_it_was(house: House):
    ana = await house.a_user()
    await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    on = await ana.send("GET", "resume?next=/wallet%3Ftab%3Dhistory")
    assert (on.status_code, on.headers["location"]) == (303, "/wallet?tab=history")
    assert set(cookies_of(on)) == {SESSION_COOKIE, REFRESH_COOKIE, HINT_COOKIE}
    stranger = await house.a_visitor().send("GET", "resume?next=//elsewhere.example")
    assert (stranger.status_code, stranger.headers["location"]) == (303, "/sign-in?next=%2F")
    assert not cookies_of(stranger)


@pytest.mark.covers("IDN-014")
async def test_whom_another_site_leads_here_is_not_signed_out(house: House):
    ana = await house.a_user()
    await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    strict = kept_back(ana)
    led = await ana.send("GET", "resume?next=/wallet")
    assert led.status_code == 200
    assert 'content="0;url=/api/auth/resume?next=%2Fwallet&amp;again=true"' in led.text
    assert not cookies_of(led)
    ana.http.cookies.jar.set_cookie(strict)
    assert (await ana.send("GET", "resume?next=/wallet&again=true")).headers["location"] == "/wallet"
    kept_back(ana)
    over = await ana.send("GET", "resume?next=/wallet&again=true")
    assert (over.status_code, over.headers["location"]) == (303, "/sign-in?next=%2Fwallet")
    taken = cookies_of(over)
    assert list(taken) == [HINT_COOKIE], "what was not shown has not ended"
    assert "Max-Age=0" in taken[HINT_COOKIE], "or it would be asked for ever"


@pytest.mark.covers("IDN-014")
async def test_a_link_on_another_site_signs_nobody_out(house: House):
    ana = await house.a_user()
    await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    strict = kept_back(ana)
    linked = await ana.send("GET", "resume?next=/wallet&again=true", headers={"sec-fetch-site": "cross-site"})
    assert (linked.status_code, cookies_of(linked)) == (200, {})
    assert 'content="0;url=/api/auth/resume?next=%2Fwallet&amp;again=true"' in linked.text
    ana.http.cookies.jar.set_cookie(strict)
    on = await ana.send("GET", "resume?next=/wallet&again=true", headers={"sec-fetch-site": "same-origin"})
    assert on.headers["location"] == "/wallet"


@pytest.mark.covers("IDN-014")
async def test_a_session_that_ended_takes_its_cookies_along(house: House):
    ana = await house.a_user()
    await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    ana.http.cookies.jar.set_cookie(worthless(kept_back(ana)))
    ended = await ana.send("GET", "resume?next=/wallet", headers={"sec-fetch-site": "same-origin"})
    assert (ended.status_code, ended.headers["location"]) == (303, "/sign-in?next=%2Fwallet")
    assert set(cookies_of(ended)) == {SESSION_COOKIE, REFRESH_COOKIE, HINT_COOKIE}
    assert all("Max-Age=0" in header for header in cookies_of(ended).values())


@pytest.mark.covers("IDN-014")
async def test_a_page_that_was_slower_than_another_goes_on_with_its_cookies(house: House):
    ana = await house.a_user()
    await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    jar = ana.http.cookies.jar
    before = next(each for each in jar if each.name == REFRESH_COOKIE)
    await ana.send("GET", "resume?next=/wallet")
    jar.set_cookie(before)
    slower = await ana.send("GET", "resume?next=/wallet%22%3E%3Cb%3E")
    assert slower.status_code == 200
    assert 'content="1;url=/wallet&quot;&gt;&lt;b&gt;"' in slower.text
    assert not cookies_of(slower)


@pytest.mark.covers("IDN-014")
async def test_the_cookies_are_for_our_pages_alone_and_no_script_reads_them(house: House):
    ana = await house.a_user()
    answer = await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    assert answer.json()["tokens"] is None, "what is in a cookie is not in the body"
    session, refresh = cookies_of(answer)[SESSION_COOKIE], cookies_of(answer)[REFRESH_COOKIE]
    assert session.partition("; ")[2] == "Path=/; SameSite=Lax; Max-Age=900; HttpOnly; Secure"
    assert refresh.partition("; ")[2] == "Path=/api/auth; SameSite=Strict; Max-Age=2592000; HttpOnly; Secure"
    signed_in = await ana.login()
    device = cookies_of(signed_in)
    assert list(device) == [DEVICE_COOKIE]
    assert device[DEVICE_COOKIE].partition("; ")[2] == "Path=/; SameSite=Lax; Max-Age=34560000; HttpOnly; Secure"
    assert (await ana.send("GET", "me")).json()["email"] == ana.email, "the browser is signed in"


@pytest.mark.covers("IDN-014")
async def test_signing_out_and_clearing_take_the_cookies_away(house: House):
    ana = await house.a_user()
    await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    for path in ("logout", "clear"):
        answer = await (ana.post(path) if path == "logout" else ana.send("POST", path))
        assert answer.status_code == 200
        taken = cookies_of(answer)
        assert set(taken) == {SESSION_COOKIE, REFRESH_COOKIE, HINT_COOKIE}
        assert all(value_of(header) == "" and "Max-Age=0" in header for header in taken.values())
    assert (await ana.send("GET", "me")).status_code == 401


@pytest.mark.covers("IDN-015")
async def test_a_refresh_token_is_worth_one_rotation_and_its_reuse_ends_the_session(house: House):
    ana = await house.a_user()
    first = ana.tokens
    rotated = (await ana.post("refresh", refreshToken=first["refreshToken"], asCookies=False)).json()["tokens"]
    assert rotated["sessionId"] == first["sessionId"]
    assert {rotated["accessToken"], rotated["refreshToken"]}.isdisjoint({first["accessToken"], first["refreshToken"]})
    assert [(await ana.me(each)).status_code for each in (first, rotated)] == [401, 200]

    slower = await ana.post("refresh", refreshToken=first["refreshToken"])
    assert (slower.status_code, slower.json()["errorCode"]) == (401, "SESSION_JUST_RENEWED")
    assert not cookies_of(slower)
    assert (await ana.me(rotated)).status_code == 200, "two pages that wake up together are no theft"

    with house.later(timedelta(seconds=11)):
        stolen = await house.a_visitor().post("refresh", refreshToken=first["refreshToken"])
    assert (stolen.status_code, stolen.json()["errorCode"]) == (401, "INVALID_SESSION")
    assert (await ana.me(rotated)).status_code == 401, "of thief and owner nobody knows which is which"
    assert (await ana.post("refresh", refreshToken=rotated["refreshToken"])).status_code == 401
    assert "TOKEN_REUSED" in await house.alarms_of(ana.identity)


@pytest.mark.covers("IDN-015")
async def test_of_many_pages_that_rotate_one_token_at_once_one_wins_and_the_session_goes_on(house: House):
    ana = await house.a_user()
    answers = await asyncio.gather(
        *(ana.post("refresh", refreshToken=ana.tokens["refreshToken"], asCookies=False) for _ in range(8))
    )
    won = [answer.json()["tokens"] for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    assert (await ana.me(won[0])).status_code == 200
    assert await house.alarms_of(ana.identity) == []


async def test_a_browser_refreshes_by_its_cookie(house: House):
    ana = await house.a_user()
    await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    before = dict(ana.http.cookies)
    answer = await ana.post("refresh")
    assert answer.json()["identityId"] == ana.tokens["identityId"]
    assert {before[name] for name in (SESSION_COOKIE, REFRESH_COOKIE)}.isdisjoint(
        {value_of(header) for header in cookies_of(answer).values()}
    )
    assert (await house.a_visitor().post("refresh")).json()["errorCode"] == "MISSING_TOKENS"


async def test_a_session_ends_by_itself(house: House):
    ana = await house.a_user()
    with house.later(timedelta(minutes=15)):
        assert (await ana.me()).status_code == 401
        rotated = (await ana.post("refresh", refreshToken=ana.tokens["refreshToken"], asCookies=False)).json()["tokens"]
        assert (await ana.me(rotated)).status_code == 200
    with house.later(timedelta(days=31)):
        assert (await ana.post("refresh", refreshToken=rotated["refreshToken"])).status_code == 401


@pytest.mark.parametrize("token", ["", "x", "access", "refresh_0_" + "0" * 40, "a" * 512, "é", "null"])
async def test_what_is_no_token_refreshes_nothing(house: House, token: str):
    ana = await house.a_user()
    shown = ana.tokens["accessToken"] if token == "access" else token
    answer = await ana.post("refresh", refreshToken=shown)
    assert answer.json()["errorCode"] in ("INVALID_SESSION", "MISSING_TOKENS")
    assert "set-cookie" not in answer.headers
    assert (await ana.me()).status_code == 200, "whatever it was, it was nobody's"


async def test_a_refresh_token_is_no_access_token(house: House):
    ana = await house.a_user()
    assert (await ana.me({"accessToken": ana.tokens["refreshToken"]})).status_code == 401


# -- Other sites


@pytest.mark.covers("IDN-013")
@pytest.mark.parametrize(("method", "path"), POSTS)
@pytest.mark.parametrize(
    "origin", ["https://evil.test", "null", "http://admitone.test", "https://admitone.test.evil.test"]
)
async def test_another_site_can_change_nothing(house: House, method: str, path: str, origin: str):
    stranger = house.a_visitor(origin=None)
    body = example_of(method, path)
    answer = await stranger.send(method, path, {"origin": origin}, json=body)
    assert (answer.status_code, answer.json()["errorCode"]) == (403, "CROSS_SITE_REQUEST")
    assert "set-cookie" not in answer.headers


def example_of(method: str, path: str) -> dict[str, object] | None:
    """A body of the right form."""
    [contract] = [each for each in CONTRACTS if (each.method, each.path) == (method, f"/api/auth/{path}")]
    takes = contract.examples[0].takes
    return msgspec.json.decode(to_json(takes)) if takes is not None else None


@pytest.mark.covers("IDN-013")
async def test_a_cookie_without_a_word_of_where_it_comes_from_proves_nothing(house: House):
    ana = await house.a_user()
    await ana.post("refresh", refreshToken=ana.tokens["refreshToken"])
    await ana.login()
    ana.origin = None
    session, refresh, device = (ana.http.cookies[name] for name in (SESSION_COOKIE, REFRESH_COOKIE, DEVICE_COOKIE))
    ana.http.cookies.clear()
    attempts = [
        ("logout", f"session={session}", {}),
        ("password/change", f"session={session}", {"currentPassword": PASSWORD, "newPassword": ANOTHER_PASSWORD}),
        ("refresh", f"refresh={refresh}", {}),
        ("clear", f"refresh={refresh}", {}),
        ("login", f"device={device}", {"email": ana.email, "password": PASSWORD}),
    ]
    for path, cookie, body in attempts:
        silent = await ana.post(path, {"cookie": cookie}, **body)
        assert (path, silent.status_code, silent.json().get("errorCode")) == (path, 403, "CROSS_SITE_REQUEST")
    patched = await ana.send("PATCH", "me", {"cookie": f"session={session}"}, json={"displayName": "Eva"})
    assert patched.status_code == 403
    ours = {"cookie": f"session={session}", "sec-fetch-site": "same-origin"}
    assert (await ana.send("PATCH", "me", ours, json={"displayName": "Ana"})).status_code == 200
    ours = {"cookie": f"refresh={refresh}", "origin": OUR_ORIGIN}
    assert (await ana.post("refresh", ours)).status_code == 200


@pytest.mark.covers("IDN-013")
async def test_a_bearer_needs_no_origin_and_neither_does_an_app_that_signs_in(house: House):
    app = await house.a_user(origin=None)
    assert (await app.login()).status_code == 200
    app.http.cookies.clear()
    assert (await app.send("PATCH", "me", app.bearer, json={"displayName": "Ana"})).status_code == 200
    assert (await app.post("refresh", refreshToken=app.tokens["refreshToken"], asCookies=False)).status_code == 200


@pytest.mark.covers("IDN-013")
async def test_the_internal_secret_opens_no_door_of_people(house: House):
    secret = house.application.config.get(CRON_SECRET)
    inside = {"x-orya-internal-secret": secret}
    visitor = house.a_visitor(origin=None)
    assert (await visitor.send("GET", "me", inside)).status_code == 401
    assert (await visitor.post("logout", inside)).status_code == 401
    foreign = inside | {"origin": "https://evil.test"}
    assert (await visitor.post("clear", foreign)).status_code == 403
    metrics = await visitor.http.get("/metrics", headers=inside)
    assert metrics.status_code == 200
    assert (await visitor.http.get("/metrics")).status_code == 403


# -- Whose session it is


async def test_cookies_from_before_the_sign_in_are_never_adopted(house: House):
    thief, ana = await house.a_user(), await house.a_user()
    await thief.post("refresh", refreshToken=thief.tokens["refreshToken"])
    planted = dict(thief.http.cookies)

    async def signs_in_over(victim: Visitor) -> dict[str, str]:
        victim.http.cookies.update(planted)
        tokens = await victim.signs_in()
        assert tokens["identityId"] == ana.tokens["identityId"]
        assert not set(planted.values()) & {tokens["accessToken"], tokens["refreshToken"]}
        return tokens

    tokens = await signs_in_over(house.a_visitor(email=ana.email))
    again = await signs_in_over(house.a_visitor(email=ana.email))
    assert tokens["sessionId"] != again["sessionId"]
    refreshed = await ana.post(
        "refresh", {"cookie": f"refresh={planted['refresh']}"}, refreshToken=tokens["refreshToken"]
    )
    assert refreshed.json()["identityId"] == ana.tokens["identityId"], "the token that was named counts"


async def test_two_credentials_that_disagree_are_nobody(house: House):
    ana, eva = await house.a_user(), await house.a_user()
    both = {**ana.bearer, "cookie": f"session={eva.tokens['accessToken']}"}
    assert (await ana.send("GET", "me", both)).status_code in (400, 401, 403)
