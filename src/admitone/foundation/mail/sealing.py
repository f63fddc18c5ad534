"""Letters in an envelope: whom one is for and what it says, readable by us alone and in its own row only."""

import msgspec

from admitone.foundation.mail.model import Content, LetterId
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.ids import OrganizationId


def sealed(content: Content, organization: OrganizationId, letter: LetterId) -> bytes:
    return KEYRING().seal(msgspec.json.encode(content), _place(organization, letter))


def opened(envelope: bytes, organization: OrganizationId, letter: LetterId) -> Content:
    return msgspec.json.decode(KEYRING().open(envelope, _place(organization, letter)), type=Content)


def _place(organization: OrganizationId, letter: LetterId) -> Place:
    return Place("mail.letter", "sealed", organization.uuid, letter.uuid)
