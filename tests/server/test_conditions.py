"""Conditions over HTTP: tried on data, without a run."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.server.serving import serving

PATH = "/conditions/test"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"condition": "output.score >= 80", "output": {"score": 85}}, {"value": True}),
        (
            {"condition": "input.x == 1 && ctx.a.output == 2", "input": {"x": 1}, "ctx": {"a": {"output": 3}}},
            {"value": False},
        ),
        (
            {"condition": "output.scor >= 80", "output": {"score": 85}},
            {"error": {"code": "condition.no_such_field", "message": "no field `scor` in output; it has: score"}},
        ),
        (
            {"condition": {"type": "python_sandbox", "code": "def evaluate(o, c):\n    return o > c['a']['output']"}}
            | {"output": 2, "ctx": {"a": {"output": 1}}},
            {"value": True},
        ),
    ],
)
async def test_a_condition_is_evaluated_on_what_is_sent(body: Any, answer: Any):
    async with serving() as served:
        reply = await served.post(PATH, body)
        assert reply.status_code == 200
        assert reply.json() == answer


async def test_a_missing_operand_is_false_and_noted():
    body = {"condition": {"type": "cross_node_comparison", "expression": "ctx.never.output > 1"}}
    async with serving() as served:
        found = (await served.post(PATH, body)).json()
    assert found["value"] is False
    assert found["error"] == {"code": "condition.missing_operand", "message": "node `never` has not run", "soft": True}


async def test_a_condition_with_flaws_is_refused_with_all_of_them():
    async with serving() as served:
        reply = await served.post(PATH, {"condition": {"type": "cel", "expresion": "true"}})
    assert reply.status_code == 422
    assert [flaw["pointer"] for flaw in reply.json()["errors"]] == ["/condition/expresion", "/condition"]


async def test_a_stored_schema_may_be_named():
    text = '{"type": "integer"}'
    digest = hashlib.sha256(text.encode()).hexdigest()
    body = {"condition": {"type": "schema_validation", "schema_ref": f"cas://sha256:{digest}"}, "output": 5}
    async with serving() as served:
        assert (await served.post(PATH, body)).status_code == 422
        await served.client.put(f"/api/v1/blobs/{digest}", json={"text": text})
        assert (await served.post(PATH, body)).json() == {"value": True}
