"""SQL stands in stores and migrations, and in a store it stands in a constant with a name.

Only what has a name and a place can be planned, read and counted by the other checks.
"""

import ast
import re
from collections.abc import Iterable, Iterator

import pglast
from pglast import ast as sql_ast
from pglast.visitors import Visitor

from tests.architecture.source_tree import Source

KERNEL_STORES = (
    "admitone.kernel.audit",
    "admitone.kernel.bans",
    "admitone.kernel.breaker",
    "admitone.kernel.cities",
    "admitone.kernel.event_log",
    "admitone.kernel.idempotency",
    "admitone.kernel.jobs.dead",
    "admitone.kernel.jobs.leases",
    "admitone.kernel.jobs.handing_on",
    "admitone.kernel.limits",
    "admitone.kernel.retention",
    "admitone.kernel.streaks",
)
"""Kernel modules that own tables: small enough to be policy and store in one."""

MACHINERY = (
    "admitone.kernel.db",
    "admitone.kernel.driver",
    "admitone.kernel.statements",
    "admitone.kernel.transactions",
    "admitone.kernel.migrate",
    "admitone.kernel.embedded.cluster",
    "admitone.finance.gateways.sandbox.journal",
)
"""Modules that open transactions, compile statements, and run the server; and the sandbox's own SQLite file, which is
no database of ours."""

DATA = ("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE", "TRUNCATE", "COPY")
REST = (
    *("CREATE", "ALTER", "DROP", "GRANT", "REVOKE", "LOCK", "SET", "RESET", "EXPLAIN", "DO", "CALL", "NOTIFY"),
    *("LISTEN", "PREPARE", "EXECUTE", "DECLARE", "SAVEPOINT", "BEGIN", "COMMIT", "ROLLBACK", "REFRESH", "VACUUM"),
)
PIECE = re.compile(
    r"(SELECT\b.*\bFROM\b|INSERT\s+INTO\b|UPDATE\b.*\bSET\b|DELETE\s+FROM\b|MERGE\s+INTO\b|WITH\b.*\bAS\b.*\()",
    re.DOTALL,
)
"""The beginning of a statement that is glued together, so that it does not parse. Prose does not shout like this."""


def is_store(module: str) -> bool:
    return "store" in module.split(".")[1:] or module in KERNEL_STORES


def sql_outside_stores(source: Iterable[Source]) -> list[str]:
    """SQL where nobody looks for it."""
    return [
        f"{each.at(node)} has SQL ({_start(text)}); it belongs in a store"
        for each in source
        if not is_store(each.name) and each.name not in MACHINERY
        for node, text in texts(each.tree)
        if is_sql(text)
    ]


def sql_without_a_name(source: Iterable[Source]) -> list[str]:
    """SQL in a store that is no constant of the module, so that no other check would ever see it."""
    return [
        f"{each.at(node)} has SQL ({_start(text)}) inside; give it a name in capitals at the top of the module"
        for each in source
        if is_store(each.name)
        for statement in each.tree.body
        if not _is_constant(statement)
        for node, text in texts(statement)
        if is_sql(text)
    ]


def texts(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Every string that is a value (docstrings are not), f-strings with `x` for what is filled in."""
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return
    if isinstance(tree, ast.JoinedStr):
        yield tree, "".join(part.value if isinstance(part, ast.Constant) else "x" for part in tree.values)
    elif isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree, tree.value
    for child in ast.iter_child_nodes(tree):
        if not isinstance(tree, ast.JoinedStr) or isinstance(child, ast.FormattedValue):
            yield from texts(child)


def is_sql(text: str) -> bool:
    """Whether PostgreSQL would read it as a statement, or as the first piece of one."""
    words = re.sub(r"\A(\s|--[^\n]*(\n|\Z)|/\*.*?\*/)*", "", text, flags=re.DOTALL)
    first = re.match(r"[A-Za-z]*", words)[0]  # type: ignore[index]
    if not (first.isupper() or (first.islower() and first.upper() in DATA)) or first.upper() not in DATA + REST:
        return False  # A capital and small letters begin a sentence: "Update the counter".
    return bool(PIECE.match(words)) or _parses(words)


def _parses(text: str) -> bool:
    try:
        statements = pglast.parse_sql(text)
    except pglast.parser.ParseError:
        return False
    return any(not _is_prose(each.stmt) for each in statements)


def _is_prose(statement: sql_ast.Node) -> bool:
    """`select an organisation` parses, but chooses columns of nothing."""
    if not isinstance(statement, sql_ast.SelectStmt) or statement.fromClause or statement.valuesLists:
        return False
    columns = _Columns()
    columns(statement)
    return columns.found or not statement.targetList


class _Columns(Visitor):
    found = False

    def visit_ColumnRef(self, _ancestors: object, _node: sql_ast.ColumnRef) -> None:
        self.found = True


def _is_constant(statement: ast.stmt) -> bool:
    """`NAME = …`, also with a type."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return all(isinstance(target, ast.Name) and target.id.isupper() for target in targets)


def _start(text: str) -> str:
    return repr(" ".join(text.split())[:40])
