"""Marks name requirements that exist, tests have names of their own, and code reads as ours does."""

from pathlib import Path

import pytest

from tests.architecture.source_tree import REPOSITORY, SOURCE, TESTS, sources
from tests.architecture.style import empty_promises, promised, requirements, shadowed_tests, unreadable
from tests.architecture.test_doors import plant

REGISTRY = REPOSITORY / "docs" / "requirements"


def test_every_mark_names_a_requirement():
    known = requirements(REGISTRY)
    assert len(known) > 500
    assert any(promised(sources(TESTS)))
    assert empty_promises(sources(TESTS), known) == []


def test_every_test_has_a_name_of_its_own():
    assert shadowed_tests(sources(TESTS)) == []


def test_modules_read_as_ours_do():
    assert unreadable([*sources(SOURCE), *sources(TESTS)]) == []


def test_an_empty_promise_is_seen(tmp_path: Path):
    test = '"""A test."""\n@pytest.mark.covers("TEN-T01", "TEN-T99")\ndef test_it(): ...\n'
    tree = sources(plant(tmp_path, {"test_it.py": test}))
    assert empty_promises(tree, requirements(REGISTRY)) == ["test_it.py:2 covers TEN-T99, which is no requirement"]


def test_a_shadowed_test_is_seen(tmp_path: Path):
    [seen] = shadowed_tests(sources(plant(tmp_path, {"test_it.py": "def test_a(): ...\nasync def test_a(): ..."})))
    assert "test_a" in seen


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("admitone/utils.py", '"""Things."""', "without a noun"),
        ("admitone/finance/payment_service.py", '"""Things."""', "without a noun"),
        ("admitone/finance/ledger.py", "x = 1", "promise"),
        ("admitone/finance/ledger.py", '"""Things."""\n' + "x = 1\n" * 500, "501 lines"),
        ("admitone/finance/ledger.py", '"""Things."""\ndef post():\n' + "    x = 1\n" * 60, "post has 61 lines"),
    ],
)
def test_what_does_not_read_well_is_seen(tmp_path: Path, file: str, text: str, complaint: str):
    [seen] = unreadable(sources(plant(tmp_path, {file: text})))
    assert complaint in seen
