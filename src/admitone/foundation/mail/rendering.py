"""Letters as people read them, in their language.

Promise: one template makes the subject, the text and the page of a letter, in every language, so they cannot drift
apart. It gets exactly the values that it asks for. In the page everything is escaped; links lead to our own site.

A template says `say` and `plural` for sentences (English is their key, see `kernel.words`), and lays them out by the
parts `paragraph`, `prominent` and `button`, which are drawn as text or as HTML. `site`, `home` and `moment` are there
for all: the name of our site, its address, and when the letter was posted.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.meta import find_undeclared_variables
from markupsafe import Markup

from admitone.foundation.mail.model import Template, Value
from admitone.kernel.clock import zone
from admitone.kernel.words import Language, Words

_UTC: Final = zone("UTC")
_PATH: Final = re.compile(r"/(?![/\\])[!-\[\]-~]*")


def _environment(*, autoescape: bool) -> Environment:
    return Environment(
        loader=PackageLoader("admitone.foundation.mail"),
        autoescape=autoescape,  # noqa: S701  Off only for plain text, which has nothing to escape.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # To look at the files before each letter takes longer than to fill one in.
    )


_TEXT: Final = _environment(autoescape=False)
_PAGE: Final = _environment(autoescape=True)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a letter says."""

    subject: str
    text: str
    html: str


def rendered(
    template: Template, language: Language, values: Mapping[str, Value], *, site: str, at: datetime
) -> Rendered:
    """Raises `ValueError` if the values are not those that the template asks for."""
    require_values(template, values)
    words = Words(language)
    given = {**values, **_common(words, site)}
    if "moment" in _asked_by(template):
        given["moment"] = f"{words.moment(at, _UTC)} UTC"
    text = _TEXT.get_template(f"{template}.j2").make_module({**given, "form": "form.txt.j2"})
    page = _PAGE.get_template(f"{template}.j2").make_module({**given, "form": "form.html.j2"})
    subject: str = text.subject  # type: ignore[attr-defined]
    whole = {"language": language.tag, "subject": subject, "say": words.say}
    return Rendered(
        subject,
        _TEXT.get_template("letter.txt.j2").render(whole, body=str(text).strip()),
        _PAGE.get_template("letter.html.j2").render(whole, body=Markup(str(page).strip())),  # noqa: S704  Escaped by it.
    )


def require_values(template: Template, values: Mapping[str, Value]) -> None:
    """That a letter can be written with these, without writing it."""
    asked = values_of(template)
    if asked != values.keys():
        raise ValueError(f"{template} takes {sorted(asked)}, and was given {sorted(values)}")
    if "link" in values:
        require_path(str(values["link"]))


def require_path(text: str) -> None:
    if not _PATH.fullmatch(text):
        raise ValueError("a link in a letter is a path of ours")


@cache
def values_of(template: Template) -> frozenset[str]:
    """What a template asks for besides what all are given."""
    return _asked_by(template) - {"form", "moment", *_common(Words(), "https://admitone.invalid")}


@cache
def _asked_by(template: Template) -> frozenset[str]:
    loader = _TEXT.loader
    assert loader is not None
    source, _, _ = loader.get_source(_TEXT, f"{template}.j2")
    return frozenset(find_undeclared_variables(_TEXT.parse(source)))


def _common(words: Words, site: str) -> dict[str, Any]:
    return {
        "say": words.say,
        "plural": words.plural,
        "url": _links_to(site),
        "home": site,
        "site": urlsplit(site).netloc,
    }


def _links_to(site: str) -> Callable[[str], str]:
    def link(path: str) -> str:
        require_path(path)
        return site + path

    return link
