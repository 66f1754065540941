"""The results of the work that a run requested."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.inputs import TaskResult
from plait.kernel.task_inputs import ROUTE

from .accepted import accept, reported
from .decision_builder import DecisionBuilder
from .failure import fail
from .judging import is_verdict, judged
from .migration import migrated
from .routing import Chosen
from .settle import settle, settle_judged
from .state import Execution
from .topologies import Topologies

_MARK = b'{"plait.route"'


class RouteResult(msgspec.Struct, frozen=True):
    output: Raw = Raw(b"null")
    next_nodes: tuple[str, ...] | None = None
    reasoning: str = ""


_routed = msgspec.json.Decoder(dict[str, RouteResult])


def task_result(builder: DecisionBuilder, result: TaskResult, topologies: Topologies) -> None:
    if is_verdict(result.token):
        if (execution := judged(builder, result)) is not None:
            go_on(builder, execution)
        return
    execution = builder.run.by_task(result.token)
    if execution is None or execution.dead:
        return
    if result.later:
        accept(builder, execution, result.attempt)
        return
    reported(builder, execution)
    if result.error is not None:
        fail(builder, execution, result.error, result.attempt)
        return
    work = builder.plan(execution).work
    if work == "migration":
        migrated(builder, execution, result.output, topologies, result.attempt)
        return
    output, chosen = result.output, None
    if work in ("call", "agent") and bytes(output).startswith(_MARK):
        said = _routed.decode(output)[ROUTE]
        output, chosen = said.output, Chosen(said.next_nodes, said.reasoning)
    settle(builder, execution, output, attempt=result.attempt, chosen=chosen)


def go_on(builder: DecisionBuilder, execution: Execution) -> None:
    """Continues with a new verdict. A human node settles nothing: the policy server is asked before people are."""
    if execution.output:
        settle_judged(builder, execution)
    else:
        builder.ready.append(execution)
