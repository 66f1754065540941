"""The action of a step: exactly one of six kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final, Literal, cast

import msgspec

from plait.agents.agent_step import AgentStep, read_agent_step
from plait.definitions.flaws import MOST
from plait.definitions.nearest import nearest
from plait.definitions.shape import shown
from plait.kernel.queue_options import QUEUEING_FIELDS, defined, flaw
from plait.kernel.run_queues import ChildQueueing

Kind = Literal["tool", "code", "return", "function", "workflow", "agent"]

KEYS: Final[Mapping[str, Kind]] = {
    "toolName": "tool",
    "code": "code",
    "return": "return",
    "function": "function",
    "workflow": "workflow",
    "agent": "agent",
}
_ALSO: Final[Mapping[Kind, tuple[str, ...]]] = {
    "tool": ("transformCode",),
    "code": (),
    "return": (),
    "function": ("transformCode",),
    "workflow": ("wait", "transformCode", *QUEUEING_FIELDS),
    "agent": ("transformCode",),
}
COMPENSATORS: Final = ("tool", "code", "function")
"""Kinds that may compensate a step."""

Note = Callable[[str, str], None]
"""Called with a path below the action and the flaw there."""


class Action(msgspec.Struct, frozen=True):
    kind: Kind
    name: str = ""
    """The name of the tool or the function."""
    code: str = ""
    transform: str = ""
    workflow: Any = None
    """`name@version-or-tag`, or `{"dialect", "definition"}`."""
    wait: bool = True
    queueing: ChildQueueing | None = None
    """The queue that a child run waits on first, if any."""
    agent: AgentStep | None = None


def read_action(written: Mapping[str, Any], note: Note) -> Action | None:
    """Parses an action; None if it is invalid, which is noted."""
    written = {key: value for key, value in written.items() if value is not None}
    kinds = [key for key in KEYS if key in written]
    if "signalName" in written:
        note("/signalName", "waiting for a message with `signalName` is not available. Use a tool or a function.")
        return None
    if not kinds:
        note("", f"the action has no kind. Give one of {', '.join(f'`{key}`' for key in KEYS)}.")
        return None
    if len(kinds) > 1:
        note("", f"the action has {' and '.join(f'`{key}`' for key in kinds)}. Keep one.")
        return None
    return _read(kinds[0], written, note)


def _read(key: str, written: Mapping[str, Any], note: Note) -> Action | None:
    kind, sound = KEYS[key], True
    for field in islice((field for field in written if field != key and field not in _ALSO[kind]), MOST):
        meant = nearest(field, (key, *_ALSO[kind]))
        fix = f"Did you mean `{meant}`?" if meant is not None else "Remove it."
        note(f"/{field}", f"unknown field `{field}` of an action with `{key}`. {fix}")
        sound = False
    for field, wanted in (("transformCode", str), ("wait", bool)):
        if field in written and not isinstance(written[field], wanted):
            what = "a string" if wanted is str else "true or false"
            note(f"/{field}", f"`{field}` must be {what}, got {shown(written[field])}.")
            sound = False
    if kind == "workflow" and (problem := flaw(written)):
        note("/queue", f"the run can't be queued so: {problem}.")
        return None
    if kind == "agent" and isinstance(written[key], dict) and (problem := _agent_problem(written[key])):
        note(f"/{key}", f"`{key}` can't be used: {problem}.")
        return None
    if not _fits(kind, written[key]):
        note(f"/{key}", f"`{key}` must be {_WANTED[kind]}, got {shown(written[key])}.")
        return None
    return _made(kind, written[key], written) if sound else None


_WANTED: Final[Mapping[Kind, str]] = {
    "tool": "the name of a tool",
    "code": "JavaScript or TypeScript with a default export",
    "return": "true",
    "function": "the name of a registered function",
    "workflow": 'a name or {"dialect", "definition"}',
    "agent": 'an object with at least "model" and "prompt"',
}


def _fits(kind: Kind, value: Any) -> bool:
    if kind == "return":
        return value is True
    if kind == "workflow" and isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return fields.keys() == {"dialect", "definition"} and isinstance(fields["dialect"], str)
    if kind == "agent":
        return _agent(value) is not None
    return isinstance(value, str) and bool(value)


def _agent_problem(value: Any) -> str:
    try:
        read_agent_step(value)
    except ValueError as error:
        return str(error)
    return ""


def _agent(value: Any) -> AgentStep | None:
    try:
        return read_agent_step(value)
    except ValueError:
        return None


def _made(kind: Kind, value: Any, written: Mapping[str, Any]) -> Action:
    return Action(
        kind=kind,
        name=value if kind in ("tool", "function") else "",
        code=value if kind == "code" else "",
        transform=written.get("transformCode", ""),
        workflow=value if kind == "workflow" else None,
        wait=written.get("wait", True),
        queueing=defined(written) if kind == "workflow" else None,
        agent=_agent(value) if kind == "agent" else None,
    )
