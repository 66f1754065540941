"""Structured logs for our own processes: lines from `logging` and from structlog have the same form.

    at, level, logger, event | pid if there are several processes | run_id, node, attempt in a step |
    request_id in a request | the caller's own fields

Lines are JSON if the stream is not a terminal, coloured if it is. Secrets are masked. Nothing here ever raises into
the code that logs: a record that can't be formatted becomes a simpler line.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from types import TracebackType
from typing import Any, Literal, TextIO, cast

from plait.extras import extra
from plait.kernel.errors import InvalidInput
from plait.kernel.task import current_attempt

from .masking import clean, masked, printed

with extra("server", "structured logging"):
    import structlog
    from structlog.typing import EventDict, Processor

Format = Literal["auto", "json", "console"]
_Failure = tuple[type[BaseException], BaseException, TracebackType | None]

_FIRST = ("at", "level", "logger", "event", "pid", "run_id", "node", "attempt", "request_id")
_ACCESS = ("client", "method", "path", "http_version", "status")
_UVICORN = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")


def configure(
    format: Format = "auto", level: str | int = "info", stream: TextIO | None = None, *, several: bool = False
) -> None:
    """Sets up logging for the whole process; another call replaces the earlier setup. `several`: processes forked from
    this one write to the same stream, and each line has its process id."""
    number = _level(level)
    out = sys.stderr if stream is None else stream
    as_json = format == "json" or (format == "auto" and not out.isatty())
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_facts(several),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if isinstance(handler, _Output)]:
        root.removeHandler(old)
    root.addHandler(_Output(out, as_json, several))
    root.setLevel(number)
    logging.captureWarnings(True)
    for name in _UVICORN:  # otherwise it installs its own handlers
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True


def _level(level: str | int) -> int:
    number = logging.getLevelNamesMapping().get(level.upper()) if isinstance(level, str) else level
    if number is None:
        raise InvalidInput("observe.bad_level", f"log level {level!r}", fix="use debug, info, warning or error")
    return number


class _Output(logging.StreamHandler[TextIO]):
    def __init__(self, stream: TextIO, as_json: bool, several: bool) -> None:
        super().__init__(stream)
        renderer = _json if as_json else structlog.dev.ConsoleRenderer(colors=stream.isatty(), timestamp_key="at")
        self.setFormatter(
            structlog.stdlib.ProcessorFormatter(
                foreign_pre_chain=_facts(several),
                pass_foreign_args=True,
                processors=[
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    _failure if as_json else _failure_as_text,
                    _arranged,
                    cast("Processor", renderer),
                ],
            )
        )

    def handleError(self, record: logging.LogRecord) -> None:
        """Prints as much of the record as possible when logging itself fails, and never raises."""
        error = sys.exc_info()[1]
        try:
            line = {
                "level": record.levelname.lower(),
                "logger": record.name,
                "event": clean(record.msg),
                "unformatted": printed(error),
            }
            self.stream.write(json.dumps(line) + self.terminator)
            self.flush()
        except Exception:
            return  # the stream is closed: there is nowhere to report it


# -- what a line holds ---------------------------------------------------------------------------------------------


def _facts(several: bool) -> list[Processor]:
    return [
        *([_whose] if several else []),
        structlog.contextvars.merge_contextvars,
        _where,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _filled_in,
    ]


def _whose(_: Any, __: str, event: EventDict) -> EventDict:
    event["pid"] = os.getpid()
    return event


def _where(_: Any, __: str, event: EventDict) -> EventDict:
    """Adds the step that logs."""
    attempt = current_attempt.get()
    if attempt is not None:
        event["run_id"], event["attempt"] = attempt.run_id, attempt.number
        event["node"] = attempt.task.node or attempt.task.token
    return event


def _filled_in(_: Any, __: str, event: EventDict) -> EventDict:
    """Formats structlog's `log.info("%s of %s", a, b)`. `logging` has formatted its own; uvicorn's get fields."""
    args: Any = event.pop("positional_args", None)
    if "_record" in event:
        for left in ("message", "asctime", "color_message"):  # from handlers that ran before, and from uvicorn
            event.pop(left, None)
        if event["logger"] == "uvicorn.access" and isinstance(args, tuple):
            event.update(zip(_ACCESS, cast("tuple[object, ...]", args), strict=False))
    elif args:
        try:
            event["event"] = event["event"] % args
        except Exception:
            event["args"] = args
    return event


def _failed_with(event: EventDict) -> _Failure | None:
    given: Any = event.pop("exc_info", None)
    if isinstance(given, BaseException):
        return type(given), given, given.__traceback__
    if isinstance(given, tuple):
        return cast("_Failure", given) if given[0] is not None else None
    if given:
        kind, error, trace = sys.exc_info()
        return (kind, error, trace) if kind is not None and error is not None else None
    return None


def _failure(_: Any, __: str, event: EventDict) -> EventDict:
    """Turns an exception into fields."""
    found = _failed_with(event)
    if found is not None:
        kind, error, _trace = found
        fields = {"type": kind.__qualname__, "message": printed(error, str), "trace": _traced(found)}
        code = getattr(error, "code", None)
        event["exception"] = fields if not isinstance(code, str) else {**fields, "code": code}
    return event


def _failure_as_text(_: Any, __: str, event: EventDict) -> EventDict:
    found = _failed_with(event)
    if found is not None:
        event["exception"] = _traced(found)
    return event


def _traced(failure: _Failure) -> str:
    try:
        return "".join(traceback.format_exception(*failure)).rstrip()
    except Exception as error:  # an exception that can't be printed
        return f"no traceback: {type(error).__name__}"


def _arranged(_: Any, __: str, event: EventDict) -> EventDict:
    """Puts the same fields first in every line, masks secrets, and makes every value printable."""
    first = {name: event.pop(name) for name in _FIRST if name in event}
    return cast("dict[str, Any]", clean({**first, **event}))


def _json(_: Any, __: str, event: EventDict) -> str:
    return json.dumps(event)


# -- for others who keep what is logged ------------------------------------------------------------------------------


def text_of(record: logging.LogRecord) -> str:
    """Returns a record as one text: its message, the values that structlog bound to it, its exception."""
    message: object = record.msg
    try:
        fields = _of_structlog(message)
        if fields is None:
            text, failure = record.getMessage(), _failed_with({"exc_info": record.exc_info})
        else:
            told = [f"{name}={printed(clean({name: fields[name]})[name])}" for name in fields if name not in _KNOWN]
            text, failure = " ".join([printed(fields.get("event", ""), str), *told]), _failed_with(fields)
    except Exception:  # arguments that don't fit the message, or that can't be printed
        text, failure = printed(message), None
    return masked(text if failure is None else f"{text}\n{_traced(failure)}")


def _of_structlog(message: object) -> dict[str, Any] | None:
    """Returns structlog's event: its loggers pass a dictionary instead of a text."""
    return cast("dict[str, Any]", message).copy() if isinstance(message, dict) else None


_KNOWN = frozenset({*_FIRST, "exc_info", "stack_info", "_record", "_from_structlog"})
