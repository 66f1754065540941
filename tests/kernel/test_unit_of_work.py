"""The write that grows during a decision, and how large values leave events and come back."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from plait.kernel import blob_parts, values
from plait.kernel.approval import ApprovalChange
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event, RunCompleted, RunStarted, TaskLate
from plait.kernel.ids import Epoch, Millis, RunId, Seq, Shard, TaskToken, shard_of
from plait.kernel.inputs import Cancel
from plait.kernel.store import DeadLetter, Settled, Taken, Write
from plait.kernel.unit_of_work import UnitOfWork, raw_fields
from tests.contract.stores.builders import approval, child, message, queued_task
from tests.kernel.builders import NOW

RUN = RunId("run")
LIMIT = 100


class Mixed(Event, frozen=True, tag="mixed"):
    """Values in every place where an event may hold one."""

    one: Raw = values.NULL
    perhaps: Raw | None = None
    many: dict[int, Raw] = msgspec.field(default_factory=dict)
    listed: list[Raw] = msgspec.field(default_factory=list)
    text: str = ""


def draft(*events: Event, first: int = 1) -> UnitOfWork:
    found = UnitOfWork(Write(RUN, shard_of(RUN), Epoch(1), plain=True), Seq(first), NOW)
    found.events += events
    return found


def big(size: int = LIMIT + 1) -> Raw:
    return values.encode("x" * size)


def digest(body: Raw) -> str:
    return f"cas://sha256:{hashlib.sha256(bytes(body)).hexdigest()}"


def refs(write: Write) -> Any:
    return None if write.log is None or write.log.blobs is None else values.decode(write.log.blobs.encode())


# -- blobs -----------------------------------------------------------------------------------------------------------


def test_small_values_stay_in_their_events():
    write = draft(RunCompleted(values.encode("ok"))).seal(LIMIT)
    assert write.log is not None
    assert values.decode(write.log.events) == [{"type": "run.completed", "output": "ok"}]
    assert (write.blobs, write.log.blobs) == ((), None)


def test_a_large_value_is_kept_by_its_hash():
    body = big()
    write = draft(RunStarted("toy", "toy"), RunCompleted(body)).seal(LIMIT)
    assert list(write.blobs) == [(digest(body), bytes(body))]
    assert refs(write) == {"1.output": digest(body)}
    assert write.log is not None
    assert values.decode(write.log.events)[1] == {"type": "run.completed"}
    assert write.log.count == 2


@pytest.mark.parametrize("body", [[None] * 1_001, {str(n): None for n in range(1_001)}])
def test_a_value_of_very_many_parts_is_a_blob_as_a_whole(body: Any):
    """To look at each of a hundred thousand takes longer than others may wait."""
    assert blob_parts.split(bytes(values.encode(body))) == {}
    raw = values.encode([*body, "x" * LIMIT])
    assert list(draft(RunCompleted(raw)).seal(LIMIT).blobs) == [(digest(raw), bytes(raw))]


def test_many_small_values_are_no_reason_for_a_blob():
    events = [TaskLate(TaskToken(f"t{n}"), 1, values.encode("x" * 50)) for n in range(10)]
    assert draft(*events).seal(LIMIT).blobs == ()


def test_a_value_just_at_the_threshold_stays():
    body = values.encode("x" * (LIMIT - 2))
    assert len(bytes(body)) == LIMIT
    assert draft(RunCompleted(body), RunCompleted(body)).seal(LIMIT).blobs == ()


def test_only_fields_that_are_one_value_become_blobs():
    assert raw_fields(Mixed) == ("one", "perhaps")


def test_values_in_lists_and_dicts_stay_where_they_are():
    """A loop's 300th iteration, for one, is a key of such a dict."""
    write = draft(Mixed(many={300: big()}, listed=[big()])).seal(LIMIT)
    assert write.blobs == ()
    assert write.log is not None
    assert len(write.log.events) > 2 * LIMIT


def test_an_event_with_two_large_values_names_both():
    one, two = big(), big(200)
    assert refs(draft(Mixed(one, two)).seal(LIMIT)) == {"0.one": digest(one), "0.perhaps": digest(two)}


def test_the_event_itself_is_not_changed():
    event = RunCompleted(big())
    draft(event).seal(LIMIT)
    assert event.output == big()


def test_a_draft_without_events_writes_no_log_row():
    found = draft()
    found.set_timer(TaskToken("t"), NOW)
    assert found.seal(LIMIT).log is None


def test_events_are_numbered_from_the_next_free_place():
    write = draft(RunCompleted(), first=42).seal(LIMIT)
    assert write.log is not None
    assert (write.log.seq, write.log.count, write.log.at) == (42, 1, NOW)


