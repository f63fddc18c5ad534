"""Every letter in every language, as people read it. `make golden` writes the files anew."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from admitone.foundation.mail.model import Template
from admitone.foundation.mail.rendering import rendered, values_of
from admitone.kernel.words import TRANSLATED, Language

HERE = Path(__file__).parent / "mails"
AT = datetime(2026, 6, 1, 19, 30, tzinfo=UTC)
VALUES = {
    "code": "049281",
    "minutes": 10,
    "days": 7,
    "link": "/follow/tok_0_5e884898da28047151d0e56f8dc6292773603d0d",
    "organization": "Teatro São João & Filhos",
    "role": "Box office",
    "device": "Firefox, Linux",
    "event": "Noite de Fado",
    "tickets": 2,
    "when": "1 June 2026, 20:30",
    "place": "Coliseu, Lisboa",
    "amount": "50,00 €",
    "order": "ord_0198c9a40000700080000000000000b2",
}


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("template", Template)
def test_a_letter_reads_as_it_did(template: Template, language: Language) -> None:
    values = {name: VALUES[name] for name in values_of(template)}
    letter = rendered(template, language, values, site="https://tickets.example", at=AT)
    file = HERE / f"{template}.{language}.txt"
    text = f"Subject: {letter.subject}\n\n{letter.text}\n\n{letter.html}\n"
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"{file.name} is new: make golden"
    assert file.read_text(encoding="utf-8") == text, f"{file.name} changed: if it was meant, make golden"


def test_every_sentence_of_a_letter_is_translated() -> None:
    """A sentence that a catalogue lacks comes out in English, in the midst of the others."""
    for template in Template:
        values = {name: VALUES[name] for name in values_of(template)}
        english = _sentences(template, Language.ENGLISH, values)
        for language in TRANSLATED:
            same = english & _sentences(template, language, values)
            assert not same, f"{template} in {language}"


def _sentences(template: Template, language: Language, values: dict) -> set[str]:
    letter = rendered(template, language, values, site="https://tickets.example", at=AT)
    parts = (" ".join(part.split()) for part in letter.text.split("\n\n"))
    return {letter.subject, *(part for part in parts if " " in part)}


def test_no_letter_is_left_over() -> None:
    assert {file.name for file in HERE.iterdir()} == {f"{t}.{each}.txt" for t in Template for each in Language}
