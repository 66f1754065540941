"""`plait`: the list of its commands, and what becomes of their errors.

Commands are loaded when they are called: `plait --help` must not wait for the engine to be imported.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Sequence
from typing import Any

import typer
import typer.core
import typer.main

from . import exits

COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Run": {
        "run": ("run:run", "Run a workflow, or goals, to the end, with live progress."),
        "dev": ("serve:dev", "Engine, API and web UI on this machine, with a demo."),
        "serve": ("serve:serve", "Engine, API and web UI in one process."),
        "demo": ("demo.command:demo", "Watch a few runs, a crash and a recovery."),
        "check": ("check:check", "Does the code fit the live runs? Are the steps right?"),
    },
    "Look": {
        "plan": ("plan:plan", "Say what a run towards goals would do."),
        "catalog": ("catalog:catalog", "The steps that goals are planned with: list, show, rm."),
        "runs": ("inspect:runs", "List runs, newest first."),
        "show": ("inspect:show", "Show a run: input, operations, output."),
        "events": ("inspect:events", "Print the event log of a run."),
        "logs": ("logs:logs", "Print what the tasks of a run said."),
        "diff": ("diff:diff", "Say what differs between two runs."),
        "definitions": ("definitions:definitions", "List what can be started, with versions and tags."),
        "why": ("inspect:why", "Say why a run is not moving, and what to do."),
    },
    "Tell": {
        "cancel": ("control:cancel", "End a run."),
        "compensate": ("control:compensate", "Undo what the steps of an ended run did."),
        "retry": ("control:retry", "Go on with a failed or blocked run, or redo a part of one."),
        "fork": ("control:fork", "Start a new run with the past of another."),
        "message": ("control:message", "Send a message to a run."),
        "approve": ("approve:approve", "Answer what a run asks a person; without ID, list the questions."),
    },
    "Care": {
        "dlq": ("dead_letters:dlq", "Tasks that used up their attempts: list, show, retry, discard."),
        "keys": ("keys:keys", "API keys of the server: create, list, revoke."),
        "doctor": ("doctor:doctor", "Examine the database and what works on it, or a server."),
        "version": ("versions:version", "Print the versions of Plait and its parts."),
    },
}
"""By section: a command's module and name, and what it does."""

_ENTRIES = {name: entry for section in COMMANDS.values() for name, entry in section.items()}


class Contents(typer.core.TyperGroup):
    """Knows its commands by name, and imports one when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_ENTRIES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return load(cmd_name) if cmd_name in _ENTRIES else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in _ENTRIES and not args[0].startswith("-"):
            raise _unknown(args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, section in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, about) for name, (_, about) in section.items()])


def load(name: str) -> Any:
    """The command of that name, ready to be called."""
    place, about = _ENTRIES[name]
    module, _, attribute = place.partition(":")
    found: Any = getattr(importlib.import_module(f"plait.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, context_settings=_HELP)(found)
        found = single
    command: Any = typer.main.get_command(found)
    command.name, command.short_help = name, about
    return command


def _unknown(name: str) -> Exception:
    import difflib

    from plait.kernel.errors import InvalidInput

    near = difflib.get_close_matches(name, _ENTRIES, 1)
    fix = f"did you mean `plait {near[0]}`? `plait --help` lists all" if near else "`plait --help` lists them"
    return InvalidInput("cli.usage", f"there is no command `{name}`", fix=fix)


_HELP = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="plait",
    cls=Contents,
    help="Plait: durable workflows for Python.",
    epilog=exits.EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_HELP,
)


@app.callback()
def _root() -> None:  # pyright: ignore[reportUnusedFunction]
    """Plait: durable workflows for Python."""


def main(args: Sequence[str] | None = None) -> None:
    """The entry point of the `plait` command."""
    given = list(sys.argv[1:] if args is None else args)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(_run(given))


def _run(args: list[str]) -> int:
    command: Any = typer.main.get_command(app)
    try:
        code = command.main(args=args, prog_name="plait", standalone_mode=False)
    except Exception as error:
        from .errors import report

        return report(error, json="--json" in args)
    return code if isinstance(code, int) else exits.OK


if __name__ == "__main__":
    main()
