"""One `goals` seed, run twice: calm, and in a storm. Both must keep every promise and end alike."""

from __future__ import annotations

from random import Random

from plait.testing.sim.cluster import Cluster
from plait.testing.sim.seeds import Endings, Logs, SeedReport, trial
from plait.testing.sim.stale_results import report_stale
from plait.testing.sim.storm import Storm

from .child import shout
from .client import FlowClient
from .inspector import FlowInspector
from .scenario import FlowScenario, draw_flows
from .world import FlowWorld


async def simulate_flows(seed: int) -> SeedReport:
    return await trial(draw_flows(seed), _perform, "goals")


async def _perform(scenario: FlowScenario, storm: Storm | None, logs: Logs) -> Endings:
    cluster = Cluster(scenario, storm, (*scenario.steps, shout), dialect="goals")
    world = FlowWorld(cluster, scenario)
    cluster.furnish = world.furnish
    inspector = FlowInspector(cluster, world, scenario)
    looking = Random(f"looking {scenario.seed}")
    clients = [FlowClient(cluster, world, scenario, root) for root in scenario.roots]
    await cluster.open()

    async def look() -> None:
        if storm is not None and storm.strikes("echo"):
            _stale_result(cluster, world, storm)
        if looking.random() < 0.05:
            await inspector.at_rest()

    async def done() -> bool:
        if not all(task.done() for task in serving):
            return False
        return not await cluster.running()

    try:
        serving = [cluster.spawn(client.serve()) for client in clients]
        await cluster.drive(done, look)
        await cluster.calm_down()
        await inspector.at_the_end(calm=storm is None)
        return {client.root.id: (client.told,) for client in clients}
    finally:
        logs.update(await cluster.logs.all())
        await cluster.close()


def _stale_result(cluster: Cluster, world: FlowWorld, storm: Storm) -> None:
    """A worker that was presumed dead reports an attempt that is long over."""
    attempts = [
        (entry.run_id, entry.token, entry.attempt)
        for entry in world.ledger
        if not entry.undo and entry.run_id not in world.repaired
    ]
    report_stale(cluster, storm, attempts, {"outputs": {"done": "by a zombie"}})
