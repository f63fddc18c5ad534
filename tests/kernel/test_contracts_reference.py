"""The reference: what it says is what the contracts declare, and its examples run."""

import json
import re
import shlex

import pytest

from admitone.kernel.contracts import Call, Example, Reads, Wire, Writes, openapi
from admitone.kernel.contracts.openapi import refusals_of
from admitone.kernel.contracts.reference import curl
from tests.kernel.contract_desk import CONTRACTS, KEY, OURS, Desk, accept, as_ana, contract, move, sign_in


@pytest.fixture
async def client():
    async with Desk().client() as client:
        yield client


DESCRIBED = [each for each in CONTRACTS if each.writes is not Writes.PAGE]


@pytest.fixture
async def document(client):
    return (await client.get("/openapi.json")).json()


@pytest.mark.covers("CON-001", "CON-004", "CON-006")
async def test_every_contract_is_in_the_document_with_its_papers(document):
    for each in DESCRIBED:
        operation = document["paths"][each.path][each.method.lower()]
        assert operation["x-contract-id"] == operation["operationId"] == each.id
        assert operation["x-contract-version"] == each.version
        assert operation["x-contract-owner"] == each.owner
        assert operation["x-contract-consumers"] == list(each.consumers)
        assert operation["x-idempotency"] and operation["x-order-key"]
    assert document["openapi"] == "3.1.0"
    assert {"/health/live", "/health/ready", "/openapi.json"} <= document["paths"].keys()
    assert not {sign_in.path, "/docs"} & document["paths"].keys(), "pages are for people"


async def test_every_reference_in_the_document_leads_somewhere(document):
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert names and names <= document["components"]["schemas"].keys()


@pytest.mark.covers("CON-005", "CON-009")
async def test_every_refusal_is_in_the_document_with_its_status_and_an_example(document):
    operation = document["paths"]["/api/parcels"]["post"]
    assert {"400", "401", "403", "404", "413", "415", "422", "429", "500", "503"} <= operation["responses"].keys()
    lost = operation["responses"]["404"]["content"]["application/json"]
    assert lost["schema"] == {"$ref": "#/components/schemas/ParcelLostRefusal"}
    assert lost["examples"]["PARCEL_LOST"]["value"]["errorCode"] == "PARCEL_LOST"
    schema = document["components"]["schemas"]["ParcelLostRefusal"]
    assert schema["required"] == ["errorCode", "message", "retryable", "correlationId", "seenAtDepot"]
    for each in DESCRIBED:
        told = {int(status) for status in document["paths"][each.path][each.method.lower()]["responses"]}
        assert told >= {500, 503}


async def test_fields_stand_where_they_are_read_from(document):
    put = document["paths"][move.path]["put"]
    places = {each["name"]: each["in"] for each in put["parameters"]}
    assert places == {"parcel": "path", "shelf": "path", "organizationId": "path"}
    body = put["requestBody"]["content"]["application/json"]
    assert list(body["schema"]["properties"]) == ["note"]
    assert body["examples"]["up"]["value"] == {"note": "high"}
    get = document["paths"]["/api/parcels"]["get"]
    assert {each["name"]: each["in"] for each in get["parameters"]} == dict.fromkeys(
        ("cursor", "limit", "words", "atLeast", "since"), "query"
    )
    post = document["paths"]["/api/parcels"]["post"]
    assert {each["name"]: each["in"] for each in post["parameters"]} == {
        "organizationId": "query",
        "x-orya-org-id": "header",
    }
    assert post["security"] == [{"bearer": []}, {"session": []}]


def test_two_packages_may_use_one_name_for_two_structs():
    one, two = _with_a_struct_called_answer("A1", "/one", "left"), _with_a_struct_called_answer("A2", "/two", "right")
    document = openapi((one, two))

    def fields_of(path):
        schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        return list(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"])

    assert fields_of("/one") == ["left"] and fields_of("/two") == ["right"]


def _with_a_struct_called_answer(name, path, field):
    answer = type(Wire)("Answer", (Wire,), {"__annotations__": {field: int}, "__module__": f"package_{name}"})
    said = contract(id=name, get=path, gives=answer, examples=(Example("one", gives=answer(**{field: 1})),))

    async def serve(call: Call) -> answer: ...

    said.serves(serve)
    return said


@pytest.mark.covers("CON-009")
@pytest.mark.parametrize(
    "each", [each for each in CONTRACTS if each.reading is not Reads.MULTIPART], ids=lambda c: c.id
)
async def test_every_example_in_the_reference_can_be_pasted_and_runs(client, each):
    words = shlex.split(curl(each).replace("$ADMITONE", "").replace("$KEY", KEY).replace("$SECRET", "x"))
    headers = dict(words[n + 1].split(": ", 1) for n, word in enumerate(words) if word == "-H")
    headers |= {"x-orya-org-id": str(OURS)} if "x-orya-org-id" in headers else {}
    body = "&".join(words[n + 1] for n, word in enumerate(words) if word in ("-d", "--data-urlencode"))
    if each.reading is Reads.FORM:
        headers["content-type"] = Reads.FORM.value
    url = re.sub("org_0{31}1", str(OURS), words[-1])
    response = await client.request(each.method, url, content=body, headers=headers)
    assert response.status_code == (403 if each.audience == "internal" else each.status)


@pytest.mark.covers("CON-009")
async def test_the_examples_of_a_contract_are_answered_as_they_say(client):
    [example] = accept.examples
    response = await client.post(
        "/api/parcels", json={"to": example.takes.to, "weight": example.takes.weight}, headers=as_ana()
    )
    assert response.json()["weight"] == example.gives.weight


async def test_the_page_tells_of_every_contract_and_loads_nothing_from_elsewhere(client):
    page = await client.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for each in DESCRIBED:
        assert f'id="{each.id}"' in page.text and each.summary in page.text
        for refusal in refusals_of(each):
            assert refusal.code in page.text
    assert "parcels.write" in page.text
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    assert loaded and all(address.startswith("/") and not address.startswith("//") for address in loaded)
    assert "<style" not in page.text and "style=" not in page.text and "<script" not in page.text
    css = await client.get("/docs/reference.css")
    assert css.headers["content-type"].startswith("text/css") and "url(" not in css.text and "@import" not in css.text
