"""Dead letters that a person retries or discards; a run that failed because of them continues."""

from __future__ import annotations

from collections.abc import Iterable

from plait.kernel.errors import Conflict
from plait.kernel.events import RunReopened
from plait.kernel.ids import caller_id
from plait.kernel.inputs import Resume
from plait.kernel.run import letter_id

from .decision_builder import DecisionBuilder
from .events import TokenDiscarded, TokenReprocessed
from .state import Execution


def retry(builder: DecisionBuilder) -> None:
    """Retries all dead letters."""
    dead = list(builder.run.dead())
    if not dead:
        raise Conflict("graph.nothing_to_retry", "the run has no dead letters", fix="fork it to run it again")
    _reopen(builder)
    builder.decision.retried = [execution.task for execution in dead]
    _reprocess(builder, dead)


def settle_letter(builder: DecisionBuilder, resume: Resume) -> None:
    execution = builder.run.by_task(resume.token or "")
    if execution is None or not execution.dead:
        raise Conflict("graph.not_pending", "this dead letter is not pending any more")
    _reopen(builder)
    if resume.verdict == "retry":
        _reprocess(builder, [execution])
    else:
        _discard(builder, execution)


def _reopen(builder: DecisionBuilder) -> None:
    state = builder.run.state
    if state.status == "running":
        return
    ended_by_them = state.status == "failed" and state.error is not None and state.error.code == "graph.node_failed"
    if not ended_by_them or state.rolled_back:
        raise Conflict(
            "graph.run_not_retryable",
            f"run {caller_id(builder.context.info.run_id)} has {state.status}, and not because of a dead letter",
            why="only a run that failed because of dead letters, and was not compensated, goes on",
            fix="fork it at the place from which it is to go on",
        )
    builder.decision.reopen = "retry"
    builder.folding.fold(RunReopened("retry"), builder.now)  # the kernel records it before the events of this decision


def _reprocess(builder: DecisionBuilder, executions: Iterable[Execution]) -> None:
    for execution in executions:
        letter = letter_id(builder.context.info.run_id, execution.task)
        builder.record(TokenReprocessed(execution.node, execution.id, letter, execution.generation + 1))
        builder.ready.append(execution)


def _discard(builder: DecisionBuilder, execution: Execution) -> None:
    before, count = builder.run.state.counter, len(execution.tokens)
    builder.record(
        TokenDiscarded(
            execution.node,
            execution.id,
            letter_id(builder.context.info.run_id, execution.task),
            op_keys=[f"consume:{token}" for token in execution.tokens],
            delta=-count,
            counter_before=before,
            counter_after=before - count,
        )
    )
