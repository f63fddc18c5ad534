"""Addresses that users give us lead to public web servers, and nowhere inside, however they are written."""

import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import httpcore
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers, Dependency
from admitone.kernel.outbound import Answer, Names, NotSent, Outbound, Outcome, Request
from admitone.kernel.targets import TargetForbidden, check_target, is_public
from admitone.kernel.telemetry import Metrics
from tests.builders import a_caller
from tests.peer import Peer, a_peer

WEBHOOKS = Dependency("webhooks")
PUBLIC = "93.184.215.14"
"""Nobody is called there: the wire of these tests ends at the peer, whatever address it is asked for."""

TLS = ssl.create_default_context()

INSIDE = [
    *("127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200"),
    *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.1.1", "168.63.129.16", "192.0.0.192"),
    *("198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.0.2.1", "203.0.113.7"),
]
INSIDE_6 = [
    *("::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1", "100::1"),
    *(
        "::ffff:0:127.0.0.1",
        "64:ff9b:1::a00:1",
        "2001::1",
        "2001:10::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "4000::1",
    ),
    *("2620:4f:8000::1", "::127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::808:808"),
]


def embedded(four: IPv4Address) -> Iterator[str]:
    """The ways in which an address of version 6 carries one of version 4."""
    high, low = int(four) >> 16, int(four) & 0xFFFF
    yield f"::ffff:{four}"
    yield f"::ffff:{high:x}:{low:x}"
    yield f"0:0:0:0:0:ffff:{four}"
    yield f"::{four}"
    yield f"64:ff9b::{four}"
    yield f"2002:{high:x}:{low:x}::1"
    yield str(IPv6Address((0x20010000 << 96) | (0x5DB8D70E << 64) | (~int(four) & 0xFFFFFFFF)))  # Teredo


def notations(four: IPv4Address) -> Iterator[str]:
    """The ways in which a host is written that some resolver or other reads as this address."""
    a, b, c, d = four.packed
    number = int(four)
    yield str(four)
    yield str(number)
    yield hex(number)
    yield f"0{number:o}"
    yield f"0X{number:X}"
    yield f"{a:#x}.{b:#x}.{c:#x}.{d:#x}"
    yield f"0{a:o}.0{b:o}.0{c:o}.0{d:o}"
    yield f"{a:#x}.{b}.0{c:o}.{d}"
    yield f"{a}.{(b << 16) | (c << 8) | d}"
    yield f"{a}.{b}.{(c << 8) | d}"
    yield f"{a:03}.{b:03}.{c:03}.{d:03}"
    yield f"{four}."
    yield f"{a}%2e{b}%2e{c}%2e{d}"
    yield f"{a}。{b}。{c}。{d}"
    yield "".join(chr(0xFF10 + int(digit)) if digit.isdigit() else "." for digit in str(four))
    yield from (f"[{six}]" for six in embedded(four))


