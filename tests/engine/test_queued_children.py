"""Children on queues: a parent of any dialect waits while its child does, and takes it off its queue when it ends."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest

from plait import Engine, afl, goals, graph, refs, step, workflow
from plait.catalog import catalog_step
from plait.dialects.afl.handlers import child
from plait.engine import Handle
from plait.kernel.errors import InvalidInput, RunFailed, Unavailable
from plait.kernel.ids import RunId, caller_id
from plait.kernel.store import RunFilter, RunRow, Write
from plait.stores.memory import MemoryStore, Moment
from plait.testing import VirtualClock
from plait.testing.sim.simulator import SimulatedCrash


@workflow
async def mail(ctx: Any, to: str = "ann") -> str:
    """Runs until it is told to end."""
    await ctx.listen("end")
    return f"sent to {to}"


@workflow
async def quick(ctx: Any, to: str = "ann") -> str:
    return f"sent to {to}"


@workflow
async def send(ctx: Any, options: dict[str, Any]) -> str:
    return await ctx.child("mail", mail, "bea", id=options.pop("id", None), queue="mails", **options)


@workflow
async def post(ctx: Any, options: dict[str, Any]) -> str:
    return await ctx.start_child("mail", mail, "bea", queue="mails", **options)


undone: list[str] = []


@step
async def reserve(what: str) -> str:
    return what


@step
async def release(undo: Any) -> None:
    undone.append(undo.output)


@workflow
async def careful(ctx: Any) -> str:
    await ctx.step("reserve", reserve, "seat", rollback=release)
    return await ctx.child("mail", mail, "bea", queue="mails")


class Office:
    """An engine on a virtual clock, with one slot on the queue `mails`, which somebody has."""

    def __init__(self, *definitions: object) -> None:
        self.clock = VirtualClock()
        self.store = MemoryStore(clock=self.clock)
        self.definitions = [mail, quick, send, post, careful, *definitions]

    async def __aenter__(self) -> "Office":
        self.engine = Engine(store=self.store, clock=self.clock, definitions=self.definitions)
        await self.engine.__aenter__()
        await self.engine.queues.set("mails", concurrency=1)
        self.first = await self.engine.start(mail, id="first", queue="mails")
        await begun(self.first)
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.engine.__aexit__(None, None, None)
        await self.store.dispose()

    async def child_of(self, parent: Handle[Any]) -> Handle[Any]:
        """Waits until it is there."""
        while not (found := await self.children(parent)):
            await self.clock.advance(0.01)
        return await self.engine.get(caller_id(found[0].id))

    async def children(self, parent: Handle[Any]) -> list[RunRow]:
        return await self.store.runs(RunFilter(parent=RunId(parent.id)))

    async def free(self) -> None:
        await self.first.message("end")
        await self.first.result()


async def begun(handle: Handle[Any]) -> None:
    async for _ in handle.follow():
        return


async def test_a_child_waits_for_its_slot_and_both_say_so():
    async with Office() as office:
        parent = await office.engine.start(send, {"id": "letter"})
        child = await office.child_of(parent)
        assert [reason.text for reason in await child.waiting()] == ["next on `mails`, 1 of 1 slots taken"]
        assert [reason.text for reason in await parent.waiting()] == [
            "child `letter` (`mail`): next on `mails`, 1 of 1 slots taken"
        ]
        await office.free()
        await begun(child)
        assert [reason.text for reason in await parent.waiting()] == ["child `letter` (`mail`)"]
        await child.message("end")
        assert await parent.result() == "sent to bea"


async def test_a_child_that_nobody_waits_for_has_an_id_while_it_is_queued():
    async with Office() as office:
        parent = await office.engine.start(post, {})
        child = await office.engine.get(await parent.result())
        assert (await child.waiting())[0].text == "next on `mails`, 1 of 1 slots taken"
        await office.free()
        await child.message("end")
        assert await child.result() == "sent to bea"


async def test_cancelling_the_parent_takes_the_child_off_its_queue():
    async with Office() as office:
        parent = await office.engine.start(send, {})
        child = await office.child_of(parent)
        await parent.cancel()
        with pytest.raises(RunFailed):
            await child.result()
        assert (await child.status()) == "cancelled"
        queue = next(each for each in await office.engine.queues.list() if each.name == "mails")
        assert (queue.waiting_runs, queue.running_runs) == (0, 1)


async def test_a_parent_that_fails_undoes_its_own_steps_after_a_queued_child_is_gone():
    undone.clear()
    async with Office() as office:
        parent = await office.engine.start(careful)
        child = await office.child_of(parent)
        await parent.cancel(compensate=True)
        with pytest.raises(RunFailed):
            await parent.result()
        assert undone == ["seat"]
        assert await child.status() == "cancelled"


async def test_a_duplicate_is_the_childs_failure_and_names_the_queue():
    async with Office() as office:
        await office.engine.start(mail, id="other", queue="mails", dedup_id="bea")
        parent = await office.engine.start(send, {"dedup_id": "bea"})
        with pytest.raises(RunFailed, match="a run on queue `mails` has the dedup id 'bea', and waits or runs"):
            await parent.result()
        assert await office.children(parent) == []


async def test_a_refused_child_can_be_asked_for_again():
    async with Office() as office:
        other = await office.engine.start(mail, id="other", queue="mails", dedup_id="bea")
        parent = await office.engine.start(send, {"dedup_id": "bea"})
        with pytest.raises(RunFailed):
            await parent.result()
        await other.cancel()
        await parent.retry()
        child = await office.child_of(parent)
        await office.free()
        await child.message("end")
        assert await parent.result() == "sent to bea"


async def test_a_child_has_its_parents_priority_and_key_unless_it_names_its_own():
    async with Office() as office:
        await office.engine.queues.set("mails", concurrency=1, partitioned=True)
        one = await office.engine.start(send, {"id": "one"}, partition="ann", priority=3)
        two = await office.engine.start(send, {"id": "two", "partition": "bea"}, partition="ann")
        for parent, key in ((one, "ann"), (two, "bea")):
            child = await office.child_of(parent)
            await begun(child)
            started = (await child.events(0, 1))[0].data
            assert started["partition"] == key
        holders = {str(holder.run_id): holder.partition for holder in await office.engine.queues.holders("mails")}
        assert (holders["one"], holders["two"]) == ("ann", "bea")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"partitioned": True}, "queue `mails` is partitioned, and the run has no key"),
        ({"concurrency": 1, "max_waiting": 1}, "1 run waits on queue `mails`"),
    ],
)
async def test_what_its_queue_refuses_is_the_childs_failure(settings: dict[str, Any], text: str):
    async with Office() as office:
        await office.engine.start(mail, queue="mails")
        await office.engine.queues.set("mails", **settings)
        parent = await office.engine.start(send, {})
        with pytest.raises(RunFailed, match=text):
            await parent.result()


async def test_a_delayed_child_says_until_when():
    async with Office() as office:
        await office.free()
        parent = await office.engine.start(send, {"delay": 60})
        child = await office.child_of(parent)
        [reason] = await parent.waiting()
        assert reason.text.endswith("delayed on queue `mails`")
        assert reason.until is not None
        await office.clock.advance(61)
        await begun(child)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"priority": "high"}, "priority='high'"),
        ({"partition": ""}, "partition=''"),
        ({"delay": -1}, "delay=-1"),
        ({"reject": True}, "reject=… of child `mail`"),
        ({"queue": "no such name"}, "queue='no such name'"),
    ],
)
async def test_a_wrong_option_is_an_error_of_the_code_that_gave_it(options: dict[str, Any], text: str):
    @workflow
    async def wrong(ctx: Any) -> str:
        return await ctx.child("mail", mail, "bea", **{"queue": "mails", **options})

    async with Office(wrong) as office:
        with pytest.raises(RunFailed, match=text):
            await (await office.engine.start(wrong)).result()


# -- other dialects ----------------------------------------------------------------------------------------------------


def a_graph() -> Any:
    config = {"definition": "mail", "input": "$payload.to", "queue": "mails", "partition": "$payload.to"}
    return graph({"name": "letters", "nodes": [{"id": "mail", "type": "run", "config": config}], "edges": []})


def a_refs() -> Any:
    action = {"workflow": "mail", "queue": "mails", "partition": "bea"}
    return refs({"steps": [{"name": "mail", "action": action, "input": "@input.to"}]})


def a_goal() -> Any:
    return goals("to-mail")


def a_program() -> Any:
    return afl(_AFL, "m.Letters", handlers={"Mail": child("envelope", queue="mails", partition="bea")})


def at_once() -> Any:
    return ends_at_once


def a_function() -> Any:
    return by_child


TO_MAIL = (
    catalog_step("to-mail").required("to").output("result").run("code", "envelope", queue="mails", partition="bea")
)
_AFL = """
namespace m {
    event facet Mail(to: String) => (result: String)
    workflow Letters(to: String) => (result: String) andThen {
        a = Mail(to = $.to)
        yield Letters(result = a.result)
    }
}
"""


@workflow
async def envelope(ctx: Any, fields: dict[str, str]) -> dict[str, str]:
    await ctx.listen("end")
    return {"result": fields["to"]}


@workflow
async def ends_at_once(ctx: Any, fields: dict[str, str]) -> str:
    return fields["to"]


@workflow
async def by_child(ctx: Any, fields: dict[str, str]) -> str:
    return await ctx.child("mail", mail, fields["to"])


@pytest.mark.parametrize("definition", [a_graph, a_refs, a_goal, a_program])
async def test_definitions_of_every_dialect_name_the_queue_of_a_child(definition: Callable[[], Any]):
    async with Office(envelope, TO_MAIL.no_retries().build()) as office:
        await office.engine.queues.set("mails", partitioned=True, concurrency=1)
        first = await office.engine.start(mail, queue="mails", partition="bea")
        await begun(first)
        parent = await office.engine.start(definition(), {"to": "bea"})
        child = await office.child_of(parent)
        [reason] = await parent.waiting()
        assert reason.text.endswith("next on `mails`, 1 of 1 slots taken for `bea`")
        await first.message("end")
        await child.message("end")
        assert "bea" in str(await parent.result())
        started = (await child.events(0, 1))[0].data
        assert (started["queue"], started["partition"]) == ("mails", "bea")


@pytest.mark.parametrize("definition", [at_once, a_function, a_graph, a_refs, a_goal, a_program])
@pytest.mark.parametrize("compensate", [False, True])
async def test_a_run_that_is_cancelled_while_it_waits_does_nothing_in_any_dialect(
    definition: Callable[[], Any], compensate: bool
):
    async with Office(envelope, ends_at_once, by_child, TO_MAIL.no_retries().build()) as office:
        await office.engine.queues.pause("letters")
        run = await office.engine.start(definition(), {"to": "bea"}, queue="letters")
        await run.message("end")
        await run.cancel("not wanted", compensate=compensate)
        with pytest.raises(RunFailed, match="not wanted"):
            await run.result()
        assert [event.type for event in await run.events(0, 2)] == ["run.started", "run.cancelled"]
        assert await office.children(run) == []
        assert (await run.view()).phase == "ended"


@pytest.mark.parametrize("definition", [a_function, a_graph, a_refs, a_goal, a_program])
async def test_what_never_began_begins_in_a_fork(definition: Callable[[], Any]):
    async with Office(envelope, ends_at_once, by_child, TO_MAIL.no_retries().build()) as office:
        await office.engine.queues.pause("letters")
        run = await office.engine.start(definition(), {"to": "bea"}, queue="letters")
        await run.cancel()
        assert await office.child_of(await run.fork(at=1))


async def test_steps_that_never_began_begin_with_a_retry():
    async with Office(envelope) as office:
        await office.engine.queues.pause("letters")
        run = await office.engine.start(a_refs(), {"to": "bea"}, queue="letters")
        await run.cancel()
        await run.retry()
        assert await office.child_of(run)


async def test_a_deadline_that_passes_while_a_run_waits_keeps_it_from_doing_anything():
    async with Office() as office:
        await office.engine.queues.pause("letters")
        run = await office.engine.start(quick, queue="letters", deadline=5)
        await office.clock.advance(10)
        with pytest.raises(RunFailed, match="deadline passed"):
            await run.result()


async def test_a_flow_of_goals_waits_on_its_queue():
    flow = catalog_step("both").required("to").output("result").flow("to-mail", queue="mails", partition="bea")
    async with Office(envelope, TO_MAIL.no_retries().build(), flow.no_retries().build()) as office:
        parent = await office.engine.start(goals("both"), {"to": "bea"})
        child = await office.child_of(parent)
        assert (await child.waiting())[0].text == "next on `mails`, 1 of 1 slots taken"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: refs({"steps": [{"name": "mail", "action": {"workflow": "mail", "priority": "high"}}]}),
        lambda: refs({"steps": [{"name": "mail", "action": {"workflow": "mail", "delay_ms": 5}}]}),
        lambda: catalog_step("x").output("y").run("code", "mail", queue="no such name").build(),
        lambda: catalog_step("x").output("y").flow("a", dedup_id="a").build(),
        lambda: child("mail", queue="mails", priority=1.5),  # pyright: ignore[reportArgumentType]
    ],
)
async def test_a_definition_that_queues_a_child_wrongly_is_refused(wrong: Callable[[], Any]):
    async with Office() as office:
        with pytest.raises(InvalidInput, match=r"queue|priority|delay"):
            await office.engine.start(wrong(), None)


@pytest.mark.parametrize("config", [{"priority": "high"}, {"delay_ms": -1}, {"queue": ""}])
async def test_a_graph_with_a_wrong_option_is_refused(config: dict[str, Any]):
    node = {"id": "mail", "type": "run", "config": {"definition": "mail", "queue": "mails", **config}}
    async with Office() as office:
        with pytest.raises(InvalidInput):
            await office.engine.start(graph({"name": "letters", "nodes": [node], "edges": []}), None)


async def test_a_template_that_gives_no_key_is_the_childs_failure():
    async with Office() as office:
        parent = await office.engine.start(a_graph(), {"to": ["bea"]})
        with pytest.raises(RunFailed, match="partition="):
            await parent.result()


# -- crashes -----------------------------------------------------------------------------------------------------------


class CrashAt:
    def __init__(self, number: int, moment: Moment) -> None:
        self._number = number
        self._moment: Moment = moment
        self._commits = 0
        self.crashed = False

    def __call__(self, moment: Moment, writes: Sequence[Write]) -> None:
        self._commits += moment == "before"
        if self._commits == self._number and moment == self._moment and not self.crashed:
            self.crashed = True
            raise SimulatedCrash


sent: list[str] = []


@step
async def deliver(to: str) -> str:
    sent.append(to)
    return to


@workflow
async def letter(ctx: Any, to: str) -> str:
    return await ctx.step("deliver", deliver, to)


@workflow
async def many(ctx: Any) -> list[str]:
    names = ["ann", "bea", "cay"]
    return await asyncio.gather(*(ctx.child(name, letter, name, queue="mails", dedup_id=name) for name in names))


@pytest.mark.parametrize("moment", get_args(Moment))
async def test_whichever_commit_an_engine_dies_in_each_child_is_run_once(moment: Moment):
    number = 0
    while True:
        number += 1
        sent.clear()
        faults = CrashAt(number, moment)
        clock = VirtualClock()
        store = MemoryStore(clock=clock, faults=faults)
        result, states = await _through(store, clock)
        assert result == ["ann", "bea", "cay"]
        assert {*sent} == {"ann", "bea", "cay"}
        assert len(sent) <= 5  # at most the two steps that were under way are done again
        assert [(each.waiting_runs, each.running_runs) for each in states if each.name == "mails"] == [(0, 0)]
        await store.dispose()
        if not faults.crashed:
            assert number > 6
            return


async def _through(store: MemoryStore, clock: VirtualClock) -> tuple[list[str], Any]:
    """With another engine whenever one dies."""
    while True:
        engine = Engine(store=store, clock=clock, definitions=[letter, many], lease_ttl=1.0)
        try:
            await engine.__aenter__()
            await engine.queues.set("mails", concurrency=2)
            parent = await engine.start(many, id="run")
            found = await parent.result(), await engine.queues.list()
        except Unavailable:
            await engine.kernel.crash()
            await clock.advance(3)
            continue
        await engine.__aexit__(None, None, None)
        return found
