"""The door rule: a package is entered by its `api`, its `facts` or its `port`, and by nothing else.

So a package may change everything behind its door. `entrypoints` knows every package, by its manifest; `web` asks every
package's contracts, by its `routes`.
"""

import ast
from collections.abc import Iterable

from tests.architecture.source_tree import Source, imports

ROOT = "admitone"
FREE = "kernel"
KNOWS_ALL = "entrypoints"
DOORS = ("api", "facts", "port")

SHELVES_THAT_ARE_ONE_PACKAGE = ("kernel", "entrypoints", "entitlements", "web")
ASKS_CONTRACTS = "web"
"""Pages are clients of the API in the same process: they know the contracts, and what those take and give."""

RESERVED = {
    "stripe": "admitone.finance.gateways.stripe",
    **dict.fromkeys(("mercadopago", "openpix", "woovi"), "admitone.finance.gateways"),
    "asyncpg": "admitone.kernel",
    **dict.fromkeys(("aiosmtplib", "smtplib"), "admitone.foundation.mail.postman"),
    **dict.fromkeys(
        ("httpx", "httpcore", "requests", "aiohttp", "urllib3", "urllib.request", "http.client"),
        "admitone.kernel.outbound",
    ),
}
"""What only one place may import: processors' software, the driver of the database, whatever calls out."""

ORDERS = ("open_charge", "cancel_charge", "find_ordered")
ORDER_MONEY = ("admitone.finance.payments", "admitone.finance.gateways")

MAY_IMPORT = {("admitone.entrypoints.run", "http.client")}
"""It asks its own child whether it is ready, before there is anything to call out with."""


def package_of(module: str) -> str:
    """`admitone.finance.ledger.store` belongs to `admitone.finance.ledger`."""
    parts = module.split(".")
    return ".".join(parts[:2] if len(parts) > 1 and parts[1] in SHELVES_THAT_ARE_ONE_PACKAGE else parts[:3])


def closed_doors(source: Iterable[Source]) -> list[str]:
    """Imports that enter another package past its door."""
    return [
        f"{each.at(node)} {complaint}"
        for each in source
        for node, imported in imports(each)
        if (complaint := _complaint(each.name, imported))
    ]


def misplaced_dependencies(source: Iterable[Source]) -> list[str]:
    """Imports of software that belongs in one place."""
    return [
        f"{each.at(node)} imports {dependency}, which belongs in {place}"
        for each in source
        for node, imported in imports(each)
        for dependency, place in RESERVED.items()
        if _within(imported, dependency) and not _within(each.name, place) and (each.name, dependency) not in MAY_IMPORT
    ]


def foreign_orders(source: Iterable[Source]) -> list[str]:
    """Orders at a payment provider, by whoever is not the one that gives them (FIN-002)."""
    return [
        f"{each.at(node)} calls {node.attr}; only {' and '.join(ORDER_MONEY)} may"
        for each in source
        for node in ast.walk(each.tree)
        if isinstance(node, ast.Attribute) and node.attr in ORDERS and package_of(each.name) not in ORDER_MONEY
    ]


def _complaint(importer: str, imported: str) -> str | None:
    shelf = importer.split(".")[1] if "." in importer else ""
    if imported == "?":
        return None if shelf == KNOWS_ALL else "imports by a name that is computed; write the import"
    if not _within(imported, ROOT) or _within(imported, f"{ROOT}.{FREE}"):
        return None
    package = package_of(imported)
    if package == package_of(importer):
        return None
    door = imported.removeprefix(package).lstrip(".").partition(".")[0]
    allowed = (*DOORS, *{KNOWS_ALL: ("module",), ASKS_CONTRACTS: ("routes",)}.get(shelf, ()))
    if door in allowed:
        return None
    return f"enters {package} by {door or 'its front'!r}; use {', '.join(allowed)}"


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
