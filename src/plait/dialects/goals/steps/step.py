"""A step as it is stored: with defaults filled in, aliases resolved, and attributes nested by role.

`reading.read_step` makes one from what people send; stored ones are decoded straight into these. A field at its
default is left out of the JSON, unless it is a number that may change with the engine; nothing is ever null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NewType, cast

import msgspec

from plait.agents.agent_step import AgentStep
from plait.agents.pipeline_step import PipelineStep
from plait.dialects.goals.limits import ID_LENGTH
from plait.kernel.queue_options import QUEUEING_FIELDS, defined
from plait.kernel.run_queues import ChildQueueing

from .attribute import Attribute, Language, Script

_SHOWN = 5
"""The number of differences that are listed."""

StepId = NewType("StepId", str)

RULE = "use a-z, 0-9, _ . + and -, with no - at either end"

_VALID = re.compile(r"(?!-)[a-z0-9_.+-]+(?<!-)")
_DROPPED = re.compile(r"[^a-z0-9_.+-]")

StepType = Literal["sync", "async", "script", "flow", "python", "run", "tool", "agent", "pipeline"]
Method = Literal["POST", "GET", "PUT", "DELETE"]
BackoffType = Literal["fixed", "linear", "exponential"]
Scope = Literal["both", "step", "item"]


class Predicate(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    language: Language
    script: str
    scope: Scope = "both"


class Http(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    endpoint: str
    method: Method
    timeout: int
    health_check: str = ""
    compensate: str = ""
    callback_timeout: int = 0
    recall: bool = True


class OnQueue(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A step that is a run of its own, which may wait on a queue first."""

    queue: str = ""
    priority: int | None = None
    """None: the priority of its parent run."""
    partition: str = ""
    dedup_id: str = ""
    delay_ms: int = 0

    @property
    def queueing(self) -> ChildQueueing | None:
        given = {name: getattr(self, name) for name in QUEUEING_FIELDS}
        return defined(
            {name: value for name, value in given.items() if value != ""} | {"delay_ms": self.delay_ms or None}
        )


class Flow(OnQueue, frozen=True, omit_defaults=True):
    """`input_map` and `output_map` are folded into the mapping of the attributes that they name."""

    goals: tuple[str, ...]


class PythonCall(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    handler: str
    queue: str = ""
    timeout: int = 0
    compensate: str = ""


class ChildRun(OnQueue, frozen=True, omit_defaults=True):
    dialect: str
    definition: Any


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A tool that an MCP server has; the inputs are its arguments."""

    name: str
    servers: tuple[str, ...] = ()
    """The servers to look for it on; empty: all that are configured."""
    timeout: int = 0


class WorkConfig(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    max_retries: int
    init_backoff: int
    max_backoff: int
    backoff_type: BackoffType
    parallelism: int
    retry: Literal["", "never"] = ""
    retry_statuses: tuple[int, ...] = ()


class Step(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    id: StepId
    name: str
    type: StepType
    attributes: dict[str, Attribute]
    work_config: WorkConfig
    predicate: Predicate | None = None
    http: Http | None = None
    script: Script | None = None
    flow: Flow | None = None
    python: PythonCall | None = None
    run: ChildRun | None = None
    tool: ToolCall | None = None
    agent: AgentStep | None = None
    pipeline: PipelineStep | None = None
    memoizable: bool = False
    labels: dict[str, str] = {}

    def inputs(self) -> Iterator[tuple[str, Attribute]]:
        """The inputs of the step: required, optional, const and meta."""
        return ((name, each) for name, each in self.attributes.items() if each.goes_in)

    def outputs(self) -> Iterator[tuple[str, Attribute]]:
        return ((name, each) for name, each in self.attributes.items() if not each.goes_in)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names that its scripts see, in the order in which they get them."""
        return tuple(sorted(each.inner(name) for name, each in self.inputs()))

    @property
    def compensate(self) -> str:
        """The endpoint or handler that compensates it, or an empty string."""
        config = self.http or self.python
        return config.compensate if config is not None else ""


def emitted(step: Step) -> dict[str, Any]:
    """The step as JSON data."""
    return msgspec.to_builtins(step)


def differences(old: Step, new: Step) -> list[str]:
    """Where two steps differ, as dotted paths: `http.endpoint`. The first few, in order."""
    found = sorted(_walk(emitted(old), emitted(new), ""))
    return [*found[:_SHOWN], "…"] if len(found) > _SHOWN else found


def _walk(old: Any, new: Any, path: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        for key in before.keys() | after.keys():
            where = f"{path}.{key}" if path else key
            if key in before and key in after:
                yield from _walk(before[key], after[key], where)
            else:
                yield where
    elif old != new:
        yield path


# -- ids ---------------------------------------------------------------------------------------------------------------


def is_id(text: str) -> bool:
    return len(text) <= ID_LENGTH and _VALID.fullmatch(text) is not None


def clean(text: str) -> str:
    """Lower case, a space as `-`, other characters dropped, no `-` at the ends; may be empty."""
    return _DROPPED.sub("", text.lower().replace(" ", "-")).strip("-")
