"""The migrated database keeps the rules of the architecture's section 4; each rule is broken once and seen red."""

from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from admitone.kernel.manifest import Module, Table, TableClass
from tests.architecture.catalog import read_catalog
from tests.architecture.isolation import faults
from tests.architecture.statements import ALL_MODULES

OWN = "organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid"

PLANTS = [
    ("CREATE TABLE toy.stray (id uuid)", "toy.stray is in no manifest"),
    ("CREATE TABLE public.stray (id uuid)", "public.stray is in no manifest"),
    ("DROP TABLE toy.gate", "toy.gate is in a manifest and not in the database"),
    ("ALTER TABLE toy.counter DISABLE ROW LEVEL SECURITY", "toy.counter lacks ENABLE or FORCE"),
    ("ALTER TABLE toy.gate NO FORCE ROW LEVEL SECURITY", "toy.gate lacks ENABLE or FORCE"),
    ("ALTER TABLE toy.counter OWNER TO admitone_app", "toy.counter is owned by admitone_app"),
    ("ALTER TABLE toy.counter OWNER TO admitone_app", "role admitone_app owns table toy.counter"),
    ("DROP POLICY in_city ON toy.stall", "toy.stall has a city_code, and no restrictive policy"),
    (
        "ALTER POLICY in_city ON toy.stall USING (true) WITH CHECK (true)",
        "toy.stall has a city_code, and no restrictive policy",
    ),
    ("ALTER TABLE toy.stall ALTER city_code DROP NOT NULL", "toy.stall.city_code is not text NOT NULL"),
    ("GRANT INSERT ON kernel.city TO admitone_app", "admitone_app may INSERT kernel.city"),
    ("CREATE VIEW toy.all AS SELECT value FROM toy.counter", "view toy.all reads with its owner's rights"),
    ("CREATE MATERIALIZED VIEW toy.all AS SELECT value FROM toy.counter", "toy.all is a materialised view"),
    ("GRANT UPDATE ON toy.gate TO admitone_authority", "admitone_authority may UPDATE toy.gate"),
    ("GRANT SELECT ON toy.profile TO admitone_app", "admitone_app may SELECT toy.profile"),
    ("GRANT SELECT ON toy.gate TO admitone_app", "admitone_app may SELECT toy.gate"),
    ("GRANT SELECT ON toy.nickname TO admitone_identity", "admitone_identity may SELECT toy.nickname"),
    ("GRANT UPDATE ON toy.increment TO admitone_buyer", "admitone_buyer may UPDATE toy.increment"),
    ("GRANT SELECT ON toy.counter TO admitone_maintenance", "admitone_maintenance may SELECT toy.counter"),
    ("GRANT SELECT ON toy.counter TO admitone_relay", "admitone_relay may SELECT toy.counter"),
    ("GRANT SELECT (value) ON toy.counter TO PUBLIC", "PUBLIC may SELECT toy.counter"),
    ("GRANT SELECT ON toy.counter TO admitone", "admitone may SELECT toy.counter"),
    ("GRANT TRUNCATE ON toy.counter TO admitone_app", "admitone_app may TRUNCATE toy.counter"),
    ("GRANT INSERT ON toy.gate TO admitone_app", "admitone_app may INSERT toy.gate"),
    ("GRANT SELECT ON kernel.migration TO admitone_authority", "admitone_authority may SELECT kernel.migration"),
    ("GRANT SELECT ON kernel.limit_counter TO admitone_relay", "admitone_relay may SELECT kernel.limit_counter"),
    ("GRANT UPDATE ON toy.increment TO admitone_app", "toy.increment, which is append-only"),
    ("GRANT DELETE ON kernel.idempotency_key TO admitone_app", "kernel.idempotency_key, which is append-only"),
    ("GRANT UPDATE (answer) ON kernel.idempotency_key TO admitone_app", "kernel.idempotency_key, which is append-only"),
    ("GRANT UPDATE ON kernel.audit_entry TO admitone_app", "admitone_app may UPDATE kernel.audit_entry"),
    ("GRANT SELECT ON toy.counter TO admitone_buyer", "admitone_buyer may SELECT toy.counter, and no policy says"),
    ("CREATE SEQUENCE toy.s; GRANT USAGE ON SEQUENCE toy.s TO admitone_app", "admitone_app may USAGE toy.s"),
    ("GRANT CREATE ON SCHEMA toy TO admitone_app", "admitone_app may create in schema toy"),
    ("CREATE POLICY p ON toy.counter USING (true) WITH CHECK (true)", "policy p on toy.counter is for PUBLIC"),
    ("CREATE POLICY p ON toy.gate TO admitone USING (true)", "policy p on toy.gate is for admitone"),
    (f"CREATE POLICY p ON toy.counter TO admitone_app USING ({OWN})", "policy p on toy.counter has no WITH CHECK"),
    ("CREATE POLICY p ON toy.gate TO admitone_relay WITH CHECK (true)", "policy p on toy.gate has no USING"),
    ("CREATE POLICY p ON toy.counter FOR SELECT TO admitone_app USING (true)", "policy p on toy.counter gives the app"),
    (
        f"ALTER POLICY app_own ON toy.counter USING ({OWN} OR name = 'shared')",
        "policy app_own on toy.counter gives the app other rows",
    ),
    (
        "CREATE POLICY p ON kernel.audit_entry FOR INSERT TO admitone_app WITH CHECK (true)",
        "policy p on kernel.audit_entry gives the app other rows",
    ),
    (
        "ALTER POLICY buyer_own ON toy.increment USING (true)",
        "policy buyer_own on toy.increment gives the buyer other rows",
    ),
    (
        "CREATE POLICY p ON kernel.tenant TO admitone_owner USING (true) WITH CHECK (true)",
        "policy p on kernel.tenant lets the owner see rows",
    ),
    ("DROP POLICY overdue ON kernel.outbox", "kernel.outbox is kept for days, and it takes one policy"),
    (
        "ALTER POLICY overdue ON kernel.outbox USING (published_at < now() - interval '29 days')",
        "kernel.outbox is kept for 30 days after published_at, not",
    ),
    (
        "ALTER POLICY overdue ON kernel.outbox USING (created_at < now() - interval '30 days')",
        "kernel.outbox is kept for 30 days after published_at, not",
    ),
    (
        "ALTER POLICY overdue ON kernel.outbox USING (published_at IS NULL OR published_at < now() - interval '30 days')",
        "policy overdue on kernel.outbox lets the owner see rows",
    ),
    ("ALTER POLICY overdue ON kernel.outbox WITH CHECK (true)", "kernel.outbox is kept for days, and it takes one"),
    (
        "ALTER POLICY overdue ON kernel.dead_letter TO admitone_owner, admitone_relay",
        "kernel.dead_letter is kept for days, and it takes one policy",
    ),
    (
        "CREATE POLICY p ON kernel.job_attempt FOR SELECT TO admitone_owner USING (true)",
        "kernel.job_attempt is kept for days, and it takes one policy",
    ),
    (
        "CREATE POLICY p ON kernel.job TO admitone_owner USING (run_at < now() - interval '9 days') WITH CHECK (false)",
        "kernel.job has a policy for what is overdue, and no days",
    ),
    ("DROP INDEX kernel.job_key_by_age", "kernel.job_key has no index that begins with created_at"),
    ("CREATE INDEX i ON kernel.inbox (key, done_at)", "index kernel.i on kernel.inbox begins with key"),
    (
        "ALTER TABLE toy.increment DROP CONSTRAINT increment_pkey, ALTER organization_id DROP NOT NULL",
        "toy.increment has no organization_id uuid NOT NULL",
    ),
    ("ALTER TABLE toy.counter ADD nr bigint GENERATED ALWAYS AS IDENTITY", "toy.counter.nr is numbered by a sequence"),
    ("ALTER TABLE toy.counter ADD nr serial", "toy.counter.nr is numbered by a sequence"),
    ("CREATE INDEX i ON toy.counter (name)", "index toy.i on toy.counter begins with name"),
    ("CREATE UNIQUE INDEX i ON toy.increment (id)", "index toy.i on toy.increment begins with id"),
    ("CREATE INDEX i ON toy.counter (lower(name))", "index toy.i on toy.counter begins with None"),
    ("CREATE INDEX i ON toy.counter USING gin (labels)", "index toy.i on toy.counter begins with labels"),
    ("CREATE INDEX i ON toy.increment (identity_id)", "index toy.i on toy.increment begins with identity_id"),
    ("DROP POLICY buyer_own ON toy.increment", "index toy.increment_by_identity is listed, but"),
    ("DROP INDEX toy.increment_by_identity", "index toy.increment_by_identity is listed as an exception and is none"),
    (
        "ALTER TABLE toy.counter DROP CONSTRAINT counter_organization_id_fkey",
        "toy.increment does not reach kernel.tenant",
    ),
    (
        "ALTER TABLE toy.counter ADD CONSTRAINT f FOREIGN KEY (name) REFERENCES toy.gate NOT VALID",
        "foreign key f on toy.counter does not begin with organization_id",
    ),
    (
        "ALTER TABLE toy.credential ADD CONSTRAINT f FOREIGN KEY (organization_id) REFERENCES kernel.tenant",
        "foreign key f on toy.credential ties a table of everybody to kernel.tenant",
    ),
    (
        (
            "ALTER TABLE toy.counter ADD CONSTRAINT f FOREIGN KEY (organization_id) REFERENCES kernel.tenant"
            " ON UPDATE CASCADE"
        ),
        "foreign key f on toy.counter changes rows by itself",
    ),
    (
        (
            "ALTER TABLE toy.counter ADD CONSTRAINT f FOREIGN KEY (organization_id) REFERENCES kernel.tenant"
            " ON DELETE SET NULL"
        ),
        "foreign key f on toy.counter changes rows by itself",
    ),
    (
        "CREATE FUNCTION toy.f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
        "toy.f is SECURITY DEFINER and in",
    ),
    ("CREATE FUNCTION toy.f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'", "without a pinned search_path"),
    ("ALTER FUNCTION toy.claim_nickname RESET search_path", "toy.claim_nickname is SECURITY DEFINER without a pinned"),
    ("GRANT EXECUTE ON FUNCTION toy.claim_nickname TO PUBLIC", "toy.claim_nickname is SECURITY DEFINER and everybody"),
    ("ALTER FUNCTION toy.claim_nickname SECURITY INVOKER", "toy.claim_nickname is in a manifest and not in"),
    ("ALTER FUNCTION toy.claim_nickname LEAKPROOF", "toy.claim_nickname is LEAKPROOF"),
    (
        (
            "CREATE FUNCTION toy.t() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
            "CREATE TRIGGER rule_in_hiding BEFORE INSERT ON toy.counter FOR EACH ROW EXECUTE FUNCTION toy.t()"
        ),
        "trigger rule_in_hiding on toy.counter exists",
    ),
    ("CREATE RULE r AS ON DELETE TO toy.counter DO INSTEAD NOTHING", "rule r on toy.counter exists"),
    ("CREATE TYPE toy.span AS RANGE (subtype = int8)", "range type toy.span exists"),
    ("ALTER TABLE toy.counter ADD fee_minor integer", "toy.counter.fee_minor is int4; minor units are bigint"),
    ("ALTER TABLE toy.counter ADD amount numeric", "toy.counter.amount is numeric"),
    ("ALTER TABLE toy.counter ADD net_price real", "toy.counter.net_price is float4"),
    ("ALTER TABLE toy.counter ADD price_total double precision", "toy.counter.price_total is float8"),
    ("ALTER TABLE toy.profile ADD username text", "toy.profile.username would be a second truth"),
    ("ALTER TABLE toy.counter ADD public_username text", "toy.counter.public_username would be a second truth"),
    (
        (
            "CREATE FUNCTION toy.f() RETURNS void LANGUAGE sql SET search_path = pg_catalog"
            " AS 'DELETE FROM usernames.username'"
        ),
        "function toy.f reaches into the registry of usernames",
    ),
    ("GRANT UPDATE ON usernames.username TO admitone_app", "admitone_app may UPDATE usernames.username"),
    ("GRANT INSERT ON usernames.username TO admitone_identity", "admitone_identity may INSERT usernames.username"),
    ("ALTER ROLE admitone_app BYPASSRLS", "role admitone_app has rolbypassrls"),
    ("ALTER ROLE admitone_relay SUPERUSER", "role admitone_relay has rolsuper"),
    ("ALTER ROLE admitone_buyer LOGIN", "role admitone_buyer has rolcanlogin"),
    ("ALTER ROLE admitone_owner LOGIN", "role admitone_owner has rolcanlogin"),
    ("ALTER ROLE admitone CREATEROLE", "role admitone has rolcreaterole"),
    ("GRANT admitone_owner TO admitone_app", "role admitone_app has the rights of admitone_owner"),
    ("GRANT admitone_owner TO admitone WITH INHERIT FALSE", "role admitone has the rights of admitone_owner"),
    ("GRANT admitone_relay TO admitone WITH INHERIT TRUE", "role admitone has the rights of"),
    ("GRANT pg_read_all_data TO admitone_maintenance", "role admitone_maintenance has the rights of pg_read_all_data"),
]


