"""What must hold of a load of orders and of the world, whatever was killed on the way."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from plait import Handle
from plait.testing import History, history

from .ledger import Ledger, by_token
from .shop import ITEMS, STEPS_IN_LEDGER, total

_ON_ITS_WAY = 1_000
"""Milliseconds. The answer to an earlier call of an async step may come while it is called again."""


async def assert_all_is_right(runs: Sequence[Handle[Any]], ledger: Ledger) -> None:
    assert await asyncio.gather(*(run.result() for run in runs)) == [{"total": total(n)} for n in range(len(runs))]
    recorded: dict[str, int] = {}
    for run in runs:
        log = await history(run)
        assert_recorded_once(log)
        recorded |= {each.data["token"]: each.at for each in log if each.type == "work_succeeded"}
    assert_every_item_was_called_under_one_key(ledger, len(runs))
    assert_nothing_recorded_was_called_again(ledger, recorded)


def assert_recorded_once(log: History) -> None:
    assert [each.seq for each in log] == list(range(1, len(log) + 1))
    for type, name in {"work_succeeded": "token", "attribute_set": "name", "step_completed": "step_id"}.items():
        assert max(Counter(data[name] for data in log.of(type)).values()) == 1, str(log)
    assert log.types().count("run.completed") == 1


def assert_every_item_was_called_under_one_key(ledger: Ledger, orders: int) -> None:
    calls = by_token(ledger.calls())
    assert len(calls) == orders * ITEMS
    assert {each.step for called in calls.values() for each in called} == set(STEPS_IN_LEDGER)
    for token, called in calls.items():
        assert {each.key for each in called} == {token}
        assert len({(each.flow, each.step, repr(each.body)) for each in called}) == 1


def assert_nothing_recorded_was_called_again(ledger: Ledger, recorded: dict[str, int]) -> None:
    for call in ledger.calls():
        leeway = _ON_ITS_WAY if call.step == "stock" else 0
        assert call.at <= recorded[call.token] + leeway, call


def interrupted(ledger: Ledger) -> int:
    """How many calls there were more than there would have been without any fault."""
    usual = {"price": 2}
    return sum(max(0, len(called) - usual.get(called[0].step, 1)) for called in by_token(ledger.calls()).values())
