"""Whatever the program: it ends or says what it waits for; crashes and the order of answers change nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.dialects.afl.player import Player
from tests.dialects.afl.running.generated import Generated, programs
from tests.support.effort import examples

EASY = settings(
    max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
INPUT = {"items": [1, 2, 3], "go": True}


def begun(program: Generated, *, paced: bool = False) -> Player:
    note(program.text)
    return Player(program.source, "g.W", paced=paced).start(**INPUT)


def answer(player: Player, path: str) -> None:
    """The same for the same step, whenever it is given."""
    payload = player.open[path]
    player.finish(path, {"n": payload.get("v", 0) + len(path)})


def final(player: Player) -> tuple[Any, ...]:
    steps = {
        step.id: (step.object_type, step.state, step.params, step.returns)
        for step in player.machine.run.state.steps.values()
    }
    return player.status, player.output if player.status == "completed" else player.error.message, steps


def undisturbed(program: Generated) -> tuple[Any, ...]:
    player = begun(program)
    while player.tasks:
        answer(player, next(iter(player.open)))
    return final(player)


@given(programs(), st.data())
@EASY
def test_a_valid_program_ends_or_waits_with_a_reason(program: Generated, data: st.DataObject):
    player = begun(program)
    while player.tasks:
        assert player.status == "running"
        assert player.machine.waiting({})
        assert player.machine.run.state.paused
        path = data.draw(st.sampled_from(sorted(player.open)))
        if data.draw(st.integers(0, 4)) == 0:
            player.fail(path, "no")
        else:
            answer(player, path)
    assert player.status in ("completed", "failed")
    if player.status == "failed":
        assert player.error.code == "AFL_EVENT_FAILED"
    assert not [each for each in player.machine.run.nodes.values() if not each.terminal]


@given(programs(), st.data())
@EASY
def test_neither_crashes_nor_the_order_of_answers_change_the_end(program: Generated, data: st.DataObject):
    expected = undisturbed(program)
    player = begun(program, paced=True)
    while player.status == "running":
        if data.draw(st.booleans()):
            player.crash()
        choices = [*(["go"] if player.due else []), *sorted(player.open)]
        if not choices:
            break
        chosen = data.draw(st.sampled_from(choices))
        if chosen == "go":
            player.go()
        else:
            answer(player, chosen)
    assert final(player) == expected


@given(programs(), st.data())
@EASY
def test_a_repeated_step_continue_is_a_no_op_at_every_moment(program: Generated, data: st.DataObject):
    player = begun(program)
    answered: list[str] = []
    while True:
        for path in answered[-3:]:
            before = len(player.machine.run.state.steps), player.status, player.step(path).returns
            player.step_continue(path, n=-1)
            assert player.types[-1] == "afl.continue.ignored"
            assert (len(player.machine.run.state.steps), player.status, player.step(path).returns) == before
        if not player.tasks:
            break
        path = data.draw(st.sampled_from(sorted(player.open)))
        assert path not in answered
        player.step_continue(path, n=player.open[path].get("v", 0) + len(path))
        answered.append(path)
    assert player.refusals == []
    assert final(player) == undisturbed(program)
