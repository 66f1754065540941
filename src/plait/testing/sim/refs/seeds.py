"""One `refs` seed, run twice: calm, and in a storm. Both must keep every promise and end alike."""

from __future__ import annotations

from plait.testing.sim.cluster import Cluster
from plait.testing.sim.performance import perform
from plait.testing.sim.seeds import Endings, Logs, SeedReport, trial
from plait.testing.sim.storm import Storm
from plait.testing.sim.whisper import whisper

from .client import RefsClient
from .inspector import RefsInspector
from .scenario import RefsScenario, draw_refs
from .world import RefsWorld


async def simulate_refs(seed: int) -> SeedReport:
    return await trial(draw_refs(seed), _perform, "refs")


async def _perform(scenario: RefsScenario, storm: Storm | None, logs: Logs) -> Endings:
    cluster = Cluster(scenario, storm, (whisper,), dialect="refs")
    world = RefsWorld(cluster, scenario)
    cluster.furnish = world.furnish
    inspector = RefsInspector(cluster, world, scenario)
    clients = [RefsClient(cluster, world, scenario.seed, root) for root in scenario.roots]
    return await perform(cluster, inspector, clients, logs, report_stale=world.report_stale)
