"""Runs of the toy dialect without a loop, a clock or a database: inputs in, drafts out."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel import values
from plait.kernel.advance import advance as one_round
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import SHARDS, Epoch, Ids, Millis, RunId, Shard, TaskToken, shard_of
from plait.kernel.inputs import AnyInput, Loaded, Message, Start, TaskResult
from plait.kernel.leases import Leases
from plait.kernel.limits import Limits
from plait.kernel.machine import Machine, RunInfo
from plait.kernel.notice import Notify, by_service
from plait.kernel.run import Run
from plait.kernel.store import RunRow
from plait.kernel.unit_of_work import UnitOfWork
from tests.kernel.toy import Move, ToyMachine

NOW = Millis(1_700_000_000_000)


def info(run_id: str = "run", **changes: Any) -> RunInfo:
    facts: dict[str, Any] = {"namespace": "default", "dialect": "toy", "definition": "toy"}
    return RunInfo(run_id=RunId(run_id), **(facts | changes))


def fresh(
    machine: Machine | None = None, *, limits: Limits | None = None, notify: Notify = by_service, **of: Any
) -> Run:
    about = info(**of)
    machine = machine or ToyMachine(about)
    return Run(about, machine, ids=Ids(seed=7), limits=limits or Limits(), epoch=Epoch(1), notify=notify)


def start(*program: Move, **changes: Any) -> Start:
    data = msgspec.to_builtins({"program": list(program)})
    return Start("toy", "toy", **({"data": data} | changes))


def row(run: Run) -> RunRow:
    about = run.info
    return RunRow(
        id=about.run_id,
        namespace=about.namespace,
        dialect=about.dialect,
        definition=about.definition,
        shard=shard_of(about.run_id),
        created_at=NOW,
    )


def started(*program: Move, now: int = NOW, limits: Limits | None = None, **of: Any) -> Run:
    """A run that has taken its start, and every `more` that followed."""
    run = fresh(limits=limits, **of)
    advance(run, start(*program), now=now)
    return run


def advance(run: Run, *inputs: AnyInput, now: int = NOW) -> UnitOfWork:
    """Gives the run these inputs, and asks it again for as long as it says `more`; returns the last draft."""

    draft = give(run, *inputs, now=now)
    while draft.more:
        draft = give(run, Loaded("wake"), now=now)
    return draft


def give(run: Run, *inputs: AnyInput, now: int = NOW, key: str | None = None) -> UnitOfWork:
    """One decision round: these inputs and no more."""
    run.mailbox.extend((input, key) for input in inputs)
    return one_round(run, Millis(now))


def done(token: str, output: object = "done", attempt: int = 1) -> TaskResult:
    return TaskResult(TaskToken(token), attempt, values.encode(output))


def failed(token: str, attempt: int = 1, *, retryable: bool = True, text: str = "no luck") -> TaskResult:
    return TaskResult(TaskToken(token), attempt, error=ErrorInfo("task.failed", text), retryable=retryable)


def add(amount: int, id: str = "m-1") -> Message:
    return Message(id, "add", values.encode(amount))


def types(events: list[Event]) -> list[str]:
    return [str(event.__struct_config__.tag) for event in events]


def tokens(draft: UnitOfWork) -> list[str]:
    """Of the tasks that are started once the draft is on disk."""
    return [opened.task.token for opened in draft.tasks]


def all_shards() -> Leases:
    """Of an engine that is alone."""
    found = Leases()
    for number in range(SHARDS):
        found.take(Shard(number), Epoch(1))
    return found
