"""Settling an execution: its tokens are consumed, its output is kept, new tokens go on. One decision, one commit."""

from __future__ import annotations

from msgspec import Raw

from plait.kernel.errors import ErrorInfo

from .conditions import OutsideVerdict
from .decision_builder import DecisionBuilder, error
from .ending import fail_run
from .events import NodeConsumed, NodeEmitted, Via
from .failure import attempt_failed
from .guardrails import denial
from .judging import judge_outside
from .limits import breach
from .misfits import first_misfit
from .opa import denied_outside
from .routing import Chosen, Route, route
from .state import Execution, token_id
from .topology import NodePlan


def settle(
    builder: DecisionBuilder, execution: Execution, output: Raw, *, attempt: int = 1, chosen: Chosen | None = None
) -> None:
    plan = builder.plan(execution)
    if plan.output_schema and (misfit := first_misfit(plan.output_schema, output)):
        what = f"the output of `{plan.id}` does not fit its type: {misfit}"
        attempt_failed(builder, execution, attempt, error("output_invalid", what), retryable=False)
        return
    try:
        way = _way(builder, plan, execution, output, chosen)
    except OutsideVerdict as wanted:
        judge_outside(builder, execution, output, attempt, chosen, wanted.pointer)
        return
    if way.failure is not None:
        for event in way.events:
            builder.record(event)
        attempt_failed(builder, execution, attempt, way.failure, retryable=way.retryable)
        return
    consume(builder, execution, output, attempt)
    for event in way.events:
        builder.record(event)
    loops = execution.loops if way.loops is None else way.loops
    emit(builder, plan, execution.id, execution.id, way.targets, way.via, execution.hop, loops)


def _way(builder: DecisionBuilder, plan: NodePlan, execution: Execution, output: Raw, chosen: Chosen | None) -> Route:
    """Returns the route; raises `OutsideVerdict` where a task must judge first."""
    if plan.plain and chosen is None:
        return Route(plan.ir.edges, "edges")
    found = route(builder, plan, execution, output, chosen)
    if found.failure is None:
        found.failure = denial(builder, plan, found) or denied_outside(builder, plan, execution, found)
    return found


def settle_judged(builder: DecisionBuilder, execution: Execution) -> None:
    """Settles an execution as far as the recorded verdicts allow."""
    settle(builder, execution, execution.output, attempt=execution.attempts, chosen=_chosen(execution))


def unjudged(builder: DecisionBuilder, execution: Execution) -> str | None:
    """The pointer of the verdict that the route waits for."""
    try:
        _way(builder, builder.plan(execution), execution, execution.output, _chosen(execution))
    except OutsideVerdict as wanted:
        return wanted.pointer
    return None


def _chosen(execution: Execution) -> Chosen | None:
    return None if execution.chosen is None else Chosen(tuple(execution.chosen), execution.reasoning)


def consume(builder: DecisionBuilder, execution: Execution, output: Raw, attempt: int) -> None:
    """`output` is absent where people decide what it is."""
    state, tokens = builder.run.state, execution.tokens
    before = state.counter
    event = NodeConsumed(
        node_id=execution.node,
        token_id=execution.id,
        op_keys=[f"consume:{token}" for token in tokens],
        delta=-len(tokens),
        counter_before=before,
        counter_after=before - len(tokens),
        hop=execution.hop,
        attempt=attempt,
        execution_id=execution.id,
        token_ids=tokens if len(tokens) > 1 else [],
        iteration=execution.iteration() if execution.loops else 1,
        output=output,
        duration_ms=builder.now - execution.started_at,
        revision=state.revision,
    )
    builder.record(event)


def emit(
    builder: DecisionBuilder,
    plan: NodePlan,
    parent: str,
    token: str,
    targets: tuple[str, ...],
    via: Via,
    hop: int,
    loops: dict[str, int],
) -> None:
    """`parent` names the batch: a token, or `approval_<id>`. If this exceeds a limit, the run fails."""
    exceeded = breach(builder, plan, targets, via, hop)
    if exceeded is not None:
        builder.record(exceeded)
        fail_run(builder, ErrorInfo(exceeded.code, exceeded.message, kind="limit"))
        return
    if not targets:
        return
    run_id, before = builder.context.info.run_id, builder.run.state.counter
    tokens = [token_id(run_id, parent, target, index) for index, target in enumerate(targets)]
    builder.record(
        NodeEmitted(
            node_id=plan.id,
            token_id=token,
            op_key=f"emit:{parent}",
            delta=len(targets),
            to_nodes=list(targets),
            tokens=tokens,
            counter_before=before,
            counter_after=before + len(targets),
            via=via,
            hop=hop + 1,
            loops=loops,
        )
    )
    builder.begin(tokens)
