"""Templates speak every language of ours, and what they say once for all comes out as if it were said each time."""

from collections.abc import Callable

import pytest
from markupsafe import escape

from admitone.kernel import words as kernel_words
from admitone.kernel.words import Language, Words
from admitone.web.assets import asset
from admitone.web.speech import templates_in
from tests.web.test_words import said_in_templates

SIGNS = "Salt & <b>vinegar</b>, 'and' \"so\" {on}"


def shown(template: str, language: Language, **values: object) -> str:
    return templates_in(language).from_string(template).render(**values)


def in_python(template: str, language: Language) -> str:
    """What it is compiled to: what is called here is called for each page."""
    code: str = templates_in(language).compile(template, raw=True)
    return code


@pytest.mark.parametrize("language", Language)
def test_every_constant_sentence_of_the_pages_comes_out_as_it_is_said(language: Language):
    sentences = sorted(said_in_templates())
    told = [shown(f'{{{{ say("{sentence}") }}}}', language) for sentence in sentences]
    assert told == [escape(Words(language).say(sentence)) for sentence in sentences]


@pytest.mark.parametrize("language", Language)
def test_what_never_changes_is_said_when_the_template_is_compiled(language: Language):
    code = in_python('<b title="{{ say("Tickets") }}"> {{ say("Tickets") }}</b>{{ asset("frame.css") }}', language)
    word = Words(language).say("Tickets")
    assert f'<b title="{word}"> {word}</b>{asset("frame.css")}' in code
    assert "resolve('say')" not in code


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("place", ['{{ say("Tickets") }}', '{{ "" ~ say("Tickets") }}', '{{ none or say("Tickets") }}'])
def test_a_translation_with_signs_of_html_is_escaped_wherever_it_stands(
    language: Language, place: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(kernel_words._translations(language), "_catalog", {"Tickets": SIGNS})
    assert shown(place, language) == escape(SIGNS) == escape(Words(language).say("Tickets"))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('say("Times of {zone}", zone=zone)', lambda words: words.say("Times of {zone}", zone="<Lisboa>")),
        ('say("Times of {zone}", **{"zone": zone})', lambda words: words.say("Times of {zone}", zone="<Lisboa>")),
        ("say(word)", lambda words: words.say("Tickets")),
        ("say(*[word])", lambda words: words.say("Tickets")),
        ('plural("{count} ticket", "{count} tickets", 1)', lambda words: words.plural("{count} ticket", "", 1)),
    ],
)
@pytest.mark.parametrize("language", Language)
def test_what_depends_on_something_is_said_each_time(language: Language, said: str, expected: Callable[[Words], str]):
    template = f"{{{{ {said} }}}}"
    assert "context.call(" in in_python(template, language)
    assert shown(template, language, zone="<Lisboa>", word="Tickets") == escape(expected(Words(language)))


def test_a_file_that_is_not_there_fails_when_the_template_is_compiled():
    with pytest.raises(LookupError, match=r"no asset nothing\.css"):
        shown('{% if false %}{{ asset("nothing.css") }}{% endif %}', Language.ENGLISH)


@pytest.mark.parametrize("language", Language)
def test_every_template_compiles_in_every_language(language: Language):
    templates = templates_in(language)
    names = templates.list_templates(extensions=["html"])
    assert len(names) > 50
    for name in names:
        assert templates.get_template(name).globals["language"] == language.tag
