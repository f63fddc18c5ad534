"""What strangers may know of an organisation: its name, what it does and says of itself, how to write to it.

Promise (ORG-002): everybody sees the same, its owner too. Where it is written to is the official address, once it is
proved that somebody reads it there. Blocks are those that are shown, in their order (SRC-023, ORG-013). One that is
suspended or closed is not there.
"""

from typing import Final

from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.organizations.errors import OrganizationNotFound
from admitone.foundation.organizations.layout import BlockStanding, ProfileBlock, primary_of, told_of
from admitone.foundation.organizations.model import OrganizationStatus
from admitone.foundation.organizations.queries import Profile, find_profile
from admitone.foundation.organizations.routes.layout import A_LAYOUT, QuestionWire
from admitone.foundation.organizations.routes.wires import SOME
from admitone.kernel.contracts import Audience, Call, Contract, Example, Wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from admitone.kernel.words import Language

FOR_A_MOMENT: Final = "public, max-age=5"


class ProfileRequest(Wire):
    organization_id: OrganizationId


class ProfileAnswer(Wire):
    organization_id: OrganizationId
    username: str | None
    display_name: str
    legal_name: str | None
    country: str | None
    """Where it pays its taxes."""
    time_zone: str
    language: Language
    contact_email: str | None
    modules: list[OrganizationModule]
    """Those that are on (ORG-013)."""
    accent_color: str | None
    """As in #8a1c4a; none, for ours."""
    blocks: list[ProfileBlock]
    """Those that its profile shows, in the order in which it shows them. What the others would say is left out."""
    empty_blocks: list[ProfileBlock]
    """Those that are wanted, and whose module is on, and in which there is nothing at the moment."""
    primary_block: ProfileBlock | None
    """Where the first button leads."""
    tagline: str | None
    about: str | None
    """Plain text; an empty line ends a paragraph."""
    faq: list[QuestionWire]
    website: str | None
    phone: str | None
    address: str | None

    @classmethod
    def of(cls, seen: Profile) -> "ProfileAnswer":
        settings, official = seen.organization.settings, seen.organization.official
        shown = seen.that_are(BlockStanding.SHOWN)
        told = told_of(seen.latest.layout, shown)
        return cls(
            organization_id=seen.organization.id,
            username=seen.username,
            display_name=settings.display_name,
            legal_name=settings.legal_name,
            country=settings.tax_country,
            time_zone=settings.time_zone,
            language=settings.language,
            contact_email=official.email if official.verified_at else None,
            modules=list(seen.modules),
            accent_color=settings.accent_color,
            blocks=shown,
            empty_blocks=seen.that_are(BlockStanding.EMPTY),
            primary_block=primary_of(shown),
            tagline=told.tagline,
            about=told.about,
            faq=QuestionWire.of(told.faq),
            website=told.website,
            phone=told.phone,
            address=told.address,
        )


profile = Contract(
    id="ORG.PROFILE",
    version="1.1.0",
    owner="organizations",
    consumers=("web", "mobile", "everybody"),
    summary="An organisation as strangers see it.",
    get="/api/organizations/{organizationId}/profile",
    takes=ProfileRequest,
    gives=ProfileAnswer,
    refuses=(OrganizationNotFound,),
    audience=Audience.PUBLIC,
    cache=FOR_A_MOMENT,
    conditional=True,
    order_key="none",
    examples=(
        Example(
            "A club",
            takes=ProfileRequest(organization_id=SOME),
            gives=ProfileAnswer(
                organization_id=SOME,
                username="clube.porto",
                display_name="Clube do Porto",
                legal_name="Clube do Porto, Lda.",
                country="PT",
                time_zone="Europe/Lisbon",
                language=Language.PORTUGUESE,
                contact_email="geral@clube.example",
                modules=[OrganizationModule.EVENTOS],
                accent_color="#8a1c4a",
                blocks=[ProfileBlock.HERO, ProfileBlock.ABOUT, ProfileBlock.FAQ, ProfileBlock.CONTACT],
                empty_blocks=[ProfileBlock.EVENTS_AGENDA],
                primary_block=ProfileBlock.CONTACT,
                tagline=A_LAYOUT.tagline,
                about=A_LAYOUT.about,
                faq=A_LAYOUT.faq,
                website=A_LAYOUT.website,
                phone=A_LAYOUT.phone,
                address=A_LAYOUT.address,
            ),
        ),
        Example("None", takes=ProfileRequest(organization_id=SOME), refuses=OrganizationNotFound()),
    ),
)


@profile.serves
async def see_profile(call: Call, request: ProfileRequest) -> ProfileAnswer:
    seen = await call.read(find_profile, scope=Scope(request.organization_id, "show who it is"))
    if seen.organization.status is not OrganizationStatus.ACTIVE:
        raise OrganizationNotFound
    return ProfileAnswer.of(seen)


CONTRACTS: Final = (profile,)