# -- what it holds ---------------------------------------------------------------------------------------------------


def test_a_draft_in_which_nothing_was_decided_is_empty():
    assert draft().empty


def letter() -> DeadLetter:
    return DeadLetter("d", RUN, "default", TaskToken("t"), "t", 1, ErrorInfo("c", "m"), NOW)


FILLED: dict[str, Callable[[UnitOfWork], None]] = {
    "children": lambda unit: unit.add_child(child("kid", parent="run")),
    "approvals": lambda unit: unit.request_approval(approval("run")),
    "dead_letters": lambda unit: unit.give_up(letter()),
    "inbox": lambda unit: unit.post(message("other")),
    "taken": lambda unit: unit.take(Taken("key")),
    "settled": lambda unit: unit.settle([Settled("d", "retried")]),
    "timers": lambda unit: unit.set_timer(TaskToken("t"), NOW),
    "cleared": lambda unit: unit.clear_timer(TaskToken("t")),
    "clear_all": lambda unit: unit.clear_all(stored=True),
    "queued": lambda unit: unit.enqueue(queued_task("run"), []),
    "blobs": lambda unit: unit.enqueue(queued_task("run"), [("digest", b"body")]),
    "dequeued": lambda unit: unit.dequeue(TaskToken("t")),
}
"""What adds rows of each kind."""


@pytest.mark.parametrize("what", FILLED)
def test_a_draft_with_any_row_to_write_is_not_empty(what: str):
    found = draft()
    FILLED[what](found)
    assert not found.empty
    write = found.seal(LIMIT)
    assert (bool(getattr(write, what)), write.plain) == (True, False)


def test_every_kind_of_row_that_a_decision_writes_is_tried_here():
    others = {"run_id", "shard", "epoch", "create", "log", "patch", "plain"}
    outside = {
        "copies",
        "shared",
        "removal",
        "lines",
        "records",
        "finished",
        "snapshot",
        "compaction",
        "place",
        "leaves_queue",
        "debounce",
        "pool",
    }  # not written by decisions, or by the run itself
    assert FILLED.keys() == set(Write.__struct_fields__) - others - outside


def test_a_timer_that_is_set_twice_keeps_its_last_time():
    found = draft()
    found.set_timer(TaskToken("t"), Millis(NOW + 1))
    found.set_timer(TaskToken("t"), Millis(NOW + 2))
    assert found.seal(LIMIT).timers[-1].due == NOW + 2


def test_a_timer_set_and_cleared_in_one_decision_is_not_set():
    found = draft()
    found.set_timer(TaskToken("t"), NOW)
    found.clear_timer(TaskToken("t"))
    write = found.seal(LIMIT)
    assert (list(write.timers), list(write.cleared)) == ([], ["t"])


def test_a_timer_cleared_and_set_again_in_one_decision_is_set():
    found = draft()
    found.clear_timer(TaskToken("t"))
    found.set_timer(TaskToken("t"), NOW)
    write = found.seal(LIMIT)
    assert [timer.token for timer in write.timers] == ["t"]


def test_what_is_set_after_everything_was_cleared_stays():
    found = draft()
    found.set_timer(TaskToken("old"), NOW)
    found.request_approval(approval("run"))
    found.clear_all(stored=True)
    found.set_timer(TaskToken("new"), NOW)
    write = found.seal(LIMIT)
    assert write.clear_all
    assert [timer.token for timer in write.timers] == ["new"]
    assert write.approvals == [ApprovalChange("withdrawn", NOW)]


def test_a_run_that_never_had_a_timer_clears_none():
    found = draft()
    found.clear_all(stored=False)
    assert found.empty


def test_an_input_for_another_run_goes_to_that_runs_shard():
    found = draft()
    found.send(RunId("other"), "key", Cancel("enough"))
    (row,) = found.seal(LIMIT).inbox
    assert (row.run_id, row.shard, row.key) == ("other", shard_of(RunId("other")), "key")
    assert values.decode(row.body) == {"kind": "cancel", "reason": "enough"}


def test_one_draft_leaves_nothing_in_the_next():
    first = draft()
    for fill in FILLED.values():
        fill(first)
    assert draft().empty
    assert draft().seal(LIMIT) == Write(RUN, Shard(shard_of(RUN)), Epoch(1), plain=True)


# -- plain writes ------------------------------------------------------------------------------------------------------


def test_a_write_with_a_blob_is_not_plain():
    assert not draft(RunCompleted(big())).seal(LIMIT).plain
