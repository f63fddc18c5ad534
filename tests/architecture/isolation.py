"""What the catalog must show: tables in their classes, roles without power, policies without gaps, keys by organisation.

Each check takes the catalog and the manifests and returns sentences. The table of the architecture's section 4 stands
here as `MAY`.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from admitone.kernel.embedded import RUNTIME_LOGIN
from admitone.kernel.manifest import Module, Privacy, Table, TableClass
from admitone.kernel.migrate import OWNER
from admitone.kernel.scope import Role
from tests.architecture.catalog import Catalog, Row

ANCHOR = "kernel.tenant"
READ, WRITE = {"SELECT"}, {"SELECT", "INSERT", "UPDATE", "DELETE"}

MAY: dict[tuple[str, TableClass], set[str]] = {
    (Role.APP, TableClass.TENANT): WRITE,
    (Role.BUYER, TableClass.TENANT): READ,
    (Role.BUYER, TableClass.IDENTITY): READ,
    (Role.IDENTITY, TableClass.IDENTITY): WRITE,
    (Role.AUTHORITY, TableClass.IDENTITY): READ,
    (Role.AUTHORITY, TableClass.PLATFORM): READ,
}
"""What a role may do with the tables of a class. Registries and maintenance go through the owner's functions."""

MAY_WITH: dict[tuple[str, str], set[str]] = {
    (Role.APP, "kernel.audit_entry"): {"SELECT", "INSERT"},
    (Role.APP, "kernel.ban"): WRITE,
    (Role.APP, "kernel.job"): {"SELECT", "INSERT", "DELETE"},
    (Role.APP, "kernel.job_key"): {"SELECT", "INSERT"},
    (Role.APP, "kernel.dead_letter"): {"SELECT", "UPDATE"},
    (Role.APP, "mail.letter"): {"SELECT", "INSERT", "UPDATE"},
    (Role.IDENTITY, "mail.letter"): {"INSERT"},
    (Role.RELAY, "mail.letter"): READ,
    (Role.RELAY, "ledger.delta"): READ,
    (Role.RELAY, "payments.payment"): READ,
    (Role.RELAY, "payments.gateway_intent"): READ,
    (Role.RELAY, "disputes.dispute"): READ,
    (Role.RELAY, "entitlements.entitlement"): READ,
    (Role.RELAY, "entitlements.tally"): READ,
    (Role.RELAY, "entitlements.scanner"): READ,
    (Role.RELAY, "entitlements.claimed"): {"SELECT", "INSERT"},
    (Role.APP, "entitlements.claimed"): READ,
    (Role.RELAY, "fulfilment.operation"): READ,
    (Role.RELAY, "stock.pool"): READ,
    (Role.RELAY, "stock.portion"): READ,
    (Role.RELAY, "events.ticket_order"): READ,
    (Role.RELAY, "coupons.campaign"): READ,
    (Role.RELAY, "events.house"): {"SELECT", "INSERT", "UPDATE"},
    (Role.APP, "events.house"): READ,
    (Role.RELAY, "events.listing"): {"SELECT", "INSERT", "UPDATE"},
    (Role.APP, "events.listing"): READ,
    (Role.RELAY, "payouts.payout"): READ,
    (Role.RELAY, "payouts.obligation"): READ,
    (Role.RELAY, "payouts.reported"): READ,
    (Role.RELAY, "proof.verdict"): READ,
    (Role.RELAY, "reconciliation.standing"): READ,
    (Role.RELAY, "reconciliation.issue"): READ,
    (Role.RELAY, "kernel.tenant"): READ,
    (Role.RELAY, "kernel.event_log"): READ,
    (Role.RELAY, "kernel.outbox"): {"SELECT", "UPDATE"},
    (Role.RELAY, "kernel.job"): WRITE,
    (Role.RELAY, "kernel.job_key"): {"SELECT", "INSERT"},
    (Role.RELAY, "kernel.job_attempt"): {"SELECT", "INSERT"},
    (Role.RELAY, "kernel.dead_letter"): {"SELECT", "INSERT"},
    (Role.RELAY, "kernel.bulk"): {"SELECT", "UPDATE"},
    (Role.RELAY, "kernel.worker"): WRITE,
    (Role.RELAY, "kernel.schedule"): {"SELECT", "INSERT", "UPDATE"},
    (Role.APP, "kernel.city"): READ,
    (Role.APP, "pricing.platform_policy"): {"SELECT", "INSERT"},
    (Role.BUYER, "kernel.city"): READ,
    (Role.IDENTITY, "kernel.city"): READ,
    (Role.IDENTITY, "kernel.audit_entry"): {"INSERT"},
    (Role.IDENTITY, "kernel.event_log"): {"SELECT", "INSERT"},
    (Role.IDENTITY, "kernel.fact_key"): {"SELECT", "INSERT"},
    (Role.IDENTITY, "kernel.outbox"): {"SELECT", "INSERT"},
    (Role.IDENTITY, "kernel.idempotency_key"): {"SELECT", "INSERT"},
    (Role.IDENTITY, "kernel.job"): {"SELECT", "INSERT"},
    (Role.IDENTITY, "kernel.job_key"): {"SELECT", "INSERT"},
    (Role.APP, "authority.service_key"): {"SELECT", "INSERT", "UPDATE"},
    (Role.APP, "authority.branch"): {"SELECT", "INSERT"},
    (Role.APP, "authority.group_member"): WRITE,
    (Role.APP, "authority.member_override"): WRITE,
    (Role.APP, "authority.module_entry"): {"SELECT", "INSERT", "UPDATE"},
    (Role.APP, "authority.switch"): WRITE,
    (Role.AUTHORITY, "authority.spent_token"): set(),
    (Role.AUTHORITY, "organizations.organization"): READ,
    (Role.AUTHORITY, "kernel.limit_counter"): {"SELECT", "INSERT", "UPDATE"},
    (Role.AUTHORITY, "kernel.breaker"): {"SELECT", "INSERT", "UPDATE"},
    (Role.AUTHORITY, "kernel.streak"): {"SELECT", "INSERT", "UPDATE"},
    (Role.AUTHORITY, "kernel.migration"): set(),
    (Role.APP, "webhooks.receipt"): {"SELECT", "INSERT", "UPDATE"},
    (Role.APP, "webhooks.payload"): {"SELECT", "INSERT"},
    (Role.APP, "webhooks.cursor"): {"SELECT", "INSERT", "UPDATE"},
    (Role.RELAY, "webhooks.receipt"): {"SELECT", "UPDATE"},
}
"""What it may do with one table instead: the app enqueues and audits, authority counts. New ones are a line here."""

