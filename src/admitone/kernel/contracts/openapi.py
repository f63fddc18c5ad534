"""OpenAPI 3.1, derived from the contracts.

Promise: what the document says is what the edge does, because both read the same declarations; nothing in it is
written by hand.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from admitone.kernel import errors
from admitone.kernel.authority import Audience, FeatureDisabled, PermissionDenied, SubjectBanned
from admitone.kernel.contracts.contract import ORGANIZATION_NAME, Contract
from admitone.kernel.contracts.incoming import MalformedDevice
from admitone.kernel.contracts.media import Reads, Writes
from admitone.kernel.contracts.refusals import (
    CredentialsDisagree,
    CrossSiteRequest,
    InternalError,
    InternalOnly,
    MalformedForm,
    MalformedJson,
    OrganizationContextRequired,
    RepeatedHeader,
    RequestTooSlow,
    UnsupportedMediaType,
    ValidationFailed,
    reason_of,
    status_of,
)
from admitone.kernel.contracts.schemas import REFERENCE, Json, Schemas
from admitone.kernel.contracts.wire import to_wire
from admitone.kernel.errors import Refusal
from admitone.kernel.idempotency import KeyReused

_EXAMPLE_CORRELATION_ID = "01990000-0000-7000-8000-000000000000"

SECURITY: dict[Audience, list[Json]] = {
    Audience.PUBLIC: [],
    Audience.PERSON: [{"bearer": []}, {"session": []}],
    Audience.ORGANIZATION: [{"bearer": []}, {"session": []}],
    Audience.ADMIN: [{"bearer": []}, {"session": []}],
    Audience.INTERNAL: [{"internal": []}],
}


def openapi(contracts: Sequence[Contract], *, title: str = "Admit One", version: str = "1.0.0") -> Json:
    """What programs may ask. Pages are for people: they say what they are themselves."""
    contracts = [contract for contract in contracts if contract.writes is not Writes.PAGE]
    refusals = sorted(
        {kind for contract in contracts for kind in refusals_of(contract)}, key=lambda kind: kind.__name__
    )
    schemas = Schemas(contracts, refusals)
    envelopes = {_schema_name(kind): envelope_schema(kind, schemas) for kind in refusals}
    paths: dict[str, Json] = {}
    for contract in contracts:
        paths.setdefault(contract.path, {})[contract.method.lower()] = operation(contract, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": "Sells access and accounts for every cent."},
        "paths": paths,
        "components": {
            "schemas": {**dict(sorted(schemas.named.items())), **envelopes},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "session"},
                "internal": {"type": "apiKey", "in": "header", "name": "x-orya-internal-secret"},
            },
        },
    }


def operation(contract: Contract, schemas: Schemas) -> Json:
    described: Json = {
        "operationId": contract.id,
        "summary": contract.summary,
        "tags": [contract.owner],
        "parameters": [*parameters(contract, schemas)],
        "responses": responses(contract, schemas),
        "security": SECURITY[contract.audience],
        "x-contract-id": contract.id,
        "x-contract-version": contract.version,
        "x-contract-owner": contract.owner,
        "x-contract-consumers": list(contract.consumers),
        "x-audience": contract.audience.value,
        "x-permission": contract.permission,
        "x-gate": contract.gate,
        "x-limits": [
            {"name": limit.name, "count": limit.count, "seconds": limit.seconds, "per": limit.per.value}
            for limit in contract.limits
        ],
        "x-idempotency": idempotency(contract),
        "x-order-key": contract.order_key,
    }
    body = request_body(contract, schemas)
    if body:
        described["requestBody"] = body
    return described


def idempotency(contract: Contract) -> str:
    if contract.idempotent_by:
        return f"key {contract.idempotent_by}: the same key and request get the same answer for 72 hours"
    return contract.repeats or "none (no side effects)"


def parameters(contract: Contract, schemas: Schemas) -> Iterator[Json]:
    in_text = contract.reading in (Reads.NOTHING, Reads.RAW)
    for name, each in contract.fields.items():
        if name in contract.path_names:
            yield {"name": name, "in": "path", "required": True, "schema": schemas.field(contract, name)}
        elif in_text:
            yield _query_parameter(name, each.required, schemas.field(contract, name))
    if contract.conditional:
        note = "The tag of the answer that you have: if it is still the same, nothing is sent."
        schema = {"type": "string"}
        yield {"name": "if-none-match", "in": "header", "required": False, "schema": schema, "description": note}
    if contract.needs_organization:
        yield from _organization_parameters(contract, schemas.organization)


def _query_parameter(name: str, required: bool, schema: Json) -> Json:
    """One that may be left out may also be left empty, as an empty box of a form is."""
    may_be_empty = {} if required else {"allowEmptyValue": True}
    return {"name": name, "in": "query", "required": required, "schema": schema, **may_be_empty}


def _organization_parameters(contract: Contract, schema: Json) -> Iterator[Json]:
    if ORGANIZATION_NAME in contract.path_names:
        yield {"name": ORGANIZATION_NAME, "in": "path", "required": True, "schema": schema}
        return
    note = "For which organisation: here or in the other place; both must agree."
    yield {"name": ORGANIZATION_NAME, "in": "query", "required": False, "schema": schema, "description": note}
    yield {"name": "x-orya-org-id", "in": "header", "required": False, "schema": schema, "description": note}


def request_body(contract: Contract, schemas: Schemas) -> Json | None:
    if contract.reading is Reads.NOTHING:
        return None
    if contract.reading is Reads.RAW:
        return {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
    content: Json = {"schema": _body_schema(contract, schemas)}
    examples = {
        example.title: {"value": _body_example(contract, example.takes)}
        for example in contract.examples
        if example.takes is not None
    }
    if examples:
        content["examples"] = examples
    return {"required": True, "content": {contract.reading.value: content}}


def _body_schema(contract: Contract, schemas: Schemas) -> Json:
    """The request's schema, without the fields that stand in the path."""
    if contract.fields.keys().isdisjoint(contract.path_names):
        return schemas.taken(contract)
    in_body = {name: each for name, each in contract.fields.items() if name not in contract.path_names}
    return {
        "type": "object",
        "properties": {name: schemas.field(contract, name) for name in in_body},
        "required": [name for name, each in in_body.items() if each.required],
    }


