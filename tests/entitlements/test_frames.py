"""Pictures of a camera: what is read in them, what is refused before it is unpacked, and by whom they may be sent."""

import asyncio
import io

import httpx
import pytest
import segno
from PIL import Image

from admitone.entitlements import camera
from admitone.entitlements.camera import MOST_PIXELS, Eyes
from admitone.foundation.authority.api import MemberRole
from admitone.kernel.db import Database
from admitone.kernel.errors import Unavailable
from tests.entitlements.rights import Hall, a_hall
from tests.people import a_member

CODE = "A1:" + "A2" * 16


def a_picture(
    text: str | None = CODE, size: tuple[int, int] = (640, 480), kind: str = "JPEG", *, layered: bool = False
) -> bytes:
    """As a telephone takes it: grey around, the code somewhere in it."""
    picture = Image.new("RGB", size, (90, 90, 90))
    if text:
        drawn = io.BytesIO()
        segno.make_qr(text, error="m").save(drawn, kind="png", scale=6, border=4)
        picture.paste(Image.open(drawn).convert("RGB"), (120, 80))
    taken = io.BytesIO()
    picture.save(taken, kind, quality=70, progressive=layered)
    return taken.getvalue()


def a_bomb(width: int, height: int) -> bytes:
    """A few hundred bytes that say they are that large."""
    small = a_picture(None, (16, 16))
    at = small.index(b"\xff\xc0") + 5
    return small[:at] + height.to_bytes(2) + width.to_bytes(2) + small[at + 4 :]


async def send(site: httpx.AsyncClient, hall: Hall, picture: bytes, headers: dict[str, str] | None = None):
    path = f"/api/org/{hall.organization}/checkin/frames"
    return await site.post(path, content=picture, headers=hall.staff.headers | (headers or {}))


async def test_the_code_in_a_picture_is_read_and_nothing_is_said_about_it(hall: Hall, site: httpx.AsyncClient):
    assert (await send(site, hall, a_picture())).json() == {"text": CODE}
    assert (await send(site, hall, a_picture(None))).json() == {"text": None}
    assert (await send(site, hall, a_picture("https://somewhere.example/" + "x" * 60))).json() == {"text": None}


@pytest.mark.parametrize(
    ("picture", "status", "code"),
    [
        (b"", 422, "NOT_A_PICTURE"),
        (b"not a picture", 422, "NOT_A_PICTURE"),
        (a_picture()[:900], 422, "NOT_A_PICTURE"),
        (a_picture(kind="PNG"), 422, "NOT_A_PICTURE"),
        (a_picture(layered=True), 422, "NOT_A_PICTURE"),
        (a_picture(None, (1400, 1000)), 422, "PICTURE_TOO_LARGE"),
        (a_bomb(60_000, 60_000), 422, "PICTURE_TOO_LARGE"),
        (a_bomb(11_000, 11_000), 422, "PICTURE_TOO_LARGE"),
        (b"\xff" * 200_001, 413, "REQUEST_TOO_LARGE"),
    ],
    ids=["nothing", "text", "half", "png", "layers", "large", "bomb", "smaller-bomb", "heavy"],
)
async def test_what_is_no_frame_is_refused(hall: Hall, site: httpx.AsyncClient, picture: bytes, status: int, code: str):
    answer = await send(site, hall, picture)
    assert (answer.status_code, answer.json()["errorCode"]) == (status, code)


def test_what_is_refused_for_its_size_was_not_unpacked(monkeypatch: pytest.MonkeyPatch):
    def never(*_: object) -> None:
        raise AssertionError("it was unpacked")

    monkeypatch.setattr(camera.Image.Image, "convert", never)
    with pytest.raises(camera.PictureTooLarge):
        camera.text_in(a_bomb(4000, MOST_PIXELS // 4000 + 1))


async def test_only_whoever_may_let_in_sends_frames(hall: Hall, site: httpx.AsyncClient, database: Database, batcher):
    viewer = await a_member(database, hall.organization, MemberRole.VIEWER)
    others = await a_hall(database, batcher)
    assert (await send(site, hall, a_picture(), viewer.headers)).status_code == 403
    assert (await send(site, hall, a_picture(), others.staff.headers)).status_code in (403, 404)
    path = f"/api/org/{hall.organization}/checkin/frames"
    assert (await site.post(path, content=a_picture())).status_code == 401


async def test_a_device_sends_so_many_in_a_minute(hall: Hall, site: httpx.AsyncClient):
    device = {"x-device-id": f"north-{hall.organization.uuid.hex[:8]}"}
    answers = [await send(site, hall, b"", device) for _ in range(301)]
    assert {each.status_code for each in answers[:300]} == {422}
    assert answers[300].status_code == 429
    assert (await send(site, hall, b"", {"x-device-id": "another"})).status_code == 422


async def test_whoever_would_wait_long_is_told_to_come_again():
    eyes = Eyes(most_waiting=1)
    first = asyncio.create_task(eyes.read(a_picture()))
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await eyes.read(a_picture())
    assert await first == CODE
    assert await eyes.read(a_picture()) == CODE


async def test_a_scanner_knows_whether_it_may_let_in(hall: Hall, site: httpx.AsyncClient, database: Database):
    path = f"/api/org/{hall.organization}/checkin/events/evt-1/scanner"
    said = await site.get(path, headers=hall.staff.headers | {"x-device-id": "north-1"})
    assert said.json() == {"deviceId": "north-1", "closed": False}
    viewer = await a_member(database, hall.organization, MemberRole.VIEWER)
    assert (await site.get(path, headers=viewer.headers)).status_code == 403
