"""Conditions of the type `python_sandbox`: calls `evaluate(output, context)` of the code in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

from plait.conditions import Problem, SandboxCall, Verdict
from plait.kernel.values import Json

from .errors import Kind, PythonError
from .limits import PythonLimits
from .sandbox import PythonSandbox

_CALL: Final = "\nevaluate(__output, __context)"
"""The names are reserved by the sandbox: code may use `output` for its own purposes."""


class ConditionSandbox:
    def __init__(self, sandbox: PythonSandbox) -> None:
        self._sandbox = sandbox

    async def evaluate(self, call: SandboxCall, output: Json, context: Mapping[str, Any]) -> Verdict:
        limits = PythonLimits(call.timeout_ms / 1000, call.max_memory_mb << 20)
        try:
            found = await self._sandbox.run(call.code + _CALL, {"__output": output, "__context": dict(context)}, limits)
        except PythonError as error:
            return _failed(_code(error.kind), error.what)
        if isinstance(found, bool):
            return Verdict(found)
        return _failed("not_boolean", "`evaluate` returned neither True nor False")


def _code(kind: Kind) -> str:
    match kind:
        case "time_limit":
            return "sandbox_timeout"
        case "memory_limit":
            return "sandbox_memory"
        case "unavailable":
            return "sandbox_unavailable"
        case "runtime" | "syntax" | "crashed":
            return "sandbox_error"
        case _:
            assert_never(kind)


def _failed(code: str, message: str) -> Verdict:
    return Verdict(None, Problem(f"condition.{code}", message))