@pytest.mark.covers("TEN-T01", "TEN-T03", "TEN-010", "IDN-033")
async def test_the_database_keeps_every_rule(superuser: asyncpg.Connection):
    assert faults(await read_catalog(superuser), ALL_MODULES) == []


@pytest.mark.covers("TEN-T01", "TEN-T03", "TEN-010", "IDN-033")
@pytest.mark.parametrize(("ddl", "complaint"), PLANTS, ids=[ddl[:60] for ddl, _ in PLANTS])
async def test_a_broken_rule_is_seen(superuser: asyncpg.Connection, ddl: str, complaint: str):
    planted = superuser.transaction()
    await planted.start()
    try:
        await superuser.execute(ddl)
        seen = faults(await read_catalog(superuser), ALL_MODULES)
    finally:
        await planted.rollback()
    assert any(complaint in each for each in seen), seen


async def test_a_table_of_the_wrong_class_is_seen(superuser: asyncpg.Connection):
    disguised = Module("toy", tables=tuple(Table(t.name, TableClass.PLATFORM) for t in ALL_MODULES[-1].tables))
    seen = faults(await read_catalog(superuser), (*ALL_MODULES[:-1], disguised))
    assert any("admitone_app may UPDATE toy.counter" in each for each in seen)
    assert any("admitone_buyer may SELECT toy.profile" in each for each in seen)


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("outbox", {"retention_days": 31}, "kernel.outbox is kept for 31 days after published_at, not"),
        ("outbox", {"retention_days": None}, "kernel.outbox has a policy for what is overdue, and no days"),
        ("outbox", {"aged_by": "created_at"}, "kernel.outbox is kept for 30 days after created_at, not"),
        ("outbox", {"aged_by": "sent_at"}, "kernel.outbox has no sent_at timestamptz to be kept after"),
        ("outbox", {"aged_by": "attempts"}, "kernel.outbox has no attempts timestamptz to be kept after"),
        ("outbox", {"partitioned": True}, "kernel.outbox is not partitioned, and its manifest says otherwise"),
        ("outbox", {"kept_because": "we like it"}, "kernel.outbox has days, and a reason to have none"),
        ("event_log", {"partitioned": False}, "kernel.event_log is partitioned, and its manifest says otherwise"),
        ("job", {"kept_because": ""}, "kernel.job is about people; say for how many days it is kept"),
        ("schedule", {"retention_days": 9}, "kernel.schedule is kept for days, and it takes one policy"),
    ],
)
async def test_a_manifest_that_promises_other_days_than_the_database_is_seen(
    superuser: asyncpg.Connection, name: str, change: dict[str, object], complaint: str
):
    kernel, *others = ALL_MODULES
    tables = tuple(replace(table, **change) if table.name == name else table for table in kernel.tables)
    seen = faults(await read_catalog(superuser), (replace(kernel, tables=tables), *others))
    assert any(complaint in each for each in seen), seen


async def test_a_missing_role_is_seen(superuser: asyncpg.Connection):
    catalog = await read_catalog(superuser)
    poorer = replace(catalog, roles=[role for role in catalog.roles if role["name"] != "admitone_relay"])
    assert "role admitone_relay does not exist" in faults(poorer, ALL_MODULES)


def test_no_migration_needs_an_extension():
    migrations = Path(__file__).resolve().parents[2] / "migrations"
    assert [path.name for path in migrations.glob("*.sql") if "CREATE EXTENSION" in path.read_text().upper()] == []
