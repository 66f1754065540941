"""Exceptions as data, and back: an exception of a step must look the same after a restart.

An exception is stored as its type, message, scalar arguments and attributes. It is raised again as the same class if
that class is in a loaded module and can be created without running its constructor; otherwise the caller decides what
to raise.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from .errors import ErrorInfo, PlaitError
from .task import TaskError

_SCALARS = (str, int, float, bool, type(None))
_MAX_TEXT = 4_000
_MAX_DEPTH = 8
"""Levels of nested causes and of nested groups."""
_MAX_PARTS = 50


Describe = Callable[[BaseException, int], ErrorInfo]
"""Makes data of the exceptions within another one. The number is the level of nesting."""


def describe(
    error: BaseException, *, kind: str = "error", code: str = "", depth: int = 0, within: Describe | None = None
) -> ErrorInfo:
    """Keeps what is needed to show an exception and to raise it again, with its causes, parts and notes."""
    within = within or _within
    code = code or (error.code if isinstance(error, PlaitError | TaskError) else "task.failed")
    return ErrorInfo(
        code=code,
        message=_clean(error.text if isinstance(error, PlaitError) else _text(error)) or type(error).__name__,
        kind=kind,
        type=f"{type(error).__module__}:{type(error).__qualname__}",
        args=[_clean(item) for item in _arguments(error)],
        attrs={
            _clean(k): _clean(v) for k, v in vars(error).items() if isinstance(v, _SCALARS) and not k.startswith("__")
        },
        cause=cause_within(error, depth, within),
        parts=_parts(error, depth, within),
        trace=_clean(_where(error)),
        notes=notes_of(error),
    )


def _within(error: BaseException, depth: int) -> ErrorInfo:
    return describe(error, depth=depth)


def cause_within(error: BaseException, depth: int, within: Describe) -> ErrorInfo | None:
    cause = error.__cause__
    return None if cause is None or depth >= _MAX_DEPTH else within(cause, depth + 1)


def notes_of(error: BaseException) -> list[str]:
    return [_clean(str(note)) for note in getattr(error, "__notes__", ())][:_MAX_PARTS]


def _parts(error: BaseException, depth: int, within: Describe) -> dict[str, ErrorInfo]:
    """The exceptions of a group, numbered."""
    if not isinstance(error, BaseExceptionGroup) or depth >= _MAX_DEPTH:
        return {}
    exceptions: tuple[BaseException, ...] = cast("BaseExceptionGroup[BaseException]", error).exceptions
    return {str(number): within(part, depth + 1) for number, part in enumerate(exceptions[:_MAX_PARTS])}


def rebuild(info: ErrorInfo, member: Callable[[ErrorInfo], BaseException | None] | None = None) -> BaseException | None:
    """The exception as it was raised, or None if its class is not at hand. `member` makes its cause and those of a
    group."""
    module, _, qualname = info.type.partition(":")
    found: Any = _loaded(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        return None
    cls: type[BaseException] = found
    member = member or rebuild
    error = _rebuild_group(info, cls, member) if info.parts else _rebuild_one(info, cls)
    if error is None:
        return None
    return with_notes(error, info, member(info.cause) if info.cause is not None else None)


def with_notes(error: BaseException, info: ErrorInfo, cause: BaseException | None = None) -> BaseException:
    """The exception, raised from its cause, with the notes that were stored for it."""
    error.__cause__ = cause
    for note in info.notes:
        error.add_note(note)
    return error


def _loaded(module: str) -> object:
    """A module that is loaded. What was typed at the prompt of `python -m asyncio` names `__main__`, and is kept apart
    from it."""
    found = sys.modules.get(module)
    typed: dict[str, Any] | None = getattr(found, "repl_locals", None) if module == "__main__" else None
    return found if typed is None else SimpleNamespace(**typed)


def _rebuild_group(
    info: ErrorInfo, cls: type[BaseException], member: Callable[[ErrorInfo], BaseException | None]
) -> BaseException | None:
    parts = [member(part) or Exception(part.message) for part in info.parts.values()]
    try:
        return cls(*info.args, parts)
    except Exception:
        return None


def _rebuild_one(info: ErrorInfo, cls: type[BaseException]) -> BaseException | None:
    try:
        error = cls.__new__(cls, *info.args)
        if not (isinstance(error, OSError) and error.args):  # OSError has already unpacked its arguments
            error.args = tuple(info.args) or (() if info.message == cls.__name__ else (info.message,))
        for name, value in info.attrs.items():
            setattr(error, name, value)
        # Some classes have no text unless their constructor ran
        return error if str(error) or info.message == cls.__name__ else None
    except Exception:
        return None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a broken `__str__` must not lose the failure
        return ""


def _arguments(error: BaseException) -> tuple[Any, ...]:
    """All arguments or none: half of them would make another error."""
    try:
        # Only `__reduce__` includes the file name, if one was given
        if isinstance(error, BaseExceptionGroup):
            return (cast("BaseExceptionGroup[BaseException]", error).message,)
        found = error.__reduce__()[1] if isinstance(error, OSError) else error.args
        return tuple(found) if all(isinstance(item, _SCALARS) for item in found) else ()
    except Exception:
        return ()


def _where(error: BaseException) -> str:
    frames = list(traceback.walk_tb(error.__traceback__))[-3:]
    return "; ".join(f"{each.f_code.co_filename}:{line} in {each.f_code.co_name}" for each, line in frames)


def storable(text: str, most: int = _MAX_TEXT) -> str:
    """The text of an exception, made storable in every database."""
    return text[:most].replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value
