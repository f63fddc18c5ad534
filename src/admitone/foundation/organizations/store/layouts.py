"""The versions of public profiles."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.foundation.organizations.layout import Layout, LayoutVersion, ProfileBlock, Question
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert

INSERT_LAYOUTS = Insert(
    "organizations.profile_layout",
    {
        "version": "integer",
        "blocks": "text[]",
        "tagline": "text",
        "about": "text",
        "questions": "text[]",
        "answers": "text[]",
        "website": "text",
        "phone": "text",
        "address": "text",
        "changed_by": "uuid",
        "changed_at": "timestamptz",
    },
)


FIND_LAYOUT = """
    SELECT version, blocks, tagline, about, questions, answers, website, phone, address, changed_by, changed_at
      FROM organizations.profile_layout
     WHERE organization_id = $1
     ORDER BY version DESC
     LIMIT 1
"""


class LayoutRow(msgspec.Struct, frozen=True):
    version: int
    blocks: list[ProfileBlock]
    tagline: str | None
    about: str | None
    questions: list[str]
    answers: list[str]
    website: str | None
    phone: str | None
    address: str | None
    changed_by: UUID | None
    changed_at: datetime | None


async def insert_layouts(tx: Tx, versions: Sequence[LayoutVersion]) -> None:
    """Two who write the same version: the second fails."""
    await tx.insert_many(INSERT_LAYOUTS, [_row(each) for each in versions])


async def find_layout(tx: Tx) -> LayoutVersion:
    """The one that counts."""
    row = await tx.find(FIND_LAYOUT)
    return _version(row) if row else LayoutVersion()


def _row(each: LayoutVersion) -> LayoutRow:
    layout = each.layout
    return LayoutRow(
        each.version,
        [block for block in ProfileBlock if block in layout.blocks],
        layout.tagline,
        layout.about,
        [entry.question for entry in layout.faq],
        [entry.answer for entry in layout.faq],
        layout.website,
        layout.phone,
        layout.address,
        each.changed_by.uuid if each.changed_by else None,
        each.changed_at,
    )


def _version(row: Record) -> LayoutVersion:
    layout = Layout(
        frozenset(map(ProfileBlock, row["blocks"])),
        row["tagline"],
        row["about"],
        tuple(Question(*pair) for pair in zip(row["questions"], row["answers"], strict=True)),
        row["website"],
        row["phone"],
        row["address"],
    )
    changed_by = IdentityId(row["changed_by"]) if row["changed_by"] else None
    return LayoutVersion(row["version"], layout, changed_by, row["changed_at"])
