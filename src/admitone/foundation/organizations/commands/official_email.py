"""The official e-mail: named by whoever may change the settings, proved by whoever reads what is sent there."""

from collections.abc import Sequence
from dataclasses import replace

from admitone.foundation.mail import api as mail
from admitone.foundation.mail.api import Letter, Template
from admitone.foundation.organizations.errors import OfficialLinkInvalid
from admitone.foundation.organizations.facts import OfficialEmailVerified
from admitone.foundation.organizations.model import OfficialEmail, OfficialEmailChange, OfficialEmailProof
from admitone.foundation.organizations.policy import settings_url
from admitone.foundation.organizations.store import organizations as store
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.crypto import new_secret, same
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId

LINK = "official"
"""The kind of the secret that is mailed."""


@command()
async def set_official_email(tx: Tx, changes: Sequence[OfficialEmailChange]) -> list[OfficialEmail | Refusal]:
    """Another address is not verified, the same one stays as it is; of those that come together the last stays."""
    organization = await store.lock_organization(tx, changes)
    last = changes[-1]
    if organization.official.email == last.email and organization.official.verified_at:
        return [organization.official for _ in changes]
    link = new_secret(LINK, organization.id)
    official = OfficialEmail(organization.id, last.email)
    await store.set_official_email(tx, last.email, link.digest)
    await audit.record(tx, [_entry(change, organization.official) for change in changes])
    values = {
        "organization": organization.settings.display_name,
        "link": f"{settings_url(official)}#{link.text}",
    }
    language = organization.settings.language
    letters = [Letter(last.caller, last.email, Template.VERIFY_OFFICIAL_EMAIL, language, values)]
    if former := _proved(organization.official):
        said = {"organization": organization.settings.display_name}
        letters.append(Letter(last.caller, former, Template.OFFICIAL_EMAIL_CHANGED, language, said))
    await mail.post(tx, letters)
    return [official for _ in changes]


def _proved(official: OfficialEmail) -> str | None:
    """Whoever reads the address that counted hears of its end; one that was never proved may be a stranger's."""
    return official.email if official.verified_at else None


def _entry(change: OfficialEmailChange, before: OfficialEmail) -> audit.Entry:
    """That it changed, and not to what."""
    was = {"verified": before.verified_at is not None, "named": before.email is not None}
    then = {"verified": False, "named": True}
    return audit.Entry(
        change.caller,
        "organization.set_official_email",
        str(before.organization),
        change.reason_code,
        before=was,
        after=then,
    )


@command()
async def verify_official_email(tx: Tx, proofs: Sequence[OfficialEmailProof]) -> list[OrganizationId | Refusal]:
    """A link counts once, for the address to which it was sent, for as long as that is the official one."""
    waiting = await store.lock_link(tx, proofs)
    first = next((each for each in proofs if waiting is not None and same(each.digest, waiting)), None)
    if first is None:
        return [OfficialLinkInvalid() for _ in proofs]
    own = tx.scope.organization
    await store.verify_official_email(tx, first.digest)
    entry = audit.Entry(
        first.caller,
        "organization.verify_official_email",
        str(own),
        before={"verified": False},
        after={"verified": True},
    )
    await audit.record(tx, [entry])
    tx.publish(first.caller, OfficialEmailVerified(organization_id=own))
    return [own if each is first else OfficialLinkInvalid() for each in proofs]


@command()
async def vouch_for_official_email(tx: Tx, changes: Sequence[OfficialEmailChange]) -> list[OfficialEmail | Refusal]:
    """Whoever has the keys of the house knows whose an address is: it counts at once, and nobody is written to. Of
    those that come together the last stays; one that counts already stays as it is."""
    organization = await store.lock_organization(tx, changes)
    last = changes[-1]
    if organization.official.email == last.email and organization.official.verified_at:
        return [organization.official for _ in changes]
    link = new_secret(LINK, organization.id)
    await store.set_official_email(tx, last.email, link.digest)
    await store.verify_official_email(tx, link.digest)
    after = {"verified": True, "named": True}
    entries = [replace(_entry(each, organization.official), after=after) for each in changes]
    await audit.record(tx, entries)
    tx.publish(last.caller, OfficialEmailVerified(organization_id=organization.id))
    return [OfficialEmail(organization.id, last.email, tx.now) for _ in changes]
