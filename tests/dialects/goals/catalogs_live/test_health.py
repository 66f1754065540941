"""How steps are: found out by each node beside the work, told once, shown as the worst node sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait.dialects.goals.catalogs.catalogs import Catalogs
from plait.dialects.goals.catalogs.checkups import Checker
from plait.dialects.goals.catalogs.cluster import Cluster, StepHealth, StepHealthChanged, worst
from plait.dialects.goals.catalogs.health import Health
from plait.dialects.goals.errors import StepNotFound
from plait.dialects.goals.steps.attribute import Language
from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.kernel.ids import Millis
from plait.kernel.records import Records
from plait.testing import VirtualClock
from tests.contract.stores.backends import Backend, Memory
from tests.dialects.goals.declaring import OnlyKnowsInputs, at_once, made
from tests.engine.places import until
from tests.kernel.filing import records_of
from tests.kernel.rig import Outage

HERE = "default"
OK = StepHealth("healthy")
UNKNOWN = StepHealth("unknown")


class Services:
    """What answers at each address; an address that is not here never does."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def __call__(self, url: str) -> str:
        self.asked.append(url)
        name = url.rpartition("/")[2]
        if name not in self.answers:
            await asyncio.Event().wait()
        if self.answers[name] == "raise":
            raise ConnectionError("connection refused")
        return self.answers[name]


class Node:
    """One engine's view: catalogs, health, and what it can reach."""

    def __init__(self, records: Records, clock: VirtualClock, name: str = "node-1", **options: Any) -> None:
        self.name = name
        self.clock = clock
        self.services = Services()
        self.known: set[str] = set()
        self.compiler = OnlyKnowsInputs()
        self.catalogs = Catalogs(records, clock)
        checker = Checker(self.compiler, self.known.__contains__, self.services, clock)
        self.health = Health(self.catalogs, records, clock, checker, node=name, **options)

    async def add(self, *steps: StepBuilder) -> None:
        for each in steps:
            built = each.build()
            await self.catalogs.change(HERE, at_once(lambda draft, built=built: draft.upsert(built)))

    async def shows(self, step_id: str, expected: StepHealth) -> None:
        """Waits until it does."""
        await until(lambda: self.health.now(HERE, step_id) == expected)

    async def told(self) -> list[tuple[str, str, str]]:
        events = await self.health.events(HERE)
        assert {event.type for event in events} <= {"step_health_changed"}
        return [(event.data["node_id"], event.data["step_id"], event.data["status"]) for event in events]


@asynccontextmanager
async def node_on(backend: Backend, clock: VirtualClock | None = None, **options: Any) -> AsyncIterator[Node]:
    clock = clock or VirtualClock()
    async with records_of(backend, clock) as records:
        node = Node(records, clock, **options)
        await node.catalogs.refresh_all()
        try:
            yield node
        finally:
            await node.health.close()


def scripted(id: str) -> StepBuilder:
    return catalog_step(id).const("c", 1).ale("c")


def polled(id: str, address: str | None = None) -> StepBuilder:
    return catalog_step(id).sync("http://localhost/x", health_check=f"http://localhost/{address or id}")


async def test_a_step_is_unknown_until_something_can_be_told(backend: Backend) -> None:
    async with node_on(backend) as node:
        node.health.open()
        await node.add(made("plain"), catalog_step("child").run("code", "x"))
        await node.add(scripted("marker").output("y"))
        await node.shows("marker", OK)
        assert await node.health.get(HERE, "plain") == UNKNOWN
        assert await node.health.get(HERE, "child") == UNKNOWN
        with pytest.raises(StepNotFound, match="nearest: 'plain'"):
            await node.health.get(HERE, "plan")


async def test_steps_with_scripts_and_predicates_are_healthy_once_compiled_and_told_once(backend: Backend) -> None:
    async with node_on(backend) as node:
        node.health.open()
        await node.add(catalog_step("s").required("a").ale("a"), made("p", "a").when("lua", "a"))
        await node.shows("s", OK)
        await node.shows("p", OK)
        node.health.look(HERE, ["s", "p"])
        await node.add(scripted("t"))
        await node.shows("t", OK)
        assert sorted(await node.told()) == [("node-1", id, "healthy") for id in ("p", "s", "t")]


async def test_a_script_that_compiles_no_more_is_unhealthy_with_the_reason() -> None:
    async with node_on(Memory()) as node:
        await node.add(catalog_step("s").required("a").ale("b"))
        node.health.open()
        await node.shows("s", StepHealth("unhealthy", "script of 's', line 1: unknown name 'b'; inputs: a"))


async def test_a_python_step_is_healthy_where_its_handler_is_known() -> None:
    async with node_on(Memory()) as node:
        node.known.add("charge")
        await node.add(catalog_step("pay").python("charge"), catalog_step("send").python("mail"), scripted("marker"))
        node.health.open()
        await node.shows("marker", OK)
        assert (await node.health.report(HERE)).health == {"marker": OK, "pay": OK, "send": UNKNOWN}
        node.known.add("mail")
        node.health.look(HERE, ["send"])
        await node.shows("send", OK)


