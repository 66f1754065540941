"""Schedules over HTTP."""

from __future__ import annotations

from plait.api.audit import ListAudit
from plait.server.site import Settings
from tests.server.contract.world import key_header
from tests.server.serving import Served, problem, serving, soon

YEARLY = {"definition": "quick", "input": {"customer": "Ann"}, "cron": "30 2 1 1 *", "tz": "Europe/Berlin"}


async def save(served: Served, name: str = "yearly", **changes: object) -> int:
    answer = await served.client.put(f"/api/v1/schedules/{name}", json=YEARLY | changes)
    assert answer.status_code in (200, 201), answer.text
    return answer.status_code


async def test_the_next_times_are_told_before_anything_is_saved(db: str):
    async with serving(db) as served:
        found = (await served.post("/schedule-preview", {"every_ms": 60_000, "after": 0})).json()
        assert found == {"times": [60_000 * number for number in range(1, 11)]}
        told = problem(await served.post("/schedule-preview", {"cron": "* 25 * * *"}), 422, "schedule.bad_cron")
        assert told["why"] == "hour `25`: 25 is out of range"
        problem(await served.post("/schedule-preview", {}), 422, "schedule.bad_timing")
        assert (await served.get("/schedules")).json() == {"schedules": []}


async def test_a_schedule_is_made_changed_and_deleted(db: str):
    async with serving(db) as served:
        assert await save(served) == 201
        assert await save(served, overlap="queue") == 200
        found = (await served.get("/schedules/yearly")).json()
        assert (found["overlap"], len(found["next"])) == ("queue", 10)
        new = await served.client.put("/api/v1/schedules/yearly?new=true", json=YEARLY)
        problem(new, 409, "schedule.exists")
        again = await served.client.put("/api/v1/schedules/yearly?new=true", json=YEARLY | {"overlap": "queue"})
        assert again.json()["updated_at"] == found["updated_at"], "sent again by someone who missed the answer"
        assert (await served.client.delete("/api/v1/schedules/yearly")).json() == {"name": "yearly"}
        problem(await served.get("/schedules/yearly"), 404, "schedule.unknown")


async def test_schedules_are_listed_in_pages(db: str):
    async with serving(db) as served:
        for name in ("c", "a", "b"):
            await save(served, name)
        first = (await served.get("/schedules", params={"limit": 2})).json()
        assert ([each["name"] for each in first["schedules"]], first["next"]) == (["a", "b"], "b")
        last = (await served.get("/schedules", params={"limit": 2, "cursor": first["next"]})).json()
        assert [each["name"] for each in last["schedules"]] == ["c"]
        assert "next" not in last
        assert len(last["schedules"][0]["next"]) == 1


async def test_a_trigger_starts_a_run_and_the_audit_log_tells_who(db: str):
    async with serving(db) as served:
        await save(served)
        answer = await served.post("/schedules/yearly/trigger", {})
        assert answer.status_code == 202
        run = await soon(lambda: _run_of(served))
        assert run["run_id"] == answer.json()["run_id"]
        assert (await served.ended(run["run_id"]))["run"]["labels"]["schedule"] == "yearly"
        page = await served.site.auth.audit.page("*", None, ListAudit().limit)
        assert [entry.action for entry in page.entries[:2]] == ["schedules.trigger", "schedules.save"]


async def _run_of(served: Served) -> dict[str, str] | None:
    fires = (await served.get("/schedules/yearly/fires")).json()["fires"]
    return fires[0] if fires else None


async def test_a_schedule_that_could_not_work_is_refused(db: str):
    async with serving(db) as served:

        async def refused(code: str, status: int = 422, **changes: object) -> None:
            problem(await served.client.put("/api/v1/schedules/x", json=YEARLY | changes), status, code)

        await refused("CODE_NOT_LOADED", 404, definition="nothing")
        await refused("schedule.unknown_time_zone", tz="Mars/Olympus")
        await refused("schedule.bad_timing", every_ms=60_000)
        await refused("http.bad_body", overlap="maybe")
        await refused("schedule.hidden_input", input={"customer": "[hidden: needs the right pii:read]"})
        problem(await served.client.put("/api/v1/schedules/a%20b", json=YEARLY), 404, "schedule.unknown")
        assert await served.client.put("/api/v1/schedules/x", json=YEARLY | {"definition": "later", "check": False})


async def test_viewers_look_and_operators_act():
    async with serving(settings=Settings(open=False)) as served:
        viewer, operator = [await key_header(served.site, "acme", role) for role in ("viewer", "operator")]
        path = "/api/v1/schedules/yearly"
        problem(await served.client.put(path, json=YEARLY, headers=viewer), 403, "auth.forbidden")
        assert (await served.client.put(path, json=YEARLY, headers=operator)).status_code == 201
        assert (await served.client.get(path, headers=viewer)).json()["namespace"] == "acme"
        other = await key_header(served.site, "other", "admin")
        problem(await served.client.get(path, headers=other), 404, "schedule.unknown")


async def test_a_schedule_names_the_queue_of_its_runs(db: str):
    async with serving(db) as served:
        await save(served, queue="reports", priority=-1, partition="ann")
        found = (await served.get("/schedules/yearly")).json()
        assert (found["queue"], found["priority"], found["partition"]) == ("reports", -1, "ann")
        body = YEARLY | {"queue": "no such name"}
        problem(await served.client.put("/api/v1/schedules/x", json=body), 422, "queue.bad_name")