OVERDUE = re.compile(r"\((\w+) < \(now\(\) - '(\d+) days?'::interval\)\)")
"""How a policy says what its table's retention has ended for, as PostgreSQL prints it: `kernel.purge` reads it so."""

REGISTRY_OF_NAMES = "usernames."

READ_WHOLE = {"kernel.limit_counter", "kernel.streak"}
"""Kept for days without an index on the age: they live for a day, and every count must stay a heap-only update."""

EVERYBODYS = {"kernel.city", "pricing.platform_policy", "entitlements.claimed", "events.house", "events.listing"}
"""The same for all (CITY-013): whoever may read it may read all of it, and nobody writes it at run time but the platform
in its own scope."""
IN_THE_PLATFORMS_SCOPE = (
    "((NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid"
    " = '00000000-0000-7000-8000-000000000001'::uuid)"
)
"""How a policy says that the platform's own scope may, as PostgreSQL prints it: in any other it gives no row at all."""
OF_THE_PLATFORM = {("webhooks.receipt", "*"), ("kernel.job", "a"), ("kernel.job_key", "a")}
"""What the platform's own scope may do with rows of every organisation. New ones are a line here."""
IN_CITY = "kernel.in_city(city_code)"
"""How a restrictive policy says that a row belongs to a city of the scope, as PostgreSQL prints it."""

