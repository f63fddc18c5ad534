"""The source as the checks read it: every module with its dotted name and its syntax tree."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "src"
TESTS = REPOSITORY / "tests"


@dataclass(frozen=True)
class Source:
    """One module below a root from which imports start."""

    path: Path
    root: Path

    @property
    def name(self) -> str:
        parts = self.path.relative_to(self.root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    def at(self, node: ast.AST) -> str:
        """Where a reader finds it."""
        return f"{self.path.relative_to(self.root)}:{getattr(node, 'lineno', 1)}"


def sources(root: Path, under: str = "") -> list[Source]:
    """Every module below the root, in order."""
    return [Source(path, root) for path in sorted((root / under).rglob("*.py"))]


def imports(source: Source) -> Iterator[tuple[ast.AST, str]]:
    """Everything that a module imports, at whatever depth, as the dotted name of the thing: module or member."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = _absolute(source, node)
            yield from ((node, f"{origin}.{alias.name}".removesuffix(".*")) for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__") and node.args:
            name = node.args[0]
            literal = isinstance(name, ast.Constant) and isinstance(name.value, str)
            yield node, name.value if literal else "?"  # type: ignore[attr-defined]


def _absolute(source: Source, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    here = source.name.split(".")
    up = node.level - 1 if source.is_package else node.level
    return ".".join([*here[: len(here) - up], *([node.module] if node.module else [])])


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
