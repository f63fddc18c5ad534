"""Reads a statement's tree and says which tables it touches without tying their rows to `$1`.

A reference is tied when every row of the answer must satisfy `alias.organization_id = $1`, or an equality with the
column of another reference that is tied. Conditions under OR or NOT tie nothing; the condition of an outer join ties
its optional side only. A form this module does not know ties nothing either, so it errs towards complaining.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pglast
from pglast import ast
from pglast.enums import A_Expr_Kind, BoolExprType, JoinType, SetOperation

Kind = TypeVar("Kind", bound=ast.Node)
Value = tuple[str, str] | int | None
"""An alias (empty where none is given) and a column; or the number of a parameter; or neither."""
FIRST: Value = 1


def unbound(sql: str, watched: dict[str, str]) -> list[str]:
    """Complaints about references to watched tables (by the column that says whose a row is)."""
    reader = _Reader(watched)
    for tree in pglast.parse_sql(sql):
        reader.read(tree.stmt, frozenset(), frozenset())
    return reader.complaints


def nodes(sql: str, kind: type[Kind]) -> Iterator[Kind]:
    """Every node of this kind, however deep."""
    return _below([tree.stmt for tree in pglast.parse_sql(sql)], kind)


def name_of(table: ast.RangeVar) -> str:
    return f"{table.schemaname}.{table.relname}" if table.schemaname else table.relname


@dataclass
class _Level:
    """One SELECT, INSERT, UPDATE or DELETE without what is nested in it."""

    tables: dict[str, str] = field(default_factory=dict)
    """The watched tables that it reads or changes, by alias."""
    ties: list[tuple[Value, Value]] = field(default_factory=list)
    """The first is tied if the second is."""
    nested: list[ast.Node] = field(default_factory=list)


@dataclass
class _Reader:
    watched: dict[str, str]
    complaints: list[str] = field(default_factory=list)

    def read(self, query: ast.Node, outer: frozenset[Value], named: frozenset[str]) -> None:
        """`outer`: what surrounding levels have tied. `named`: the WITH queries in sight, which are no tables."""
        named = self._read_with(query, outer, named)
        if isinstance(query, ast.MergeStmt):
            self.complaints.append("is a MERGE, which a sharded server refuses; write INSERT … ON CONFLICT")
            return
        level = self._level(query, named)
        tied = self._tied(level, outer)
        for alias, table in level.tables.items():
            if (alias, self.watched[table]) not in tied:
                self.complaints.append(f"reads or changes {table} without {alias}.{self.watched[table]} = $1")
        if isinstance(query, ast.InsertStmt):
            self._check_insert(query, outer, named)
        self._check_changes(query)
        for nested in level.nested:
            self.read(nested, outer | tied, named)

    def _read_with(self, query: ast.Node, outer: frozenset[Value], named: frozenset[str]) -> frozenset[str]:
        clause = getattr(query, "withClause", None)
        inner = clause.ctes if clause else ()
        named |= {each.ctename for each in inner}
        for each in inner:
            self.read(each.ctequery, outer, named)
        return named

    # -- One level

    def _level(self, query: ast.Node, named: frozenset[str]) -> _Level:
        level = _Level()
        sources = [*(getattr(query, "fromClause", None) or ()), *(getattr(query, "usingClause", None) or ())]
        if isinstance(query, ast.UpdateStmt | ast.DeleteStmt):
            sources.append(query.relation)
        for source in sources:
            self._read_source(source, level, named)
        for left, right in _equalities(getattr(query, "whereClause", None)):
            level.ties += [(left, right), (right, left)]
        elsewhere = set(query) - {"withClause", "fromClause", "usingClause", "relation"}
        level.nested += [found for part in sorted(elsewhere) for found in _queries(getattr(query, part))]
        return level

    def _read_source(self, source: ast.Node, level: _Level, named: frozenset[str]) -> set[str]:
        """Take one item of FROM into the level; the aliases it brings."""
        if isinstance(source, ast.JoinExpr):
            return self._read_join(source, level, named)
        alias = source.alias.aliasname if source.alias else getattr(source, "relname", "")
        if isinstance(source, ast.RangeVar) and name_of(source) not in named and name_of(source) in self.watched:
            level.tables[alias] = name_of(source)
        level.nested += _queries(source)
        return {alias}

    def _read_join(self, join: ast.JoinExpr, level: _Level, named: frozenset[str]) -> set[str]:
        left = self._read_source(join.larg, level, named)
        right = self._read_source(join.rarg, level, named)
        filtered = {JoinType.JOIN_INNER: left | right, JoinType.JOIN_LEFT: right, JoinType.JOIN_RIGHT: left}
        for one, other in _equalities(join.quals):
            for tied, by in ((one, other), (other, one)):
                if isinstance(tied, tuple) and tied[0] in filtered.get(join.jointype, set()):
                    level.ties.append((tied, by))
        level.nested += _queries(join.quals)
        return left | right

    def _tied(self, level: _Level, outer: frozenset[Value]) -> frozenset[Value]:
        """The columns that are `$1`, directly or by way of others."""
        # An alias of this level hides the same alias of a surrounding one.
        tied = {FIRST} | {value for value in outer if isinstance(value, tuple) and value[0] not in level.tables}
        while new := {value for value, by in level.ties if by in tied and value is not None} - tied:
            tied |= new
            if len(level.tables) == 1:  # Then a column without an alias is that table's.
                [alias] = level.tables
                tied |= {(alias, value[1]) for value in new if isinstance(value, tuple) and not value[0]}
        return frozenset(tied - {FIRST} - {value for value in tied if isinstance(value, tuple) and not value[0]})

    # -- What is written

    def _check_insert(self, insert: ast.InsertStmt, outer: frozenset[Value], named: frozenset[str]) -> None:
        table = name_of(insert.relation)
        if table not in self.watched:
            return
        column = self.watched[table]
        if not insert.cols or insert.cols[0].name != column:
            self.complaints.append(f"inserts into {table} without {column} as its first column")
        elif not all(self._is_first(select, outer, named) for select in _leaves(insert.selectStmt)):
            self.complaints.append(f"inserts into {table} with a {column} that is not $1")

    def _is_first(self, select: ast.SelectStmt, outer: frozenset[Value], named: frozenset[str]) -> bool:
        if select.valuesLists:
            return all(_value(row[0]) == FIRST for row in select.valuesLists)
        tied = self._tied(self._level(select, named), outer)
        return _value(select.targetList[0].val) in {FIRST, *tied}

    def _check_changes(self, query: ast.Node) -> None:
        conflict = getattr(query, "onConflictClause", None)
        if not isinstance(query, ast.UpdateStmt) and not conflict:
            return
        table, changes = name_of(query.relation), (conflict or query).targetList or ()
        if any(change.name == self.watched.get(table) for change in changes):
            self.complaints.append(f"changes the {self.watched[table]} of {table}, which never changes")


def _leaves(query: ast.SelectStmt | None) -> list[ast.SelectStmt]:
    """The SELECTs that a UNION puts together."""
    if query is None:
        return []
    return [query] if query.op == SetOperation.SETOP_NONE else [*_leaves(query.larg), *_leaves(query.rarg)]


def _equalities(condition: ast.Node | None) -> Iterator[tuple[Value, Value]]:
    """What must be equal for the condition to hold at all."""
    if isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.AND_EXPR:
        for part in condition.args:
            yield from _equalities(part)
    elif isinstance(condition, ast.A_Expr) and condition.kind == A_Expr_Kind.AEXPR_OP and _operator(condition) == "=":
        yield _value(condition.lexpr), _value(condition.rexpr)


def _operator(expression: ast.A_Expr) -> str:
    return expression.name[-1].sval


def _value(node: ast.Node) -> Value:
    if isinstance(node, ast.TypeCast):
        return _value(node.arg)
    if isinstance(node, ast.ParamRef):
        return node.number
    if isinstance(node, ast.ColumnRef) and isinstance(node.fields[-1], ast.String):
        *table, column = [part.sval for part in node.fields]
        return (table[-1] if table else "", column)
    return None


def _queries(tree: Any) -> list[ast.Node]:
    """The outermost queries below a node."""
    if isinstance(tree, ast.SelectStmt):
        return [tree]
    return [query for child in _children(tree) for query in _queries(child)]


def _below(tree: Any, kind: type[Kind]) -> Iterator[Kind]:
    if isinstance(tree, kind):
        yield tree
    for child in _children(tree):
        yield from _below(child, kind)


def _children(tree: Any) -> Iterator[Any]:
    if isinstance(tree, tuple | list):
        yield from tree
    elif isinstance(tree, ast.Node):
        yield from (getattr(tree, part) for part in tree)
