"""Every statement says whose rows it means, and minds its manners."""

import pytest

from admitone.kernel.manifest import Module, Table, TableClass
from tests.architecture.binding import unbound
from tests.architecture.statements import IDENTITY, PLATFORM, TENANT, Statement, all_statements
from tests.architecture.tenancy import foreign, forgotten, homeless, rough, tenant_tables

TABLES = {"toy.counter": "organization_id", "toy.increment": "organization_id", "kernel.tenant": "id"}


def a_statement(sql: str, *kinds: str, name: str = "FIND", module: str = "admitone.toy.store") -> Statement:
    return Statement(module, name, sql, frozenset(kinds or {TENANT}))


@pytest.mark.covers("TEN-T02", "TEN-010", "INV-I05")
def test_every_statement_on_a_tenant_table_names_the_organization():
    assert TABLES.items() <= tenant_tables().items()
    assert homeless(all_statements()) == []
    assert forgotten(all_statements()) == []


def test_every_statement_minds_its_manners():
    assert rough(all_statements()) == []


@pytest.mark.covers("OPS-020")
def test_tables_are_named_by_their_own_package_only():
    assert foreign(all_statements()) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT value FROM toy.counter",
        "SELECT value FROM toy.counter WHERE name = $1",
        "SELECT value FROM toy.counter WHERE organization_id = $2",
        "SELECT value FROM toy.counter WHERE organization_id <> $1",
        "SELECT value FROM toy.counter WHERE organization_id = $1 OR name = $2",
        "SELECT value FROM toy.counter WHERE NOT (organization_id = $1)",
        "SELECT value FROM toy.counter WHERE (organization_id = $1) IS NOT TRUE",
        "SELECT c.value FROM toy.counter c JOIN toy.increment i ON i.counter = c.name WHERE c.organization_id = $1",
        "SELECT c.value FROM toy.counter c, toy.increment i WHERE organization_id = $1",
        (
            "SELECT c.value FROM toy.counter c LEFT JOIN toy.increment i ON c.organization_id = $1"
            " AND i.organization_id = c.organization_id"
        ),
        (
            "SELECT c.value FROM toy.counter c FULL JOIN toy.increment i"
            " ON c.organization_id = $1 AND i.organization_id = $1"
        ),
        (
            "SELECT c.value FROM toy.counter c WHERE c.organization_id = $1 AND EXISTS"
            " (SELECT FROM toy.increment i WHERE i.counter = c.name)"
        ),
        "SELECT (SELECT max(amount) FROM toy.increment)",
        "SELECT x.value FROM (SELECT value, organization_id FROM toy.counter) x WHERE x.organization_id = $1",
        "WITH c AS (SELECT value FROM toy.counter) SELECT value FROM c",
        "WITH counter AS (SELECT 1) SELECT value FROM toy.counter",
        "WITH gone AS (DELETE FROM toy.counter WHERE name = $2 RETURNING name) SELECT name FROM gone",
        "SELECT name FROM toy.counter WHERE organization_id = $1 UNION SELECT counter FROM toy.increment",
        "UPDATE toy.counter SET value = 1 WHERE name = $2",
        "UPDATE toy.counter AS c SET value = 1 FROM toy.increment AS i WHERE c.organization_id = $1",
        "UPDATE toy.counter SET organization_id = $2 WHERE organization_id = $1",
        "DELETE FROM toy.counter WHERE value = 0",
        "DELETE FROM toy.counter AS c USING toy.increment AS i WHERE i.organization_id = $1",
        "INSERT INTO toy.counter VALUES ($1, $2)",
        "INSERT INTO toy.counter (name, organization_id) VALUES ($2, $1)",
        "INSERT INTO toy.counter (organization_id, name) VALUES ($2, $1)",
        "INSERT INTO toy.counter (organization_id, name) VALUES ($1, 'a'), ($2, 'b')",
        "INSERT INTO toy.counter (organization_id, name) SELECT $2, $3",
        "INSERT INTO toy.counter (organization_id, name) SELECT v.o, v.n FROM unnest($2::uuid[], $3::text[]) AS v(o, n)",
        "INSERT INTO toy.counter (organization_id, name) SELECT $1, i.counter FROM toy.increment AS i",
        "INSERT INTO toy.counter (organization_id, name) SELECT $1, 'a' UNION ALL SELECT $2, 'b'",
        (
            "INSERT INTO toy.counter (organization_id, name) VALUES ($1, $2)"
            " ON CONFLICT (organization_id, name) DO UPDATE SET organization_id = $3"
        ),
        "SELECT created_at FROM kernel.tenant WHERE created_at > $1",
        "MERGE INTO toy.counter c USING toy.increment i ON c.organization_id = $1 WHEN MATCHED THEN DELETE",
    ],
)
@pytest.mark.covers("TEN-T02")
def test_a_statement_without_its_organization_is_seen(sql: str):
    assert unbound(sql, TABLES)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT value FROM toy.counter WHERE organization_id = $1",
        "SELECT value FROM toy.counter WHERE $1::uuid = counter.organization_id AND name = $2",
        (
            "SELECT c.value FROM toy.counter c JOIN toy.increment i ON i.organization_id = c.organization_id"
            " WHERE c.organization_id = $1"
        ),
        (
            "SELECT c.value FROM toy.counter c LEFT JOIN toy.increment i ON i.organization_id = c.organization_id"
            " WHERE c.organization_id = $1"
        ),
        (
            "SELECT c.value FROM toy.counter c WHERE c.organization_id = $1 AND EXISTS"
            " (SELECT FROM toy.increment i WHERE i.organization_id = c.organization_id)"
        ),
        "WITH c AS (SELECT value FROM toy.counter WHERE organization_id = $1) SELECT value FROM c",
        "UPDATE toy.counter AS c SET value = v.n FROM unnest($2::bigint[]) AS v(n) WHERE c.organization_id = $1",
        (
            "INSERT INTO toy.counter (organization_id, name) SELECT o.id, v.name"
            " FROM kernel.tenant AS o CROSS JOIN unnest($2::text[]) AS v(name) WHERE o.id = $1"
        ),
        "INSERT INTO kernel.tenant (id, created_at) VALUES ($1, $2)",
        "SELECT name FROM toy.gate WHERE name = $1",
    ],
)
def test_a_statement_with_its_organization_is_fine(sql: str):
    assert unbound(sql, TABLES) == []


