"""Who may begin: the limits of queues, as counts."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plait.kernel.admission import Gate, Limit, Load, QueueSettings, Starts
from plait.kernel.ids import Millis


def _gate(load: Load | None = None, **settings: Any) -> Gate:
    return Gate([Limit(QueueSettings(**settings), load or Load(), "queue `q`")])


def _asked(gate: Gate, *partitions: str) -> list[int]:
    return gate.choose(list(enumerate(partitions)))


def test_without_limits_all_begin():
    assert _asked(Gate([]), "", "a", "b") == [0, 1, 2]


def test_no_more_run_at_once_than_there_are_slots():
    gate = _gate(Load(running={"": 3}), concurrency=5)
    assert _asked(gate, "", "", "", "") == [0, 1]
    assert gate.is_closed
    assert gate.why("") == "5 of 5 slots taken"


def test_keys_of_a_queue_without_partitions_share_its_slots():
    gate = _gate(Load(running={"a": 1, "b": 1}), concurrency=3)
    assert _asked(gate, "c", "d") == [0]


def test_each_key_of_a_partitioned_queue_has_the_limits_for_itself():
    gate = _gate(Load(running={"a": 2}), concurrency=2, partitioned=True)
    assert _asked(gate, "a", "b", "b", "b", "c") == [1, 2, 4]
    assert gate.full == ["a", "b"]
    assert not gate.is_closed
    assert gate.why("a") == "2 of 2 slots taken for `a`"


def test_no_more_begin_in_a_period_than_the_rate_allows():
    gate = _gate(Load(starts={"": Starts(48, Millis(300))}), rate=50)
    assert _asked(gate, "", "", "") == [0, 1]
    assert gate.wait == 700
    assert gate.why("") == "50 of 50 starts in 1 s"


def test_a_paused_queue_lets_nothing_begin_and_has_nothing_to_wait_for():
    gate = _gate(Load(starts={"": Starts(9, Millis(1))}), rate=1, paused=True)
    assert _asked(gate, "", "a") == []
    assert gate.wait is None
    assert gate.why("") == "queue `q` is paused"


def test_a_worker_has_no_more_tasks_than_it_may():
    load = Load(running={"": 4}, by_worker={"w": 1, "other": 3})
    gate = Gate([Limit(QueueSettings(per_worker=2), load)], "w")
    assert not gate.is_closed
    assert _asked(gate, "", "") == [0]
    assert gate.is_closed
    assert gate.why("") == "2 of 2 slots of its process taken"


def test_an_engine_has_no_more_runs_than_it_may_and_another_gets_the_rest():
    gate = Gate([Limit(QueueSettings(per_worker=1), Load(by_worker={"a": 1}))])
    assert (gate.admits("", "a"), gate.admits("", "b"), gate.admits("", "b")) == (False, True, False)
    assert gate.full_workers == ["a", "b"]
    assert not gate.is_closed
    assert gate.admits("", "c")


def test_all_limits_hold_at_once():
    every = Limit(QueueSettings(concurrency=2), Load(running={"": 1}))
    queue = Limit(QueueSettings(concurrency=5), Load())
    assert _asked(Gate([every, queue]), "", "") == [0]


_partitions = st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=40)
_limits = st.one_of(st.none(), st.integers(1, 6))


@given(
    waiting=_partitions,
    running=st.dictionaries(st.sampled_from(["", "a", "b"]), st.integers(0, 7)),
    started=st.dictionaries(st.sampled_from(["", "a", "b"]), st.integers(0, 7)),
    concurrency=_limits,
    rate=_limits,
    partitioned=st.booleans(),
)
def test_no_limit_is_passed_and_nobody_waits_without_a_reason(
    waiting: list[str],
    running: dict[str, int],
    started: dict[str, int],
    concurrency: int | None,
    rate: int | None,
    partitioned: bool,
):
    settings = QueueSettings(concurrency=concurrency, rate=rate, partitioned=partitioned)
    load = Load(running=running, starts={key: Starts(count, Millis(10)) for key, count in started.items()})
    gate = Gate([Limit(settings, load)])
    chosen = set(gate.choose(list(enumerate(waiting))))
    for key in {*waiting, *running, *started} if partitioned else {None}:
        mine = [place for place, partition in enumerate(waiting) if key is None or partition == key]
        begun = [place for place in mine if place in chosen]
        ran = running.get(key, 0) if key is not None else sum(running.values())
        began = started.get(key, 0) if key is not None else sum(started.values())
        room = min(
            len(mine) if concurrency is None else max(0, concurrency - ran),
            len(mine) if rate is None else max(0, rate - began),
        )
        assert begun == mine[:room]  # as many as there is room for, and those that came first
