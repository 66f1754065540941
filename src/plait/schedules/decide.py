"""Decides the outcome of a schedule's times, given its state, the time, and which of its runs have not ended.

Pure and bounded: a round decides at most `AT_ONCE` times, however long no engine checked, and the state tells whether
there are more. A time ends in one `Fire`: its run was started, it was skipped because of the run before, it was missed
because no engine checked in time, or its run could not be started.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import assert_never

from msgspec.structs import replace

from plait.api.schedule import Backfill, Fire, FireOutcome, ScheduleSettings
from plait.kernel.ids import Millis

from .state import Slot, State, moment, run_id
from .timing import Timing

AT_ONCE = 100
"""Maximum number of times that one round decides."""
COUNTED = 100
"""Maximum number of missed times that are counted."""
MOST_WAITING = 1000
MOST_ACTIVE = 20
PUNCTUAL = 10_000
"""Milliseconds by which a time may be late without being missed, whatever `catchup` is: after a crash, it takes that
long until another engine takes over and checks."""
AHEAD = 3_600_000
"""Milliseconds that a schedule may be ahead. One further ahead has seen a wrong clock, and continues from now."""


@dataclass(frozen=True, slots=True)
class Round:
    """The new state, and the outcomes to record."""

    state: State
    fires: Sequence[Fire] = ()


def decide(
    name: str,
    settings: ScheduleSettings,
    timing: Timing,
    state: State,
    now: Millis,
    running: Collection[str],
    looked: Millis | None = None,
) -> Round:
    """Decides one round. `running`: the runs of `state.active` that have not ended. `looked`: when the check began, if
    earlier, so that a time does not become too late because many others were due with it."""
    table = _Table(name, now, state)
    table.active = [each for each in state.active if each in running]
    table.start_waiting()
    cursor, more = state.cursor if state.cursor <= now + AHEAD else now, False
    backfills = list(state.backfills)
    if not state.paused:
        cursor = table.note_missed(timing, cursor, Millis((looked or now) - max(settings.catchup_ms, PUNCTUAL)))
        due = list(islice(takewhile(lambda at: at <= now, timing.after(cursor)), AT_ONCE))
        for at in due:
            table.place(Slot(at, settings.overlap))
            cursor = at
        more = len(due) == AT_ONCE
        backfills = [left for each in backfills if (left := table.fill(timing, each)) is not None]
        more = more or any(each.overlap == "allow" for each in backfills)
    found = replace(
        state,
        cursor=cursor,
        starting=tuple(table.starting),
        waiting=tuple(table.waiting),
        active=tuple(table.active),
        backfills=tuple(backfills),
    )
    found = replace(found, due=_due(found, timing, now, more=more))
    return Round(found, table.fires)


def trigger(name: str, state: State, slot: Slot, now: Millis, running: Collection[str]) -> tuple[Round, Slot]:
    """Decides a run that was requested by hand, and its time, which has milliseconds: a schedule's times have none."""
    at = max(now, state.triggered + 1)
    slot = replace(slot, at=Millis(at if at % 1000 else at + 1), cause="trigger")
    table = _Table(name, now, state)
    table.active = [each for each in state.active if each in running]
    table.place(slot)
    found = replace(
        state,
        starting=tuple(table.starting),
        waiting=tuple(table.waiting),
        active=tuple(table.active),
        triggered=slot.at,
        due=now,
    )
    return Round(found, table.fires), slot


def started(name: str, state: State, slot: Slot, now: Millis, failure: str = "") -> Round:
    """Records that the run of a slot was started, or can't be."""
    starting = tuple(each for each in state.starting if each != slot)
    run = run_id(name, slot.at)
    fire = _fire(slot, now, "failed" if failure else "started", why=failure, run=None if failure else run)
    active = state.active if failure else (*(each for each in state.active if each != run), run)[-MOST_ACTIVE:]
    return Round(replace(state, starting=starting, active=active), [fire])


def must_end(state: State) -> Sequence[str]:
    """Returns the runs to cancel to make room for the one that waits."""
    return state.active if state.waiting and state.waiting[0].overlap == "cancel_previous" else ()


def settled(state: State, timing: Timing, now: Millis) -> State:
    """Returns the state with the time of the next check."""
    return replace(state, due=_due(state, timing, now, more=False))


