"""Logs are kept under the numbers of their runs, which nobody outside a store knows: a row always finds its own run."""

import pytest

from plait.kernel.ids import RunId
from plait.kernel.store import LogRow, Store
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import child, create, log_row, must, outside, own_all, run_row

RUN = RunId("run")


async def logs(store: Store, *run_ids: str) -> dict[str, list[LogRow]]:
    return {run_id: await store.log(RunId(run_id)) for run_id in run_ids}


async def test_a_log_of_a_run_that_is_not_there_is_refused_and_its_neighbours_are_not(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        group = [
            owner.write("run", create=run_row(), log=log_row(1)),
            owner.write("nobody", log=log_row(1)),
            owner.write("run", log=log_row(2)),
        ]
        assert await store.commit(group) == ["ok", "conflict", "ok"]
        assert await logs(store, "run", "nobody") == {"run": [log_row(1), log_row(2)], "nobody": []}


async def test_a_run_that_was_refused_as_known_keeps_its_log_for_itself(backend: Backend):
    """The number that the second of that id would have had belongs to nobody."""
    async with opened(backend) as store:
        owner = await own_all(store)
    async with opened(backend) as store:
        await create(store, "run", "other")
        group = [
            outside("run", create=run_row(definition="another")),
            owner.write("run", log=log_row(1)),
            owner.write("new", create=run_row("new"), log=log_row(1, note="of the new one")),
        ]
        assert await store.commit(group) == ["exists", "ok", "ok"]
        await must(store, owner.write("run", log=log_row(2)), owner.write("new", log=log_row(2)))
        assert await logs(store, "run", "new", "other") == {
            "run": [log_row(1), log_row(2)],
            "new": [log_row(1, note="of the new one"), log_row(2)],
            "other": [],
        }


async def test_two_processes_that_make_runs_in_turn_write_to_each_others(shared_backend: Backend):
    async with opened(shared_backend) as one, opened(shared_backend) as two:
        owner = await own_all(one)
        for number in range(4):
            await create((one, two)[number % 2], f"run-{number}")
        for row in (log_row(1), log_row(2)):
            await must(one, *(owner.write(f"run-{number}", log=row) for number in range(4)))
        expected = {f"run-{number}": [log_row(1), log_row(2)] for number in range(4)}
        assert await logs(two, *expected) == expected


async def test_a_child_and_a_fork_have_logs_of_their_own(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", create=run_row(), log=log_row(1), children=[child("child", parent="run")]))
        await must(store, owner.write("child", log=log_row(1, note="of the child")), owner.write("run", log=log_row(2)))
        fork = outside("fork", create=run_row("fork"), copies=[log_row(1)], log=log_row(2, note="of the fork"))
        await must(store, fork)
        await must(store, owner.write("fork", log=log_row(3)))
        assert await logs(store, "run", "child", "fork") == {
            "run": [log_row(1), log_row(2)],
            "child": [log_row(1, note="of the child")],
            "fork": [log_row(1), log_row(2, note="of the fork"), log_row(3)],
        }


async def test_more_runs_than_a_store_remembers_the_numbers_of(backend: Backend, monkeypatch: pytest.MonkeyPatch):
    names = [f"run-{number}" for number in range(20)]
    async with opened(backend) as store:
        numbers = getattr(store, "inner", store)._numbers  # pyright: ignore
        monkeypatch.setattr(numbers, "_size", 3)
        owner = await own_all(store)
        await must(store, *(owner.write(name, create=run_row(name), log=log_row(1)) for name in names))
        for name in names:
            await must(store, owner.write(name, log=log_row(2)))
        assert len(numbers._known) == 3
        assert await logs(store, *names) == {name: [log_row(1), log_row(2)] for name in names}
