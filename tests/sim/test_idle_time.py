"""Hours in which two engines only renew their leases pass in a few steps, and nobody loses a shard by that."""

import pytest

from plait.dialects.code.context import Context
from plait.dialects.code.definition import step, workflow
from plait.kernel.ids import SHARDS, Millis
from plait.testing import VirtualClock
from plait.testing.sim.cluster import TTL, Cluster
from plait.testing.sim.event_loop import run
from plait.testing.sim.scenario import Scenario, Weather
from plait.testing.sim.storm import Storm

HOURS = 7200.0


@step(queue="printer", timeout=HOURS)
async def print_page() -> None:
    raise AssertionError("no worker prints")


@workflow
async def printing(ctx: Context) -> None:
    await ctx.step("print", print_page)


QUIET = Scenario(1, (), 2, 0, 1024, 100, Weather())


async def _sleeping(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, seconds: float = HOURS) -> int:
    """Lets hours pass; returns how many alarms rang on the way."""
    ring, rung = VirtualClock.ring, list[int]()

    def counted(clock: VirtualClock, limit: int | None = None) -> bool:
        rung.append(clock.elapsed)
        return ring(clock, limit)

    async def nothing() -> None: ...

    async def awake() -> bool:
        return sleeper.done()

    monkeypatch.setattr(VirtualClock, "ring", counted)
    sleeper = cluster.spawn(cluster.clock.sleep(seconds))
    await cluster.drive(awake, nothing)
    return len(rung)


def test_two_engines_keep_their_shards_through_hours_of_sleep(monkeypatch: pytest.MonkeyPatch):
    async def play() -> None:
        cluster = Cluster(QUIET, Storm(1, Weather()))
        await cluster.open()
        rings = await _sleeping(cluster, monkeypatch)
        assert rings < 50, "two engines renew 720 times in two hours"
        assert cluster.clock.elapsed == HOURS * 1000
        for engine in cluster.alive:
            standing = await cluster.store.renew(engine.kernel.owner, Millis(round(TTL * 1000)))
            assert {lease.shard: lease.epoch for lease in standing.leases} == engine.kernel.leases.epochs
            assert len(standing.leases) == SHARDS // 2
        await cluster.close()

    run(play())


def test_no_time_is_skipped_while_an_engine_is_cut_off(monkeypatch: pytest.MonkeyPatch):
    async def play() -> None:
        cluster = Cluster(QUIET, Storm(1, Weather()))
        await cluster.open()
        await cluster.quiesce()
        door = cluster.places[0].door
        assert door is not None
        door.deaf = True
        assert await _sleeping(cluster, monkeypatch) > 700
        assert len(cluster.alive[1].kernel.leases) == SHARDS, "the other has taken its shards"
        await cluster.close()

    run(play())


@pytest.mark.parametrize("claimed", [False, True])
def test_looks_for_workers_are_skipped_unless_one_has_a_task_and_may_lose_it(
    claimed: bool, monkeypatch: pytest.MonkeyPatch
):
    async def play() -> None:
        cluster = Cluster(QUIET, None, (printing,))
        await cluster.open()
        await cluster.quiesce()
        [engine] = cluster.alive
        await engine.start(printing)
        await cluster.quiesce()
        if claimed:
            assert await engine.queues.claim("w", ["printer"], lease_ms=3_600_000)
        rings = await _sleeping(cluster, monkeypatch, 1_000.0)
        assert rings > 900 if claimed else rings < 50
        await cluster.close()

    run(play())


def test_what_rings_meanwhile_rings_later_and_all_else_at_its_time():
    clock, rung = VirtualClock(), list[tuple[str, int]]()
    idle = clock.call_later(20, lambda: rung.append(("idle", clock.elapsed)))
    clock.call_later(100, lambda: rung.append(("busy", clock.elapsed)))
    assert clock.due_besides([idle]) == 100_000
    clock.skip(70_000, [idle])
    while clock.ring():
        pass
    assert rung == [("idle", 90_000), ("busy", 100_000)]