def numbered(state: State, fires: Sequence[Fire]) -> tuple[State, list[Fire]]:
    """Assigns the next numbers to fires."""
    found = [replace(fire, number=state.fires + place) for place, fire in enumerate(fires, 1)]
    return (replace(state, fires=found[-1].number, last=found[-1]) if found else state), found


def resumed(state: State, timing: Timing, now: Millis) -> State:
    """Continues from now: times that passed while it was paused, or had other settings, don't count."""
    return settled(replace(state, paused=False, cursor=now), timing, now)


def _due(state: State, timing: Timing, now: Millis, *, more: bool) -> Millis | None:
    """Returns when to check next: at once while something is in progress, else at the next time."""
    if more or state.starting or state.waiting or (state.backfills and not state.paused):
        return state.due if state.due is not None and state.due <= now else now
    return None if state.paused else timing.next(state.cursor)


def _fire(slot: Slot, now: Millis, outcome: FireOutcome, *, why: str = "", run: str | None = None) -> Fire:
    return Fire(number=0, at=now, scheduled_at=slot.at, cause=slot.cause, outcome=outcome, why=why, run_id=run)


@dataclass(slots=True)
class _Table:
    """Sorts a round's slots: to start, to wait, or to skip. Mutable during the round."""

    name: str
    now: Millis
    state: State
    fires: list[Fire] = field(default_factory=list[Fire])
    active: list[str] = field(default_factory=list[str])
    starting: list[Slot] = field(init=False)
    waiting: list[Slot] = field(init=False)

    def __post_init__(self) -> None:
        self.starting = list(self.state.starting)
        self.waiting = list(self.state.waiting)

    @property
    def busy(self) -> str | None:
        """Returns a run that the next one has to wait for."""
        if self.active:
            return self.active[-1]
        return run_id(self.name, self.starting[-1].at) if self.starting else None

    def start_waiting(self) -> None:
        if self.waiting and self.busy is None:
            self.start(self.waiting.pop(0))

    def start(self, slot: Slot) -> None:
        self.starting.append(replace(slot, since=self.now))

    def place(self, slot: Slot) -> None:
        before = self.busy
        if slot.overlap == "allow" or (before is None and not self.waiting):
            self.start(slot)
            return
        match slot.overlap:
            case "skip":
                self.skip(slot, f"run {before} has not ended" if before else "another time waits already")
            case "queue":
                if len(self.waiting) < MOST_WAITING:
                    self.waiting.append(slot)
                else:
                    self.skip(slot, f"{MOST_WAITING:,} times wait already")
            case "cancel_previous":
                for each in self.waiting:
                    self.skip(each, f"the time {moment(slot.at)} takes its place")
                self.waiting = [slot]
            case _:
                assert_never(slot.overlap)

    def skip(self, slot: Slot, why: str) -> None:
        self.fires.append(_fire(slot, self.now, "skipped", why=why))

    def note_missed(self, timing: Timing, cursor: Millis, oldest: Millis) -> Millis:
        """Records the times before `oldest`, which are too late, in one fire."""
        missed = list(islice(takewhile(lambda at: at < oldest, timing.after(cursor)), COUNTED + 1))
        if not missed:
            return cursor
        whole = len(missed) <= COUNTED
        last = missed[-1] if whole else Millis(oldest - 1)
        fire = _fire(Slot(missed[0], "skip"), self.now, "missed", why="no engine started it in time")
        several = {"count": len(missed), "until": last} if len(missed) > 1 else {}
        self.fires.append(replace(fire, **several))
        return last

    def fill(self, timing: Timing, backfill: Backfill) -> Backfill | None:
        """Takes from a backfill what can start now; returns the rest, None if nothing is left."""
        if backfill.overlap == "queue" and (self.busy is not None or self.waiting):
            return backfill
        limit = AT_ONCE if backfill.overlap == "allow" else 1
        found = list(islice(takewhile(lambda at: at <= backfill.until, timing.after(backfill.after)), limit))
        for at in found:
            self.start(Slot(at, backfill.overlap, "backfill"))
        done = len(found) < limit or timing.next(found[-1]) is None
        return None if done else replace(backfill, after=found[-1])
