"""What a letter says, to whom, and that nobody can make it say anything else."""

from datetime import UTC, datetime
from email import message_from_string
from email.policy import SMTPUTF8

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.foundation.mail import writing
from admitone.foundation.mail.model import LetterId, Opened, Template, is_address, on_the_wire
from admitone.foundation.mail.rendering import rendered, values_of
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.words import Language
from tests.builders import an_organization, rows_of
from tests.mails import SENDER, SITE, a_letter, a_postman, an_address, delivered, posted
from tests.smtp import a_mail_server

AT = datetime(2026, 6, 1, 19, 30, tzinfo=UTC)
INVITATION = {"organization": "Teatro", "role": "Box office", "link": "/invitations/inv_1", "days": 7}


def written(letter):
    opened = Opened(LetterId.new(), letter.template, letter.language, letter.to, letter.values, AT)
    return writing.mail_of(opened, SENDER, SITE)


def mail_of(letter):
    """As whoever gets it reads it."""
    return message_from_string(written(letter).content.decode(), policy=SMTPUTF8)


def an_invitation(to="ana@example.org", language=Language.ENGLISH, **values):
    return a_letter(to, template=Template.ORGANIZATION_INVITATION, language=language, values=INVITATION | values)


def test_one_template_speaks_three_languages():
    mails = [mail_of(an_invitation(language=language)) for language in Language]
    assert [mail["Subject"] for mail in mails] == [
        "Invitation to join Teatro",
        "Convite para se juntar a Teatro",
        "Convite para participar de Teatro",
    ]
    assert [mail["Content-Language"] for mail in mails] == ["en", "pt-PT", "pt-BR"]
    for mail in mails:
        assert f"{SITE}/invitations/inv_1" in mail.get_body(("plain",)).get_content()
        assert f'href="{SITE}/invitations/inv_1"' in mail.get_body(("html",)).get_content()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"code": "1"},
        {"code": "1", "minutes": 10, "nickname": "x"},
        {"code": "1", "minute": 10},
        {"code": "1", "minutes": 10, "site": "https://evil.example"},
    ],
)
async def test_a_value_too_many_or_too_few_is_seen_when_the_letter_is_posted(database: Database, values):
    scope = await an_organization(database)
    with pytest.raises(ValueError, match="takes"):
        await posted(database, scope, a_letter(an_address(), values=values))
    assert await rows_of(database, scope, "mail.letter") == await rows_of(database, scope, "kernel.job") == 0


@pytest.mark.parametrize(
    "link",
    ["https://evil.example/x", "//evil.example", "/\\evil.example", "javascript:alert(1)", "", "x", "/a b", "/é"],
)
async def test_a_link_in_a_letter_leads_to_us(database: Database, link: str):
    letter = an_invitation(link=link)
    with pytest.raises(ValueError, match="path of ours"):
        await posted(database, await an_organization(database), letter)


def test_a_value_cannot_be_endless():
    with pytest.raises(ValueError, match="at most"):
        an_invitation(organization="x" * 1_001)


HOSTILE = [
    "Teatro\r\nBcc: victim@example.org",
    "Teatro\nBcc: victim@example.org",
    "Teatro\r\n\r\n<h1>Body</h1>",
    "Teatro\u2028Bcc: victim@example.org",
    "Teatro\x0bBcc: victim@example.org",
    "Teatro\x85Bcc: victim@example.org",
    "Teatro\r\n.\r\nMAIL FROM:<evil@example.org>",
    "\u202eortaeT",
    "Teatro\x00",
    "Teatro \ud800",
]


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_name_cannot_add_a_header_a_recipient_or_a_line(batcher: Batcher, name: str):
    letter = an_invitation(an_address(), organization=name)
    async with a_mail_server() as server:
        opened = Opened(LetterId.new(), letter.template, letter.language, letter.to, letter.values, AT)
        await delivered(a_postman(server, batcher), opened)
        await server.stop()
    [received] = server.received
    assert received.recipients == (letter.to,) and received.mail["Bcc"] is None
    assert received.mail.keys() == mail_of(an_invitation()).keys()
    assert "\n" not in letter.values["organization"] and "\u202e" not in received.mail["Subject"]
    lines = received.part("plain").splitlines()
    assert not [line for line in lines if line.startswith(("Bcc", "MAIL", "."))]


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_breaks_a_letter_or_leaves_its_place(organization: str, role: str):
    mail = mail_of(an_invitation(organization=organization, role=role))
    assert mail.keys() == mail_of(an_invitation()).keys()
    raw = written(an_invitation(organization=organization, role=role)).content
    assert raw.count(b"\r\n\r\n") >= 3 and b"<script" not in raw