def _body_example(contract: Contract, takes: Any) -> Json:
    stated = as_json(takes)
    return {name: value for name, value in stated.items() if name not in contract.path_names}


def as_json(value: Any) -> Any:
    return msgspec.to_builtins(value, enc_hook=to_wire)


def responses(contract: Contract, schemas: Schemas) -> Json:
    answers: Json = {str(contract.status): _success(contract, schemas)}
    if contract.conditional:
        answers["304"] = {"description": reason_of(304), "headers": _headers(contract)}
    by_status: dict[int, list[type[Refusal]]] = {}
    for kind in refusals_of(contract):
        by_status.setdefault(status_of(kind), []).append(kind)
    for status, kinds in sorted(by_status.items()):
        answers[str(status)] = _failure(status, kinds, as_page=contract.writes is Writes.PAGE)
    return answers


def _success(contract: Contract, schemas: Schemas) -> Json:
    described: Json = {"description": reason_of(contract.status), "headers": _headers(contract)}
    if contract.writes is Writes.JSON and contract.gives is not None:
        content: Json = {"schema": schemas.given(contract)}
        examples = {each.title: {"value": as_json(each.gives)} for each in contract.examples if each.gives is not None}
        if examples:
            content["examples"] = examples
        described["content"] = {"application/json": content}
    elif contract.writes in (Writes.PAGE, Writes.EVENTS):
        described["content"] = {contract.writes.value: {"schema": {"type": "string"}}}
    elif contract.writes in (Writes.FILE, Writes.STREAM):
        described["content"] = {"*/*": {"schema": {"type": "string"}}}
    return described


