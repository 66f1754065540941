"""What is kept: events read back as they were written, and a snapshot is worth the events before it."""

import asyncio
import typing
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from plait import Context, Loop, RollbackError, Undo, workflow
from plait.dialects.code import events
from plait.dialects.code.events import CodeEvent
from plait.dialects.code.history import History, QueuedMessage
from plait.dialects.code.location import child_id, parse, place_of, text, token_of
from plait.dialects.code.op_state import OpState, Undoable
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event, KernelEvent
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.testing import Sim, SimRun, sim

NOW = Millis(5)
RAW = Raw(b'{"a":[1,null]}')
ERROR = ErrorInfo("code", "message", kind="kind", args=["a", 1], attrs={"b": 2}, cause=ErrorInfo("inner", "cause"))

SAMPLES: dict[Any, Any] = {
    str: "a/b",
    int: 7,
    bool: True,
    Raw: RAW,
    ErrorInfo: ERROR,
    list[str]: ["x", "y"],
    list[int]: [1, 2],
    dict[int, Raw]: {3: RAW},
    dict[str, Any]: {"a": {"b": [1]}},
}


def sample(hint: Any) -> Any:
    if hint in SAMPLES:
        return SAMPLES[hint]
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)[-1]
    if hasattr(hint, "__supertype__"):
        return sample(hint.__supertype__)
    return next(sample(part) for part in typing.get_args(hint) if part is not type(None))


def plain(value: Any) -> Any:
    return msgspec.to_builtins(value, builtin_types=()) if not isinstance(value, Raw) else bytes(value)


@pytest.mark.parametrize("event", typing.get_args(CodeEvent), ids=lambda event: event.__name__)
def test_an_event_reads_back_as_it_was_written(event: type[Event]) -> None:
    hints = typing.get_type_hints(event)
    full = event(**{name: sample(hints[name]) for name in event.__struct_fields__})
    raw = msgspec.json.encode([full])
    (found,) = msgspec.json.decode(raw, type=list[typing.Union[CodeEvent, KernelEvent]])  # noqa: UP007
    assert type(found) is event
    assert msgspec.json.encode([found]) == raw


@pytest.mark.parametrize("struct", [OpState, Undoable, QueuedMessage], ids=lambda struct: struct.__name__)
def test_what_a_snapshot_holds_reads_back_as_it_was_written(struct: type[msgspec.Struct]) -> None:
    raws = {"output", "args", "state", "body"} & set(struct.__struct_fields__)
    needed = {"at": "a", "kind": "step", "opened_seq": 1, "opened_at": 1, "handler": "h", "order": 1}
    needed |= {"id": "i", "name": "n", "sent_at": 1}
    for value in (RAW, Raw(b"null"), Raw(b"0"), Raw(b'""')):
        given = {k: v for k, v in needed.items() if k in struct.__struct_fields__} | dict.fromkeys(raws, value)
        encoded = msgspec.json.encode(struct(**given))
        found = msgspec.json.decode(encoded, type=struct)
        assert all(bytes(getattr(found, name)) == bytes(value) for name in raws)


def test_events_have_the_names_of_the_specification() -> None:
    assert {event.__struct_config__.tag for event in typing.get_args(CodeEvent)} == {
        "code.loaded",
        "op.opened",
        "op.closed",
        "branch.closed",
        "loop.committed",
        "loop.trimmed",
        "message.queued",
        "update.opened",
        "update.closed",
        "published",
        "run.blocked",
        "run.unblocked",
        "run.recovered",
        "run.rewound",
        "run.forked",
        "run.continued",
    }
    assert events.Kind


# -- locations -------------------------------------------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20) | st.sampled_from(
    ["~0", "~timer.0", "%7E", "a/b", "%", "%2F", "#1", "~", "//", "%25"]
)


@given(st.lists(NAMES | st.integers(0, 10**6), min_size=1, max_size=6))
def test_a_printed_location_can_be_read_back(location: list[str | int]) -> None:
    assert parse(text(tuple(location))) == tuple(location)


