"""Catalogs and health after years of changes: read from snapshots, and not kept for good."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

import pytest
from msgspec import Raw

from plait.dialects.goals.catalogs.catalog import Catalog, CatalogEvent, StepRegistered, StepUnregistered, StepUpdated
from plait.dialects.goals.catalogs.catalogs import Catalogs
from plait.dialects.goals.catalogs.checkups import Checker
from plait.dialects.goals.catalogs.cluster import StepHealth
from plait.dialects.goals.catalogs.health import Health
from plait.dialects.goals.errors import Cycle
from plait.kernel import streams, values
from plait.kernel.ids import Millis
from plait.kernel.records import Record, RecordChange, Records
from plait.testing import VirtualClock
from tests.contract.stores.backends import Backend, Memory
from tests.dialects.goals.declaring import OnlyKnowsInputs, at_once, made
from tests.kernel.filing import records_of

HERE = "default"
OK, BAD = StepHealth("healthy"), StepHealth("unhealthy", "no route")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot every five events, of which ten stay."""
    monkeypatch.setattr(streams, "_KEPT", 10)
    for module in ("catalogs", "health"):
        monkeypatch.setattr(f"plait.dialects.goals.catalogs.{module}.EVERY", 5)


async def change(catalogs: Catalogs, id: str, needs: str = "", gives: str = "") -> None:
    step = made(id, needs, gives).build()
    await catalogs.change(HERE, at_once(lambda draft: draft.upsert(step)))


@pytest.mark.usefixtures("few")
async def test_a_catalog_is_the_same_from_its_snapshot_as_from_all_its_events(backend: Backend) -> None:
    async with records_of(backend) as records:
        clock = VirtualClock()
        catalogs = Catalogs(records, clock)
        for number in range(40):
            await clock.advance(1)
            await change(catalogs, f"s{number % 7}", f"x{number % 7}", f"x{number % 7 + 1}")
            if number % 11 == 0:
                await change(catalogs, "gone", gives=f"y{number}")
                await catalogs.change(HERE, at_once(lambda draft: draft.unregister("gone")))
        later = Catalogs(records, clock)
        found, known = await later.refresh(HERE), catalogs.get(HERE)
        assert found.steps == known.steps
        assert list(found.steps) == list(known.steps)
        assert {name: ties.providers for name, ties in found.graph.names.items()} == {
            name: ties.providers for name, ties in known.graph.names.items()
        }
        assert (found.last_updated, later.sequence(HERE)) == (known.last_updated, catalogs.sequence(HERE))
        assert len(await later.events(HERE)) < 20
        with pytest.raises(Cycle):
            await change(later, "closing", "x7", "x0")


@pytest.mark.usefixtures("few")
async def test_whoever_watches_hears_which_steps_a_snapshot_changed() -> None:
    heard: list[set[str]] = []

    def watcher(namespace: str, step_ids: Collection[str]) -> None:
        heard.append(set(step_ids))

    async with records_of(Memory()) as records:
        catalogs, away = Catalogs(records, VirtualClock()), Catalogs(records, VirtualClock())
        for id in ("same", "changes", "goes"):
            await change(catalogs, id)
        await away.refresh(HERE)
        away.watch(watcher)
        await catalogs.change(HERE, at_once(lambda draft: draft.unregister("goes")))
        for number in range(50):
            await change(catalogs, "changes", f"x{number}")
        await change(catalogs, "new")
        await away.refresh(HERE)
        assert set[str]().union(*heard) == {"changes", "goes", "new"}
        assert (await away.refresh(HERE)).steps == catalogs.get(HERE).steps


async def _fill(records: Records, events: Sequence[CatalogEvent]) -> None:
    """As so many deployments left them."""
    await records.put(Record("catalog", HERE, HERE, values.NULL, VirtualClock().now()))
    for first in range(0, len(events), 1000):
        page = enumerate(events[first : first + 1000], first + 1)
        rows = [
            Record(f"catalog/{HERE}", HERE, f"{at:016}", Raw(values.plain([event])), Millis(at)) for at, event in page
        ]
        assert await records.change_all("fill", [RecordChange(row, "new") for row in rows])


async def test_a_catalog_with_100_000_changes_is_read_at_once_the_second_time() -> None:
    step = made("s").build()
    async with records_of(Memory()) as records:
        await _fill(records, [StepRegistered(step), *[StepUpdated(step)] * 99_999])
        first = Catalogs(records, VirtualClock())
        await first.refresh(HERE)
        await first.keep_all()
        began = time.process_time()
        later = Catalogs(records, VirtualClock())
        assert (await later.refresh(HERE)).steps == {"s": step}
        assert time.process_time() - began < 0.1
        assert later.sequence(HERE) == 100_000
        assert (await later.events(HERE, 99_999))[0].seq == 100_000
        assert len(await later.events(HERE, limit=1)) == 1


def test_a_catalog_and_its_snapshot_agree_on_what_comes_after() -> None:
    events = [StepRegistered(made("a", "", "x").build()), StepRegistered(made("b", "x", "y").build())]
    whole = Catalog(events)
    restored = Catalog.restore(whole.snapshot())
    for catalog in (whole, restored):
        catalog.apply(StepUnregistered("a"))
        catalog.apply(StepRegistered(made("c", "y", "z").build()))
    assert restored.steps == whole.steps
    assert restored.graph == whole.graph


def _health(records: Records, node: str, up: set[str]) -> Health:
    async def alive() -> set[str]:
        return up

    async def answers(url: str) -> str:
        return ""

    clock = VirtualClock()
    checker = Checker(OnlyKnowsInputs(), lambda handler: False, answers, clock)
    return Health(Catalogs(records, clock), records, clock, checker, node=node, alive=alive)


@pytest.mark.usefixtures("few")
async def test_health_is_read_from_a_snapshot_and_nodes_that_are_gone_are_forgotten(backend: Backend) -> None:
    async with records_of(backend) as records:
        await change(Catalogs(records, VirtualClock()), "a")
        for number in range(12):  # a deployment gives each a new name
            name = f"node-{number}"
            node = _health(records, name, {name})
            for status in (OK, BAD, OK):
                await node._note(HERE, {"a": status})  # pyright: ignore[reportPrivateUsage]
        later = _health(records, "node-12", {"node-11"})
        report = await later.report(HERE)
        assert report.nodes == {"node-11": {"a": OK}}
        assert report.health == {"a": OK}
        assert later.sequence(HERE) == 36
        assert len(await later.events(HERE)) < 20
        cluster = later._entry(HERE).cluster  # pyright: ignore[reportPrivateUsage]
        assert len(cluster.nodes) < 5