COMMANDS = {"r": {"SELECT"}, "a": {"INSERT"}, "w": {"UPDATE"}, "d": {"DELETE"}, "*": WRITE}
NEEDS_USING, NEEDS_CHECK = "rwd*", "aw*"
POWERS = ("rolsuper", "rolbypassrls", "rolcanlogin", "rolcreaterole", "rolcreatedb", "rolreplication")
MONEY = {"minor", "amount", "price", "fee", "fees", "total", "balance", "cents", "net", "gross", "cost", "refunded"}

Check = Callable[[Catalog, dict[str, Table], tuple[Module, ...]], Iterator[str]]


def own(column: str, setting: str) -> str:
    """The standard expression of a policy, as PostgreSQL prints it."""
    return f"({column} = (NULLIF(current_setting('app.{setting}'::text, true), ''::text))::uuid)"


def owner_of(table: str) -> str:
    return "id" if table == ANCHOR else "organization_id"


def faults(catalog: Catalog, modules: Iterable[Module]) -> list[str]:
    """Everything that is wrong with the database."""
    modules = tuple(modules)
    declared = {f"{module.name}.{table.name}": table for module in modules for table in module.tables}
    return [sentence for check in CHECKS for sentence in check(catalog, declared, modules)]


def manifests(catalog: Catalog, declared: dict[str, Table], _: tuple[Module, ...]) -> Iterator[str]:
    there = {each["name"] for each in catalog.tables if not each["is_partition"]}
    yield from (f"{name} is in no manifest; give it a class there" for name in sorted(there - declared.keys()))
    yield from (f"{name} is in a manifest and not in the database" for name in sorted(declared.keys() - there))


def relations(catalog: Catalog, _: dict[str, Table], __: tuple[Module, ...]) -> Iterator[str]:
    for each in catalog.relations:
        if each["owner"] != OWNER:
            yield f"{each['name']} is owned by {each['owner']}, not by {OWNER}"
        if each["kind"] in "mf":
            yield f"{each['name']} is a materialised view or foreign table, which no policy guards"
        elif each["kind"] == "v" and not each["is_invoker"]:
            yield f"view {each['name']} reads with its owner's rights; create it WITH (security_invoker = true)"
        elif each["kind"] in "rp" and not (each["enabled"] and each["forced"]):
            yield f"{each['name']} lacks ENABLE or FORCE ROW LEVEL SECURITY"


def roles(catalog: Catalog, _: dict[str, Table], __: tuple[Module, ...]) -> Iterator[str]:
    there = {each["name"]: each for each in catalog.roles}
    for name in (OWNER, *Role, RUNTIME_LOGIN):
        role = there.get(name)
        if role is None:
            yield f"role {name} does not exist"
            continue
        powers = [power for power in POWERS if role[power] and (name, power) != (RUNTIME_LOGIN, "rolcanlogin")]
        if powers:
            yield f"role {name} has {', '.join(powers)}"
        if name != OWNER and role["owns"]:
            yield f"role {name} owns {', '.join(role['owns'][:3])}"
        beyond = set(role["member_of"]) - (set(Role) if name == RUNTIME_LOGIN else set())
        if beyond or role["inherits"]:
            yield f"role {name} has the rights of {', '.join(sorted(beyond or role['member_of']))} without asking"
    yield from (f"{each['role']} may create in schema {each['name']}" for each in catalog.schemas)


def grants(catalog: Catalog, declared: dict[str, Table], _: tuple[Module, ...]) -> Iterator[str]:
    # A view that reads with its reader's rights gives nothing that the tables behind it do not.
    views = {each["name"] for each in catalog.relations if each["kind"] == "v" and each["is_invoker"]}
    for each in catalog.grants:
        table, role, privilege = each["table"], each["role"], each["privilege"]
        if role == OWNER or (table in views and privilege == "SELECT" and role in set(Role)):
            continue
        if table not in declared:
            yield f"{role} may {privilege} {table}, which is no table of a manifest"
            continue
        allowed = MAY_WITH.get((role, table), MAY.get((role, declared[table].kind), set()))
        if privilege not in allowed:
            yield f"{role} may {privilege} {table}, which the class {declared[table].kind} does not allow"
        elif declared[table].append_only and privilege not in ("SELECT", "INSERT"):
            yield f"{role} may {privilege} {table}, which is append-only"
        elif not any(role in p["roles"] and privilege in COMMANDS[p["command"]] for p in _policies(catalog, table)):
            yield f"{role} may {privilege} {table}, and no policy says which rows"