@given(st.lists(st.lists(NAMES, min_size=1, max_size=3), min_size=2, max_size=2))
def test_two_locations_never_print_alike(pair: list[list[str]]) -> None:
    first, second = map(tuple, pair)
    assert (text(first) == text(second)) == (first == second)


@given(st.lists(NAMES, min_size=1, max_size=4), st.integers(0, 10**6))
def test_a_token_tells_its_place_and_generation(names: list[str], generation: int) -> None:
    at = text(tuple(names))
    assert place_of(token_of(at, generation)) == (at, generation)


def test_paths_are_printed_as_the_specification_says() -> None:
    assert text(("outer", 0, "inner")) == "outer/~0/inner"
    assert text(("parallel", "x", "work")) == "parallel/x/work"
    assert text(("50%", "a/b", "~x")) == "50%25/a%2Fb/%7Ex"
    assert token_of("a/b", 0) == TaskToken("a/b")


def test_children_of_one_place_have_one_id_in_each_generation() -> None:
    ids = {child_id(RunId("r"), "c", generation, again) for generation in range(3) for again in range(3)}
    assert len(ids) == 9
    assert child_id(RunId("r"), "c", 0) == child_id(RunId("r"), "c", 0)
    assert child_id(RunId("eu/r"), "c", 0).startswith("eu/")


# -- snapshots -------------------------------------------------------------------------------------------------------


@workflow
async def everything(ctx: Context) -> str:
    async def undo(undo: Undo) -> None: ...

    async def body(c: Context, n: int) -> Any:
        await c.step("tick", lambda: n, rollback=undo if n % 2 else lambda undo: None)
        await c.sleep("nap", 1)
        return Loop.continue_(n + 1) if n < 5 else Loop.break_(n)

    await ctx.version("v", 2)
    await ctx.step("null", lambda: None)
    first = await ctx.listen("m")
    task = asyncio.create_task(ctx.sleep("long", 1000))
    await ctx.join("j", x=lambda c: c.sleep("s", 1), y=lambda c: c.step("s", lambda: {"a": None}))
    await ctx.race("r", x=lambda c: c.sleep("s", 1), y=lambda c: c.listen("never"))
    await ctx.loop("l", body, state=0, commit_interval=2, history_keep=1)
    task.cancel()
    if first is not None and first.body == "fail":
        raise RollbackError("no")
    return "done"


async def script(s: Sim, run: SimRun, body: str) -> None:
    await run.message("later", 1)
    await s.clock.advance(1)
    await run.message("m", body)
    for _ in range(4):
        await s.clock.advance(2)


@pytest.mark.parametrize("body", ["go", "fail"])
async def test_a_snapshot_at_any_place_and_the_events_after_it_give_the_same_history(body: str) -> None:
    async with sim([everything]) as s:
        run = await s.start(everything)
        await script(s, run, body)
        await s.skip_until(run.ended)
        recorded = await run.events()
    decoder = msgspec.json.Decoder(typing.Union[CodeEvent, KernelEvent])  # noqa: UP007
    log = [(decoder.decode(msgspec.json.encode({"type": e.type, **e.data})), e.at) for e in recorded]
    whole = History(RunId("r"))
    snapshots = [bytes(whole.snapshot())]
    for event, at in log:
        whole.evolve(event, at)
        snapshots.append(bytes(whole.snapshot()))
    for place, snapshot in enumerate(snapshots):
        other = History(RunId("r"))
        other.restore(Raw(snapshot))
        for event, at in log[place:]:
            other.evolve(event, at)
        assert bytes(other.snapshot()) == snapshots[-1], f"from event {place}"


async def test_folding_an_event_never_fails_on_what_is_not_there() -> None:
    """A log may be cut in the middle of a decision."""
    history = History(RunId("r"))
    history.evolve(events.OpClosed("nobody"), NOW)
    history.evolve(events.BranchClosed("nobody", "x", "completed"), NOW)
    history.evolve(events.LoopTrimmed("nobody", 5), NOW)
    history.evolve(events.RunRecovered(["nobody"]), NOW)
    assert history.seq == 4
