"""The write that grows during a decision, and how large values leave events and come back."""

import hashlib
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
from plait.kernel.store import DeadLetter, NewChild, Settled, Snapshot, Taken, Write
from plait.kernel.unit_of_work import UnitOfWork, raw_fields
from tests.contract.stores.builders import approval, child, message
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
    found = UnitOfWork(RUN, shard_of(RUN), Epoch(1), first, NOW)
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
    write = draft(RunCompleted(values.encode("ok"))).write(LIMIT)
    assert write.log is not None
    assert values.decode(write.log.events) == [{"type": "run.completed", "output": "ok"}]
    assert (write.blobs, write.log.blobs) == ((), None)


def test_a_large_value_is_kept_by_its_hash():
    body = big()
    write = draft(RunStarted("toy", "toy"), RunCompleted(body)).write(LIMIT)
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
    assert list(draft(RunCompleted(raw)).write(LIMIT).blobs) == [(digest(raw), bytes(raw))]


def test_many_small_values_are_no_reason_for_a_blob():
    events = [TaskLate(TaskToken(f"t{n}"), 1, values.encode("x" * 50)) for n in range(10)]
    assert draft(*events).write(LIMIT).blobs == ()


def test_a_value_just_at_the_threshold_stays():
    body = values.encode("x" * (LIMIT - 2))
    assert len(bytes(body)) == LIMIT
    assert draft(RunCompleted(body), RunCompleted(body)).write(LIMIT).blobs == ()


def test_only_fields_that_are_one_value_become_blobs():
    assert raw_fields(Mixed) == ("one", "perhaps")


def test_values_in_lists_and_dicts_stay_where_they_are():
    """A loop's 300th iteration, for one, is a key of such a dict."""
    write = draft(Mixed(many={300: big()}, listed=[big()])).write(LIMIT)
    assert write.blobs == ()
    assert write.log is not None
    assert len(write.log.events) > 2 * LIMIT


def test_an_event_with_two_large_values_names_both():
    one, two = big(), big(200)
    assert refs(draft(Mixed(one, two)).write(LIMIT)) == {"0.one": digest(one), "0.perhaps": digest(two)}


def test_the_event_itself_is_not_changed():
    event = RunCompleted(big())
    draft(event).write(LIMIT)
    assert event.output == big()


def test_a_draft_without_events_writes_no_log_row():
    found = draft()
    found.set_timer(TaskToken("t"), NOW)
    assert found.write(LIMIT).log is None


def test_events_are_numbered_from_the_next_free_place():
    write = draft(RunCompleted(), first=42).write(LIMIT)
    assert write.log is not None
    assert (write.log.seq, write.log.count, write.log.at) == (42, 1, NOW)


# -- what it holds ---------------------------------------------------------------------------------------------------


def test_a_draft_in_which_nothing_was_decided_is_empty():
    assert draft().empty


def letter() -> DeadLetter:
    return DeadLetter("d", RUN, "default", TaskToken("t"), "t", 1, ErrorInfo("c", "m"), NOW)


def fill(what: str, found: UnitOfWork) -> None:
    match what:
        case "children":
            children: list[NewChild] = [child("kid", parent="run")]
            found.children = children
        case "approvals":
            found.approvals = [approval("run")]
        case "dead_letters":
            found.dead_letters = [letter()]
        case "inbox":
            found.inbox = [message("other")]
        case "taken":
            found.taken = [Taken("key")]
        case "settled":
            found.settle([Settled("d", "retried")])
        case "snapshot":
            found.snapshot = Snapshot(Seq(1), NOW, b"{}")
        case "timers":
            found.set_timer(TaskToken("t"), NOW)
        case "cleared":
            found.clear_timer(TaskToken("t"))
        case "clears_all":
            found.clear_all(stored=True)
        case _:
            raise AssertionError(what)


ROWS = [
    "children",
    "approvals",
    "dead_letters",
    "inbox",
    "taken",
    "settled",
    "snapshot",
    "timers",
    "cleared",
    "clears_all",
]


@pytest.mark.parametrize("what", ROWS)
def test_a_draft_with_any_row_to_write_is_not_empty(what: str):
    found = draft()
    fill(what, found)
    assert not found.empty


def test_a_timer_that_is_set_twice_keeps_its_last_time():
    found = draft()
    found.set_timer(TaskToken("t"), Millis(NOW + 1))
    found.set_timer(TaskToken("t"), Millis(NOW + 2))
    assert found.write(LIMIT).timers[-1].due == NOW + 2


def test_a_timer_set_and_cleared_in_one_decision_is_not_set():
    found = draft()
    found.set_timer(TaskToken("t"), NOW)
    found.clear_timer(TaskToken("t"))
    write = found.write(LIMIT)
    assert (list(write.timers), list(write.cleared)) == ([], ["t"])


def test_a_timer_cleared_and_set_again_in_one_decision_is_set():
    found = draft()
    found.clear_timer(TaskToken("t"))
    found.set_timer(TaskToken("t"), NOW)
    write = found.write(LIMIT)
    assert [timer.token for timer in write.timers] == ["t"]


def test_what_is_set_after_everything_was_cleared_stays():
    found = draft()
    found.set_timer(TaskToken("old"), NOW)
    found.approvals = [approval("run")]
    found.clear_all(stored=True)
    found.set_timer(TaskToken("new"), NOW)
    write = found.write(LIMIT)
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
    (row,) = found.write(LIMIT).inbox
    assert (row.run_id, row.shard, row.key) == ("other", shard_of(RunId("other")), "key")
    assert values.decode(row.body) == {"kind": "cancel", "reason": "enough"}


def test_one_draft_leaves_nothing_in_the_next():
    first = draft()
    for what in ROWS:
        fill(what, first)
    assert draft().empty
    assert draft().write(LIMIT) == Write(RUN, Shard(shard_of(RUN)), Epoch(1), plain=True)


# -- plain writes ------------------------------------------------------------------------------------------------------

NOT_ROWS = {"create", "patch", "unresolved", "breach", "revoked", "more", "ended"}
"""What a plain write has too, and what is not written."""


@pytest.mark.parametrize("field", sorted(UnitOfWork.__annotations__.keys() - NOT_ROWS))
def test_a_write_with_rows_of_any_kind_is_not_taken_for_a_plain_one(field: str):
    unit = draft(RunCompleted(values.NULL))
    assert unit.write(LIMIT).plain
    setattr(unit, field, ["a row"])
    write = unit.write(LIMIT)
    assert not write.plain
    assert not unit.empty


def test_a_write_with_a_blob_is_not_plain():
    assert not draft(RunCompleted(big())).write(LIMIT).plain
