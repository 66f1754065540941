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
    "update runs set labels = '{' where id = 'bad'": ROW,
    "update runs set error = '[]' where id = 'bad'": ROW,
    "update runs set output = '{' where id = 'bad'": ROW,
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
