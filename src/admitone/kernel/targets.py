"""Where a stranger may send us: to public web servers, and nowhere inside.

Promise: a name or an address that somebody gave us is taken in one notation only (decimal, octal, hexadecimal, short
and encoded forms of an address are refused, not interpreted), and an address is public if it is in no range that IANA
set apart, whichever way it embeds another. The ranges stand here, because Python's own idea of them changes between
versions.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from admitone.kernel.errors import Invalid

PORTS = (80, 443)
"""Of web servers. Others speak other languages, and some take orders in a line of HTTP."""

_SET_APART_4 = [
    IPv4Network(each)
    for each in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # behind a provider's translation
        "127.0.0.0/8",
        "168.63.129.16/32",  # public, but inside a cloud it is that cloud's own keeper
        "169.254.0.0/16",  # link-local, and the metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # to IPv6 by relay
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",  # measurement
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
]
_UNICAST_6 = IPv6Network("2000::/3")
"""Everything else is local, mapped, translated, multicast or not yet given to anybody."""
_SET_APART_6 = [
    IPv6Network(each)
    for each in (
        "2001::/23",  # protocols; Teredo embeds an IPv4 address
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4 embeds an IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",  # documentation
    )
]
_NAME = re.compile(r"(?=.{4,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])\Z")
"""At least two labels, and the last is no number in any notation."""


class TargetForbidden(Invalid):
    """This address cannot be called; give the address of a public web server."""

    code = "TARGET_FORBIDDEN"


def check_target(host: str, port: int) -> None:
    """Refuse what is no public web server by its looks. Where a name leads is another question."""
    if port not in PORTS:
        raise TargetForbidden
    if (address := literal(host)) is not None:
        check_public([address])
    elif not _NAME.match(host):
        raise TargetForbidden


def check_public(addresses: Iterable[str]) -> None:
    """All of them: whoever mixes a private address among public ones means no good."""
    if not all(map(is_public, addresses)):
        raise TargetForbidden


def literal(host: str) -> str | None:
    """The host itself if it is an address in its usual notation."""
    return host if _parsed(host) else None


def is_public(address: str) -> bool:
    match _parsed(address):
        case IPv4Address() as four:
            return not any(four in network for network in _SET_APART_4)
        case IPv6Address() as six:
            return six in _UNICAST_6 and not any(six in network for network in _SET_APART_6)
        case None:
            return False


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(address)
    except ValueError:
        return None
