"""From method and path to a contract.

Promise: one contract answers one method at one address. A path without variables costs one look-up in a dictionary;
a literal segment wins over a variable one.
"""

from collections.abc import Iterable, Sequence

from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.media import Writes
from admitone.kernel.contracts.refusals import MethodNotAllowed, RouteNotFound

NO_VALUES: dict[str, str] = {}


class _Place:
    """One address: its contracts by method, and the places below it."""

    __slots__ = ("below", "contracts", "variable")

    def __init__(self) -> None:
        self.contracts: dict[str, Contract] = {}
        self.below: dict[str, _Place] = {}
        self.variable: _Place | None = None

    def child(self, segment: str) -> "_Place":
        if segment.startswith("{"):
            self.variable = self.variable or _Place()
            return self.variable
        return self.below.setdefault(segment, _Place())

    def find(self, method: str | None, segments: Sequence[str], at: int = 0) -> "_Found | None":
        """Walk down; only where a literal and a variable segment compete, try the literal first and come back."""
        place = self
        values: list[str] = []
        for position in range(at, len(segments)):
            segment = segments[position]
            literal, variable = place.below.get(segment), place.variable
            if literal and variable and (found := literal.find(method, segments, position + 1)):
                return found[0], [*values, *found[1]]
            if variable and segment:
                values.append(segment)
                place = variable
            elif literal:
                place = literal
            else:
                return None
        served = method in place.contracts if method else place.contracts
        return (place, values) if served else None

    def allowed(self) -> tuple[str, ...]:
        methods = {*self.contracts, "OPTIONS"}
        if "GET" in methods:
            methods.add("HEAD")
        return tuple(sorted(methods))


_Found = tuple[_Place, list[str]]


class Router:
    def __init__(self, contracts: Iterable[Contract]) -> None:
        self._root = _Place()
        self._literal: dict[str, _Place] = {}
        for contract in contracts:
            self._add(contract)

    def _add(self, contract: Contract) -> None:
        place = self._root
        for segment in contract.path.split("/"):
            place = place.child(segment)
        other = place.contracts.setdefault(contract.method, contract)
        if other is not contract:
            raise TypeError(f"{contract.id}: {contract.method} {contract.path} already belongs to {other.id}")
        if not contract.path_names:
            self._literal[contract.path] = place

    def find(self, method: str, path: str) -> tuple[Contract, dict[str, str]]:
        """The contract and the values of its path variables."""
        place = self._literal.get(path)
        if place is not None:
            contract = place.contracts.get(method)
            if contract is not None:
                return contract, NO_VALUES
        return self._find_slowly(method, path)

    def _find_slowly(self, method: str, path: str) -> tuple[Contract, dict[str, str]]:
        wanted = "GET" if method == "HEAD" else method
        found = self._root.find(wanted, path.split("/"))
        if found is None:
            raise MethodNotAllowed(allowed=self.allowed(path))
        place, values = found
        contract = place.contracts[wanted]
        return contract, dict(zip(contract.path_names, values, strict=True))

    def shows(self, path: str) -> bool:
        """Whether a page is to be seen there."""
        found = self._root.find("GET", path.split("/"))
        return found is not None and found[0].contracts["GET"].writes is Writes.PAGE

    def page_above(self, path: str) -> str:
        """The nearest page on the way up from an address: that at which its form stands, or the start."""
        while path and not self.shows(path):
            path = path.rpartition("/")[0]
        return path or "/"

    def allowed(self, path: str) -> tuple[str, ...]:
        """The methods that the address takes."""
        found = self._root.find(None, path.split("/"))
        if found is None:
            raise RouteNotFound()
        return found[0].allowed()
