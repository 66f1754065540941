"""Runs whose rows were changed behind the server's back: a clear answer for each, and the others are well."""

from typing import Any

import apsw
import httpx
import pytest

from .serving import Served, problem, serving

LOG, ROW = "the log of run bad is damaged", "the row of run bad is damaged"
OF_BAD = "where run = (select number from runs where id = 'bad')"
DAMAGES = {
    f"update log set events = replace(events, 'run.', 'ruin.') {OF_BAD}": LOG,
    f"delete from log {OF_BAD} and seq = 1": LOG,
    f"update log set count = 'abc' {OF_BAD}": LOG,
    f"update log set at = x'ff' {OF_BAD}": LOG,
    f"update log set events = cast(x'ff' as text) {OF_BAD}": LOG,
    "update runs set labels = '{' where id = 'bad'": ROW,
    "update runs set definition = cast(x'ff' as text) where id = 'bad'": ROW,
    "update runs set output = '{' where id = 'bad'": ROW,
    "update runs set error = '[]' where id = 'bad'": ROW,
    "update runs set created_at = 'abc' where id = 'bad'": ROW,
}


async def ask_everything(served: Served) -> dict[str, httpx.Response]:
    """By every route that has to read the run."""
    return {
        "details": await served.get("/runs/bad"),
        "events": await served.get("/runs/bad/events"),
        "timeline": await served.get("/runs/bad/timeline"),
        "diff": await served.get("/runs/bad/diff", params={"with": "good"}),
        "retry": await served.post("/runs/bad/retry", {}),
        "cancel": await served.post("/runs/bad/cancel", {}),
        "fork": await served.post("/runs/bad/fork", {"at": 2}),
        "messages": await served.post("/runs/bad/messages", {"name": "hello"}),
    }


def damage(db: str, statement: str) -> None:
    connection = apsw.Connection(db.removeprefix("sqlite:///").partition("?")[0])
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(("statement", "what"), DAMAGES.items())
@pytest.mark.parametrize("status", ["completed", "running"])
async def test_a_damaged_run_is_named_and_is_no_bug_of_the_server(db: str, statement: str, what: str, status: str):
    order = {"customer": "Ann", "items": 2}
    async with serving(db) as served:
        await served.start("quick", order, id="good")
        await served.start("quick" if status == "completed" else "order", order, id="bad")
        await served.ended("good")
        await served.ended("bad", status)
    damage(db, statement)
    async with serving(db) as served:
        for route, answer in (await ask_everything(served)).items():
            found = answer.json()
            assert found.get("code") != "server.bug", (route, found)
            if answer.status_code == 500:
                assert (found["code"], found["title"]) == ("store.damaged", what), route
        listed: dict[str, Any] = {each["id"]: each for each in (await served.get("/runs")).json()["runs"]}
        assert listed["good"]["status"] == "completed"
        assert "bad" in listed or "created_at" in statement  # without a time it has no place there
        assert (await served.get("/runs/good")).status_code == 200
        problem(await served.get("/runs/bad/events"), 500, "store.damaged")
        await served.start("quick", order, id="another")
        await served.ended("another")


@pytest.mark.parametrize("table", ["approvals", "dead_letters"])
async def test_what_names_a_run_that_is_not_there_is_refused_and_keeps_nobody_waiting(db: str, table: str):
    async with serving(db) as served:
        await served.start("asking", id="asking")
        await served.start("failing", id="failing")
        await served.waits("asking", "approval")
        await served.ended("failing", "failed")
        [approval] = (await served.get("/approvals")).json()["approvals"]
        [letter] = (await served.get("/dlq")).json()["dead_letters"]
    damage(db, f"update {table} set run_id = 'nobody'")
    async with serving(db) as served:
        if table == "approvals":
            answer = await served.post(f"/approvals/{approval['id']}/decide", {"decision": "approve"})
        else:
            answer = await served.post(f"/dlq/{letter['id']}/retry", {})
        assert "its run nobody is not there" in problem(answer, 500, "store.damaged")["detail"]


@pytest.mark.parametrize("body", ["'{'", "x'ff'", "cast(x'ff' as text)"])
async def test_damaged_keys_entries_and_schedules_leave_the_others_on_their_lists(db: str, body: str):
    async with serving(db) as served:
        for name in ("ann", "bob"):
            await served.post("/keys", {"name": name, "role": "viewer"})
            await served.put(f"/schedules/{name}", {"definition": "echo", "every_ms": 3_600_000})
        ids = {each["name"]: each["id"] for each in (await served.get("/keys")).json()["keys"]}
    damage(db, f"update records set body = {body} where id = '{ids['ann']}' or id = 'ann'")
    oldest = "id = (select min(id) from records where kind = 'auth.audit')"
    damage(db, f"update records set body = {body} where kind = 'auth.audit' and {oldest}")
    async with serving(db) as served:
        assert [each["name"] for each in (await served.get("/keys")).json()["keys"]] == ["bob"]
        assert [each["name"] for each in (await served.get("/schedules")).json()["schedules"]] == ["bob"]
        entries = (await served.get("/audit")).json()["entries"]
        assert (len(entries), entries[-1]["action"], entries[-1]["code"]) == (4, "damaged", "store.damaged")
        problem(await served.get("/schedules/ann"), 500, "store.damaged")
