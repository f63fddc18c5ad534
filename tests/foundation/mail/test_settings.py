"""Where mail goes: nothing in clear over a network, and every slip is named at the start."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from admitone.foundation.mail.model import Fate, LetterId, Opened, Template
from admitone.foundation.mail.settings import KEYS, Server, Tls, sender_of, site, site_of
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.config import Config, ConfigurationProblem
from admitone.kernel.words import Language
from tests.kernel.test_config import PRODUCTION
from tests.mails import a_postman, an_address, delivered
from tests.smtp import a_mail_server

MAIL = {
    "SMTP_URL": "smtps://user:hush@mail.example",
    "MAIL_FROM": "Tickets <no-reply@tickets.example>",
    "PUBLIC_URL": "https://tickets.example/",
}


def a_notice() -> Opened:
    letter = LetterId.new()
    return Opened(letter, Template.PASSWORD_CHANGED, Language.ENGLISH, an_address(), {}, datetime.now(UTC))


@pytest.mark.covers("PLT-041")
def test_production_does_not_start_without_a_way_to_send_mail():
    with pytest.raises(ConfigurationProblem) as told:
        Config.load(PRODUCTION, KEYS)
    assert [problem.split()[0] for problem in told.value.problems] == list(MAIL)
    config = Config.load(PRODUCTION | MAIL, KEYS)
    assert site(config) == "https://tickets.example"
    assert "hush" not in repr(config)


def test_a_machine_of_ones_own_needs_nothing(tmp_path):
    assert site(Config.load({"ADMITONE_DATA": str(tmp_path), "PORT": "8080"}, KEYS)) == "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtps://mail.example", Server("mail.example", 465, Tls.ALWAYS)),
        ("smtp://mail.example?starttls=1", Server("mail.example", 587, Tls.UPGRADED)),
        ("smtp://u:p%40ss@mail.example:25?starttls=1", Server("mail.example", 25, Tls.UPGRADED, "u", "p@ss")),
        ("smtp://127.0.0.1:1025", Server("127.0.0.1", 1025, Tls.NONE)),
        ("smtp://localhost/", Server("localhost", 587, Tls.NONE)),
        ("smtp://[::1]:25", Server("::1", 25, Tls.NONE)),
    ],
)
def test_a_server_is_named_by_a_url(url: str, server: Server):
    assert Server.parse(url) == server
    assert "p@ss" not in repr(server)


@pytest.mark.parametrize(
    "url",
    [
        "smtp://mail.example",
        "smtp://u:p@mail.example:587",
        "smtp://mail.example?starttls=0",
        "smtp://mail.example?starttls=1&starttls=0",
        "smtp://mail.example?tls=1",
        "smtps://mail.example?starttls=1",
        "smtp://localhost.evil.example",
        "smtp://10.0.0.1",
        "smtps://",
        "smtps://u@mail.example",
        "smtps://mail.example/path",
        "smtps://mail.example:port",
        "https://mail.example",
        "mail.example:465",
    ],
)
def test_what_is_no_safe_way_to_a_server_stops_the_start(url: str):
    with pytest.raises(ConfigurationProblem, match="SMTP_URL is malformed"):
        Config.load(PRODUCTION | MAIL | {"SMTP_URL": url}, KEYS)


@pytest.mark.parametrize(
    "sender", ["Tickets", "<>", "a@b@c.example", "a@localhost", "x <a@b.example>\r\nBcc: c@d.example", "é@b.example"]
)
def test_what_is_no_sender_stops_the_start(sender: str):
    with pytest.raises(ValueError, match="not a sender"):
        sender_of(sender)


@pytest.mark.parametrize(
    "address",
    [
        "http://tickets.example",
        "tickets.example",
        "https://",
        "https://u:p@tickets.example",
        "https://tickets.example?x=1",
        "https://tickets.example#x",
        "https://tickets.example/ x",
        'https://tickets.example/"><script>',
    ],
)
def test_what_is_no_address_of_a_site_stops_the_start(address: str):
    with pytest.raises(ValueError, match="address of a site"):
        site_of(address)


# -- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory):
    """For 127.0.0.1, by itself: the context of a server, and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail.test")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "mail.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + made.public_bytes(Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.create_default_context(cadata=made.public_bytes(Encoding.PEM).decode())
    return server, client


@pytest.mark.covers("PRV-005")
async def test_letter_and_password_go_encrypted(batcher: Batcher, certificate):
    theirs, trust = certificate
    async with a_mail_server(theirs, password="hush") as server:
        url = f"smtp://us:hush@127.0.0.1:{server.port}?starttls=1"
        assert await delivered(a_postman(server, batcher, url, trust=trust), a_notice()) is Fate.SENT
        assert [each.was_encrypted for each in server.received] == [True]
        wrong = f"smtp://us:hash@127.0.0.1:{server.port}?starttls=1"
        with pytest.raises(DependencyUnavailable):
            await delivered(a_postman(server, batcher, wrong, trust=trust), a_notice())


@pytest.mark.covers("PRV-005")
async def test_a_server_that_cannot_prove_who_it_is_gets_nothing(batcher: Batcher, certificate):
    theirs, _ = certificate
    async with a_mail_server(theirs, password="hush") as server:
        url = f"smtp://us:hush@127.0.0.1:{server.port}?starttls=1"
        with pytest.raises(DependencyUnavailable):
            await delivered(a_postman(server, batcher, url), a_notice())
    async with a_mail_server() as plain:
        with pytest.raises(DependencyUnavailable):
            await delivered(a_postman(plain, batcher, f"smtp://127.0.0.1:{plain.port}?starttls=1"), a_notice())
        with pytest.raises(DependencyUnavailable):
            await delivered(a_postman(plain, batcher, f"smtps://127.0.0.1:{plain.port}"), a_notice())
    assert server.received == plain.received == []
