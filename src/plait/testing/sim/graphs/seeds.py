"""One `graph` seed, run twice: calm, and in a storm. Both must keep every promise and end alike."""

from __future__ import annotations

from plait.testing.sim.client import decide_everything
from plait.testing.sim.cluster import Cluster
from plait.testing.sim.performance import perform
from plait.testing.sim.seeds import Endings, Logs, SeedReport, trial
from plait.testing.sim.storm import Storm

from .client import GraphClient
from .inspector import GraphInspector
from .scenario import GraphScenario, draw_graphs
from .world import GraphWorld


async def simulate_graphs(seed: int) -> SeedReport:
    return await trial(draw_graphs(seed), _perform, "graph")


async def _perform(scenario: GraphScenario, storm: Storm | None, logs: Logs) -> Endings:
    world = GraphWorld(scenario)
    cluster = Cluster(scenario, storm, world.definitions, world.furnish, "graph")
    world.clock = cluster.clock
    inspector = GraphInspector(cluster, world, scenario)
    clients = [GraphClient(cluster, world, scenario.seed, root) for root in scenario.roots]
    return await perform(cluster, inspector, clients, logs, decide_everything(cluster))
