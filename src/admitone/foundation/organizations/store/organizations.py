"""Organisations and what they agreed to."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.foundation.organizations.errors import OrganizationNotFound
from admitone.foundation.organizations.model import (
    OFFICIAL_LINK_LASTS,
    Accepted,
    Invoicing,
    InvoicingDuty,
    LegalDocument,
    OfficialEmail,
    Organization,
    OrganizationStatus,
    Settings,
)
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import Insert, Lock
from admitone.kernel.words import Language

OPEN_TENANT = "INSERT INTO kernel.tenant (id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING"


INSERT_ORGANIZATION = Insert(
    "organizations.organization",
    {
        "display_name": "text",
        "legal_name": "text",
        "tax_id": "text",
        "tax_country": "text",
        "invoice_prefix": "text",
        "invoice_address": "text[]",
        "invoice_email": "text",
        "default_currency": "text",
        "time_zone": "text",
        "language": "text",
        "home_city": "text",
        "invoicing": "text",
        "invoicing_software": "text",
        "invoicing_notes": "text",
        "invoicing_duties": "text[]",
        "accent_color": "text",
        "status": "text",
        "version": "bigint",
        "created_at": "timestamptz",
    },
    on_conflict="DO NOTHING",
    returning="organization_id",
)


COLUMNS = """organization_id, display_name, legal_name, tax_id, tax_country, invoice_prefix, invoice_address,
           invoice_email, default_currency, time_zone, language, home_city, invoicing, invoicing_software,
           invoicing_notes, invoicing_duties, accent_color, official_email, official_email_verified_at, status,
           version, created_at"""


FIND_ORGANIZATION = f"""
    SELECT {COLUMNS}
      FROM organizations.organization
     WHERE organization_id = $1
"""  # noqa: S608, of constants


LOCK_ORGANIZATION = Lock(
    f"""
    SELECT {COLUMNS}
      FROM organizations.organization
     WHERE organization_id = $1
       AND organization_id = ANY($2::uuid[])
     ORDER BY organization_id
    """,  # noqa: S608, of constants
    key="organization_id",
)


CHANGE_SETTINGS = """
    UPDATE organizations.organization
       SET display_name = $3, legal_name = $4, tax_id = $5, tax_country = $6, invoice_prefix = $7,
           invoice_address = $8, invoice_email = $9, default_currency = $10, time_zone = $11, language = $12,
           home_city = $13, invoicing = $14, invoicing_software = $15, invoicing_notes = $16,
           invoicing_duties = $17, accent_color = $18, version = version + $19
     WHERE organization_id = $1
       AND version = $2
"""


SET_OFFICIAL_EMAIL = """
    UPDATE organizations.organization
       SET official_email = $2, official_email_verified_at = NULL, official_email_digest = $3,
           official_email_asked_at = $4
     WHERE organization_id = $1
"""


LOCK_LINK = Lock(
    """
    SELECT organization_id, official_email_digest, official_email_asked_at
      FROM organizations.organization
     WHERE organization_id = $1
       AND organization_id = ANY($2::uuid[])
     ORDER BY organization_id
    """,
    key="organization_id",
)


VERIFY_OFFICIAL_EMAIL = """
    UPDATE organizations.organization
       SET official_email_verified_at = $3, official_email_digest = NULL, official_email_asked_at = NULL
     WHERE organization_id = $1
       AND official_email_digest = $2
"""


FIND_CARDS = """
    SELECT organization_id, display_name, status, time_zone
      FROM organizations.organization
     WHERE organization_id = ANY($1::uuid[])
"""


ACCEPT = Insert(
    "organizations.acceptance",
    {"document": "text", "document_version": "text", "accepted_by": "uuid", "at": "timestamptz"},
    on_conflict="DO NOTHING",
    returning="document, document_version",
)


FIND_ACCEPTANCES = """
    SELECT document, document_version, accepted_by, at
      FROM organizations.acceptance
     WHERE organization_id = $1
       AND document = ANY($2::text[])
       AND document_version = ANY($3::text[])
"""


LIST_ACCEPTANCES = """
    SELECT document, document_version, accepted_by, at
      FROM organizations.acceptance
     WHERE organization_id = $1
     ORDER BY document, document_version
     LIMIT 200
