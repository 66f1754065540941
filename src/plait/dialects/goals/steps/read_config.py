"""Parses the parts of a step other than attributes: its predicate, its work, and the one sub-config of its type."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

from plait.agents.agent_step import AgentStep, read_agent_step
from plait.agents.pipeline_step import PipelineStep
from plait.definitions.cursor import Cursor
from plait.definitions.flaws import Note
from plait.dialects.goals import limits
from plait.kernel.queue_options import QUEUEING_FIELDS, flaw
from plait.kernel.queued import QUEUE_RULE, is_queue
from plait.kernel.retry import MAX_ATTEMPTS, MAX_CAP

from .attribute import Language
from .read_attribute import LANGUAGES, read_script
from .step import (
    RULE,
    BackoffType,
    ChildRun,
    Flow,
    Http,
    Method,
    Predicate,
    PythonCall,
    Scope,
    ToolCall,
    WorkConfig,
    is_id,
)

SCRIPT_LANGUAGES: tuple[Language, ...] = ("ale", "lua", "javascript")
_METHODS: tuple[Method, ...] = typing.get_args(Method)
_BACKOFFS: tuple[BackoffType, ...] = ("exponential", "linear", "fixed")
_SCOPES: tuple[Scope, ...] = typing.get_args(Scope)
_NEVER: tuple[typing.Literal["never"]] = ("never",)

Read = Callable[[Cursor], Any]

FIELDS: dict[str, tuple[str, ...]] = {
    "http": ("endpoint", "url", "method", "timeout", "health_check", "compensate", "callback_timeout", "recall"),
    "script": ("language", "script"),
    "flow": ("goals", "input_map", "output_map", *QUEUEING_FIELDS),
    "python": ("handler", "queue", "timeout", "compensate"),
    "run": ("dialect", "definition", *QUEUEING_FIELDS),
    "tool": ("name", "servers", "timeout"),
    "agent": AgentStep.__struct_fields__,
    "pipeline": PipelineStep.__struct_fields__,
    "predicate": ("language", "script", "scope"),
    "work_config": (
        *("max_retries", "init_backoff", "backoff", "max_backoff", "backoff_type"),
        *("parallelism", "retry", "retry_statuses"),
    ),
}


def read_predicate(cursor: Cursor) -> Predicate | None:
    found = read_script(cursor, LANGUAGES)
    if found is None:
        return None
    return Predicate(found.language, found.script, cursor.choice("scope", _SCOPES))


def read_work(cursor: Cursor) -> WorkConfig:
    found = WorkConfig(
        max_retries=cursor.number("max_retries"),
        init_backoff=_aliased_number(cursor, "init_backoff", "backoff") or limits.INIT_BACKOFF,
        max_backoff=cursor.number("max_backoff") or limits.MAX_BACKOFF,
        backoff_type=cursor.choice("backoff_type", _BACKOFFS),
        parallelism=cursor.number("parallelism") or limits.PARALLELISM,
        retry="never" if cursor.has("retry") and cursor.choice("retry", _NEVER) else "",
        retry_statuses=_statuses(cursor),
    )
    _check_work(cursor, found)
    if found.retry == "never":
        return found
    retries = found.max_retries or limits.MAX_RETRIES
    return WorkConfig(
        max_retries=retries,
        init_backoff=found.init_backoff,
        max_backoff=found.max_backoff,
        backoff_type=found.backoff_type,
        parallelism=found.parallelism,
        retry_statuses=found.retry_statuses,
    )


def _aliased_number(cursor: Cursor, field: str, alias: str) -> int:
    if cursor.has(field) and cursor.has(alias) and cursor.data[field] != cursor.data[alias]:
        cursor.note(alias, f"'{alias}' and '{field}' are the same field and differ", "keep one")
    return cursor.number(field) or cursor.number(alias)


def _statuses(cursor: Cursor) -> tuple[int, ...]:
    found = cursor.items("retry_statuses")
    good = [each for each in found if type(each) is int and 100 <= each <= 599]
    if len(good) != len(found):
        cursor.note("retry_statuses", "'retry_statuses' holds what is no HTTP status", "use numbers from 100 to 599")
    return tuple(sorted(set(good)))


def _check_work(cursor: Cursor, work: WorkConfig) -> None:
    if work.max_retries < -1:
        cursor.note("max_retries", f"'max_retries' is {work.max_retries}", "use -1 (unlimited), 0 (default) or more")
    if work.max_retries >= MAX_ATTEMPTS:
        cursor.note("max_retries", f"'max_retries' is {work.max_retries}", f"use up to {MAX_ATTEMPTS - 1}, or -1")
    for field in ("init_backoff", "max_backoff", "parallelism"):
        number: int = getattr(work, field)
        if number < 0:
            cursor.note(field, f"'{field}' is negative", "use 0 (default) or more")
        elif field != "parallelism" and number > MAX_CAP * 1000:
            cursor.note(field, f"'{field}' is {number}", f"use up to {MAX_CAP * 1000:.0f} ms, a day")
    if 0 <= work.max_backoff < work.init_backoff:
        what = f"'max_backoff' {work.max_backoff} is less than 'init_backoff' {work.init_backoff}"
        cursor.note("max_backoff", what, "raise 'max_backoff' or lower 'init_backoff'")
    if work.retry == "never" and work.max_retries > 0:
        cursor.note("retry", f"'retry' is 'never' and 'max_retries' is {work.max_retries}", "remove one")


def read_http(cursor: Cursor) -> Http:
    if cursor.has("url") and cursor.has("endpoint") and cursor.data["url"] != cursor.data["endpoint"]:
        cursor.note("url", "'url' and 'endpoint' are the same field and differ", "keep one")
    endpoint = cursor.text("url") if cursor.has("url") else cursor.text("endpoint", required=True)
    found = Http(
        endpoint=endpoint,
        method=cursor.choice("method", _METHODS),
        timeout=_positive(cursor.number("timeout")) or limits.HTTP_TIMEOUT,
        health_check=cursor.text("health_check"),
        compensate=cursor.text("compensate"),
        callback_timeout=cursor.number("callback_timeout"),
        recall=cursor.flag("recall", default=True),
    )
    if found.callback_timeout < 0:
        cursor.note("callback_timeout", "'callback_timeout' is negative", "use ms, or 0 for no limit")
    for field in ("endpoint", "health_check", "compensate"):
        address: str = getattr(found, field)
        if address and not address.startswith(("http://", "https://")):
            cursor.note(field, f"'{field}' is no HTTP address: {address[:80]}", "start it with http:// or https://")
    return found


def _positive(number: int) -> int:
    return max(number, 0)


def read_flow(cursor: Cursor) -> Flow:
    """Parses a flow, except its maps: they are shorthands for attributes, and read with these."""
    goals = cursor.items("goals")
    if not goals:
        cursor.note("goals", "the flow has no goals", "name at least one goal step")
    for index, goal in enumerate(goals):
        if not isinstance(goal, str) or not is_id(goal):
            cursor.inside("goals").note(str(index), f"goal {str(goal)[:80]!r} is no step id", RULE)
    return Flow(tuple(dict.fromkeys(goal for goal in goals if isinstance(goal, str))), **_queueing(cursor))


def read_python(cursor: Cursor) -> PythonCall:
    queue = cursor.text("queue")
    if queue and not is_queue(queue):
        cursor.note("queue", f"queue {queue[:80]!r} is no name of a queue", QUEUE_RULE)
    return PythonCall(
        handler=cursor.text("handler", required=True),
        queue=queue,
        timeout=_positive(cursor.number("timeout")),
        compensate=cursor.text("compensate"),
    )


def read_run(cursor: Cursor) -> ChildRun:
    if cursor.data.get("definition") is None:
        cursor.note("definition", "'definition' is missing", "add a name or a definition of that dialect")
    return ChildRun(cursor.text("dialect", required=True), cursor.data.get("definition"), **_queueing(cursor))


def _queueing(cursor: Cursor) -> dict[str, Any]:
    """The queue options of a step's run, if any."""
    given = {name: cursor.data[name] for name in QUEUEING_FIELDS if cursor.data.get(name) not in (None, "")}
    problem = flaw(given)
    if problem:
        cursor.note(
            "queue", f"the run can't be queued so: {problem}", "name a queue, and what it is to know of the run"
        )
        return {}
    return given


