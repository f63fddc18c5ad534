"""The reference: `/openapi.json` for machines and `/docs` for people, both rendered by us from the contracts.

Promise: no asset from elsewhere, readable on a phone and in the dark, and every contract with an example that can be
pasted into a shell.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from admitone.kernel.authority import Audience
from admitone.kernel.contracts.answering import File, Packed
from admitone.kernel.contracts.call import Call
from admitone.kernel.contracts.contract import ORGANIZATION_NAME, Contract
from admitone.kernel.contracts.media import Reads, Writes
from admitone.kernel.contracts.openapi import as_json, idempotency, openapi, refusals_of
from admitone.kernel.contracts.refusals import reason_of, status_of
from admitone.kernel.contracts.schemas import Schemas
from admitone.kernel.contracts.templates import source, template
from admitone.kernel.contracts.wire import Wire

EXAMPLE_ORGANIZATION = "org_" + "0" * 31 + "1"
AUDIENCES = {
    Audience.PUBLIC: "Anybody",
    Audience.PERSON: "A person who is signed in",
    Audience.ORGANIZATION: "Members and keys of an organisation",
    Audience.ADMIN: "Platform administrators",
    Audience.INTERNAL: "Our own processes",
}


class FieldRow(Wire):
    """One line of a table of fields."""

    name: str
    kind: str
    rules: str
    required: bool


def reference_contracts(contracts: Sequence[Contract]) -> tuple[Contract, ...]:
    """The contracts that describe all others and themselves; the texts are made when the first reader comes."""
    own = (_contract("OPENAPI", "/openapi.json", "This interface as OpenAPI 3.1.", Writes.FILE),)
    page = _contract("DOCS", "/docs", "This interface as a page.", Writes.PAGE)
    style = _contract("DOCS.STYLE", "/docs/reference.css", "How that page looks.", Writes.FILE)
    described = [each for each in (*contracts, *own, style) if each.writes is not Writes.PAGE]
    made: dict[str, Any] = {}

    @own[0].serves
    async def give_openapi(call: Call) -> File:
        if "openapi" not in made:
            made["openapi"] = Packed.of(msgspec.json.encode(openapi(described)), "application/json")
        return File.packed_for(call, made["openapi"])

    @page.serves
    async def give_page(call: Call) -> str:  # noqa: ARG001
        if "page" not in made:
            made["page"] = reference_page(described)
        text: str = made["page"]
        return text

    @style.serves
    async def give_style(call: Call) -> File:  # noqa: ARG001
        return File(source("reference.css").encode(), "text/css; charset=utf-8")

    return (*own, page, style)


def _contract(name: str, path: str, summary: str, writes: Writes) -> Contract:
    return Contract(
        id=f"KERNEL.{name}",
        version="1.0.0",
        owner="kernel",
        consumers=("developers",),
        summary=summary,
        get=path,
        writes=writes,
        audience=Audience.PUBLIC,
        order_key="none",
    )


def reference_page(contracts: Sequence[Contract]) -> str:
    schemas = Schemas(contracts)
    owners: dict[str, list[dict[str, Any]]] = {}
    for contract in sorted(contracts, key=lambda each: (each.owner == "kernel", each.owner, each.id)):
        owners.setdefault(contract.owner, []).append(_described(contract, schemas))
    return template("reference.html").render(owners=owners)


def _described(contract: Contract, schemas: Schemas) -> dict[str, Any]:
    return {
        "contract": contract,
        "audience": AUDIENCES[contract.audience],
        "idempotency": idempotency(contract),
        "takes": [*_rows(schemas.resolved(schemas.taken(contract)))] if contract.takes else [],
        "gives": [*_rows(schemas.resolved(schemas.given(contract)))] if contract.gives is not None else [],
        "answer": _answer_of(contract),
        "refusals": sorted(
            (
                {"status": status_of(kind), "code": kind.code, "message": kind.message()}
                for kind in refusals_of(contract)
            ),
            key=lambda each: (each["status"], each["code"]),
        ),
        "curl": curl(contract),
        "examples": [_example(each) for each in contract.examples],
    }


def _answer_of(contract: Contract) -> str:
    kind = "nothing" if contract.status == 204 else contract.writes.value
    return f"{contract.status} {reason_of(contract.status)}, {kind}"


def _example(example: Any) -> dict[str, str]:
    shown = (
        example.refuses.stated() | {"errorCode": example.refuses.code} if example.refuses else as_json(example.gives)
    )
    return {
        "title": example.title,
        "takes": _pretty(as_json(example.takes)) if example.takes is not None else "",
        "gives": _pretty(shown) if shown is not None else "",
    }


def _pretty(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _rows(schema: dict[str, Any]) -> Iterator[FieldRow]:
    required = set(schema.get("required", ()))
    for name, about in schema.get("properties", {}).items():
        yield FieldRow(name=name, kind=_kind(about), rules=", ".join(_rules(about)), required=name in required)


def _kind(about: dict[str, Any]) -> str:
    if "$ref" in about:
        return str(about["$ref"]).rpartition("/")[2].strip("_")
    if "anyOf" in about:
        return " or ".join(_kind(option) for option in about["anyOf"])
    if "enum" in about:
        return " | ".join(str(each) for each in about["enum"])
    if about.get("type") == "array":
        return f"list of {_kind(about.get('items', {}))}"
    return str(about.get("format") or about.get("type", "anything"))


def _rules(about: dict[str, Any]) -> Iterator[str]:
    for option in (about, *about.get("anyOf", ())):
        yield from _range(option.get("minimum"), option.get("maximum"), "")
        yield from _range(option.get("minLength"), option.get("maxLength"), " characters")
        yield from _range(option.get("minItems"), option.get("maxItems"), " items")
        if "pattern" in option:
            yield f"like {option['pattern']}"
    if about.get("default") is not None:
        yield f"else {about['default']}"


def _range(lowest: int | None, highest: int | None, unit: str) -> Iterator[str]:
    match lowest, highest:
        case None, None:
            pass
        case None, _:
            yield f"up to {highest}{unit}"
        case _, None:
            yield f"from {lowest}{unit}"
        case _:
            yield f"{lowest} to {highest}{unit}"


def curl(contract: Contract) -> str:
    """The first example as a command for a shell."""
    example = next((each for each in contract.examples if each.refuses is None), None)
    takes = as_json(example.takes) if example and example.takes is not None else {}
    path = contract.path
    for name in contract.path_names:
        path = path.replace(f"{{{name}}}", str(takes.pop(name, EXAMPLE_ORGANIZATION)))
    parts = ["curl -sS"] if contract.method == "GET" else [f"curl -sS -X {contract.method}"]
    parts.extend(_curl_headers(contract))
    parts.extend(_curl_body(contract, takes))
    query = urlencode(_pairs(takes)) if contract.reading in (Reads.NOTHING, Reads.RAW) else ""
    parts.append(f'"$ADMITONE{path}{"?" + query if query else ""}"')
    return " \\\n  ".join(parts)


def _pairs(takes: dict[str, Any]) -> list[tuple[str, Any]]:
    """Names and values as a query has them: a list is its name several times, nothing is left out."""
    named = [(name, value if isinstance(value, list) else [value]) for name, value in takes.items()]
    return [(name, each) for name, values in named for each in values if each is not None]


def _curl_body(contract: Contract, takes: dict[str, Any]) -> Iterator[str]:
    match contract.reading:
        case Reads.JSON:
            yield "-H 'content-type: application/json'"
            yield f"-d {shlex.quote(msgspec.json.encode(takes).decode())}"
        case Reads.RAW:
            yield "--data-binary @body"
        case Reads.FORM:
            yield from (f"--data-urlencode {shlex.quote(f'{name}={value}')}" for name, value in _pairs(takes))
        case Reads.MULTIPART:
            yield from (f"-F {shlex.quote(f'{name}={value}')}" for name, value in _pairs(takes))


def _curl_headers(contract: Contract) -> Iterator[str]:
    if contract.audience is Audience.INTERNAL:
        yield '-H "x-orya-internal-secret: $SECRET"'
    elif contract.audience is not Audience.PUBLIC:
        yield '-H "authorization: Bearer $KEY"'
    if contract.needs_organization and ORGANIZATION_NAME not in contract.path_names:
        yield f"-H 'x-orya-org-id: {EXAMPLE_ORGANIZATION}'"
