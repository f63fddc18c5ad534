"""Words that several contracts of organisations share, and examples to show them with."""

from datetime import UTC, datetime
from typing import Annotated, Final

from msgspec import Meta

from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.identity.api import email_hashes, normalise_email
from admitone.foundation.organizations.model import Invoicing, InvoicingDuty, Organization, OrganizationStatus, Settings
from admitone.kernel.clock import zone
from admitone.kernel.contracts import Call, Instant, Wire
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.limits import Hit, Limit, Per
from admitone.kernel.scope import GLOBAL
from admitone.kernel.words import Language

SETTINGS_R, SETTINGS_RW = "SETTINGS_R", "SETTINGS_RW"
PLATFORM_AUDIT_R = "PLATFORM_AUDIT_R"
TEAM_R, TEAM_RW = "TEAM_R", "TEAM_RW"

# Python's $ also matches before a line break at the end, which the columns do not take.
DisplayName = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\S")]
LegalName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
TaxId = Annotated[str, Meta(min_length=2, max_length=40, pattern=r"^[A-Z0-9][A-Z0-9 ./-]*$(?!\n)")]
Country = Annotated[str, Meta(pattern=r"^[A-Z]{2}$(?!\n)", max_length=2)]
InvoicePrefix = Annotated[str, Meta(pattern=r"^[A-Z0-9]{1,10}$(?!\n)", max_length=10)]
AddressLine = Annotated[str, Meta(min_length=1, max_length=120)]
Email = Annotated[str, Meta(min_length=3, max_length=254)]
Currency = Annotated[str, Meta(pattern=r"^[A-Z]{3}$(?!\n)", max_length=3)]
ZoneName = Annotated[str, Meta(min_length=1, max_length=64)]
City = Annotated[str, Meta(pattern=r"^[A-Z]{3,8}$(?!\n)", max_length=8)]
SoftwareName = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\S")]
InvoicingNotes = Annotated[str, Meta(min_length=1, max_length=1000)]
AccentColor = Annotated[str, Meta(pattern=r"^#[0-9a-f]{6}$(?!\n)", max_length=7)]
Modules = Annotated[frozenset[OrganizationModule], Meta(max_length=8)]

SOME: Final = OrganizationId.parse("org_0198c9a40000700080000000000000aa")
SOMEBODY: Final = IdentityId.parse("idn_0198c9a40000700080000000000000ab")
THEN: Final = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)


class SettingsWire(Wire):
    """Who the organisation is, for people, for the law and on invoices."""

    display_name: DisplayName
    legal_name: LegalName | None = None
    tax_id: TaxId | None = None
    tax_country: Country | None = None
    invoice_prefix: InvoicePrefix | None = None
    invoice_address: Annotated[list[AddressLine], Meta(max_length=6)] = []  # noqa: RUF012, msgspec copies it
    invoice_email: Email | None = None
    default_currency: Currency = "EUR"
    time_zone: ZoneName = "Europe/Lisbon"
    language: Language = Language.PORTUGUESE
    home_city: City = GLOBAL
    invoicing: Invoicing | None = None
    """How it invoices its customers: needed before it takes payments, and never left out again (FIN-008)."""
    invoicing_software: SoftwareName | None = None
    invoicing_notes: InvoicingNotes | None = None
    invoicing_duties: Annotated[list[InvoicingDuty], Meta(max_length=8)] = []  # noqa: RUF012, msgspec copies it
    accent_color: AccentColor | None = None
    """Of the pages where it sells, which show it darker or lighter where it could not be read; left out, ours."""

    def settings(self) -> Settings:
        zone(self.time_zone)
        return Settings(
            self.display_name,
            self.legal_name,
            self.tax_id,
            self.tax_country,
            self.invoice_prefix,
            tuple(self.invoice_address),
            normalise_email(self.invoice_email) if self.invoice_email else None,
            self.default_currency,
            self.time_zone,
            self.language,
            self.home_city,
            self.invoicing,
            self.invoicing_software,
            self.invoicing_notes,
            tuple(sorted(set(self.invoicing_duties))),
            self.accent_color,
        )

    @classmethod
    def of(cls, settings: Settings) -> "SettingsWire":
        return cls(
            display_name=settings.display_name,
            legal_name=settings.legal_name,
            tax_id=settings.tax_id,
            tax_country=settings.tax_country,
            invoice_prefix=settings.invoice_prefix,
            invoice_address=list(settings.invoice_address),
            invoice_email=settings.invoice_email,
            default_currency=settings.default_currency,
            time_zone=settings.time_zone,
            language=settings.language,
            home_city=settings.home_city,
            invoicing=settings.invoicing,
            invoicing_software=settings.invoicing_software,
            invoicing_notes=settings.invoicing_notes,
            invoicing_duties=list(settings.invoicing_duties),
            accent_color=settings.accent_color,
        )


class OrganizationAnswer(Wire):
    id: OrganizationId
    settings: SettingsWire
    official_email: str | None
    official_email_verified_at: Instant | None
    status: OrganizationStatus
    version: int
    created_at: Instant

    @classmethod
    def of(cls, organization: Organization) -> "OrganizationAnswer":
        return cls(
            id=organization.id,
            settings=SettingsWire.of(organization.settings),
            official_email=organization.official.email,
            official_email_verified_at=organization.official.verified_at,
            status=organization.status,
            version=organization.version,
            created_at=organization.created_at,
        )


CLUB: Final = SettingsWire(
    display_name="Clube do Porto",
    legal_name="Clube do Porto, Lda.",
    tax_id="501234567",
    tax_country="PT",
    invoice_prefix="CP26",
    invoice_address=["Rua das Flores 1", "4050-262 Porto"],
    invoice_email="contas@clube.example",
    home_city="PORTO",
    invoicing=Invoicing.EXTERNAL,
    invoicing_software="Certified Invoices 4",
    accent_color="#8a1c4a",
)
SHOWN: Final = OrganizationAnswer(
    id=SOME,
    settings=CLUB,
    official_email="geral@clube.example",
    official_email_verified_at=THEN,
    status=OrganizationStatus.ACTIVE,
    version=3,
    created_at=THEN,
)


LETTERS_PER_RECIPIENT_HERE: Final = Limit("organizations.letters_per_recipient_here", 3, 86_400, Per.REQUEST)
LETTERS_PER_RECIPIENT: Final = Limit("organizations.letters_per_recipient", 10, 86_400, Per.REQUEST)
"""Of all organisations together: anybody can found one, and whoever is written to has asked none of them."""


async def count_letter(call: Call, email: str) -> None:
    """Before a letter goes to an address that somebody else has typed. What one organisation was refused does not count
    against the others."""
    recipient = email_hashes(email)[0].digest.hex()
    await call.count(Hit(LETTERS_PER_RECIPIENT_HERE, f"{here(call)}:{recipient}"))
    await call.count(Hit(LETTERS_PER_RECIPIENT, recipient))


def here(call: Call) -> OrganizationId:
    assert call.organization is not None
    return call.organization


def me(call: Call) -> IdentityId:
    assert call.identity is not None
    return call.identity
