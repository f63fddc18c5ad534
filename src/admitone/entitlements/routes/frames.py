"""What a telephone's camera sees, for browsers that cannot read QR codes themselves.

Promise: the answer is the text of the code and says nothing about it; whether it lets in is asked as always. Nothing
that was sent is kept.
"""

from typing import Final

from admitone.entitlements.camera import EYES
from admitone.entitlements.errors import NoPicture, PictureTooLarge
from admitone.entitlements.routes.doors import contract
from admitone.kernel.contracts import Call, Example, Reads, Wire
from admitone.kernel.contracts.contract import NOTHING_WRITTEN
from admitone.kernel.limits import Limit, Per

MOST_BYTES: Final = 200_000
FRAMES_PER_DEVICE: Final = Limit("checkin.frames_per_device", 300, 60, Per.DEVICE)
"""Five a second: as many as one telephone sends that waits for each answer."""
FRAMES_PER_ORGANIZATION: Final = Limit("checkin.frames_per_organization", 3_000, 60, Per.ORGANIZATION)
"""Ten such telephones: what a device is called is its own word, and two processors look for everybody."""


class FrameAnswer(Wire):
    text: str | None
    """None: there is no QR code to be seen."""


read_frame = contract(
    "C03.FRAME",
    "Read the QR code in a picture (JPEG, at most 200 kB) that a camera took.",
    post="/api/org/{organizationId}/checkin/frames",
    consumers=("web",),
    reads=Reads.RAW,
    max_body_bytes=MOST_BYTES,
    gives=FrameAnswer,
    refuses=(NoPicture, PictureTooLarge),
    limits=(FRAMES_PER_DEVICE, FRAMES_PER_ORGANIZATION),
    repeats=NOTHING_WRITTEN,
    order_key="none",
    examples=(Example("A dark door", gives=FrameAnswer(text=None)),),
)


@read_frame.serves
async def see(call: Call) -> FrameAnswer:
    return FrameAnswer(text=await EYES.read(call.body))


CONTRACTS: Final = (read_frame,)
LIMITS: Final = (FRAMES_PER_DEVICE, FRAMES_PER_ORGANIZATION)
