"""The OpenAPI document says what the server does."""

from __future__ import annotations

import re
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from plait.api.route import AnyRoute
from plait.server.openapi import document
from tests.server.route_table import ROUTES
from tests.server.serving import serving

DOCUMENT: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document(ROUTES)))
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
OPERATIONS = [
    (path, method, operation) for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()
]


def fits(schema: dict[str, Any], value: Any) -> None:
    """Checks a value by a schema of the document."""
    jsonschema_rs.Draft202012Validator({**schema, "components": {"schemas": SCHEMAS}}).validate(value)


def test_every_route_is_in_the_document():
    assert len(OPERATIONS) == len(ROUTES)
    assert {operation["operationId"] for _, _, operation in OPERATIONS} == {route.name for route in ROUTES}
    for route in ROUTES:
        operation = DOCUMENT["paths"][route.full_path][route.method.lower()]
        assert operation["x-plait-role"] == route.role
        assert operation["summary"]


def test_every_schema_is_valid_and_every_reference_leads_somewhere():
    for name, schema in SCHEMAS.items():
        jsonschema_rs.Draft202012Validator({**schema, "components": {"schemas": SCHEMAS}})
        for reference in re.findall(r"#/components/schemas/(\w+)", str(schema)):
            assert reference in SCHEMAS, name
    for reference in re.findall(r"#/components/schemas/(\w+)", str(DOCUMENT["paths"])):
        assert reference in SCHEMAS


def test_every_parameter_in_a_path_is_described():
    for path, _, operation in OPERATIONS:
        described = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
        assert described == set(re.findall(r"{(\w+)}", path))


def test_every_operation_says_what_can_go_wrong():
    for path, _, operation in OPERATIONS:
        answers = operation["responses"]
        assert {"400", "429", "500", "503"} <= set(answers)
        if operation["security"]:
            assert {"401", "403"} <= set(answers)
        if "{" in path:
            assert "404" in answers
        if "requestBody" in operation:
            assert {"408", "413", "415", "422"} <= set(answers)
        for status, answer in answers.items():
            if int(status) >= 400:
                assert list(answer["content"]) == ["application/problem+json"]
                assert answer["x-plait-codes"]
            if status in ("429", "503"):
                assert "Retry-After" in answer["headers"]


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.example is not None], ids=lambda route: route.name
)
def test_examples_fit_their_schemas(route: AnyRoute):
    operation = DOCUMENT["paths"][route.full_path][route.method.lower()]
    fits(operation["requestBody"]["content"]["application/json"]["schema"], route.example)


async def test_the_document_is_served_and_is_what_it_says():
    async with serving() as served:
        answer = await served.get("/openapi.json")
        assert answer.json() == DOCUMENT
        assert answer.json()["openapi"] == "3.1.0"


async def test_answers_fit_their_schemas(db: str):
    async with serving(db) as served:
        done = await served.start("quick", {"customer": "Ann"}, id="done", labels={"a": "b"})
        await served.ended(done)
        failed = await served.start("failing", id="failed")
        await served.ended(failed, "failed")
        await served.start("asking", id="asking")
        await served.waits("asking", "approval")
        step = {"id": "pour", "name": "Pour", "type": "script", "script": {"language": "ale", "script": "{:tea 1}"}}
        await served.post("/definitions", {"dialect": "goals", "definition": step})
        await served.post("/keys", {"name": "ci", "role": "viewer"})
        paths = {
            "/api/v1/runs": "/api/v1/runs",
            "/api/v1/runs/{id}": "/api/v1/runs/failed",
            "/api/v1/runs/{id}/events": "/api/v1/runs/done/events",
            "/api/v1/runs/{id}/timeline": "/api/v1/runs/failed/timeline",
            "/api/v1/runs/{id}/agents": "/api/v1/runs/done/agents",
            "/api/v1/runs/{id}/logs": "/api/v1/runs/done/logs",
            "/api/v1/runs/{id}/diff": "/api/v1/runs/done/diff?with=failed",
            "/api/v1/definitions": "/api/v1/definitions",
            "/api/v1/definitions/{name}": "/api/v1/definitions/order",
            "/api/v1/catalog": "/api/v1/catalog",
            "/api/v1/catalog/{id}": "/api/v1/catalog/pour",
            "/api/v1/approvals": "/api/v1/approvals",
            "/api/v1/approvals/{id}": "/api/v1/approvals/asking:teapot",
            "/api/v1/dlq": "/api/v1/dlq",
            "/api/v1/me": "/api/v1/me",
            "/api/v1/keys": "/api/v1/keys",
            "/api/v1/audit": "/api/v1/audit",
            "/api/v1/fleet": "/api/v1/fleet",
            "/health": "/health",
            "/ready": "/ready",
        }
        for pattern, path in paths.items():
            answer = await served.client.get(path)
            assert answer.status_code == 200, answer.text
            described = DOCUMENT["paths"][pattern]["get"]["responses"]["200"]["content"]["application/json"]
            fits(described["schema"], answer.json())
        problem = await served.get("/runs/nope")
        fits(SCHEMAS["Problem"], problem.json())
