"""Decodes the answer of a worker: a value, or one of our errors."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw

from plait.kernel.values import Json
from plait.scripts.processes import Answer

from .errors import Code, JavaScriptCrash, JavaScriptError

_SHOWN: Final = 500
"""Characters of the input shown in an error."""


class _Problem(msgspec.Struct, frozen=True):
    code: Code
    message: str
    line: int = 0
    fix: str = ""


_values = msgspec.json.Decoder()
_problems = msgspec.json.Decoder(_Problem)


def value_of(answer: Answer, document: Raw) -> Json:
    """The returned value; an error is raised. A worker's answer is not trusted and is validated."""
    if answer.kind == b"V":
        return _value(answer)
    try:
        problem = _problems.decode(answer.body)
    except msgspec.DecodeError as error:
        raise JavaScriptCrash("code_crashed", f"the answer can't be read: {error}", printed=answer.printed) from None
    message = problem.message.replace("\0", "\ufffd")
    if problem.code == "code_error":
        message = f"{message} (input: {_start_of(document)})"
    raise JavaScriptError(problem.code, message, problem.line, printed=answer.printed, fix=problem.fix)


def _value(answer: Answer) -> Json:
    try:
        return _values.decode(answer.body)
    except RecursionError:
        why = "The result is nested too deep"
    except msgspec.DecodeError:  # everything else is written by `JSON.stringify`
        why = "The result has a string that is not Unicode: half of a surrogate pair"
    raise JavaScriptError("code_bad_output", why, printed=answer.printed)


def _start_of(document: Raw) -> str:
    text = bytes(document)[: 4 * _SHOWN].decode(errors="ignore")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
