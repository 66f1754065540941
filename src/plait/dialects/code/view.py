"""What people see of a run: its operations as nodes, and the reasons why it waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plait.kernel import values
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.machine import TaskFacts
from plait.kernel.moment import utc
from plait.kernel.view import Edge, Node, NodeStatus, Reason

from .history import History
from .op_state import OpState
from .path_words import path_words

Tasks = Mapping[TaskToken, TaskFacts]
Token = Callable[[str], TaskToken]


def nodes(history: History, tasks: Tasks, token: Token) -> tuple[list[Node], list[Edge]]:
    found = [_node(op, token(op.at), tasks.get(token(op.at)), history) for op in history.ops.values()]
    known = {op.at for op in history.ops.values()}
    edges = [Edge(op.after, op.at) for op in history.ops.values() if op.after is not None and op.after in known]
    if history.era:
        found.insert(0, _earlier(history))
    return found, edges


def _earlier(history: History) -> Node:
    """The run before it continued as new: its operations are no longer part of its history."""
    times = "once" if history.era == 1 else f"{history.era:,} times"
    return Node(
        id="~before",
        kind="continued",
        label=f"continued as new, {times}",
        status="completed",
        started_at=history.created_at,
        ended_at=history.started_at,
        output=values.decode(history.input),
        detail="what it continued with; the events before are in its log, as far as that is kept",
    )


def _node(op: OpState, token: TaskToken, task: TaskFacts | None, history: History) -> Node:
    return Node(
        id=op.at,
        kind=op.kind,
        label=str(op.location[-1]) if op.kind != "update" else "".join(op.names or ()),
        status=_status(op, task, history),
        parent=_parent(op.at, history),
        path=path_words(op.at) if len(op.location) > 1 else "",
        attempts=op.tried + (task.attempt if task else op.attempts) if op.kind == "step" else 0,
        started_at=op.opened_at,
        ended_at=op.closed_at,
        input=values.decode(op.args) if op.args else None,
        output=_output(op),
        error=op.error or (task.error if task else None),
        detail=_detail(op),
        child=caller_id(op.run_id) if op.run_id is not None and op.kind == "child" else None,
        token=token if op.kind == "step" else None,
        queued=op.queued,
    )


def _status(op: OpState, task: TaskFacts | None, history: History) -> NodeStatus:
    if op.status != "open":
        return op.status
    if op.kind == "step":
        return "retrying" if task is not None and task.error is not None else "running"
    return "running" if op.kind in ("join", "race", "loop", "child", "update") else "waiting"


def _parent(path: str, history: History) -> str | None:
    above = path
    while (above := above.rpartition("/")[0]) and above not in history.ops:
        pass
    return above or None


def _output(op: OpState) -> Any:
    if op.kind == "version":
        return op.value
    if op.winner is not None:
        return {"winner": op.winner}
    if op.received is not None:
        return [{"id": m.id, "name": m.name, "body": values.decode(m.body)} for m in op.received]
    return values.decode(op.output) if op.output else None


def _detail(op: OpState) -> str:
    match op.kind:
        case "loop":
            return f"iteration {op.iteration} committed"
        case "child":
            return f"run {caller_id(op.run_id)}" if op.run_id else ""
        case "join" | "race":
            return ", ".join(f"{name} {branch.status}" for name, branch in (op.branches or {}).items())
        case _:
            return ""


def waiting(history: History, tasks: Tasks, token: Token, definition: str) -> list[Reason]:
    if history.blocked is not None:
        return [Reason("blocked", f"blocked: {history.blocked.fix}", history.blocked.at)]
    reasons = [_reason(op, tasks.get(token(op.at))) for op in history.open_ops()]
    found = [reason for reason in reasons if reason is not None]
    if not found and history.seq:
        text = "nothing that can happen: the code awaits something of asyncio's, and no operation is open to end that"
        return [Reason("stuck", text)]
    return found


def _reason(op: OpState, task: TaskFacts | None) -> Reason | None:
    name = op.at
    match op.kind:
        case "step" if task is not None and task.retry_at is not None and task.error is not None:
            of = f" of {task.max_attempts}" if task.max_attempts else ""
            why = f"retry {task.attempt}{of} of `{name}` at {utc(task.retry_at)} ({task.error.message})"
            return Reason("retry", why, name, task.retry_at, f"retry {task.attempt}{of} of `{path_words(name)}`")
        case "step":
            return Reason("step", f"step `{name}` running", name)
        case "sleep" | "timer":
            return Reason("sleep", f"{op.kind} `{name}` until {utc(op.deadline)}", name, op.deadline, op.kind)
        case "message":
            names = " or ".join(f"`{message}`" for message in op.names or ())
            until = f" until {utc(op.deadline)}" if op.deadline is not None else ""
            return Reason("message", f"message {names} (`{name}`){until}", name, op.deadline, f"message {names}")
        case "child":
            run = caller_id(op.run_id) if op.run_id else "?"
            return Reason("child", f"child `{run}` (`{name}`)", name, short=f"child run `{path_words(name)}`")
        case "approval":
            by = f" by {' or '.join(op.names)}" if op.names else ""
            votes = f" ({op.votes} of {op.limit} votes)" if op.limit else ""
            until = f" until {utc(op.deadline)}" if op.deadline is not None else ""
            short = f"approval `{path_words(name)}`{by}{votes}"
            return Reason("approval", f"approval `{name}`{by}{votes}{until}", name, op.deadline, short)
        case _:
            return None
