"""Every history of a goals run that an older Plait wrote must be read by this one."""

from typing import get_args

import pytest

from plait.dialects.goals.running.events import GoalsEvent
from plait.dialects.goals.running.machine import GoalsMachine
from plait.kernel.ids import Epoch, RunId
from tests.dialects.goals.running.bench import bench
from tests.histories.stored import Stored, stored

from .recipes import RECIPES
from .record import LOGS, play

HISTORIES = stored(LOGS)
each_history = pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)


def test_there_is_a_history_for_every_recipe_and_every_event():
    assert {history.name for history in HISTORIES} == set(RECIPES)
    tags = {event.__struct_config__.tag for event in get_args(GoalsEvent)}
    assert tags <= {event for history in HISTORIES for event in history.types()}


@each_history
async def test_it_folds_to_how_its_run_ended(history: Stored):
    async with bench() as b:
        await history.put(b.store)
        row = await b.store.run(RunId(history.id))
        assert row is not None
        run = await b.engine.kernel.loader.load(row, Epoch(0))
        assert isinstance(run.machine, GoalsMachine)
        assert run.state.status == history.row["status"] == run.machine.flow.state.status
        assert run.state.seq == len(history.events)
        again = b.engine.goals.restore(run.info, run.machine.snapshot())
        assert again.flow.state == run.machine.flow.state
        assert all(not step.items or step.status != "pending" for step in run.machine.flow.state.steps.values())


ADDED_SINCE = {"undone": "task.dead_lettered"}
"""What this Plait records in addition, of histories that are older."""


@each_history
async def test_played_again_it_has_the_same_events(history: Stored):
    played = (await play(history.name)).types()
    assert [type for type in played if type != ADDED_SINCE.get(history.name)] == history.types()
