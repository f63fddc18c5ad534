"""The public profile, where its organisation lays it out.

Promise: whoever looks sees the version that counts, and of every block whether strangers see it, or why not. Who saw an
older one changes nothing.
"""

from collections.abc import Iterable
from typing import Annotated, Final

from msgspec import Meta, field

from admitone.foundation.organizations.commands.profile import change_profile
from admitone.foundation.organizations.errors import OrganizationNotFound, ProfileOvertaken
from admitone.foundation.organizations.layout import (
    ALWAYS,
    BlockStanding,
    Layout,
    LayoutChange,
    LayoutVersion,
    ProfileBlock,
    Question,
)
from admitone.foundation.organizations.queries import find_profile
from admitone.foundation.organizations.routes.wires import SETTINGS_R, SETTINGS_RW, THEN
from admitone.kernel.contracts import Audience, Call, Contract, Example, Instant, Wire

# On one line, and not empty.
ONE_LINE: Final = r"^(?=.*\S)[^\x00-\x1f\x7f]+$(?!\n)"
Tagline = Annotated[str, Meta(max_length=140, pattern=ONE_LINE)]
About = Annotated[str, Meta(max_length=3000, pattern=r"\S")]
Asked = Annotated[str, Meta(max_length=160, pattern=ONE_LINE)]
Answered = Annotated[str, Meta(max_length=800, pattern=r"\S")]
# Our own pages link there: nobody is sent to a script, or to a host behind the name of another.
Website = Annotated[
    str,
    Meta(max_length=200, pattern=r"^https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]{1,5})?([/?#][!-~]*)?$(?!\n)"),
]
Phone = Annotated[str, Meta(max_length=30, pattern=r"^\+?[0-9][0-9 ().-]{3,27}[0-9]$(?!\n)")]
AddressOnOneLine = Annotated[str, Meta(max_length=160, pattern=ONE_LINE)]
MOST_QUESTIONS: Final = 12
EVERY: Final = [*ProfileBlock]


class QuestionWire(Wire):
    question: Asked
    answer: Answered

    @classmethod
    def of(cls, faq: Iterable[Question]) -> "list[QuestionWire]":
        return [cls(question=each.question, answer=each.answer) for each in faq]


class LayoutWire(Wire):
    """Which blocks are wanted, and what is said in them. What is sold fills its own."""

    blocks: Annotated[list[ProfileBlock], Meta(max_length=len(ProfileBlock))] = field(default_factory=EVERY.copy)
    """Asked for in whatever order: profiles have theirs. The hero is always among them."""
    tagline: Tagline | None = None
    about: About | None = None
    """Plain text; an empty line ends a paragraph."""
    faq: Annotated[list[QuestionWire], Meta(max_length=MOST_QUESTIONS)] = []  # noqa: RUF012, msgspec copies it
    website: Website | None = None
    phone: Phone | None = None
    address: AddressOnOneLine | None = None

    def layout(self) -> Layout:
        return Layout(
            ALWAYS.union(self.blocks),
            self.tagline,
            self.about,
            tuple(Question(each.question, each.answer) for each in self.faq),
            self.website,
            self.phone,
            self.address,
        )

    @classmethod
    def of(cls, layout: Layout) -> "LayoutWire":
        return cls(
            blocks=[block for block in ProfileBlock if block in layout.blocks],
            tagline=layout.tagline,
            about=layout.about,
            faq=QuestionWire.of(layout.faq),
            website=layout.website,
            phone=layout.phone,
            address=layout.address,
        )


class LayoutAnswer(Wire):
    version: int
    """0 before anything was said."""
    layout: LayoutWire
    changed_at: Instant | None

    @classmethod
    def of(cls, version: LayoutVersion) -> "LayoutAnswer":
        return cls(version=version.version, layout=LayoutWire.of(version.layout), changed_at=version.changed_at)


class BlockAnswer(Wire):
    block: ProfileBlock
    standing: BlockStanding


class SeenLayoutAnswer(Wire):
    latest: LayoutAnswer
    blocks: list[BlockAnswer]
    """All that there are, in their order."""


A_LAYOUT: Final = LayoutWire(
    blocks=[ProfileBlock.HERO, ProfileBlock.ABOUT, ProfileBlock.FAQ, ProfileBlock.CONTACT],
    tagline="Music by the river since 1987.",
    about="A club of three rooms and one balcony.\n\nOpen from Thursday to Sunday.",
    faq=[QuestionWire(question="Is there a cloakroom?", answer="Yes, beside the entrance.")],
    website="https://clube.example/",
    phone="+351 220 000 000",
    address="Rua das Flores 1, 4050-262 Porto",
)
WRITTEN: Final = LayoutAnswer(version=3, layout=A_LAYOUT, changed_at=THEN)


class LayoutRequest(Wire):
    layout: LayoutWire
    version: Annotated[int, Meta(ge=0, le=2**31 - 2)]
    """As it was seen: who changed it meanwhile is not overwritten."""


see = Contract(
    id="ORG.PROFILE.LAYOUT",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="What an organisation's public profile shows, and why not the rest.",
    get="/api/org/{organizationId}/profile",
    gives=SeenLayoutAnswer,
    refuses=(OrganizationNotFound,),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_R,
    order_key="none",
    examples=(
        Example(
            "club",
            gives=SeenLayoutAnswer(
                latest=WRITTEN, blocks=[BlockAnswer(block=ProfileBlock.STORE, standing=BlockStanding.NOT_CHOSEN)]
            ),
        ),
    ),
)


@see.serves
async def see_layout(call: Call) -> SeenLayoutAnswer:
    seen = await call.read(find_profile)
    standings = [BlockAnswer(block=block, standing=standing) for block, standing in seen.standings.items()]
    return SeenLayoutAnswer(latest=LayoutAnswer.of(seen.latest), blocks=standings)


change = Contract(
    id="ORG.PROFILE.CHANGE",
    version="1.0.0",
    owner="organizations",
    consumers=("web", "mobile"),
    summary="Lay out an organisation's public profile anew. Every version is kept.",
    put="/api/org/{organizationId}/profile",
    takes=LayoutRequest,
    gives=LayoutAnswer,
    refuses=(OrganizationNotFound, ProfileOvertaken),
    audience=Audience.ORGANIZATION,
    permission=SETTINGS_RW,
    repeats="the same again is no version of its own",
    order_key="organizationId",
    examples=(Example("changed", takes=LayoutRequest(layout=A_LAYOUT, version=2), gives=WRITTEN),),
)


@change.serves
async def lay_out(call: Call, request: LayoutRequest) -> LayoutAnswer:
    wanted = LayoutChange(call.caller, request.version, request.layout.layout())
    return LayoutAnswer.of(await call.batch(change_profile, wanted))


CONTRACTS: Final = (see, change)