"""


READ_APART = ("invoice_address", "language", "invoicing", "invoicing_duties")


class NewOrganization(Settings, frozen=True):
    status: OrganizationStatus = OrganizationStatus.ACTIVE
    version: int = 1
    created_at: datetime | None = None


class AcceptanceRow(msgspec.Struct, frozen=True):
    document: LegalDocument
    document_version: str
    accepted_by: UUID
    at: datetime


class Card(msgspec.Struct, frozen=True):
    """What stands over an organisation's door."""

    id: OrganizationId
    display_name: str
    status: OrganizationStatus
    time_zone: str
    """By which its clocks are read."""


async def insert_organization(tx: Tx, settings: Settings) -> bool:
    """Whether it is new."""
    await tx.execute(OPEN_TENANT, tx.now)
    row = NewOrganization(**msgspec.structs.asdict(settings), created_at=tx.now)
    return bool(await tx.insert_many(INSERT_ORGANIZATION, [row]))


async def get_organization(tx: Tx) -> Organization:
    row = await tx.find(FIND_ORGANIZATION)
    if row is None:
        raise OrganizationNotFound
    return _organization(row)


async def lock_organization(tx: Tx, inputs: Sequence[object]) -> Organization:
    """Held until the end: changes of one organisation go one after another."""
    rows = await tx.lock(LOCK_ORGANIZATION, inputs, lambda _: tx.scope.organization.uuid)
    if not rows:
        raise OrganizationNotFound
    return _organization(rows[tx.scope.organization.uuid])


async def change_settings(tx: Tx, before: Organization, settings: Settings, times: int) -> None:
    """The version counts every change, also of those that were written together."""
    values = msgspec.structs.astuple(settings)
    await tx.execute_exactly(1, CHANGE_SETTINGS, before.version, *values, times)


async def set_official_email(tx: Tx, email: str, digest: bytes) -> None:
    await tx.execute_exactly(1, SET_OFFICIAL_EMAIL, email, digest, tx.now)


async def lock_link(tx: Tx, inputs: Sequence[object]) -> bytes | None:
    """The digest of the link that the official address waits for, unless it waits too long already."""
    rows = await tx.lock(LOCK_LINK, inputs, lambda _: tx.scope.organization.uuid)
    row = rows.get(tx.scope.organization.uuid)
    if row is None or row["official_email_digest"] is None:
        return None
    digest: bytes = row["official_email_digest"]
    return digest if row["official_email_asked_at"] > tx.now - OFFICIAL_LINK_LASTS else None


async def verify_official_email(tx: Tx, digest: bytes) -> None:
    await tx.execute_exactly(1, VERIFY_OFFICIAL_EMAIL, digest, tx.now)


async def find_cards(tx: PlatformTx, organizations: Sequence[UUID]) -> dict[UUID, Card]:
    rows = await tx.fetch(FIND_CARDS, organizations)
    return {
        row["organization_id"]: Card(
            OrganizationId(row["organization_id"]),
            row["display_name"],
            OrganizationStatus(row["status"]),
            row["time_zone"],
        )
        for row in rows
    }


async def insert_acceptances(tx: Tx, rows: Sequence[AcceptanceRow]) -> set[tuple[str, str]]:
    """Those that are new."""
    return {(row["document"], row["document_version"]) for row in await tx.insert_many(ACCEPT, rows)}


async def find_acceptances(tx: Tx, rows: Sequence[AcceptanceRow]) -> dict[tuple[LegalDocument, str], Accepted]:
    """Of these documents, in any of these versions."""
    documents, versions = ({row.document for row in rows}, {row.document_version for row in rows})
    found = [_accepted(row) for row in await tx.fetch(FIND_ACCEPTANCES, sorted(documents), sorted(versions))]
    return {(each.document, each.version): each for each in found}


async def list_acceptances(tx: Tx) -> list[Accepted]:
    return [_accepted(row) for row in await tx.fetch(LIST_ACCEPTANCES)]


def _accepted(row: Record) -> Accepted:
    return Accepted(LegalDocument(row["document"]), row["document_version"], IdentityId(row["accepted_by"]), row["at"])


def _organization(row: Record) -> Organization:
    settings = Settings(
        **{field: row[field] for field in Settings.__struct_fields__ if field not in READ_APART},
        invoice_address=tuple(row["invoice_address"]),
        language=Language(row["language"]),
        invoicing=Invoicing(row["invoicing"]) if row["invoicing"] else None,
        invoicing_duties=tuple(map(InvoicingDuty, row["invoicing_duties"])),
    )
    own = OrganizationId(row["organization_id"])
    return Organization(
        own,
        settings,
        OfficialEmail(own, row["official_email"], row["official_email_verified_at"]),
        OrganizationStatus(row["status"]),
        row["version"],
        row["created_at"],
    )
