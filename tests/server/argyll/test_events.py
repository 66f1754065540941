"""A run's log in the mount's names."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.dialects.goals.planning.plan import Excluded, Plan
from plait.dialects.goals.steps.builder import catalog_step
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.server.argyll.events import FlowTeller, Told
from tests.server.argyll.stage import GREET, Json, events, http, mounted, over, register, script, start
from tests.server.argyll.steps import StepServer
from tests.server.serving import Served, soon

TOKEN = "t-1"
PLAN = msgspec.to_builtins(Plan(["a"], {}, {}, [], Excluded({}, {}, {}), {}, []))
STARTED: tuple[str, Json] = (
    "run.started",
    {"input": {"x": [1]}, "seed": 7, "labels": {"a": "b"}, "data": {"plan": PLAN}},
)
BEGUN: tuple[str, Json] = ("step_started", {"step_id": "a", "inputs": {}, "work_items": {TOKEN: {}}})
ERROR = {"code": "x", "message": "no tea"}


def told(*log: tuple[str, Json]) -> list[Told]:
    teller = FlowTeller("f")
    found = [Recorded(number, Millis(1000 + number), name, dict(data)) for number, (name, data) in enumerate(log, 1)]
    return [each for event in found for each in teller.tell(event)]


def names(*log: tuple[str, Json]) -> list[str]:
    return [each.type for each in told(*log)]


def last(*log: tuple[str, Json]) -> Json:
    found = told(STARTED, BEGUN, *log)[-1]
    assert found.data.pop("flow_id") == "f"
    return found.data


def test_a_start_has_lists_of_values_and_no_seed():
    [found] = told(STARTED)
    assert (found.sequence, found.at, found.type) == (0, 1001, "flow_started")
    assert found.data["init"] == {"x": [[1]]}
    assert found.data["labels"] == {"a": "b"}
    assert found.data["plan"]["goals"] == ["a"]
    assert set(found.data) == {"flow_id", "plan", "init", "labels"}


def test_a_start_of_a_step_tells_the_values_of_its_items():
    alone = ("step_started", {"step_id": "a", "inputs": {"n": 5}, "work_items": {TOKEN: {}}})
    assert told(STARTED, alone)[-1].data["work_items"] == {TOKEN: {"n": 5}}
    each = catalog_step("a").required("xs", for_each=True).python("a").build()
    plan = msgspec.to_builtins(Plan(["a"], {"a": each}, {}, [], Excluded({}, {}, {}), {}, []))
    started = ("run.started", {"input": {}, "data": {"plan": plan}})
    items = {"t1": {"xs": 1}, "t3": {}}  # large ones are in the inputs only
    fanned = ("step_started", {"step_id": "a", "inputs": {"xs": [1, 2, "3"]}, "work_items": items})
    found = told(started, (fanned[0], fanned[1] | {"dropped": [1], "total": 3}))[-1].data["work_items"]
    assert msgspec.json.decode(msgspec.json.encode(found)) == {"t1": {"xs": 1}, "t3": {"xs": "3"}}


def test_numbers_are_one_less_than_in_the_log():
    assert [each.sequence for each in told(STARTED, BEGUN, ("work_started", {"step_id": "a", "token": TOKEN}))] == [
        0,
        1,
        2,
    ]


def test_an_attempt_that_is_tried_again_is_two_events():
    retried = ("task.retry_scheduled", {"token": TOKEN, "attempt": 2, "due": 5000, "error": ERROR})
    first, second = told(STARTED, BEGUN, retried)[2:]
    assert (first.type, second.type) == ("work_not_completed", "work_retry_scheduled")
    work = {"flow_id": "f", "step_id": "a", "token": TOKEN, "error": "no tea"}
    assert first.data == work
    assert second.data == work | {"retry_count": 2, "next_retry_at": "1970-01-01T00:00:05.000Z"}


def test_the_last_attempt_is_not_completed_either():
    assert last(("task.dead_lettered", {"token": TOKEN, "attempts": 3, "error": ERROR})) == {
        "step_id": "a",
        "token": TOKEN,
        "error": "no tea",
    }
    assert names(STARTED, BEGUN, ("task.dead_lettered", {"token": "prepare:a", "attempts": 1, "error": ERROR})) == [
        "flow_started",
        "step_started",
    ]


def test_late_results_are_told():
    assert last(("task.late", {"token": TOKEN, "attempt": 1, "output": {"a": 1}})) == {
        "step_id": "a",
        "token": TOKEN,
        "outputs": {"a": 1},
    }
    assert last(("task.late", {"token": TOKEN, "attempt": 1, "error": ERROR}))["error"] == "no tea"


def test_a_value_has_the_names_of_old_and_new_clients():
    assert last(("attribute_set", {"name": "x", "value": 1, "provider": "a"})) == {
        "name": "x",
        "key": "x",
        "value": 1,
        "provider": "a",
        "step_id": "a",
    }


def test_outcomes_have_their_names():
    completed, deactivated = told(STARTED, ("run.completed", {"output": {"x": 1}}))[1:]
    assert (completed.type, completed.data) == (
        "flow_completed",
        {"flow_id": "f", "duration": 1, "result": {"x": 1}},
    )
    assert (deactivated.type, deactivated.data["status"]) == ("flow_deactivated", "completed")
    failed = told(STARTED, ("run.failed", {"error": ERROR}))[1]
    assert (failed.type, failed.data["error"]) == ("flow_failed", "no tea")
    cancelled = told(STARTED, ("run.cancelled", {"reason": "enough"}))[1]
    assert (cancelled.type, cancelled.data["reason"]) == ("flow_cancelled", "enough")
    assert names(STARTED, ("run.failed", {"error": ERROR}))[1:] == ["flow_failed", "flow_deactivated"]
    assert names(STARTED, ("run.cancelled", {}))[1:] == ["flow_cancelled", "flow_deactivated"]


OUTCOME = ("run.failed", {"error": {**ERROR, "code": "goals.goal_failed"}})
WORKING = ("work_started", {"step_id": "a", "token": TOKEN})


def test_a_flow_is_deactivated_once_when_nothing_is_under_way_any_more():
    late = ("work_failed", {"step_id": "a", "token": TOKEN, "error": "late"})
    found = names(STARTED, BEGUN, WORKING, OUTCOME, late, ("flow_deactivated", {"status": "failed"}))
    assert found[3:] == ["flow_failed", "work_failed", "flow_deactivated"]


def test_a_flow_that_is_undone_while_work_goes_on_is_deactivated_when_that_has_ended():
    undone = [
        ("rollback.started", {"cause": "failure", "error": OUTCOME[1]["error"]}),
        ("rollback.ended", {"status": "completed"}),
        OUTCOME,
    ]
    assert names(STARTED, BEGUN, WORKING, *undone)[3:] == ["flow_failed"]


def test_work_that_waits_for_a_retry_or_ended_with_its_run_is_not_under_way():
    retry = ("task.retry_scheduled", {"token": TOKEN, "attempt": 1, "due": 5, "error": ERROR})
    assert names(STARTED, BEGUN, WORKING, retry, OUTCOME)[-1] == "flow_deactivated"
    assert names(STARTED, BEGUN, WORKING, ("run.cancelled", {}))[-1] == "flow_deactivated"


def test_compensation_of_work_that_was_done_twice_names_its_item():
    step = ("rollback.step", {"at": f"undo:{TOKEN}:2", "status": "completed"})
    found = told(STARTED, BEGUN, ("rollback.started", {"cause": "failure", "error": ERROR}), step)[-1]
    assert (found.data["step_id"], found.data["token"]) == ("a", TOKEN)


def test_work_that_is_done_again_under_a_new_token_is_told_of_its_step():
    again = ("flow_resumed", {"steps": ["a"], "restarted": [], "renewed": {TOKEN: "new"}})
    retry = ("task.retry_scheduled", {"token": "new", "attempt": 1, "due": 5, "error": ERROR})
    assert told(STARTED, BEGUN, again, retry)[-1].data["step_id"] == "a"


def test_a_flow_that_undoes_its_work_has_its_outcome_before():
    undo = f"undo:{TOKEN}"
    failed = names(
        STARTED,
        BEGUN,
        ("rollback.started", {"cause": "failure", "error": ERROR}),
        ("task.retry_scheduled", {"token": undo, "attempt": 1, "due": 5, "error": ERROR}),
        ("rollback.step", {"at": undo, "status": "completed"}),
        ("rollback.ended", {"status": "completed"}),
        ("run.failed", {"error": ERROR}),
    )
    assert failed[2:] == ["flow_failed", "comp_retry_scheduled", "comp_succeeded", "flow_deactivated"]
    cancelled = names(STARTED, ("rollback.started", {"cause": "cancel"}), ("run.cancelled", {}))
    assert cancelled[1:] == ["flow_cancelled", "flow_deactivated"]


def test_undoing_on_request_is_no_second_outcome():
    found = names(
        STARTED,
        BEGUN,
        ("run.completed", {}),
        ("run.reopened", {"cause": "compensate"}),
        ("rollback.started", {"cause": "request"}),
        ("rollback.step", {"at": f"undo:{TOKEN}", "status": "failed", "error": ERROR}),
        ("rollback.step", {"at": f"undo:{TOKEN}", "status": "discarded"}),
        ("rollback.ended", {"status": "completed"}),
        ("run.completed", {}),
    )
    assert found[2:] == ["flow_completed", "flow_deactivated", "comp_failed", "flow_deactivated"]


def test_a_flow_that_is_taken_up_again_ends_again():
    again = ("flow_resumed", {"steps": ["a"]})
    failed = ("run.failed", {"error": ERROR})
    assert names(STARTED, failed, ("run.reopened", {"cause": "retry"}), again, failed)[1:] == [
        "flow_failed",
        "flow_deactivated",
        "flow_resumed",
        "flow_failed",
        "flow_deactivated",
    ]


# -- of flows that really ran -----------------------------------------------------------------------------------------


async def test_a_plain_step_is_seven_events_and_the_end_of_its_flow():
    async with mounted() as served:
        await register(served, GREET)
        await start(served, "f", "greet", init={"name": ["Ann"]})
        await over(served, "f")
        found = await events(served, "f")
        assert [each["type"] for each in found] == [
            "flow_started",
            "step_started",
            "work_started",
            "work_succeeded",
            "attribute_set",
            "step_completed",
            "flow_completed",
            "flow_deactivated",
        ]
        assert [each["sequence"] for each in found] == [*range(7), 6]
        assert {tuple(each["aggregate_id"]) for each in found} == {("flow", "f")}
        assert all(each["data"]["flow_id"] == "f" for each in found)


async def test_a_flow_that_fails_undoes_and_only_then_is_not_active():
    async with mounted() as served, StepServer() as there:
        charge = http("charge", f"{there.url}/sync", ["ticked"])
        charge["http"]["compensate"] = f"{there.url}/sync/undo"
        bad = script("bad", ["ticked"], ["x"], '(raise "no")')
        await register(served, charge, bad)
        await start(served, "f", "bad")
        found = await over(served, "f", "failed")
        assert found["executions"]["charge"]["status"] == "completed"
        [item] = found["executions"]["charge"]["work_items"].values()
        assert item["status"] == "compensated"
        told = [each["type"] for each in await events(served, "f")]
        assert told[-3:] == ["flow_failed", "comp_succeeded", "flow_deactivated"]
        assert found["completed_at"] <= found["deactivated_at"]
        assert there.calls[-1]["path"] == "/sync/undo"


async def test_a_flow_is_active_until_the_work_it_left_has_ended():
    async with mounted() as served, StepServer() as there:
        slow = http("slow", f"{there.url}/silent", ["a"], type="async")
        bad = http("bad", f"{there.url}/refuse", ["b"])
        await register(served, slow, bad)
        await start(served, "f", "slow", "bad")
        found = await soon(lambda: failed(served))
        assert found["deactivated_at"] == "0001-01-01T00:00:00Z"
        assert (await served.client.get("/engine/flow/f/status")).json()["status"] == "active"
        assert (await served.client.get("/engine/flow")).json()[0]["status"] == "active"
        url = await soon(lambda: webhook_of(there, "/silent"))
        assert (await served.client.post(url, json={"a": 1})).status_code == 200
        found = await over(served, "f", "failed")
        assert found["deactivated_at"] > found["completed_at"]
        assert (await served.client.get("/engine/flow")).json()[0]["status"] == "failed"
        assert [each["type"] for each in await events(served, "f")][-1] == "flow_deactivated"


async def failed(served: Served) -> Any:
    found = (await served.client.get("/engine/flow/f")).json()
    return found if found["status"] == "failed" else None


async def webhook_of(there: StepServer, path: str) -> str | None:
    """Where the call is answered, once it has come: a sibling may fail before that."""
    return next((call["headers"]["argyll-webhook-url"] for call in there.calls if call["path"] == path), None)
