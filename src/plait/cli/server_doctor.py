"""`plait doctor` on a server: whether it is alive and ready, our identity, and the state of the runs we may see."""

from __future__ import annotations

from plait import __version__
from plait.api.caller import EVERYWHERE
from plait.api.fleet import FleetOverview
from plait.client import Client
from plait.kernel.errors import PlaitError
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.store import RunFilter

from . import words
from .findings import MANY, Report, as_many, examine_letters, examine_pool, examine_runs
from .options import Where


async def examine_server(where: Where, report: Report) -> None:
    async with Client(where.url, where.key) as client:
        report.facts["server"] = client.url
        health = await client.health()
        other = "" if health.version == __version__ else f", while this is {__version__}"
        report.facts["alive"] = f"yes: plait {health.version}{other}"
        await _ready(client, report)
        namespace = await _known(client, report)
        if (await client.me()).namespace == EVERYWHERE:
            _fleet(await client.fleet(), report)
        live = await client.runs(RunFilter(namespace=namespace, status="running", limit=MANY))
        examine_runs(live, words.now(), report)
        report.facts["approvals"] = as_many(await client.approvals.list(namespace, limit=MANY))
        examine_letters(await client.dlq.list(namespace, limit=MANY), report)


async def _ready(client: Client, report: Report) -> None:
    try:
        await client.ready()
        report.facts["ready"] = "yes: its database answers"
    except PlaitError as error:
        report.facts["ready"] = "no"
        report.problems.append(error)


def _fleet(fleet: FleetOverview, report: Report) -> None:
    names = ", ".join(f"{engine.name} ({engine.shards})" for engine in fleet.engines)
    engines = words.counted(len(fleet.engines), "engine")
    report.facts["engines"] = f"{engines}: {names}" if names else "none at work"
    report.facts["shards"] = f"{fleet.shards - fleet.unowned} of {fleet.shards} owned"
    waited = f", the oldest for {words.duration(fleet.oldest_waiting_ms)}" if fleet.waiting else ""
    report.facts["waiting"] = f"{words.counted(fleet.waiting, 'input')}{waited}"
    report.facts["timer lag"] = words.duration(fleet.timer_lag_ms)
    if fleet.draining:
        report.facts["draining"] = ", ".join(fleet.draining)
    for pool in fleet.pools:
        examine_pool(pool.code, pool.runs, pool.engines, report)


async def _known(client: Client, report: Report) -> str:
    me = await client.me()
    everywhere = me.namespace == "*"
    where = "all namespaces" if everywhere else f"namespace {me.namespace}"
    report.facts["you"] = (
        f"{me.name}, {me.role} in {where} (by {me.mode})" if me.mode != "open" else "anybody: it is open"
    )
    return DEFAULT_NAMESPACE if everywhere else me.namespace
