"""For which organisation a request speaks (ORG-014, ORG-015).

Promise: the organisation comes from the path, the query `organizationId` or the header `x-orya-org-id`, and from
nothing else: no cookie, no `x-org-id`, no body. All that are given must say the same.
"""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from admitone.kernel.contracts.contract import ORGANIZATION_NAME
from admitone.kernel.contracts.incoming import Incoming
from admitone.kernel.contracts.refusals import OrganizationContextAmbiguous, OrganizationContextRequired
from admitone.kernel.ids import InvalidId, OrganizationId

HEADER = b"x-orya-org-id"


def organization_of(incoming: Incoming, in_path: Mapping[str, str]) -> OrganizationId:
    named = _named(incoming, in_path)
    if not named:
        raise OrganizationContextRequired()
    if len(named) > 1:
        raise OrganizationContextAmbiguous()
    try:
        return OrganizationId.parse(named.pop())
    except InvalidId:
        raise OrganizationContextAmbiguous() from None


def _named(incoming: Incoming, in_path: Mapping[str, str]) -> set[str]:
    named = set()
    if ORGANIZATION_NAME in in_path:
        named.add(in_path[ORGANIZATION_NAME])
    if HEADER in incoming.headers:
        # A header that came twice arrives joined by a comma, which no id contains.
        named.add(incoming.headers[HEADER].decode("latin-1"))
    if ORGANIZATION_NAME.encode() in incoming.query or b"%" in incoming.query:
        pairs = parse_qsl(incoming.query.decode("latin-1"), keep_blank_values=True)
        named.update(value for name, value in pairs if name == ORGANIZATION_NAME)
    return named