def policies(catalog: Catalog, declared: dict[str, Table], modules: tuple[Module, ...]) -> Iterator[str]:
    for policy in catalog.policies:
        name = f"policy {policy['name']} on {policy['table']}"
        beyond = set(policy["roles"]) - {OWNER, *Role}
        if beyond:
            yield f"{name} is for {', '.join(sorted(beyond))}; bind it to a role of ours"
        if policy["command"] in NEEDS_USING and policy["using"] is None:
            yield f"{name} has no USING"
        if policy["command"] in NEEDS_CHECK and policy["with_check"] is None:
            yield f"{name} has no WITH CHECK"
        if policy["table"] in declared:
            yield from (f"{name} {wrong}" for wrong in _wrong_rows(policy, declared[policy["table"]].kind, modules))


def _wrong_rows(policy: Row, kind: TableClass, modules: tuple[Module, ...]) -> Iterator[str]:
    """Policies whose rows are not a matter of taste."""
    said = {policy["using"], policy["with_check"]} - {None}
    if said == {IN_CITY} and not policy["permissive"]:
        return
    if policy["table"] in EVERYBODYS and policy["command"] == "r":
        return
    if said == {IN_THE_PLATFORMS_SCOPE} and (policy["table"], policy["command"]) in OF_THE_PLATFORM:
        return
    if Role.APP in policy["roles"] and said != {own(owner_of(policy["table"]), "organization_id")}:
        yield f"gives the app other rows than its organisation's: {' '.join(sorted(said))}"
    if Role.BUYER in policy["roles"] and (policy["command"] != "r" or said != {own("identity_id", "identity_id")}):
        yield f"gives the buyer other rows than their own to read: {' '.join(sorted(said))}"
    if OWNER in policy["roles"] and not _may_owner_see(policy, kind, modules):
        yield "lets the owner see rows that no function of its package would need"


def _may_owner_see(policy: Row, kind: TableClass, modules: tuple[Module, ...]) -> bool:
    """What is overdue, to remove it; and registries, which are the owner's functions'."""
    if kind is TableClass.TENANT or _is_overdue(policy):
        return _is_overdue(policy)
    return kind is TableClass.PLATFORM or bool(_module(policy, modules).definer_functions)


def _is_overdue(policy: Row) -> bool:
    """To be seen, locked and deleted by the owner alone, and never written."""
    return (
        policy["roles"] == [OWNER]
        and policy["permissive"]
        and policy["command"] == "*"
        and policy["with_check"] == "false"
        and OVERDUE.fullmatch(policy["using"] or "") is not None
    )


def retention(catalog: Catalog, declared: dict[str, Table], _: tuple[Module, ...]) -> Iterator[str]:
    """The days of a table stand in its manifest and in its policy, and both say the same."""
    partitioned = {each["name"] for each in catalog.tables if each["kind"] == "p"}
    for name, table in declared.items():
        for_owner = [policy for policy in _policies(catalog, name) if OWNER in policy["roles"]]
        if table.retention_days is None:
            yield from _kept(name, table, for_owner)
            continue
        if table.kept_because:
            yield f"{name} has days, and a reason to have none"
        if (name in partitioned) != table.partitioned:
            yield f"{name} is {'' if name in partitioned else 'not '}partitioned, and its manifest says otherwise"
        if ("timestamptz", table.aged_by) not in {(c["type"], c["name"]) for c in catalog.of(name, catalog.columns)}:
            yield f"{name} has no {table.aged_by} timestamptz to be kept after"
        by_age = any(index["first"] == table.aged_by for index in catalog.of(name, catalog.indexes))
        if not (by_age or table.partitioned or name in READ_WHOLE):
            yield f"{name} has no index that begins with {table.aged_by}, so its purge would read all of it"
        if len(for_owner) != 1 or not _is_overdue(for_owner[0]):
            yield f"{name} is kept for days, and it takes one policy, for its owner, to say which rows are overdue"
        elif for_owner[0]["using"] not in _days_after(table):
            yield f"{name} is kept for {table.retention_days} days after {table.aged_by}, not {for_owner[0]['using']}"


