"""What becomes of the times of a schedule, decided without an engine, a clock or a database."""

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from plait.api.schedule import Backfill, Fire, Overlap, ScheduleSettings
from plait.kernel.ids import Millis
from plait.schedules.decide import (
    AT_ONCE,
    COUNTED,
    MOST_ACTIVE,
    MOST_WAITING,
    PUNCTUAL,
    Round,
    decide,
    must_end,
    numbered,
    resumed,
    started,
    trigger,
)
from plait.schedules.state import Slot, State, moment, run_id
from plait.schedules.timing import timing_of

MINUTE = 60_000
START = Millis(1_800_000_000_000 // MINUTE * MINUTE)
TIMING = timing_of(None, MINUTE, "UTC")


def minute(number: float) -> Millis:
    return Millis(round(START + number * MINUTE))


def run_of(number: float) -> str:
    return run_id("nightly", minute(number))


def settings(overlap: Overlap = "skip", catchup: int = MINUTE) -> ScheduleSettings:
    return ScheduleSettings(definition="report", every_ms=MINUTE, overlap=overlap, catchup_ms=catchup)


def look(
    state: State, now: Millis, overlap: Overlap = "skip", *, running: Collection[str] = (), catchup: int = MINUTE
) -> Round:
    return decide("nightly", settings(overlap, catchup), TIMING, state, now, running)


def start_all(found: Round, now: Millis) -> State:
    state = found.state
    for slot in state.starting:
        state = started("nightly", state, slot, now).state
    return state


def told(fires: Collection[Fire]) -> list[tuple[str, Millis]]:
    return [(fire.outcome, fire.scheduled_at) for fire in fires]


def starts(state: State) -> list[Millis]:
    return [slot.at for slot in state.starting]


NEW = State(cursor=START)


def test_nothing_is_due_before_its_time():
    found = look(NEW, Millis(minute(1) - 1))
    assert starts(found.state) == []
    assert found.fires == []
    assert found.state.due == minute(1)


def test_a_time_that_has_come_is_started_and_the_next_is_noted():
    found = look(NEW, minute(1))
    assert starts(found.state) == [minute(1)]
    assert found.state.due == minute(1), "until it is started, somebody has to look at it"
    state = start_all(found, minute(1))
    assert state.active == (run_of(1),)
    assert look(state, minute(1)).state.due == minute(2)


def test_a_time_is_decided_once_however_often_one_looks():
    state = start_all(look(NEW, minute(1)), minute(1))
    again = look(state, Millis(minute(1) + 500), running={run_of(1)})
    assert starts(again.state) == []
    assert again.fires == []


def test_a_time_that_is_as_late_as_allowed_still_starts():
    assert starts(look(NEW, minute(2), catchup=MINUTE, overlap="allow").state) == [minute(1), minute(2)]


def test_a_time_is_not_missed_because_an_engine_needed_a_moment_to_look():
    for late in (1, PUNCTUAL):
        found = look(NEW, Millis(minute(1) + late), catchup=0)
        assert starts(found.state) == [minute(1)]
        assert found.fires == []
    [missed] = look(NEW, Millis(minute(1) + PUNCTUAL + 1), catchup=0).fires
    assert missed.outcome == "missed"


def test_times_that_are_too_late_are_missed_in_one_line():
    found = look(NEW, minute(100), overlap="allow", catchup=2 * MINUTE)
    assert starts(found.state) == [minute(98), minute(99), minute(100)]
    [missed] = found.fires
    assert (missed.outcome, missed.scheduled_at, missed.until, missed.count) == ("missed", minute(1), minute(97), 97)


def test_a_time_is_not_too_late_because_many_others_were_due_with_it():
    late = Millis(minute(1) + 5 * MINUTE)
    found = decide("nightly", settings("allow"), TIMING, NEW, late, (), looked=minute(1))
    assert starts(found.state)[0] == minute(1)
    assert found.fires == []


def test_more_than_a_hundred_missed_times_are_not_counted():
    now = minute(1_000_000)
    found = look(NEW, now, catchup=0)
    [missed] = found.fires
    assert missed.count == COUNTED + 1
    assert starts(found.state) == [now]


def test_a_long_catch_up_goes_in_rounds():
    found = look(NEW, minute(250), overlap="allow", catchup=1000 * MINUTE)
    assert len(found.state.starting) == AT_ONCE
    state = start_all(found, minute(250))
    assert look(state, minute(250), overlap="allow", catchup=1000 * MINUTE).state.cursor == minute(200)


def test_skip_leaves_a_time_out_while_the_run_before_has_not_ended():
    state = start_all(look(NEW, minute(1)), minute(1))
    found = look(state, minute(2), running={run_of(1)})
    assert starts(found.state) == []
    assert told(found.fires) == [("skipped", minute(2))]
    assert found.fires[0].why == f"run {run_of(1)} has not ended"
    assert starts(look(found.state, minute(3)).state) == [minute(3)]


def test_of_several_times_that_are_due_at_once_skip_starts_the_first():
    found = look(NEW, minute(3), catchup=10 * MINUTE)
    assert starts(found.state) == [minute(1)]
    assert told(found.fires) == [("skipped", minute(2)), ("skipped", minute(3))]


def test_queue_starts_one_after_the_other():
    state = look(NEW, minute(3), "queue", catchup=10 * MINUTE).state
    assert starts(state) == [minute(1)]
    state = start_all(Round(state), minute(3))
    blocked = look(state, minute(3), "queue", running={run_of(1)})
    assert blocked.state.waiting == (Slot(minute(2), "queue"), Slot(minute(3), "queue"))
    following = look(blocked.state, Millis(minute(3) + 1), "queue")
    assert starts(following.state) == [minute(2)]
    assert [slot.at for slot in following.state.waiting] == [minute(3)]


def test_a_time_does_not_overtake_those_that_wait():
    state = State(cursor=minute(3), waiting=(Slot(minute(2), "queue"), Slot(minute(3), "queue")))
    found = look(state, minute(4), "queue")
    assert starts(found.state) == [minute(2)]
    assert [slot.at for slot in found.state.waiting] == [minute(3), minute(4)]


def test_a_queue_has_an_end():
    full = tuple(Slot(minute(number), "queue") for number in range(MOST_WAITING))
    state = State(cursor=minute(MOST_WAITING), waiting=full, active=("nightly:x",))
    found = look(state, minute(MOST_WAITING + 1), "queue", running={"nightly:x"})
    assert told(found.fires) == [("skipped", minute(MOST_WAITING + 1))]
    assert len(found.state.waiting) == MOST_WAITING


def test_allow_starts_whatever_runs():
    state = start_all(look(NEW, minute(1), "allow"), minute(1))
    assert starts(look(state, minute(2), "allow", running={run_of(1)}).state) == [minute(2)]


def test_cancel_previous_waits_for_the_end_of_what_it_cancels_and_only_the_newest_waits():
    state = start_all(look(NEW, minute(1), "cancel_previous"), minute(1))
    assert must_end(state) == ()
    second = look(state, minute(2), "cancel_previous", running={run_of(1)})
    assert must_end(second.state) == (run_of(1),)
    third = look(second.state, minute(3), "cancel_previous", running={run_of(1)})
    assert told(third.fires) == [("skipped", minute(2))]
    assert third.fires[0].why == f"the time {moment(minute(3))} takes its place"
    ended = look(third.state, Millis(minute(3) + 1), "cancel_previous")
    assert starts(ended.state) == [minute(3)]
    assert must_end(ended.state) == ()


def test_nothing_is_due_while_paused_and_nothing_is_made_up_for():
    paused = replace(NEW, paused=True)
    found = look(paused, minute(100), "allow")
    assert (starts(found.state), found.fires, found.state.due) == ([], [], None)
    again = resumed(paused, TIMING, Millis(minute(100) + 5))
    assert again.due == minute(101)
    assert look(again, Millis(minute(100) + 6), "allow").fires == []


def test_a_trigger_starts_also_while_paused_and_under_an_id_of_its_own():
    paused = replace(NEW, paused=True)
    found, slot = trigger("nightly", paused, Slot(minute(5), "skip"), minute(5), ())
    assert slot.at == minute(5) + 1, "the id of a time has no milliseconds"
    assert found.state.due == minute(5)
    again, second = trigger("nightly", found.state, Slot(minute(5), "allow"), minute(5), ())
    assert second.at == slot.at + 1
    assert starts(again.state) == [slot.at, second.at]


def test_a_trigger_obeys_overlap():
    state = State(cursor=START, active=("nightly:x",))
    found, _ = trigger("nightly", state, Slot(minute(5), "skip"), minute(5), {"nightly:x"})
    assert [fire.outcome for fire in found.fires] == ["skipped"]
    found, _ = trigger("nightly", state, Slot(minute(5), "skip"), minute(5), ())
    assert found.fires == []


def test_a_backfill_goes_one_by_one_unless_it_may_overlap():
    past = Backfill(after=minute(-11), until=minute(-8))
    found = look(replace(NEW, backfills=(past,)), Millis(START + 1))
    assert starts(found.state) == [minute(-10)]
    state = start_all(found, START)
    assert starts(look(state, Millis(START + 1), running={run_of(-10)}).state) == []
    assert starts(look(state, Millis(START + 1)).state) == [minute(-9)]
    wide = look(replace(NEW, backfills=(replace(past, overlap="allow"),)), Millis(START + 1))
    assert starts(wide.state) == [minute(-10), minute(-9), minute(-8)]
    assert wide.state.backfills == ()
    assert {slot.cause for slot in wide.state.starting} == {"backfill"}


def test_a_long_backfill_goes_in_rounds_and_ends():
    state = replace(NEW, backfills=(Backfill(after=minute(-1001), until=minute(-1), overlap="allow"),))
    seen: list[Millis] = []
    while state.backfills or state.starting:
        found = look(state, Millis(START + 1))
        seen += starts(found.state)
        state = start_all(found, START)
    assert seen == [minute(number) for number in range(-1000, 0)]


def test_a_clock_that_was_set_back_a_little_fires_no_time_twice():
    state = State(cursor=minute(30))
    assert look(state, minute(10)).state == replace(state, due=minute(31))


def test_a_clock_that_was_far_ahead_does_not_silence_a_schedule():
    assert look(State(cursor=minute(1_000_000)), Millis(minute(5) + 1)).state.due == minute(6)


def test_a_run_that_can_not_be_started_is_told_and_forgotten():
    state = look(NEW, minute(1)).state
    found = started("nightly", state, state.starting[0], minute(1), "no such definition")
    assert told(found.fires) == [("failed", minute(1))]
    assert found.fires[0].why == "no such definition"
    assert (found.state.starting, found.state.active) == ((), ())


def test_only_the_newest_runs_are_remembered():
    state = NEW
    for number in range(1, 2 * MOST_ACTIVE):
        running = set(state.active)
        state = start_all(look(state, minute(number), "allow", running=running), minute(number))
    assert len(state.active) == MOST_ACTIVE
    assert state.active[-1] == run_of(2 * MOST_ACTIVE - 1)


def test_fires_are_numbered_without_gaps():
    found = look(NEW, minute(3), catchup=10 * MINUTE)
    state, fires = numbered(replace(found.state, fires=7), found.fires)
    assert [fire.number for fire in fires] == [8, 9]
    assert (state.fires, state.last) == (9, fires[-1])
    assert numbered(state, []) == (state, [])


def test_ids_of_runs_are_times_in_utc():
    assert run_id("nightly", Millis(1_794_978_000_000)) == "nightly:2026-11-18T05:00:00Z"
    assert run_id("nightly", Millis(1_794_978_000_007)) == "nightly:2026-11-18T05:00:00.007Z"


@pytest.mark.parametrize("overlap", ["skip", "queue", "allow", "cancel_previous"])
@given(steps=st.lists(st.tuples(st.integers(-90, 400), st.booleans()), max_size=25))
def test_every_time_has_one_fate_whenever_one_looks(overlap: Overlap, steps: list[tuple[int, bool]]):
    """Time goes on by any number of seconds, or back a little; between looks, runs end or don't."""
    state, now, highest = NEW, Millis(START), Millis(START)
    fates: list[tuple[str, Millis]] = []
    missed = 0
    for seconds, ends in [*steps, (0, True), (0, True)]:
        now = Millis(now + seconds * 1000)
        highest = max(highest, now)
        found = look(state, now, overlap, running=() if ends else state.active, catchup=2 * MINUTE)
        for fire in found.fires:
            if fire.outcome == "missed":
                missed += fire.count
            else:
                fates.append(("no", fire.scheduled_at))
        fates += [("yes", slot.at) for slot in found.state.starting]
        state = start_all(found, now)
    decided = [at for _, at in fates] + [slot.at for slot in state.waiting]
    assert len(decided) == len(set(decided)), "no time is decided twice"
    assert len(decided) + missed == (highest - START) // MINUTE, "none is left out"
    assert all(at <= highest for at in decided), "none is early"