def test_exceptions_are_listed_and_are_exceptions():
    toy = Module("toy", tables=(Table("increment", TableClass.TENANT),), listed_statements=("store.FIND",))
    unlisted = Module("toy", tables=toy.tables)
    own = a_statement("SELECT amount FROM toy.increment WHERE identity_id = $1", IDENTITY)
    anybodys = a_statement("SELECT amount FROM toy.increment", IDENTITY)
    platforms = a_statement("SELECT amount FROM toy.increment WHERE organization_id = $1", PLATFORM)
    ordinary = a_statement("SELECT amount FROM toy.increment WHERE organization_id = $1")

    assert homeless([own], (toy,)) == []
    assert "without a `Tx`" in homeless([own], (unlisted,))[0]
    assert "without a `Tx`" in homeless([platforms], (unlisted,))[0], "there, $1 is not the organisation"
    assert "identity_id = $1" in homeless([anybodys], (toy,))[0]
    assert "take it off the list" in homeless([ordinary], (toy,))[0]
    assert forgotten([own], (toy,)) == []
    assert forgotten([], (toy,)) == ["toy.store.FIND is listed as an exception and does not exist"]
    deep = a_statement("SELECT 1", module="admitone.finance.ledger.store.transfers")
    assert (deep.package, deep.short) == ("ledger", "ledger.store.transfers.FIND")


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        ("SELECT now()", "clock"),
        ("SELECT value FROM toy.counter WHERE at < pg_catalog.clock_timestamp()", "clock"),
        ("SELECT value FROM toy.counter WHERE at < CURRENT_TIMESTAMP", "current_timestamp"),
        ("SELECT value FROM toy.counter WHERE at < current_date", "current_date"),
        ("SELECT value FROM toy.counter FOR UPDATE", "FOR NO KEY UPDATE"),
        ("SELECT value FROM toy.counter FOR UPDATE SKIP LOCKED", "FOR NO KEY UPDATE"),
        ("SELECT * FROM toy.counter", "name the columns"),
        ("SELECT c.* FROM toy.counter c", "name the columns"),
        ("UPDATE toy.counter SET value = 1 RETURNING *", "name the columns"),
        ("TRUNCATE toy.counter", "is not one"),
        ("SELECT 1; SELECT 2", "is not one"),
    ],
)
def test_bad_manners_are_seen(sql: str, complaint: str):
    [violation] = rough([a_statement(sql)])
    assert complaint in violation


def test_a_list_without_an_end_is_seen():
    assert "without LIMIT" in rough([a_statement("SELECT name FROM toy.counter", name="LIST_ALL")])[0]
    assert rough([a_statement("SELECT count(*) FROM toy.counter")]) == []


@pytest.mark.covers("OPS-020")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT value FROM toy.counter",
        "SELECT toy.claim_nickname($1, $2)",
        "INSERT INTO kernel.audit_entry (id) VALUES ($1)",
        "DELETE FROM ledger.transfer WHERE id IN (SELECT id FROM toy.increment)",
    ],
)
def test_a_foreign_table_is_seen(sql: str):
    [violation] = foreign([a_statement(sql, module="admitone.finance.ledger.store.transfers")])
    assert "another package" in violation