def _headers(contract: Contract) -> Json:
    headers: Json = {"x-correlation-id": {"schema": {"type": "string", "format": "uuid"}}}
    if contract.idempotent_by:
        headers["idempotency-replayed"] = {"schema": {"type": "string", "enum": ["true"]}}
    if contract.conditional:
        headers["etag"] = {"schema": {"type": "string"}}
    return headers


def _failure(status: int, kinds: Sequence[type[Refusal]], *, as_page: bool) -> Json:
    if as_page:
        return {"description": reason_of(status), "content": {"text/html": {"schema": {"type": "string"}}}}
    schemas = [{"$ref": REFERENCE.format(name=_schema_name(kind))} for kind in kinds]
    content = {
        "schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas},
        "examples": {kind.code: {"value": envelope_example(kind)} for kind in kinds},
    }
    return {"description": reason_of(status), "content": {"application/json": content}}


def refusals_of(contract: Contract) -> list[type[Refusal]]:
    """What it declares, and what the edge refuses on its behalf."""
    return list(dict.fromkeys([*contract.refuses, *_common(contract)]))


def _common(contract: Contract) -> Iterator[type[Refusal]]:
    yield from (RepeatedHeader, MalformedDevice, InternalError, errors.Unavailable)
    if contract.takes is not None:
        yield ValidationFailed
        yield errors.Malformed
    yield from _REFUSED_BY_READING[contract.reading]
    yield from _REFUSED_BY_AUDIENCE[contract.audience]
    if contract.permission:
        yield PermissionDenied
    if contract.gate:
        yield FeatureDisabled
    if contract.limits:
        yield errors.Throttled
    if not contract.is_open:
        yield SubjectBanned
    if not contract.is_safe:
        yield errors.OutcomeUnknown
        if contract.audience is not Audience.INTERNAL:
            yield CrossSiteRequest
    if contract.idempotent_by:
        yield KeyReused


_REFUSED_BY_READING: dict[Reads, tuple[type[Refusal], ...]] = {
    Reads.NOTHING: (),
    Reads.RAW: (errors.TooLarge, RequestTooSlow),
    Reads.JSON: (MalformedJson, errors.TooLarge, UnsupportedMediaType, RequestTooSlow),
    Reads.FORM: (errors.TooLarge, UnsupportedMediaType, RequestTooSlow),
    Reads.MULTIPART: (MalformedForm, errors.TooLarge, UnsupportedMediaType, RequestTooSlow),
}
_REFUSED_BY_AUDIENCE: dict[Audience, tuple[type[Refusal], ...]] = {
    Audience.PUBLIC: (),
    Audience.PERSON: (errors.Unauthenticated, CredentialsDisagree),
    Audience.ORGANIZATION: (errors.Unauthenticated, CredentialsDisagree, OrganizationContextRequired),
    Audience.ADMIN: (errors.Unauthenticated, CredentialsDisagree),
    Audience.INTERNAL: (InternalOnly,),
}


def _schema_name(kind: type[Refusal]) -> str:
    return f"{kind.__name__}Refusal"


def envelope_schema(kind: type[Refusal], schemas: Schemas) -> Json:
    facts = schemas.facts(kind)
    return {
        "title": _schema_name(kind),
        "description": kind.message(),
        "type": "object",
        "properties": {
            "errorCode": {"const": kind.code},
            "message": {"type": "string"},
            "retryable": {"const": kind.retryable},
            "correlationId": {"type": "string", "format": "uuid"},
            **({"nextStep": {"type": "string"}} if kind.next_step else {}),
            **facts,
        },
        "required": ["errorCode", "message", "retryable", "correlationId", *facts],
    }


def envelope_example(kind: type[Refusal]) -> Json:
    return {
        "errorCode": kind.code,
        "message": kind.message(),
        "retryable": kind.retryable,
        "correlationId": _EXAMPLE_CORRELATION_ID,
        **({"nextStep": kind.next_step} if kind.next_step else {}),
    }