def _kept(name: str, table: Table, for_owner: list[Row]) -> Iterator[str]:
    if table.privacy is not Privacy.NONE and not table.kept_because:
        yield f"{name} is about people; say for how many days it is kept, or why it has none"
    if any(policy["name"] == "overdue" or OVERDUE.search(policy["using"] or "") for policy in for_owner):
        yield f"{name} has a policy for what is overdue, and no days in its manifest"


def _days_after(table: Table) -> set[str]:
    return {f"({table.aged_by} < (now() - '{table.retention_days} {word}'::interval))" for word in ("day", "days")}


def _module(policy: Row, modules: tuple[Module, ...]) -> Module:
    schema = policy["table"].partition(".")[0]
    return next(module for module in modules if module.name == schema)


def tenant_columns(catalog: Catalog, declared: dict[str, Table], _: tuple[Module, ...]) -> Iterator[str]:
    for table in _tenants(declared):
        owner = owner_of(table)
        columns = {column["name"]: column for column in catalog.of(table, catalog.columns)}
        if owner not in columns or columns[owner]["type"] != "uuid" or not columns[owner]["not_null"]:
            yield f"{table} has no {owner} uuid NOT NULL"
        yield from (
            f"{table}.{name} is numbered by a sequence, which one shard cannot share; use a UUIDv7"
            for name, column in columns.items()
            if column["is_numbered"]
        )


def cities(catalog: Catalog, declared: dict[str, Table], _: tuple[Module, ...]) -> Iterator[str]:
    """A row of a city is seen and written only in a scope that has the city, whatever else a policy allows (CITY-018)."""
    for table in _tenants(declared):
        column = next((each for each in catalog.of(table, catalog.columns) if each["name"] == "city_code"), None)
        if column is None:
            continue
        if not column["not_null"] or column["type"] != "text":
            yield f"{table}.city_code is not text NOT NULL"
        restrictive = [
            policy
            for policy in _policies(catalog, table)
            if not policy["permissive"]
            and policy["command"] == "*"
            and policy["roles"] == [Role.APP]
            and policy["using"] == policy["with_check"] == IN_CITY
        ]
        if not restrictive:
            yield f"{table} has a city_code, and no restrictive policy for all commands of the app on {IN_CITY}"


def tenant_keys(catalog: Catalog, declared: dict[str, Table], modules: tuple[Module, ...]) -> Iterator[str]:
    listed = {f"{module.name}.{name}" for module in modules for name in module.listed_indexes}
    excused = set()
    for index in catalog.indexes:
        table, name = index["table"], f"{index['table'].partition('.')[0]}.{index['name']}"
        if table not in _tenants(declared) or index["first"] == owner_of(table):
            continue
        if name not in listed or index["is_unique"]:
            yield f"index {name} on {table} begins with {index['first']}, not with {owner_of(table)}"
        elif index["method"] == "btree" and not _crosses(catalog, index, declared[table]):
            yield f"index {name} is listed, but no buyer, relay or retention reads across organisations by it"
        excused.add(name)
    yield from (f"index {name} is listed as an exception and is none" for name in sorted(listed - excused))


def foreign_keys(catalog: Catalog, declared: dict[str, Table], _: tuple[Module, ...]) -> Iterator[str]:
    tenants = _tenants(declared)
    for key in catalog.foreign_keys:
        name = f"foreign key {key['name']} on {key['table']}"
        if key["on_delete"] in "nd" or key["on_update"] in "cnd":
            yield f"{name} changes rows by itself (SET NULL, SET DEFAULT or ON UPDATE CASCADE)"
        if key["references"] in tenants and key["table"] not in tenants:
            yield f"{name} ties a table of everybody to {key['references']}, which is spread over shards"
        elif key["table"] in tenants and (key["first"], key["first_there"]) != (
            owner_of(key["table"]),
            owner_of(key["references"]),
        ):
            yield f"{name} does not begin with organization_id on both sides"
    for table in sorted(tenants - _reaching_anchor(catalog)):
        yield f"{table} does not reach {ANCHOR} by its foreign keys"