def test_a_page_shows_names_and_runs_nothing():
    html = rendered(
        Template.ORGANIZATION_INVITATION,
        Language.PORTUGUESE,
        INVITATION | {"organization": "<script>alert(1)</script> & {filhos}"},
        site=SITE,
        at=AT,
    ).html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; {filhos}" in html and "<script" not in html


@pytest.mark.parametrize(
    "address",
    [
        "ana@example.org",
        "ana.maria+bilhetes@sub.example.org",
        "o'neil@example.org",
        "josé@example.org",
        "ana@bücher.example",
        "用户@例え.example",
        "a" * 64 + "@example.org",
    ],
)
def test_an_address_is_one(address: str):
    assert is_address(address)
    assert on_the_wire(address).rpartition("@")[2].isascii()


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ana",
        "@example.org",
        "ana@",
        "ana@localhost",
        "ana@@example.org",
        "ana@example.org,eve@example.org",
        "ana@example.org eve@example.org",
        "Ana <ana@example.org>",
        "<ana@example.org>",
        "ana@example.org>",
        "ana@example.org\r\nBcc: eve@example.org",
        "ana\r\n@example.org",
        "ana\n@example.org",
        "ana @example.org",
        '"ana"@example.org',
        "ana@[127.0.0.1]",
        "ana@-example.org",
        "ana@example..org",
        "ana@.example.org",
        "ana@example.org.",
        ".ana@example.org",
        "ana.@example.org",
        "a..b@example.org",
        "ana\u202e@example.org",
        "ana\u200b@example.org",
        "ana\x00@example.org",
        "a" * 65 + "@example.org",
        "a@" + "x" * 64 + ".example",
        "a@" + "x." * 126 + "example",
        "é" * 33 + "@example.org",
    ],
)
def test_what_is_no_address_gets_no_letter(address: str):
    assert not is_address(address)
    with pytest.raises(ValueError, match="goes to an address"):
        a_letter(address)


@given(st.text(max_size=300))
def test_whatever_is_taken_for_an_address_can_be_written_on_a_letter(text: str):
    for address in (text, f"{text}@example.org", f"ana@{text}.example"):
        if is_address(address):
            mail = mail_of(a_letter(address))
            assert len(mail["To"].addresses) == 1 and len(mail.get_all("To")) == 1


async def test_an_address_of_any_script_is_reached(batcher: Batcher):
    async with a_mail_server() as server:
        letter = Opened(LetterId.new(), Template.PASSWORD_CHANGED, Language.ENGLISH, "josé@bücher.example", {}, AT)
        assert await delivered(a_postman(server, batcher), letter) == "sent"
    assert server.received[0].recipients == ("josé@xn--bcher-kva.example",)


async def test_an_address_that_the_server_cannot_spell_is_refused(batcher: Batcher):
    async with a_mail_server(utf8=False) as server:
        letter = Opened(LetterId.new(), Template.PASSWORD_CHANGED, Language.ENGLISH, "josé@example.org", {}, AT)
        assert await delivered(a_postman(server, batcher), letter) == "refused"


def test_every_template_has_its_file_and_no_more():
    assert {template: sorted(values_of(template)) for template in Template} == {
        "sign_in_code": ["code", "minutes"],
        "already_registered_code": ["code", "minutes"],
        "password_reset": ["link", "minutes"],
        "password_reset_unknown": [],
        "password_changed": [],
        "new_sign_in": ["device"],
        "email_changed": [],
        "verify_official_email": ["link", "organization"],
        "order_receipt": ["amount", "event", "link", "order", "place", "tickets", "when"],
        "order_returned": ["event", "order"],
        "free_order_returned": ["event", "order"],
        "event_cancelled": ["event", "order", "when"],
        "official_email_changed": ["organization"],
        "organization_invitation": ["days", "link", "organization", "role"],
        "guest_link": ["days", "link"],
        "step_up_code": ["code", "minutes"],
        "change_email_code": ["code", "minutes"],
        "change_email_taken": [],
    }


def test_a_letter_does_not_show_whom_it_is_for():
    assert "ana@" not in repr(an_invitation()) and "Teatro" not in repr(an_invitation())
