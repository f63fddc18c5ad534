"""What others rely on, written down: a change shows as a difference here, and is meant or it is a bug.

`make golden` writes the files anew.
"""

import json
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from admitone.entrypoints.modules import MODULES
from admitone.kernel.config import KERNEL_KEYS
from admitone.kernel.contracts import Edge, openapi, status_of
from admitone.kernel.errors import Refusal
from admitone.kernel.facts import Fact
from admitone.kernel.manifest import Module
from admitone.kernel.states import render_all, write_all
from admitone.kernel.words import untranslated_refusals
from tests.architecture.source_tree import SOURCE, sources
from tests.toy.module import MODULE as TOY

HERE = Path(__file__).parent
# A refusal counts from the moment its module is loaded: all of them, whatever ran before.
for source in sources(SOURCE):
    import_module(source.name)
STATES = HERE.parent.parent / "docs" / "states"
TOY_STATES = HERE / "states"


def assert_golden(name: str, value: Any) -> None:
    file = HERE / name
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text)
    assert file.exists(), f"{name} is new: make golden"
    assert file.read_text() == text, f"{name} changed: if it was meant, make golden and read the difference"


def subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def ours(kind: type) -> bool:
    return kind.__module__.startswith(("admitone.", "tests.toy."))


@pytest.mark.covers("OPS-021")
def test_openapi(edge: Edge) -> None:
    assert_golden("openapi.json", openapi(edge.contracts))


@pytest.mark.covers("CON-001", "CON-004", "CON-006")
def test_contracts(edge: Edge) -> None:
    """The manifest of contracts: one owner, known consumers, how repeating goes, what orders them."""
    assert_golden(
        "contracts.json",
        {
            contract.id: {
                "version": contract.version,
                "owner": contract.owner,
                "consumers": contract.consumers,
                "route": f"{contract.method} {contract.path}",
                "audience": contract.audience,
                "idempotency": contract.idempotent_by or contract.repeats or "none (no side effects)",
                "order": contract.order_key,
                "refuses": sorted(refusal.code for refusal in contract.refuses),
            }
            for contract in edge.contracts
        },
    )


@pytest.mark.covers("CON-005")
def test_error_codes() -> None:
    """Codes are for ever: each has one meaning, and its status and whether to retry never change unseen."""
    kinds = [kind for kind in dict.fromkeys(subclasses(Refusal)) if ours(kind)]
    first = {kind.code: kind for kind in reversed(kinds)}
    for kind in kinds:
        assert issubclass(kind, first[kind.code]), f"{kind} and {first[kind.code]} mean different things by one code"
        assert re.fullmatch(r"[A-Z][A-Z0-9_]+", kind.code)
    assert_golden(
        "errors.json",
        {
            code: {"status": status_of(kind), "retryable": kind.retryable, "message": kind.message()}
            for code, kind in first.items()
        },
    )


@pytest.mark.covers("PLT-001")
def test_facts() -> None:
    facts = [kind for kind in subclasses(Fact) if ours(kind)]
    assert_golden(
        "facts.json", {fact.name: {"version": fact.version, "fields": list(fact.__struct_fields__)} for fact in facts}
    )


def test_settings() -> None:
    keys = [*KERNEL_KEYS, *(key for module in MODULES for key in module.config)]
    assert_golden("settings.json", {key.name: {"needed": key.needed.value, "secret": key.secret} for key in keys})


@pytest.mark.parametrize(("folder", "modules"), [(STATES, MODULES), (TOY_STATES, (TOY,))], ids=["ours", "toy"])
def test_state_diagrams_are_fresh(folder: Path, modules: tuple[Module, ...]) -> None:
    lifecycles = [lifecycle for module in modules for lifecycle in module.lifecycles]
    if os.environ.get("GOLDEN") == "write":
        write_all(lifecycles, folder)
    assert {file.name: file.read_text() for file in folder.glob("*.md")} == render_all(lifecycles)


def test_every_refusal_is_translated() -> None:
    assert {language: texts for language, texts in untranslated_refusals().items() if texts} == {}
