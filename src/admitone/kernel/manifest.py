"""Manifests: what a package owns, said once, as data.

Promise: whatever the kernel, the start-up check and the tests in `tests/architecture` need to know of a package
stands in its `Module`: contracts, tables with their class, privacy and retention, permissions, limits, features
that are off at first, configuration keys, ports it needs, lifecycles, and the statements that may be exceptions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from admitone.kernel.limits import Limit
from admitone.kernel.ports import Port

if TYPE_CHECKING:
    from admitone.kernel.alerts.model import AlertRule
    from admitone.kernel.alerts.sights import Pace, Sight, Uptime
    from admitone.kernel.config import Key
    from admitone.kernel.contracts import Contract
    from admitone.kernel.facts import Fact
    from admitone.kernel.jobs.model import Kind, Subscription
    from admitone.kernel.jobs.schedules import Schedule
    from admitone.kernel.states import Lifecycle


class TableClass(StrEnum):
    """Who may see a table's rows, and by which policy."""

    TENANT = "tenant"
    """`organization_id` first in every key and index; every statement names it."""
    IDENTITY = "identity"
    """A person's own: login, sessions, profile."""
    REGISTRY = "registry"
    """Global uniqueness; written through one function each."""
    PLATFORM = "platform"
    """Credentials, grants, gates, limits, receipts, jobs, configuration."""


class Privacy(StrEnum):
    """What erasing a person means for a table."""

    NONE = "none"
    PSEUDONYMOUS = "pseudonymous"
    PERSONAL = "personal"


@dataclass(frozen=True)
class Table:
    """One table, named inside the schema that has its package's name."""

    name: str
    kind: TableClass
    privacy: Privacy = Privacy.NONE
    append_only: bool = False
    retention_days: int | None = None
    """For so long after `aged_by` a row is kept; then `kernel.retention` removes it. Its migration says the same."""
    aged_by: str = "created_at"
    partitioned: bool = False
    """A pure log, whose rows go with their partition."""
    kept_because: str = ""
    """Why rows about people have no such days."""


@dataclass(frozen=True)
class Module:
    """One package's manifest."""

    name: str
    contracts: tuple["Contract", ...] = ()
    tables: tuple[Table, ...] = ()
    permissions: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    features: tuple[str, ...] = ()
    """What is off until somebody switches it on; a contract of any package may have one as its gate."""
    config: tuple["Key", ...] = ()
    ports: tuple[Port[Any], ...] = ()
    lifecycles: tuple["Lifecycle[Any]", ...] = ()
    facts: tuple[type["Fact"], ...] = ()
    """Those that its commands publish."""
    jobs: tuple["Kind[Any]", ...] = ()
    subscriptions: tuple["Subscription", ...] = ()
    schedules: tuple["Schedule", ...] = ()
    alerts: tuple["AlertRule", ...] = ()
    sights: tuple["Sight", ...] = ()
    """What the watch looks at for it."""
    paces: tuple["Pace | Uptime", ...] = ()
    """How quick its contracts promise to be, and how often they answer at all."""
    listed_statements: tuple[str, ...] = ()
    """Statements of buyer, relay and maintenance that rightly cross organisations, by `module.NAME`."""
    listed_indexes: tuple[str, ...] = ()
    """Indexes of tenant tables that rightly begin with something else than the organisation, by name."""
    definer_functions: tuple[str, ...] = ()
    """Functions that run with the owner's rights (SECURITY DEFINER), by name."""


@dataclass(frozen=True)
class Installation:
    """Every package that runs here, for errands that concern all of them."""

    modules: Sequence[Module]


def check_contracts(modules: Sequence[Module]) -> None:
    """A contract asks for a permission and counts on a limit that its own package declares, and has a gate that some
    package declares; a misspelt one stops us."""
    features = {feature for module in modules for feature in module.features}
    complaints = [
        f"{contract.id}: {what} is not in the manifest of {module.name}"
        for module in modules
        for contract in module.contracts
        for what in _undeclared(module, contract)
    ]
    complaints += [
        f"{contract.id}: gate {contract.gate} is no feature of any manifest"
        for module in modules
        for contract in module.contracts
        if contract.gate and contract.gate not in features
    ]
    if complaints:
        raise TypeError("; ".join(complaints))


def _undeclared(module: Module, contract: "Contract") -> Iterator[str]:
    if contract.permission and contract.permission not in module.permissions:
        yield f"permission {contract.permission}"
    yield from (f"limit {limit.name}" for limit in contract.limits if limit not in module.limits)