def functions(catalog: Catalog, _: dict[str, Table], modules: tuple[Module, ...]) -> Iterator[str]:
    listed = {f"{module.name}.{name}" for module in modules for name in module.definer_functions}
    definers = [each for each in catalog.functions if each["is_definer"]]
    for each in definers:
        if each["name"] not in listed:
            yield f"function {each['name']} is SECURITY DEFINER and in no manifest"
        if not each["is_pinned"]:
            yield f"function {each['name']} is SECURITY DEFINER without a pinned search_path"
        if each["is_public"]:
            yield f"function {each['name']} is SECURITY DEFINER and everybody may call it"
        if each["owner"] != OWNER:
            yield f"function {each['name']} is SECURITY DEFINER for {each['owner']}"
    yield from (f"function {each['name']} is LEAKPROOF" for each in catalog.functions if each["is_leakproof"])
    for name in sorted(listed - {each["name"] for each in definers}):
        yield f"function {name} is in a manifest and not in the database"


def unwanted(catalog: Catalog, _: dict[str, Table], __: tuple[Module, ...]) -> Iterator[str]:
    yield from (f"{each['name']} exists; rules live in constraints and in policy" for each in catalog.others)


def money(catalog: Catalog, _: dict[str, Table], __: tuple[Module, ...]) -> Iterator[str]:
    for column in catalog.columns:
        name = f"{column['table']}.{column['name']}"
        inexact = column["type"] in ("float4", "float8", "numeric", "money")
        if column["name"].endswith("_minor") and column["type"] != "int8":
            yield f"{name} is {column['type']}; minor units are bigint"
        elif inexact and MONEY & set(column["name"].split("_")):
            yield f"{name} is {column['type']}; money is whole minor units"


def usernames(catalog: Catalog, _: dict[str, Table], __: tuple[Module, ...]) -> Iterator[str]:
    """Names are written by their registry alone: nobody else keeps one, or has a function that reaches there."""
    for column in catalog.columns:
        if "username" in column["name"].split("_") and not column["table"].startswith(REGISTRY_OF_NAMES):
            yield f"{column['table']}.{column['name']} would be a second truth; ask the registry of usernames"
    for function in catalog.functions:
        if REGISTRY_OF_NAMES in function["definition"] and not function["name"].startswith(REGISTRY_OF_NAMES):
            yield f"function {function['name']} reaches into the registry of usernames"


CHECKS: tuple[Check, ...] = (
    manifests,
    relations,
    roles,
    grants,
    policies,
    retention,
    tenant_columns,
    cities,
    tenant_keys,
    foreign_keys,
    functions,
    unwanted,
    money,
    usernames,
)


def _tenants(declared: dict[str, Table]) -> set[str]:
    return {name for name, table in declared.items() if table.kind is TableClass.TENANT}


def _policies(catalog: Catalog, table: str) -> list[Row]:
    return catalog.of(table, catalog.policies)


def _crosses(catalog: Catalog, index: Row, table: Table) -> bool:
    """A buyer's rows are found by the person, the relay's by what it looks for, and what is overdue by its age."""
    readers = {role for policy in _policies(catalog, index["table"]) for role in policy["roles"]}
    return (
        Role.RELAY in readers
        or (Role.BUYER in readers and index["first"] == "identity_id")
        or (table.retention_days is not None and index["first"] == table.aged_by)
    )


def _reaching_anchor(catalog: Catalog) -> set[str]:
    reached = {ANCHOR}
    while new := {key["table"] for key in catalog.foreign_keys if key["references"] in reached} - reached:
        reached |= new
    return reached
