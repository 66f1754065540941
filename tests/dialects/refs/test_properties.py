"""What holds for every definition: it ends, and neither crashes nor duplicates change what it gives."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.dialects.refs.player import Player, call, code, ret, tool
from tests.support.effort import examples


@st.composite
def definitions(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Steps that read some of those before them."""
    steps: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 7))):
        before = [step["name"] for step in steps]
        name = f"s{number}"
        make = draw(st.sampled_from([tool, code, call, ret]))
        reads = draw(st.lists(st.sampled_from(before), max_size=2)) if before else []
        step = make(name, {f"x{at}": f"@{each}.v" for at, each in enumerate(reads)})
        source = draw(st.sampled_from(["@input.n", *(f"@{each}.v" for each in before)]))
        if draw(st.integers(0, 3)) == 0:
            step["when"] = {"ref": source, "gt": draw(st.integers(0, 3))}
        if make is not ret and draw(st.integers(0, 3)) == 0:
            step["forEach"] = {"ref": "@input.list", "concurrency": draw(st.integers(1, 3))}
        if make is not ret and draw(st.booleans()):
            step["config"] = {"onError": draw(st.sampled_from(["continue", "fail"]))}
        if make is not ret and draw(st.integers(0, 5)) == 0:
            step["bail"] = {"ref": source, "eq": 2}
        steps.append(step)
    return steps


def play(steps: list[dict[str, Any]], failing: set[str], *, crashes: bool = False, twice: bool = False) -> Player:
    player = Player(steps)
    player.twice = twice
    player.start({"n": 2, "list": [1, 2, 3]})
    for _ in range(200):
        if crashes and player.status == "running":
            player.crash()
        if not player.tasks:
            break
        id = min(player.tasks)  # the same order, whatever happened: a race may be won by another
        if id.partition("[")[0] in failing:
            player.fail(id)
        else:
            player.finish(id, {"v": len(id), "input": player.inputs[id]})
    return player


def seen(player: Player) -> tuple[str, Any]:
    return player.status, player.output if player.status == "completed" else player.error.message


@settings(max_examples=examples(60), deadline=None)
@given(definitions(), st.sets(st.sampled_from([f"s{number}" for number in range(7)]), max_size=2))
def test_any_definition_ends_alike_whatever_crashes_or_comes_twice(
    steps: list[dict[str, Any]], failing: set[str]
) -> None:
    expected = play(steps, failing)
    assert expected.status in ("completed", "failed")
    for disturbed in (play(steps, failing, crashes=True), play(steps, failing, twice=True)):
        assert seen(disturbed) == seen(expected)
        assert set(disturbed.keys) == set(expected.keys)


LATE_LOOP = [tool("s0"), tool("s1") | {"forEach": {"ref": "@input.list", "concurrency": 3}}]
"""All iterations end after the other step has failed the run."""


@settings(max_examples=examples(40), deadline=None)
@example(LATE_LOOP, {"s0"})
@given(definitions(), st.sets(st.sampled_from([f"s{number}" for number in range(7)]), min_size=1, max_size=2))
def test_a_resumed_run_ends_again(steps: list[dict[str, Any]], failing: set[str]) -> None:
    player = play(steps, failing)
    player.retry()
    player.finish_all(lambda id, input: {"v": len(id)})
    assert player.status == "completed" or player.refusals