TRICKS = [
    # Other schemes.
    *("file:///etc/passwd", "ftp://example.com/", "gopher://example.com/_GET", "dict://example.com:11211/stat"),
    *(
        "ldap://example.com/",
        "tftp://example.com/",
        "ws://example.com/",
        "wss://example.com/",
        "jar:http://example.com",
    ),
    *("data:text/html,hello", "javascript:alert(1)", "unix:/run/docker.sock", "http+unix://%2Frun%2Fdocker.sock/"),
    *("//example.com/", "/etc/passwd", "example.com", "example.com:80", "http:/example.com", "http:example.com"),
    *("http:///example.com", "http://", "https://", "", " ", "http://?", "http://#"),
    # Logins, real and pretended.
    *("http://user@example.com/", "http://user:pass@example.com/", "http://example.com@127.0.0.1/"),
    *("http://example.com:80@127.0.0.1/", "http://127.0.0.1@example.com/", "http://a@b@example.com/"),
    *("http://example.com\\@127.0.0.1/", "http://127.0.0.1\\@example.com/", "http://example.com%40127.0.0.1/"),
    *("http://:@127.0.0.1/"),
    # Ports.
    *("http://example.com:22/", "http://example.com:25/", "http://example.com:5432/", "http://example.com:6379/"),
    *("http://example.com:8080/", "http://example.com:0/", "http://example.com:65536/", "http://example.com:-80/"),
    *("http://example.com:80:80/", "http://example.com:99999999999/", "http://example.com:８０８０/"),
    # Names that are none, or are known only inside.
    *("http://localhost/", "http://LOCALHOST/", "http://localhost:80/", "http://metadata/", "http://postgres/"),
    *("http://kubernetes.default.svc./", "http://localhost./", "http://./", "http://../", "http://.example.com/"),
    *("http://example..com/", "http://-example.com/", "http://example-.com/", "http://example.com-/"),
    *("http://exa mple.com/", "http://example.com\t/", "http://example.com\n/", "http://example.com\r\nX: y/"),
    *("http://example.com\x00/", "http://\x00example.com/", "http://example.c\x7fom/", "http://ex*mple.com/"),
    *(
        "http://example.com%00.evil.com/",
        "http://%6c%6f%63%61%6c%68%6f%73%74/",
        "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
        "http://①②⑦.⓪.⓪.①/",
    ),
    *("http://0/", "http://1/", "http://00/", "http://0x/", "http://0x0/", "http://127.1/", "http://0.0/"),
    *("http://127.0.0.1.2/", "http://256.256.256.256/", "http://1.2.3/", "http://example.1/", "http://example.0x1/"),
    "http://" + "a" * 64 + ".com/",
    "http://" + "a." * 130 + "com/",
    "http://example.com/" + "a" * 3000,
    # Brackets.
    *("http://[::1/", "http://::1/", "http://[]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/"),
    *("http://[127.0.0.1]/", "http://[::1]@example.com/", "http://[v1.fe80::1]/", "http://[example.com]/"),
]

FORBIDDEN = [
    *(f"http://{host}/hook" for inside in INSIDE for host in notations(IPv4Address(inside))),
    *(f"https://[{inside}]/" for inside in INSIDE_6),
    *TRICKS,
]


class Crossing(httpcore.AnyIOBackend):
    """A wire that leads to the peer, whatever address is asked for, and remembers which."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.asked: list[tuple[str, int]] = []

    async def connect_tcp(self, host: str, port: int, *options: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        self.asked.append((host, port))
        return await super().connect_tcp("127.0.0.1", self.peer.port, *options, **named)


class Zone:
    """Names as somebody's server answers them: one list of addresses after another, the last for ever."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    async def __call__(self, host: str, port: int) -> list[str]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class World:
    def __init__(self, peer: Peer, batcher: Batcher) -> None:
        self.peer = peer
        self.wire = Crossing(peer)
        self.metrics = Metrics()
        self.breakers = Breakers(batcher, self.metrics)

    async def visit(self, url: str, *answers: list[str]) -> Outcome:
        """Call what a user gave us, where names lead to these addresses."""
        zone = Zone(*answers or [[PUBLIC]])
        async with Outbound(self.breakers, self.metrics, resolve=zone, wire=self.wire, tls=TLS) as outbound:
            return await outbound.call(WEBHOOKS, Request(method="POST", url=url, user_given=True), a_caller())


@pytest.fixture
async def world(batcher: Batcher) -> AsyncIterator[World]:
    async with a_peer() as peer:
        yield World(peer, batcher)


def test_the_table_is_long_enough():
    assert len(set(FORBIDDEN)) >= 400


@pytest.mark.parametrize("part", range(8))
async def test_what_is_no_public_web_server_is_never_called(world: World, part: int) -> None:
    """Also when every name led to a public address: the notation alone is enough."""
    called = [
        url for url in FORBIDDEN[part::8] if await world.visit(url) != NotSent("target_forbidden", TargetForbidden())
    ]
    assert called == []
    assert world.wire.asked == []


