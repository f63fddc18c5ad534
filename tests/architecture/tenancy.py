"""What every statement owes: one organisation, the caller's clock, gentle locks, an end.

Policies hold the tenants apart even if a statement forgets (`test_row_level_security`). The statement names its
organisation all the same: that is what finds the index, and what finds the shard.
"""

from collections.abc import Iterable, Iterator

import pglast
from pglast import ast
from pglast.enums import LockClauseStrength

from admitone.kernel.manifest import Module, TableClass
from tests.architecture.binding import name_of, nodes, unbound
from tests.architecture.statements import ALL_MODULES, IDENTITY, Statement, listed

ANCHOR = "kernel.tenant"
CLOCKS = {"now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "timeofday"}


def tenant_tables(modules: Iterable[Module] = ALL_MODULES) -> dict[str, str]:
    """Every tenant table, with the column that says whose a row is."""
    names = [f"{m.name}.{table.name}" for m in modules for table in m.tables if table.kind is TableClass.TENANT]
    return {name: "id" if name == ANCHOR else "organization_id" for name in names}


def homeless(statements: Iterable[Statement], modules: tuple[Module, ...] = ALL_MODULES) -> list[str]:
    """Statements that touch a tenant table without saying whose rows they mean, and exceptions that are none."""
    found = []
    for statement in statements:
        complaints = _homeless(statement, tenant_tables(modules))
        if not statement.is_listed(modules):
            found += [f"{statement} {complaint}" for complaint in complaints]
        elif not complaints:
            found.append(f"{statement} is listed as an exception and needs none; take it off the list")
        elif statement.kinds == {IDENTITY}:
            own = dict.fromkeys(tenant_tables(modules), "identity_id")
            found += [f"{statement} {complaint}" for complaint in unbound(statement.sql, own)]
    return found


def forgotten(statements: Iterable[Statement], modules: tuple[Module, ...] = ALL_MODULES) -> list[str]:
    """Exceptions on a list whose statements are gone."""
    gone = listed(modules) - {statement.short for statement in statements}
    return [f"{name} is listed as an exception and does not exist" for name in sorted(gone)]


def _homeless(statement: Statement, tables: dict[str, str]) -> list[str]:
    if statement.tenant:
        return unbound(statement.sql, tables)
    touched = sorted({name_of(node) for node in nodes(statement.sql, ast.RangeVar)} & tables.keys())
    return [f"touches the tenants' {', '.join(touched)} without a `Tx`, and is not listed"] if touched else []


def rough(statements: Iterable[Statement]) -> list[str]:
    """Statements that read a clock, lock too hard, read what they do not name, or never end."""
    return [f"{statement} {complaint}" for statement in statements for complaint in _rough(statement)]


def foreign(statements: Iterable[Statement]) -> list[str]:
    """Statements that name another package's tables or functions."""
    found = []
    for statement in statements:
        tables = {name_of(node) for node in nodes(statement.sql, ast.RangeVar) if node.schemaname}
        functions = {".".join(part.sval for part in node.funcname) for node in nodes(statement.sql, ast.FuncCall)}
        found += [
            f"{statement} names {name}, which belongs to another package; ask that package's api"
            for name in sorted(tables | {name for name in functions if "." in name})
            if name.split(".")[0] not in (statement.package, "pg_catalog") and name != ANCHOR
        ]
    return found


def _rough(statement: Statement) -> Iterator[str]:
    trees = pglast.parse_sql(statement.sql)
    if len(trees) != 1 or not isinstance(
        trees[0].stmt, ast.SelectStmt | ast.InsertStmt | ast.UpdateStmt | ast.DeleteStmt
    ):
        yield "is not one SELECT, INSERT, UPDATE or DELETE"
        return
    for call in nodes(statement.sql, ast.FuncCall):
        if call.funcname[-1].sval in CLOCKS:
            yield f"reads a clock ({call.funcname[-1].sval}); pass tx.now"
    for value in nodes(statement.sql, ast.SQLValueFunction):
        yield f"reads {value.op.name.removeprefix('SVFOP_').lower()}; pass it"
    for clause in nodes(statement.sql, ast.LockingClause):
        if clause.strength == LockClauseStrength.LCS_FORUPDATE:
            yield "locks FOR UPDATE; FOR NO KEY UPDATE lets those who reference the row go on"
    for target in nodes(statement.sql, ast.ResTarget):
        if isinstance(target.val, ast.ColumnRef) and isinstance(target.val.fields[-1], ast.A_Star):
            yield "selects *; name the columns"
    if statement.name.startswith("LIST_") and not getattr(trees[0].stmt, "limitCount", None):
        yield "lists without LIMIT"
