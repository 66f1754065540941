"""Maps the interpreter's errors to ours. Exception texts may contain values, so only types and lines are reported."""

from __future__ import annotations

from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

from .errors import PythonError
from .limits import PythonLimits

_OVER_TIME = "time limit exceeded"
_OVER_MEMORY = "memory limit exceeded"
_SHOWN = 80


def error_of(error: MontyError | OSError, limits: PythonLimits) -> PythonError:
    match error:
        case OSError():
            return PythonError("unavailable", f"the sandbox can't start: {error}")
        case MontyCrashedError() if error.timed_out:
            return _late(limits)
        case MontyCrashedError():
            return PythonError("crashed", "the worker of this code died")
        case MontySyntaxError():
            return PythonError("syntax", error.display("msg"), _line(error))
        case MontyRuntimeError():
            return _of_exception(error, limits)
        case _:
            return PythonError("runtime", "the result can't be read")


def _of_exception(error: MontyRuntimeError, limits: PythonLimits) -> PythonError:
    cause, text = error.exception(), error.display("msg")
    if isinstance(cause, TimeoutError) and _OVER_TIME in text:
        return _late(limits)
    if isinstance(cause, MemoryError) and _OVER_MEMORY in text:
        return PythonError("memory_limit", f"it took more than {limits.memory >> 20:,} MB", _line(error))
    frames = error.traceback()
    source = (frames[-1].source_line or "").strip() if frames else ""
    where = f" in `{source[:_SHOWN]}`" if source else ""
    return PythonError("runtime", f"{type(cause).__name__}{where}", _line(error), error.display("type-msg"))


def _late(limits: PythonLimits) -> PythonError:
    return PythonError("time_limit", f"it ran longer than {limits.seconds * 1000:,.0f} ms")


def _line(error: MontyRuntimeError | MontySyntaxError) -> int:
    frames = error.traceback()
    return frames[-1].line if frames else 0