@pytest.mark.parametrize(
    "address", [*INSIDE, *INSIDE_6, *embedded(IPv4Address("10.0.0.1")), "fe80::1%eth0", "nonsense", ""]
)
async def test_a_name_that_leads_inside_is_never_called(world: World, address: str) -> None:
    for answers in ([address], [PUBLIC, address], [address, PUBLIC]):
        outcome = await world.visit("http://webhooks.example.com/", answers)
        assert outcome == NotSent("target_forbidden", TargetForbidden())
    assert world.wire.asked == []


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://example.com/500?a=b", (PUBLIC, 80)),
        ("http://EXAMPLE.com:80/500", (PUBLIC, 80)),
        ("http://a-b.c_d.example.co.uk/500", (PUBLIC, 80)),
        ("http://xn--caf-dma.example/500", (PUBLIC, 80)),
        ("http://café.example/500", (PUBLIC, 80)),
        ("http://example.com:443/500", (PUBLIC, 443)),
        ("http://example.com#@127.0.0.1/", (PUBLIC, 80)),
        ("http://example.com?@127.0.0.1:22/", (PUBLIC, 80)),
        ("http://8.8.8.8/500", ("8.8.8.8", 80)),
        ("http://[2606:4700::1111]/500", ("2606:4700::1111", 80)),
    ],
)
async def test_a_public_web_server_is_called_at_the_address_that_was_checked(world: World, url: str, asked) -> None:
    answer = await world.visit(url)
    assert isinstance(answer, Answer) and answer.status in (404, 500)
    assert world.wire.asked == [asked]


async def test_a_name_that_changes_its_mind_changes_nothing(world: World) -> None:
    """It is asked once for each call, and what was checked is what is called."""
    zone = Zone([PUBLIC], ["127.0.0.1"])
    async with Outbound(world.breakers, world.metrics, resolve=zone, wire=world.wire) as outbound:
        request = Request(method="GET", url="http://rebinding.example.com/ok", user_given=True)
        assert isinstance(await outbound.call(WEBHOOKS, request, a_caller()), Answer)
        assert await outbound.call(WEBHOOKS, request, a_caller()) == NotSent("target_forbidden", TargetForbidden())
    assert world.wire.asked == [(PUBLIC, 80)]
    assert world.peer.received[0].headers["host"] == "rebinding.example.com"


async def test_a_redirect_to_the_inside_leads_nowhere(world: World) -> None:
    answer = await world.visit("http://example.com/redirect")
    assert isinstance(answer, Answer) and answer.status == 307
    assert len(world.wire.asked) == 1
    assert await world.visit("http://169.254.169.254/latest/meta-data/") == NotSent(
        "target_forbidden", TargetForbidden()
    )


async def test_a_connection_of_ours_is_never_lent_to_a_stranger(world: World) -> None:
    """A trusted call left one open to the very host that a user now names."""
    async with Outbound(world.breakers, world.metrics, resolve=Zone(["10.0.0.1"]), wire=world.wire) as outbound:
        ours = Request(method="GET", url="http://internal.example.com/ok", user_given=False)
        assert isinstance(await outbound.call(WEBHOOKS, ours, a_caller()), Answer)
        theirs = Request(method="GET", url="http://internal.example.com/ok", user_given=True)
        assert await outbound.call(WEBHOOKS, theirs, a_caller()) == NotSent("target_forbidden", TargetForbidden())
    assert len(world.peer.received) == 1


async def test_one_customers_broken_server_does_not_stop_anothers(world: World) -> None:
    for _ in range(10):
        await world.visit("http://broken.example.com/500")
    assert isinstance(await world.visit("http://example.com/ok"), Answer)


@pytest.mark.parametrize("inside", [each for each in INSIDE if each.startswith(("127", "169", "192.168", "0."))])
async def test_what_the_system_would_read_into_a_notation_is_refused_too(inside: str) -> None:
    """Should a notation pass for a name, the address behind it is still checked."""
    names = Names()
    for host in notations(IPv4Address(inside)):
        try:
            numeric = socket.getaddrinfo(host.strip("[]"), 80, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except (OSError, UnicodeError):
            continue
        assert numeric
        for address in await names(host.strip("[]"), 80):
            assert not is_public(address)
    names.close()


def test_public_is_public():
    for address in ("1.1.1.1", "8.8.8.8", "93.184.215.14", "172.15.0.1", "172.32.0.1", "100.63.0.1", "223.255.255.255"):
        assert is_public(address)
        check_target(address, 443)
    for address in ("2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888"):
        assert is_public(address)
        check_target(address, 80)