async def test_what_was_told_before_a_restart_is_not_told_again(backend: Backend) -> None:
    async with node_on(backend) as node:
        node.health.open()
        await node.add(scripted("s"))
        await node.shows("s", OK)
    async with node_on(backend) as node:
        assert node.health.now(HERE, "s") == UNKNOWN
        assert await node.health.get(HERE, "s") == OK
        node.health.open()
        await node.add(scripted("marker"))
        await node.shows("marker", OK)
        assert await node.told() == [("node-1", "s", "healthy"), ("node-1", "marker", "healthy")]


async def test_a_health_check_is_asked_at_once_and_then_every_30_seconds_and_told_when_it_changes() -> None:
    async with node_on(Memory()) as node:
        node.health.open()
        node.services.answers["a"] = ""
        await node.add(polled("a"))
        await node.shows("a", OK)
        await node.clock.advance(29)
        assert len(node.services.asked) == 1
        node.services.answers["a"] = "status 500"
        await node.clock.advance(1)
        await node.shows("a", StepHealth("unhealthy", "status 500"))
        for asked in (3, 4, 5):
            await node.clock.advance(30)
            await until(lambda asked=asked: len(node.services.asked) == asked)
        node.services.answers["a"] = "raise"
        await node.clock.advance(30)
        await node.shows("a", StepHealth("unhealthy", "connection refused"))
        node.services.answers["a"] = ""
        await node.clock.advance(30)
        await node.shows("a", OK)
        assert [status for _, _, status in await node.told()] == ["healthy", "unhealthy", "unhealthy", "healthy"]


async def test_a_service_that_does_not_answer_within_3_seconds_is_unhealthy() -> None:
    async with node_on(Memory()) as node:
        node.health.open()
        await node.add(polled("slow"))
        await until(lambda: bool(node.services.asked))
        await node.clock.advance(2.9)
        assert node.health.now(HERE, "slow") == UNKNOWN
        await node.clock.advance(0.2)
        await node.shows("slow", StepHealth("unhealthy", "no answer within 3 s"))


async def test_hundreds_of_dead_services_are_asked_side_by_side() -> None:
    async with node_on(Memory()) as node:
        await node.add(*(polled(f"s{number}") for number in range(64)))
        node.health.open()
        await until(lambda: len(node.services.asked) >= 32)
        await node.clock.advance(7)
        await node.shows("s63", StepHealth("unhealthy", "no answer within 3 s"))
        assert len(await node.told()) == 64


async def test_without_a_health_check_nothing_waits_for_time() -> None:
    """A simulation skips to the next alarm: there must be none for nothing."""
    async with node_on(Memory()) as node:
        before = node.clock.next_due()
        node.health.open()
        await node.add(scripted("s"))
        await node.shows("s", OK)
        await node.clock.settle()
        assert node.clock.next_due() == before
        await node.add(polled("a"))
        node.services.answers["a"] = ""
        await node.shows("a", OK)
        await node.clock.settle()
        assert node.clock.next_due() != before
        await node.catalogs.change(HERE, at_once(lambda draft: draft.unregister("a")))
        await node.clock.advance(31)
        assert node.services.asked == ["http://localhost/a"]


async def test_a_step_that_lost_its_script_or_is_gone_is_unknown_again() -> None:
    async with node_on(Memory()) as node:
        node.health.open()
        await node.add(scripted("s"), scripted("gone"))
        await node.shows("s", OK)
        await node.shows("gone", OK)
        await node.add(catalog_step("s").sync("http://localhost/x"))
        await node.shows("s", UNKNOWN)
        await node.catalogs.change(HERE, at_once(lambda draft: draft.unregister("gone")))
        await node.add(scripted("marker"))
        await node.shows("marker", OK)
        assert (await node.told())[2:4] == [("node-1", "s", "unknown"), ("node-1", "gone", "unknown")]
        assert list((await node.health.report(HERE)).nodes["node-1"]) == ["marker"]


async def test_a_flow_is_as_the_worst_step_of_its_plan_however_deep() -> None:
    async with node_on(Memory()) as node:
        node.health.open()
        node.services.answers["far"] = ""
        await node.add(
            polled("far").output("x"),
            catalog_step("near").required("x").ale("x").output("y"),
            catalog_step("inner").required("x").flow("near").output("z"),
            catalog_step("outer").flow("inner", "far"),
            scripted("beside").output("q"),
            catalog_step("broken").flow("nowhere"),
        )
        for id in ("far", "near", "beside"):
            await node.shows(id, OK)
        assert node.health.now(HERE, "inner") == OK
        assert node.health.now(HERE, "outer") == OK
        assert node.health.now(HERE, "broken").status == "unhealthy"
        assert "'nowhere' is not in the catalog" in node.health.now(HERE, "broken").error
        node.services.answers["far"] = "status 503"
        await node.clock.advance(30)
        await node.shows("outer", StepHealth("unhealthy", "status 503"))
        assert node.health.now(HERE, "inner") == OK
        assert {id for _, id, _ in await node.told()} == {"far", "near", "beside"}


