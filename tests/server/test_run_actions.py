"""Telling a run something over HTTP."""

from __future__ import annotations

from tests.server.serving import problem, serving

TEA = {"customer": "Ann"}


async def test_a_run_is_cancelled_with_its_reason(db: str):
    async with serving(db) as served:
        id = await served.start("order", TEA)
        await served.waits(id, "message")
        answer = await served.post(f"/runs/{id}/cancel", {"reason": "ordered twice", "compensate": True})
        assert answer.status_code == 200
        shown = await served.ended(id, "cancelled")
        assert "ordered twice" in shown["run"]["error"]["message"]
        types = [event["type"] for event in (await served.get(f"/runs/{id}/events")).json()["events"]]
        assert "rollback.started" in types


async def test_a_message_reaches_its_run_once(db: str):
    async with serving(db) as served:
        id = await served.start("order", TEA)
        body = {"name": "go", "body": {"by": "Ann"}, "id": "m-1"}
        first = await served.post(f"/runs/{id}/messages", body)
        again = await served.post(f"/runs/{id}/messages", body)
        assert first.json() == again.json() == {"id": "m-1"}
        await served.ended(id)
        events = (await served.get(f"/runs/{id}/events")).json()["events"]
        assert [event["data"]["id"] for event in events if event["type"] == "message.queued"] == ["m-1"]
        problem(await served.post(f"/runs/{id}/messages", {"name": "go"}), 409, "RUN_FINISHED")


async def test_a_failed_run_is_retried(db: str):
    async with serving(db) as served:
        id = await served.start("failing")
        before = await served.ended(id, "failed")
        assert "retry" in before["actions"]
        assert (await served.post(f"/runs/{id}/retry", {})).status_code == 200
        await served.ended(id, "failed")
        types = [event["type"] for event in (await served.get(f"/runs/{id}/events")).json()["events"]]
        assert types.count("run.failed") == 2


async def test_a_run_goes_back_to_a_node(db: str):
    async with serving(db) as served:
        id = await served.start("quick", TEA)
        await served.ended(id)
        assert (await served.post(f"/runs/{id}/retry", {"from": "ship"})).status_code == 200
        await served.ended(id)
        problem(await served.post(f"/runs/{id}/retry", {"from": "nowhere"}), 409, "CODE_REWIND_TARGET")


async def test_what_an_ended_run_did_is_undone(db: str):
    async with serving(db) as served:
        id = await served.start("order", TEA)
        await served.post(f"/runs/{id}/messages", {"name": "go"})
        await served.ended(id)
        assert (await served.post(f"/runs/{id}/compensate", {})).status_code == 200


async def test_a_fork_goes_its_own_way(db: str):
    async with serving(db) as served:
        id = await served.start("quick", TEA)
        await served.ended(id)
        body = {"at": "ship", "edits": {"reserve": "another hold"}, "id": "fork-1"}
        answer = await served.post(f"/runs/{id}/fork", body)
        assert (answer.status_code, answer.json()["id"]) == (201, "fork-1")
        shown = await served.ended("fork-1")
        assert shown["view"]["nodes"][0]["output"] == "another hold"
        problem(await served.post(f"/runs/{id}/fork", body), 409, "kernel.run_exists")
        problem(await served.post(f"/runs/{id}/fork", {"at": 9999}), 422, "kernel.bad_fork")


async def test_a_fork_may_be_at_an_event(db: str):
    async with serving(db) as served:
        id = await served.start("quick", TEA)
        await served.ended(id)
        answer = await served.post(f"/runs/{id}/fork", {"at": 2})
        assert answer.status_code == 201
        await served.ended(answer.json()["id"])


async def test_code_can_not_be_patched(db: str):
    async with serving(db) as served:
        id = await served.start("order", TEA)
        answer = await served.post(f"/runs/{id}/patch", {"operations": [{"op": "remove"}]})
        assert answer.status_code in (409, 422)
        assert answer.json()["code"]
        problem(await served.post(f"/runs/{id}/patch", {"operations": []}), 422, "http.bad_body")


async def test_nothing_is_told_to_a_run_that_is_not_there():
    async with serving() as served:
        bodies = {
            "cancel": {},
            "retry": {},
            "compensate": {},
            "patch": {"operations": [{}]},
            "messages": {"name": "go"},
            "fork": {},
            "hooks": {"message": "go"},
        }
        for action, body in bodies.items():
            problem(await served.post(f"/runs/x/{action}", body), 404, "kernel.no_run")
