"""Every history of a workflow of steps that an older Plait wrote must be read by this one."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from plait.dialects.refs.running.events import RefsEvent
from tests.dialects.refs.player import Player

from .recipes import RECIPES
from .record import LOGS

HISTORIES: dict[str, dict[str, Any]] = {path.stem: json.loads(path.read_text()) for path in sorted(LOGS.glob("*.json"))}


def types(log: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for row in log for event in row["events"]]


def test_there_is_a_history_for_every_recipe_and_every_event() -> None:
    assert set(HISTORIES) == set(RECIPES)
    tags = {event.__struct_config__.tag for event in get_args(RefsEvent)}
    assert tags - {tag for history in HISTORIES.values() for tag in types(history["log"])} == set()


@pytest.mark.parametrize("name", RECIPES)
def test_it_folds_to_how_its_run_ended(name: str) -> None:
    history = HISTORIES[name]
    player = Player([])
    player.load(history["log"])
    state = player.machine.run.state
    assert player.status == history["status"] == state.status
    assert player.run.state.seq == len(types(history["log"]))
    again = player.bundle.restore(player.run.info, player.machine.snapshot())
    assert bytes(again.snapshot()) == bytes(player.machine.snapshot())


@pytest.mark.parametrize("name", RECIPES)
def test_played_again_it_has_the_same_events(name: str) -> None:
    assert RECIPES[name]().types == types(HISTORIES[name]["log"])
