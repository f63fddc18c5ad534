"""Every statement that the application can send, with its name and the kind of transaction that sends it.

A statement is a constant of a store: a string, a `Lock` or an `Insert`. Which transaction sends it is read from the
annotations of the functions that use it: `Tx` is the app, `IdentityTx` the buyer,
`PeopleTx` the identity role, `PlatformTx` one of the others.
"""

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from admitone.entrypoints.modules import MODULES
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Role
from tests.architecture.source_tree import SOURCE, TESTS, sources
from tests.architecture.sql_places import is_sql, is_store
from tests.toy.module import MODULE as TOY

ALL_MODULES = (*MODULES, TOY)
"""The application and the toy."""

TENANT, IDENTITY, PEOPLE, PLATFORM = "Tx", "IdentityTx", "PeopleTx", "PlatformTx"
ROLES = {
    TENANT: (Role.APP,),
    IDENTITY: (Role.BUYER,),
    PEOPLE: (Role.IDENTITY,),
    PLATFORM: (Role.AUTHORITY, Role.RELAY, Role.MAINTENANCE),
}


@dataclass(frozen=True)
class Statement:
    """One form of one constant."""

    module: str
    name: str
    sql: str
    kinds: frozenset[str]
    """By which transactions it is sent; none, when no function of the module says so."""

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def tenant(self) -> bool:
        return self.kinds == {TENANT}

    @property
    def choices(self) -> list[tuple[Role, ...]]:
        """Of each group, one role at least must be able to run it."""
        return [ROLES[kind] for kind in sorted(self.kinds)] or [tuple(Role)]

    def is_listed(self, modules: tuple[Module, ...] = ALL_MODULES) -> bool:
        """Whether its package's manifest names it as an exception."""
        return self.short in listed(modules)

    @property
    def package(self) -> str:
        """The package, and with it the schema, to which it belongs: `ledger`, `kernel`."""
        return self.short.partition(".")[0]

    @property
    def short(self) -> str:
        """`ledger.store.transfers.POST`, wherever the package stands; the kernel is one, with `kernel.jobs.store.CLAIM`."""
        parts = str(self).split(".")
        if parts[:2] == ["admitone", "kernel"]:
            return ".".join(parts[1:])
        return ".".join(parts[parts.index("store") - 1 :] if "store" in parts else parts[-3:])


def listed(modules: tuple[Module, ...]) -> set[str]:
    """The exceptions that the manifests name."""
    return {f"{module.name}.{name}" for module in modules for name in module.listed_statements}


def all_statements() -> list[Statement]:
    """Of the application and of the toy."""
    stores = [each.name for each in (*sources(SOURCE), *sources(TESTS.parent, "tests/toy")) if is_store(each.name)]
    return [statement for name in stores for statement in statements_of(importlib.import_module(name))]


def statements_of(module: ModuleType) -> list[Statement]:
    kinds = _kinds_by_constant(module)
    return [
        Statement(module.__name__, name, form, frozenset(kinds.get(name, ())))
        for name, value in vars(module).items()
        if name.isupper()
        for form in _forms(value)
    ]


def constants_that_hide_statements(module: ModuleType) -> list[str]:
    """Constants with SQL in them that is neither a string, a `Lock` nor an `Insert`, so that nobody plans it."""
    tree = ast.parse(_text(module))
    return [
        f"{module.__name__}.{target.id} hides SQL in a {type(getattr(module, target.id)).__name__}; give it its own name"
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and _mentions_sql(node) and not _forms(getattr(module, target.id))
    ]


def _mentions_sql(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Constant) and isinstance(n.value, str) and is_sql(n.value) for n in ast.walk(node))


def _forms(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if is_sql(value) or "$1" in value else ()
    return getattr(value, "forms", ())


def _kinds_by_constant(module: ModuleType) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for function in _functions(ast.parse(_text(module))):
        kinds = {kind for argument in function.args.args for kind in _kinds_in(argument.annotation)}
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and node.id.isupper()}
        for name in used:
            found.setdefault(name, set()).update(kinds)
    return found


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _kinds_in(annotation: ast.expr | None) -> set[str]:
    if annotation is None:
        return set()
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name) and node.id in ROLES}


def _text(module: ModuleType) -> str:
    assert module.__file__ is not None
    return Path(module.__file__).read_text(encoding="utf-8")
