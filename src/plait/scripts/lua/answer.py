"""Decodes the answer of a worker: a value, or one of our errors."""

from __future__ import annotations

from typing import Literal, assert_never

import msgspec

from plait.kernel.values import Json
from plait.scripts.processes import Answer

from .errors import LuaCompileError, LuaCrash, LuaError, LuaLimitError, LuaResultError, LuaRuntimeError

_VALUE = b"V"


class _Problem(msgspec.Struct, frozen=True):
    kind: Literal["compile", "error", "instructions", "memory", "result", "too_large"]
    message: str


_values = msgspec.json.Decoder()
_problems = msgspec.json.Decoder(_Problem)


def value_of(answer: Answer) -> Json:
    """The returned value; an error is raised. A worker's answer is not trusted and is validated."""
    try:
        if answer.kind == _VALUE:
            return _values.decode(answer.body)
        problem = _problems.decode(answer.body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise LuaCrash("crashed", f"the answer can't be read: {error}", printed=answer.printed) from None
    raise _error(problem, answer.printed)


def _error(problem: _Problem, printed: tuple[str, ...]) -> LuaError:
    message = problem.message.replace("\0", "\ufffd")
    match problem.kind:
        case "compile":
            return LuaCompileError("syntax", message, printed=printed)
        case "error":
            return LuaRuntimeError("runtime", message, printed=printed)
        case "instructions":
            return LuaLimitError("instruction_limit", message, printed=printed)
        case "memory":
            return LuaLimitError("memory_limit", message, printed=printed)
        case "result":
            return LuaResultError("not_json", message, printed=printed)
        case "too_large":
            return LuaLimitError("result_too_large", message, printed=printed)
        case _:
            assert_never(problem.kind)
