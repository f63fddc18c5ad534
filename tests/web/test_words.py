"""Everything that a page says is said in every language of ours."""

import ast
import re
from importlib.resources import files
from pathlib import Path

import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import PACKS, ROLE_SCOPES
from admitone.foundation.authority.features import FEATURES
from admitone.kernel.words import TRANSLATED, Language, untranslated
from admitone.web.console import team

WEB = Path(str(files("admitone.web")))
IN_TEMPLATES = re.compile(r"""\b(?:say|plural)\(\s*"((?:[^"\\]|\\.)*)"(?:,\s*"((?:[^"\\]|\\.)*)")?""")
SPEAKING = ("say", "plural")


def said_in_templates() -> set[str]:
    texts = [path.read_text() for path in WEB.joinpath("templates").rglob("*.html")]
    return {sentence for text in texts for match in IN_TEMPLATES.findall(text) for sentence in match[:1] if sentence}


def said_in_code() -> set[str]:
    trees = [ast.parse(path.read_text()) for path in WEB.rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in SPEAKING
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def kept_for_saying() -> set[str]:
    """Words of states and the like, which pages keep in tables: every text in a constant named `WORDS…` or `…_WORDS`."""
    trees = [ast.parse(path.read_text()) for path in WEB.rglob("*.py")]
    found: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and "WORDS" in node.target.id:
                values = node.value.values if isinstance(node.value, ast.Dict) else [node.value]
                found |= {
                    each.value
                    for value in values
                    if value is not None
                    for each in ast.walk(value)
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                }
    return found


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_sentence_of_the_pages_is_translated(language: Language):
    put_off = {feature.summary for feature in FEATURES}  # Which the switches of the platform show.
    sentences = said_in_templates() | said_in_code() | kept_for_saying() | put_off
    assert len(sentences) > 10
    assert untranslated(language, sentences) == []


def test_every_part_of_what_a_role_may_has_a_word():
    scopes = frozenset().union(*ROLE_SCOPES.values(), *(scopes for _, scopes in PACKS.values()))
    parts = {part for _, part, _ in team._told(scopes) if part}
    assert parts == set(team.PART_WORDS)


def test_nobody_is_told_in_portugal_that_they_are_voce():
    catalogues = Path(str(files("admitone"))).rglob("pt_PT.po")
    assert [str(path) for path in catalogues if "que é você" in path.read_text()] == []


def test_every_cookie_of_ours_is_named_where_privacy_is_told(application: Application):
    page = WEB.joinpath("templates/storefront/legal/privacy.html").read_text()
    cookies = {name for contract in application.edge.contracts for name in contract.sets_cookies}
    assert {name for name in cookies if not re.search(rf'"(?:[\w, -]*, )?{name}(?:,[\w, -]*)?", say', page)} == set()
