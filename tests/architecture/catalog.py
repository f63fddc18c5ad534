"""The database as the catalog describes it: everything in schemas that are ours."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import asyncpg

OURS = "n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND n.nspname NOT LIKE 'pg\\_temp%'"
NAME = "n.nspname || '.' || c.relname"

ROLES = """
    SELECT rolname AS name, rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb, rolreplication,
           ARRAY(SELECT g.rolname::text FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
                  WHERE m.member = r.oid) AS member_of,
           EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid AND m.inherit_option) AS inherits,
           ARRAY(SELECT pg_describe_object(classid, objid, objsubid) FROM pg_shdepend
                  WHERE deptype = 'o' AND refobjid = r.oid
                    AND dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))) AS owns
      FROM pg_roles r
"""

RELATIONS = f"""
    SELECT {NAME} AS name, c.relkind::text AS kind, c.relispartition AS is_partition,
           pg_get_userbyid(c.relowner)::text AS owner, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
           COALESCE(c.reloptions, '{{}}') && ARRAY['security_invoker=true', 'security_invoker=on'] AS is_invoker
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE {OURS} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""

COLUMNS = f"""
    SELECT {NAME} AS table, a.attname AS name, t.typname::text AS type, a.attnotnull AS not_null,
           a.attidentity <> '' OR COALESCE(pg_get_expr(d.adbin, d.adrelid), '') LIKE '%nextval(%' AS is_numbered
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE {OURS} AND c.relkind IN ('r', 'p')
"""

POLICIES = f"""
    SELECT {NAME} AS table, p.polname AS name, p.polcmd::text AS command, p.polpermissive AS permissive,
           ARRAY(SELECT CASE WHEN role = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(role)::text END
                   FROM unnest(p.polroles) AS role) AS roles,
           pg_get_expr(p.polqual, p.polrelid) AS using, pg_get_expr(p.polwithcheck, p.polrelid) AS with_check
      FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace
"""

GRANTS = f"""
    SELECT {NAME} AS table, x.privilege_type AS privilege,
           CASE WHEN x.grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(x.grantee)::text END AS role
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     CROSS JOIN LATERAL (
           SELECT * FROM aclexplode(c.relacl)
            UNION SELECT e.* FROM pg_attribute a, aclexplode(a.attacl) e WHERE a.attrelid = c.oid) AS x
     WHERE {OURS} AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
"""

INDEXES = f"""
    SELECT {NAME} AS table, i.relname AS name, m.amname AS method, x.indisunique AS is_unique,
           (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = x.indkey[0]) AS first,
           EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.oid AND k.contype = 'x') AS is_exclusion
      FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam
     WHERE {OURS}
"""

FOREIGN_KEYS = f"""
    SELECT {NAME} AS table, k.conname AS name, rn.nspname || '.' || r.relname AS references,
           k.confdeltype::text AS on_delete, k.confupdtype::text AS on_update,
           (SELECT attname FROM pg_attribute WHERE attrelid = k.conrelid AND attnum = k.conkey[1]) AS first,
           (SELECT attname FROM pg_attribute WHERE attrelid = k.confrelid AND attnum = k.confkey[1]) AS first_there
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_class r ON r.oid = k.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
     WHERE k.contype = 'f' AND NOT c.relispartition
"""

FUNCTIONS = f"""
    SELECT n.nspname || '.' || p.proname AS name, p.prosecdef AS is_definer, p.proleakproof AS is_leakproof,
           pg_get_userbyid(p.proowner)::text AS owner,
           EXISTS (SELECT FROM unnest(p.proconfig) AS setting WHERE setting LIKE 'search_path=%') AS is_pinned,
           EXISTS (SELECT FROM aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) WHERE grantee = 0) AS is_public,
           pg_get_functiondef(p.oid) AS definition
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE {OURS}
"""

SCHEMAS = f"""
    SELECT n.nspname AS name, CASE WHEN x.grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(x.grantee)::text END AS role
      FROM pg_namespace n, aclexplode(n.nspacl) AS x
     WHERE {OURS} AND x.privilege_type = 'CREATE' AND x.grantee <> n.nspowner
"""

OTHERS = f"""
    SELECT 'trigger ' || t.tgname || ' on ' || {NAME} AS name
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE NOT t.tgisinternal
     UNION ALL SELECT 'event trigger ' || evtname FROM pg_event_trigger
     UNION ALL SELECT 'rule ' || w.rulename || ' on ' || {NAME}
      FROM pg_rewrite w JOIN pg_class c ON c.oid = w.ev_class JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE {OURS} AND w.rulename <> '_RETURN'
     UNION ALL SELECT 'range type ' || n.nspname || '.' || t.typname
      FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE {OURS} AND t.typtype = 'r'
     UNION ALL SELECT 'extension ' || extname FROM pg_extension WHERE extname <> 'plpgsql'
"""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Catalog:
    """What the checks read, as rows of the queries above."""

    roles: list[Row]
    relations: list[Row]
    columns: list[Row]
    policies: list[Row]
    grants: list[Row]
    indexes: list[Row]
    foreign_keys: list[Row]
    functions: list[Row]
    schemas: list[Row]
    others: list[Row]

    @property
    def tables(self) -> list[Row]:
        return [each for each in self.relations if each["kind"] in "rp"]

    def of(self, table: str, rows: list[Row]) -> list[Row]:
        return [row for row in rows if row["table"] == table]


async def read_catalog(connection: asyncpg.Connection) -> Catalog:
    await connection.execute("SET LOCAL search_path = pg_catalog")  # So that expressions are printed with full names.
    queries = {each.name: globals()[each.name.upper()] for each in fields(Catalog)}
    return Catalog(**{name: await connection.fetch(query) for name, query in queries.items()})