def read_tool(cursor: Cursor) -> ToolCall:
    servers = cursor.items("servers")
    if any(not isinstance(each, str) or not each for each in servers):
        cursor.note("servers", "'servers' holds what is no name", "name MCP servers, or leave it out")
    return ToolCall(
        name=cursor.text("name", required=True),
        servers=tuple(str(each) for each in servers),
        timeout=_positive(cursor.number("timeout")),
    )


def read_agent(cursor: Cursor) -> AgentStep | None:
    try:
        return read_agent_step(cursor.data)
    except ValueError as error:
        cursor.note("", f"this is no agent: {error}", "give at least a model and a prompt")
        return None


def read_pipeline(cursor: Cursor) -> PipelineStep | None:
    from plait.agents.pipelines.reading import examine  # imported here because most catalogs have no pipelines

    steps = cursor.items("steps")
    notes = examine(steps, cursor.at("steps"))[1]
    cursor.notes.extend(Note(note.pointer, note.what, note.fix or "see the guide of pipelines") for note in notes)
    return None if notes else PipelineStep(steps=tuple(steps), data=cursor.text("data"))


def read_script_config(cursor: Cursor) -> Any:
    return read_script(cursor, SCRIPT_LANGUAGES)


CONFIGS: dict[str, Read] = {
    "http": read_http,
    "script": read_script_config,
    "flow": read_flow,
    "python": read_python,
    "run": read_run,
    "tool": read_tool,
    "agent": read_agent,
    "pipeline": read_pipeline,
}

CONFIG_OF: dict[str, str] = {
    "sync": "http",
    "async": "http",
    "script": "script",
    "flow": "flow",
    "python": "python",
    "run": "run",
    "tool": "tool",
    "agent": "agent",
    "pipeline": "pipeline",
}
"""The sub-config of each type of step."""
