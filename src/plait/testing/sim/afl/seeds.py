"""One `afl` seed, run twice: calm, and in a storm. Both must keep every promise and end alike."""

from __future__ import annotations

from plait.testing.sim.cluster import Cluster
from plait.testing.sim.performance import perform
from plait.testing.sim.seeds import Endings, Logs, SeedReport, trial
from plait.testing.sim.storm import Storm

from .agents import Agents
from .client import AflClient
from .inspector import AflInspector
from .scenario import AflScenario, draw_afl
from .world import AflWorld


async def simulate_afl(seed: int) -> SeedReport:
    return await trial(draw_afl(seed), _perform, "afl")


async def _perform(scenario: AflScenario, storm: Storm | None, logs: Logs) -> Endings:
    cluster = Cluster(scenario, storm, dialect="afl")
    world = AflWorld(cluster, scenario)
    cluster.furnish = world.furnish
    cluster.definitions = world.definitions()
    inspector = AflInspector(cluster, world, scenario)
    agents = Agents(cluster, world, scenario.seed)
    clients = [AflClient(cluster, world, scenario.seed, root) for root in scenario.roots]
    return await perform(cluster, inspector, clients, logs, agents.serve(), report_stale=world.report_stale)
