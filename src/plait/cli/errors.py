"""Errors as people and programs read them: one line, or a JSON document, on stderr."""

from __future__ import annotations

import sys
import traceback

import msgspec
import typer

from plait.kernel.errors import PlaitError

from . import exits


class Problem(msgspec.Struct, frozen=True):
    """An error for programs, similar to problem+json."""

    code: str
    title: str
    detail: str
    fix: str


def report(error: Exception, *, json: bool) -> int:
    """Prints an error; returns its exit code."""
    if isinstance(error, PlaitError):
        tell(error, json=json)
        return exits.REFUSED
    if isinstance(error, typer.Abort):
        return exits.INTERRUPTED
    if (usage := _usage(error)) is not None:
        if usage.what:
            tell(usage, json=json)
        return exits.REFUSED
    if json:
        problem = Problem("cli.bug", "a bug in Plait", f"{type(error).__name__}: {error}", "report it, please")
        print(msgspec.json.encode(problem).decode(), file=sys.stderr)
    else:
        traceback.print_exception(error)
        print("error: a bug in Plait. To fix: report it with the lines above [cli.bug]", file=sys.stderr)
    return exits.BUG


def tell(error: PlaitError, *, json: bool) -> None:
    if json:
        problem = Problem(error.code, error.what, error.why, error.fix)
        print(msgspec.json.encode(problem).decode(), file=sys.stderr)
    else:
        print(f"error: {error}", file=sys.stderr)


def _usage(error: Exception) -> PlaitError | None:
    """Rewords the parser's error about a command line; empty if the parser has shown the help instead."""
    parsers = typer.BadParameter.__mro__[2]  # the base of all its errors, private in some releases of typer
    if not isinstance(error, parsers):
        return None
    if type(error).__name__ == "NoArgsIsHelpError":
        getattr(error, "show", lambda: None)()
        return PlaitError("cli.usage", "")
    text = str(getattr(error, "format_message", lambda: str(error))()).rstrip(".").replace(": Value error, ", ": ")
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "plait"
    return PlaitError("cli.usage", text[:1].lower() + text[1:], fix=f"see `{path} --help`")
