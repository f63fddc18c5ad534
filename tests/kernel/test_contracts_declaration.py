"""Declaring a contract: what is incomplete or too open does not even import."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Edge,
    Example,
    IdempotencyKey,
    PageRequest,
    Reads,
    ShortText,
    Upload,
    Wire,
    Writes,
)
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Limit, Per
from tests.kernel.contract_desk import CONTRACTS, Desk, DeskClosed, contract


class Named(Wire):
    name: ShortText
    idempotency_key: IdempotencyKey = "k"


class Gift(Wire):
    gift: str


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    name: ShortText


AN_EXAMPLE = Example("one", takes=Named(name="a"), gives=Gift(gift="b"))


def declared(**said: Any) -> Contract:
    usual = {"id": "X1", "post": "/x", "takes": Named, "gives": Gift, "examples": (AN_EXAMPLE,)}
    return contract(**(usual | said))


def test_a_complete_declaration_is_a_value():
    said = declared()
    assert (said.method, said.path, said.reads, said.writes, said.status) == (
        "POST", "/x", Reads.JSON, Writes.JSON, 200,
    )  # fmt: skip
    assert declared(gives=None, examples=(Example("one", takes=Named(name="a")),)).status == 204


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        pytest.param({"owner": ""}, "owner", marks=pytest.mark.covers("CON-001")),
        pytest.param({"consumers": ()}, "consumer", marks=pytest.mark.covers("CON-001")),
        pytest.param({"consumers": "web"}, "consumer", marks=pytest.mark.covers("CON-001")),
        pytest.param({"version": "3"}, "MAJOR.MINOR.PATCH", marks=pytest.mark.covers("CON-002")),
        pytest.param({"version": ""}, "MAJOR.MINOR.PATCH", marks=pytest.mark.covers("CON-002")),
        pytest.param({"takes": Strict}, "unknown fields", marks=pytest.mark.covers("CON-003")),
        pytest.param({"repeats": None}, "idempotent_by", marks=pytest.mark.covers("CON-004")),
        pytest.param({"idempotent_by": "idempotencyKey", "repeats": "both"}, "either", marks=pytest.mark.covers("CON-004")),
        pytest.param({"idempotent_by": "nothing", "repeats": None}, "no text field", marks=pytest.mark.covers("CON-004")),
        pytest.param({"order_key": ""}, "order key", marks=pytest.mark.covers("CON-006")),
        pytest.param({"examples": ()}, "needs an example", marks=pytest.mark.covers("CON-009")),
        pytest.param(
            {"examples": (Example("x", takes=Named(name=""), gives=Gift(gift="b")),)},
            "length >= 1",
            marks=pytest.mark.covers("CON-009"),
        ),
        pytest.param(
            {"examples": (Example("x", takes=Named(name="a"), refuses=DeskClosed()),)},
            "not declared",
            marks=pytest.mark.covers("CON-009"),
        ),
        ({"id": "lower"}, "the id"),
        ({"summary": ""}, "summary"),
        ({"get": "/y"}, "exactly one"),
        ({"post": None}, "exactly one"),
        ({"post": "/x/{other}"}, "no field"),
        ({"post": "/x/{organizationId}"}, "no field"),
        ({"post": "/x/{name}/{name}"}, "twice"),
        ({"post": "x"}, "path"),
        ({"refuses": (ValueError,)}, "no Refusal"),
        ({"audience": Audience.ORGANIZATION}, "permission"),
        ({"permission": "p"}, "permission"),
        ({"audience": Audience.PERSON, "recognizes": True}, "public"),
        ({"reads": Reads.JSON, "post": "/x/{name}/{idempotencyKey}"}, "no field to read"),
        ({"writes": Writes.PAGE}, "cannot give"),
        ({"wait_seconds": 0}, "limit"),
        ({"limits": (Limit("x.per_email", 3, 60, Per.REQUEST),)}, "say what"),
        ({"limits": (Limit("x.per_both", 3, 60, Per.IDENTITY_AND_REQUEST),)}, "say what"),
    ],
)  # fmt: skip
def test_an_incomplete_declaration_names_the_contract_and_what_is_missing(said, complaint):
    with pytest.raises(TypeError, match=complaint) as raised:
        declared(**said)
    assert str(raised.value).startswith(said.get("id", "X1"))


def test_a_get_takes_no_idempotency_key():
    with pytest.raises(TypeError, match="no effect"):
        declared(post=None, get="/x", idempotent_by="idempotencyKey")


Bounded = Annotated[str, Meta(max_length=3)]


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (str, "largest length"),
        (int, "64 bits"),
        (Annotated[int, Meta(ge=0)], "64 bits"),
        (float, "float"),
        (Any, "any"),
        (dict, "largest length"),
        (datetime, "time zone"),
        (bytes, "largest length"),
        (list[Bounded], "largest length"),
        (tuple[Bounded, ...], "largest length"),
        (Annotated[list[str], Meta(max_length=3)], "largest length"),
        (Annotated[dict[str, Bounded], Meta(max_length=3)], "key"),
        (Bounded | None | int, "64 bits"),
    ],
)
def test_an_open_type_is_not_taken(kind, complaint):
    with pytest.raises(TypeError, match=rf"Open\.wide.*{complaint}"):
        declared(takes=msgspec.defstruct("Open", [("wide", kind)]))


def test_a_bound_beyond_64_bits_is_no_bound():
    with pytest.raises(TypeError, match=r"X1: Open: .*int64"):
        declared(takes=msgspec.defstruct("Open", [("wide", Annotated[int, Meta(ge=0, le=2**63)])]))


@pytest.mark.parametrize(
    "kind",
    [
        Bounded,
        OrganizationId,
        Upload,
        bool,
        Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)],
        Annotated[dict[Bounded, Bounded], Meta(max_length=3)],
        Annotated[datetime, Meta(tz=True)] | None,
        tuple[Bounded, bool],
        PageRequest,
    ],
)
def test_a_bounded_type_is_taken(kind):
    declared(takes=msgspec.defstruct("Bound", [("narrow", kind)]), gives=None, writes=Writes.PAGE, examples=())


def test_a_handler_must_take_and_give_what_the_contract_says():
    said = declared()
    with pytest.raises(TypeError, match=r"X1: .*takes"):

        @said.serves
        async def wrong_request(call: Call, request: Gift) -> Gift: ...

    with pytest.raises(TypeError, match=r"X1: .*gives"):

        @said.serves
        async def wrong_answer(call: Call, request: Named) -> None: ...

    @said.serves
    async def right(call: Call, request: Named) -> Gift: ...

    with pytest.raises(TypeError, match="already served"):
        said.serves(right)


def test_an_edge_refuses_contracts_that_nobody_serves_or_that_stand_in_each_others_way():
    with pytest.raises(TypeError, match=r"X1: nobody"):
        Desk(declared())
    same_id, same_place = declared(), declared(id="X2")
    for each in (same_id, same_place):

        @each.serves
        async def serve(call: Call, request: Named) -> Gift: ...

    with pytest.raises(TypeError, match="already belongs to X1"):
        Desk(same_id, same_place)
    with pytest.raises(TypeError, match="two contracts"):
        Desk(same_id, CONTRACTS[0], same_id.__class__(**_said_again(same_id)))


def _said_again(said: Contract) -> dict[str, Any]:
    names = (
        "id",
        "version",
        "owner",
        "consumers",
        "summary",
        "audience",
        "order_key",
        "repeats",
        "takes",
        "gives",
        "examples",
    )
    return {name: getattr(said, name) for name in names} | {"post": "/elsewhere"}


def test_an_edge_is_an_asgi_application():
    assert callable(Desk().edge)
    assert isinstance(Desk().edge, Edge)
