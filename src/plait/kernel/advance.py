"""One round of a run: decides its waiting inputs one after the other, as one unit of work to commit."""

from __future__ import annotations

from collections import deque

from .apply_effects import drop_children
from .breach import breach_of
from .decide import LATER, cancel, route, start, take_result
from .errors import PlaitError
from .handover import move_blocked, move_lacking
from .ids import Millis
from .inputs import AnyInput, Cancel, Start, TaskResult
from .replies import ASKED, answer_reply, refusal_reply
from .run import Run
from .store import Taken, Write
from .suspensions import forget_abandoned
from .unit_of_work import UnitOfWork

_INPUTS_AT_ONCE = range(100)
"""Inputs of one run per commit: bounded to keep the event loop responsive."""


def advance(run: Run, now: Millis) -> UnitOfWork:
    """Decides the inputs in the mailbox, one after the other."""
    state, mailbox = run.state, run.mailbox
    if now > state.at:
        state.at = now
    else:
        now = state.at
    run.was = state.status
    if run.asked:
        run.asked = []
    # Event numbers continue after the last one
    unit = UnitOfWork(Write(run.id, run.shard, run.epoch, run.create, True), state.seq + 1, now)  # pyright: ignore[reportArgumentType]
    run.create = None
    if run.blocked is not None:  # a cancel must not wait for what blocks the run
        mailbox = run.mailbox = deque(sorted(mailbox, key=lambda entry: type(entry[0]) is not Cancel))
    for _ in _INPUTS_AT_ONCE:
        input, key = mailbox.popleft()
        if key is not None:
            _handle(input, key, run, unit)
        elif type(input) is TaskResult:  # by far the most common; neither of the two is ever refused
            take_result(input, run, unit)
        elif type(input) is Start:
            start(input, run, unit)
        else:
            _handle(input, key, run, unit)
        if not mailbox:
            break
    if state.tasks.abandoned:
        forget_abandoned(run, unit)
    if state.seq > run.limits.max_events or not unit.write.plain or unit.unresolved or unit.breach is not None:
        _check_limits(run, unit)
    run.close(unit)
    if run.blocked is not None:
        move_blocked(run, unit)
    elif run.code is not None and unit.tasks:
        move_lacking(run, unit)
    return unit


def _check_limits(run: Run, unit: UnitOfWork) -> None:
    found = breach_of(run, unit)
    if found is None:
        return
    if found.children:
        unit.unborn = drop_children(unit)
    cancel(Cancel(cause="limit", error=found.error), run, unit)
    if unit.unborn:  # a child that is never created gets no message that its parent ended
        unit.write.inbox = [row for row in unit.write.inbox if row.run_id not in unit.unborn]


def _handle(input: AnyInput, key: str | None, run: Run, unit: UnitOfWork) -> None:
    taken = None
    if key is not None and isinstance(input, ASKED):
        run.asked.append(key)
    try:
        answer = route(input, run, unit)
    except PlaitError as refusal:
        taken = Taken(key or "", refusal_reply(refusal))
    else:
        if key is not None:
            taken = Taken(key, None if answer is None else answer_reply(answer), later=answer is LATER)
    if key is not None and taken is not None:
        unit.take(taken)
