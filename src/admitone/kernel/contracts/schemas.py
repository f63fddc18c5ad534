"""JSON schemas of everything that contracts take, give and state.

Promise: one name means one struct. All kinds are named together, so two packages may both have a `CreateRequest`.
"""

from collections.abc import Iterable
from inspect import get_annotations
from typing import Any

import msgspec

from admitone.kernel.contracts.contract import Contract
from admitone.kernel.contracts.wire import Upload
from admitone.kernel.errors import Refusal, camel
from admitone.kernel.ids import Id, OrganizationId

Json = dict[str, Any]
REFERENCE = "#/components/schemas/{name}"


class Schemas:
    def __init__(self, contracts: Iterable[Contract], refusals: Iterable[type[Refusal]] = ()) -> None:
        kinds: dict[tuple[Any, str], Any] = {(None, "organization"): OrganizationId}
        for contract in contracts:
            kinds[contract, "takes"] = contract.takes
            kinds[contract, "gives"] = contract.gives
            kinds.update({(contract, f".{name}"): each.type for name, each in contract.fields.items()})
        for refusal in refusals:
            kinds.update({(refusal, name): kind for name, kind in _facts(refusal).items()})
        known = {name: kind for name, kind in kinds.items() if kind is not None}
        described, self.named = msgspec.json.schema_components(
            known.values(), schema_hook=schema_of, ref_template=REFERENCE
        )
        self._described = dict(zip(known, described, strict=True))

    @property
    def organization(self) -> Json:
        return self._described[None, "organization"]

    def taken(self, contract: Contract) -> Json:
        return self._described[contract, "takes"]

    def given(self, contract: Contract) -> Json:
        return self._described[contract, "gives"]

    def field(self, contract: Contract, name: str) -> Json:
        return self._described[contract, f".{name}"]

    def facts(self, refusal: type[Refusal]) -> dict[str, Json]:
        return {camel(name): self._described[refusal, name] for name in refusal.facts}

    def resolved(self, schema: Json) -> Json:
        """The schema that a reference points at."""
        return self.named[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def schema_of(kind: type) -> Json:
    """What msgspec does not know: typed ids and files."""
    if issubclass(kind, Id):
        return {
            "type": "string",
            "pattern": f"^{kind.prefix}_[0-9a-f]{{32}}$",
            "examples": [f"{kind.prefix}_{'0' * 31}1"],
            "description": (kind.__doc__ or kind.__name__).strip().splitlines()[0],
        }
    if issubclass(kind, Upload):
        return {"type": "string", "contentMediaType": "application/octet-stream"}
    raise NotImplementedError(kind)


def _facts(refusal: type[Refusal]) -> dict[str, Any]:
    annotations: dict[str, Any] = {}
    for ancestor in reversed(refusal.__mro__):
        annotations.update(get_annotations(ancestor))
    return {name: annotations[name] for name in refusal.facts}
