"""The tool `delegate_to_agent`: hands work to another model, or to something that is not a language model.

`code_interpreter` is Python in the sandbox. A program adds others: `Engine(delegates={type: callable})`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.scripts.python import PythonError, PythonLimits, PythonSandbox

from .tool import ToolFault, ToolUse

DEEPEST: Final = 3
TYPES: Final = ("code_interpreter", "custom_container", "langchain_agent")
UNAVAILABLE: Final = "agent.delegate_unavailable"
_LIMITS: Final = PythonLimits(seconds=10.0)
_SHOWN: Final = 1_000
_PRINTED: Final = 8_000
"""Characters kept of what code printed."""


class Delegation(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a delegate."""

    agent_type: str
    inputs: Any
    container_image: str | None
    config: Mapping[str, Any]
    key: str
    """The same when the request is repeated after a crash."""
    depth: int
    """1 for what an agent of a workflow delegates; each further delegation adds one."""


Delegate = Callable[[Delegation], Any]
"""Async ones are awaited; plain ones run in a thread."""


class DelegateToAgent:
    name = "delegate_to_agent"
    description = (
        "Gives work to another agent: `code_interpreter` runs Python in `inputs.code` and answers its last value."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "agent_type": {"type": "string", "enum": list(TYPES)},
            "inputs": {"type": "object"},
            "container_image": {"type": "string", "maxLength": 500},
            "config": {"type": "object"},
        },
        "required": ["agent_type", "inputs"],
        "additionalProperties": False,
    }

    def __init__(self, delegates: Mapping[str, Delegate] | None = None) -> None:
        self._delegates = dict(delegates or {})
        self._sandbox = PythonSandbox()

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        if use.depth >= DEEPEST:
            raise ToolFault(f"work was delegated {use.depth} times already, {DEEPEST} are allowed")
        kind, inputs = str(arguments["agent_type"]), arguments["inputs"]
        delegate = self._delegates.get(kind)
        if delegate is not None:
            return await _delegated(delegate, _delegation(kind, arguments, use))
        if kind == "code_interpreter":
            return await self._interpreted(inputs, use)
        raise ToolFault(f"{UNAVAILABLE}: nobody here does the work of `{kind[:100]}`")

    async def close(self) -> None:
        await self._sandbox.stop()

    async def _interpreted(self, inputs: Mapping[str, Any], use: ToolUse) -> Any:
        code = inputs.get("code")
        if not isinstance(code, str) or not code.strip():
            raise ToolFault("`inputs.code` must be Python code")
        given = {"inputs": {name: each for name, each in inputs.items() if name != "code"}, "payload": use.payload}
        printed: list[str] = []
        try:
            result = await self._sandbox.run(code, given, _LIMITS, printed.append)
            answer = values.decode(values.encode(result))
        except PythonError as error:
            raise ToolFault(
                f"the code failed: {error.what}{f': {error.told}' if error.told else ''}"[:_SHOWN]
            ) from None
        except PlaitError as error:
            raise ToolFault(f"the code's value is not JSON: {error.why or error.what}"[:_SHOWN]) from None
        return {"result": answer, "printed": "".join(printed)[:_PRINTED].replace("\0", "")}


def _delegation(kind: str, arguments: Mapping[str, Any], use: ToolUse) -> Delegation:
    return Delegation(
        agent_type=kind,
        inputs=arguments["inputs"],
        container_image=arguments.get("container_image"),
        config=arguments.get("config") or {},
        key=use.key,
        depth=use.depth + 1,
    )


async def _delegated(delegate: Delegate, delegation: Delegation) -> Any:
    try:
        if inspect.iscoroutinefunction(delegate):
            result = await delegate(delegation)
        else:
            result = await asyncio.to_thread(delegate, delegation)
        return values.decode(values.encode(result))
    except ToolFault:
        raise
    except Exception as error:  # whatever went wrong, the model may try something else
        raise ToolFault(f"`{delegation.agent_type}` failed: {type(error).__name__}: {error}"[:_SHOWN]) from error
