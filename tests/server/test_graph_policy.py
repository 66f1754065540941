"""The policy of a namespace and its start rate over HTTP."""

from __future__ import annotations

from tests.server.serving import problem, serving

GRAPH = {"nodes": [{"id": "A", "type": "transform", "config": {"output": 1}}]}


async def test_a_policy_is_set_and_shown() -> None:
    async with serving() as served:
        assert (await served.get("/graph-policy")).json() == {}
        policy = {"rules": [{"effect": "deny", "condition": "to_node == 'B'"}]}
        assert (await served.post("/graph-policy", policy)).json() == policy
        assert (await served.get("/graph-policy")).json() == policy
        bad = {"rules": [{"effect": "deny", "condition": "1 +"}]}
        found = problem(await served.post("/graph-policy", bad), 422, "graph.bad_policy")
        assert found["errors"][0]["pointer"] == "/rules/0/condition"


async def test_a_start_above_the_rate_says_when_to_try_again() -> None:
    async with serving() as served:
        await served.post("/graph-policy", {"start_rate": {"per_minute": 1}})
        body = {"dialect": "graph", "definition": GRAPH, "input": None}
        assert (await served.post("/runs", body)).status_code == 201
        answer = await served.post("/runs", body)
        found = problem(answer, 429, "kernel.start_rate")
        assert 1 <= found["retry_after_seconds"] <= 60
        assert answer.headers["retry-after"] == str(found["retry_after_seconds"])
