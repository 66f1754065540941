"""What a key may start: refused with 429 and when to try again, and nobody else is held up."""

from __future__ import annotations

from typing import Any

from plait.server.quotas import KEY_LABEL
from plait.server.site import Settings
from tests.server.serving import Served, problem, serving, soon

RUN = {"definition": "asking"}


async def key(served: Served, start_rate: int | None = None, max_running: int | None = None) -> dict[str, str]:
    keys = served.site.auth.keys
    made = await keys.create("ci", "operator", "acme", start_rate=start_rate, max_running=max_running)
    return {"authorization": f"Bearer {made[1]}"}


async def start(served: Served, headers: dict[str, str], **body: Any) -> Any:
    return await served.client.post("/api/v1/runs", json=RUN | body, headers=headers)


async def test_a_key_starts_no_more_runs_a_second_than_it_may():
    async with serving(settings=Settings(open=False)) as served:
        limited, other = await key(served, start_rate=2), await key(served)
        answers = [await start(served, limited) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [201, 201, 429]
        found = problem(answers[2], 429, "auth.start_rate")
        assert found["detail"].startswith("the key ci may start 2 runs a second")
        assert answers[2].headers["retry-after"] == str(found["retry_after_seconds"]) == "1"
        assert (await start(served, other)).status_code == 201


async def test_a_key_has_no_more_runs_under_way_than_it_may_and_gets_their_places_back():
    async with serving(settings=Settings(open=False)) as served:
        limited, other = await key(served, max_running=2), await key(served, max_running=2)
        first = (await start(served, limited, labels={"shop": "north"})).json()["id"]
        await start(served, limited)
        refused = await start(served, limited)
        problem(refused, 429, "auth.too_many_running")
        assert refused.headers["retry-after"] == "5"
        assert (await start(served, other)).status_code == 201
        run = (await served.client.get(f"/api/v1/runs/{first}", headers=limited)).json()["run"]
        assert run["labels"]["shop"] == "north"
        assert run["labels"][KEY_LABEL].startswith("key:")
        await served.client.post(f"/api/v1/runs/{first}/cancel", json={}, headers=limited)
        handle = await served.site.engine.get(first, "acme")
        while await handle.status() == "running":
            pass
        assert (await start(served, limited)).status_code == 201


async def test_a_fork_counts_for_the_key_that_made_it_and_for_no_other():
    async with serving(settings=Settings(open=False)) as served:
        one, other = await key(served, max_running=1), await key(served, max_running=1)
        run = (await start(served, one, labels={"shop": "north"})).json()["id"]
        await soon(lambda: approvals(served, one))
        forks = [await served.client.post(f"/api/v1/runs/{run}/fork", json={}, headers=other) for _ in range(2)]
        problem(forks[1], 429, "auth.too_many_running")
        labels = [await labels_of(served, id, one) for id in (run, forks[0].json()["id"])]
        assert labels[0].pop(KEY_LABEL) != labels[1].pop(KEY_LABEL)
        assert labels == [{"shop": "north"}] * 2


async def test_no_caller_makes_its_runs_count_for_another_key():
    async with serving(settings=Settings(open=False)) as served:
        victim, other = await key(served, max_running=1), await key(served)
        run = (await start(served, victim)).json()["id"]
        label = {KEY_LABEL: (await labels_of(served, run, victim))[KEY_LABEL]}
        for headers in (victim, other):
            problem(await start(served, headers, labels=label), 422, "auth.label_is_reserved")
        schedule = {"definition": "asking", "every_ms": 60_000, "labels": label}
        answer = await served.client.put("/api/v1/schedules/often", json=schedule, headers=other)
        problem(answer, 422, "auth.label_is_reserved")


async def approvals(served: Served, headers: dict[str, str]) -> list[Any]:
    return (await served.client.get("/api/v1/approvals", headers=headers)).json()["approvals"]


async def labels_of(served: Served, id: str, headers: dict[str, str]) -> dict[str, str]:
    return (await served.client.get(f"/api/v1/runs/{id}", headers=headers)).json()["run"]["labels"]


async def test_quotas_are_shown_with_a_key_and_wrong_ones_are_refused():
    async with serving() as served:
        made = await served.post("/keys", {"name": "ci", "role": "operator", "start_rate": 5, "max_running": 9})
        assert (made.json()["start_rate"], made.json()["max_running"]) == (5, 9)
        [shown] = (await served.get("/keys")).json()["keys"]
        assert (shown["start_rate"], shown["max_running"]) == (5, 9)
        problem(await served.post("/keys", {"name": "x", "role": "viewer", "start_rate": 0}), 422, "http.bad_body")