async def test_several_nodes_tell_and_the_worst_counts_while_it_is_up() -> None:
    up: set[str] = set()

    async def alive() -> set[str]:
        return up

    backend, clock = Memory(), VirtualClock()
    async with records_of(backend, clock) as records:
        one, two = (Node(records, clock, name, alive=alive) for name in ("one", "two"))
        try:
            one.services.answers["a"] = ""
            two.services.answers["a"] = "no route"
            two.known.add("h")
            await one.add(polled("a"), catalog_step("py").python("h"))
            await two.catalogs.refresh(HERE)
            one.health.open()
            two.health.open()
            await one.shows("a", OK)
            await two.shows("a", StepHealth("unhealthy", "no route"))
            up |= {"one", "two"}
            report = await one.health.report(HERE)
            assert report.health == {"a": StepHealth("unhealthy", "no route"), "py": OK}
            assert report.nodes == {
                "one": {"a": OK},
                "two": {"a": StepHealth("unhealthy", "no route"), "py": OK},
            }
            assert report.last_updated == clock.now()
            up -= {"two"}
            assert (await one.health.report(HERE)).health == {"a": OK, "py": UNKNOWN}
            assert list((await one.health.report(HERE)).nodes) == ["one"]
        finally:
            await one.health.close()
            await two.health.close()


async def test_a_node_that_looks_after_nothing_shows_what_others_tell_and_says_when_it_has_read_it() -> None:
    clock = VirtualClock()
    async with records_of(Memory(), clock) as records:
        one, two = Node(records, clock, "one"), Node(records, clock, "two")
        heard: list[str] = []
        for node in (one, two):
            node.health.watch(lambda namespace, ids, node=node: heard.extend(f"{node.name} {id}" for id in ids))
        one.health.open()
        await one.add(scripted("s"))
        await one.shows("s", OK)
        await one.health.close()
        await two.catalogs.refresh_all()
        await two.health.refresh_all()
        await two.health.refresh_all()
        assert two.health.now(HERE, "s") == OK
        assert two.health.now(HERE, "gone") == UNKNOWN
        assert heard == ["one s", "two s"]


async def test_while_the_store_is_away_it_is_tried_again() -> None:
    backend = Memory()
    async with node_on(backend) as node:
        await node.add(scripted("s"))
        backend.only.faults = Outage(times=2)
        node.health.open()
        for _ in range(3):
            await node.clock.advance(1)
        await node.shows("s", OK)
        assert await node.told() == [("node-1", "s", "healthy")]


async def test_a_checker_that_fails_harms_no_other_step(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(OnlyKnowsInputs):
        async def check(self, language: Language, script: str, names: Sequence[str]) -> None:
            if script == "crash":
                raise RuntimeError("the worker died")

    async with records_of(Memory()) as records:
        clock = VirtualClock()
        catalogs = Catalogs(records, clock)
        knows: Callable[[str], bool] = lambda name: False  # noqa: E731
        health = Health(catalogs, records, clock, Checker(Failing(), knows, Services(), clock), node="n")
        health.open()
        try:
            for id, script in (("bad", "crash"), ("good", "fine")):
                built = catalog_step(id).ale(script).build()
                await catalogs.change(HERE, at_once(lambda draft, built=built: draft.register(built)))
            await until(lambda: health.now(HERE, "good") == OK)
            assert health.now(HERE, "bad") == UNKNOWN
        finally:
            await health.close()
    assert "step bad could not be checked" in caplog.text


def test_the_worst_is_unhealthy_then_unknown() -> None:
    bad = StepHealth("unhealthy", "x")
    assert worst([OK, UNKNOWN, bad]) == bad
    assert worst([OK, UNKNOWN, OK]) == UNKNOWN
    assert worst([OK, OK]) == OK
    assert worst([]) == UNKNOWN


def test_a_cluster_folds_what_nodes_tell() -> None:
    cluster = Cluster()
    cluster.apply(StepHealthChanged("n", "s", "unhealthy", "x"), Millis(5))
    cluster.apply(StepHealthChanged("m", "s", "healthy"), Millis(3))
    assert cluster.of("s") == StepHealth("unhealthy", "x")
    assert cluster.of("s", {"m"}) == OK
    assert cluster.changes("m", {"s": OK, "t": UNKNOWN, "u": OK}) == [StepHealthChanged("m", "u", "healthy")]
    cluster.apply(StepHealthChanged("n", "s", "unknown"), Millis(6))
    assert cluster.of("s") == OK
    assert cluster.last_updated == 6
