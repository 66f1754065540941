"""`plait`: the list of its commands, and what becomes of their errors.

Commands are loaded when they are called: `plait --help` must not wait for the engine to be imported.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any, get_args

import typer
import typer.core
import typer.main

from plait.extras import extra

from . import exits
from .command import Command, Section
from .extensions import contributed
from .extensions import load as load_place

_OWN = (
    Command("Run", "run", "Run a definition to its end, with live progress.", "plait.cli.run:run"),
    Command("Run", "dev", "Engine, API and web UI on this machine, with a demo.", "plait.cli.serve:dev"),
    Command("Run", "serve", "Engine, API and web UI in one process.", "plait.cli.serve:serve"),
    Command("Run", "worker", "Do the tasks of queues, for a server or a database.", "plait.cli.worker:worker"),
    Command("Run", "demo", "Watch a few runs, a crash and a recovery.", "plait.cli.demo.command:demo"),
    Command("Run", "check", "Check code and steps, also against the live runs.", "plait.cli.check:check"),
    Command("Inspect", "runs", "List runs, newest first.", "plait.cli.inspect:runs"),
    Command("Inspect", "show", "Show a run: input, operations, output.", "plait.cli.inspect:show"),
    Command("Inspect", "events", "Print the event log of a run.", "plait.cli.inspect:events"),
    Command("Inspect", "logs", "Print the log lines of a run's tasks.", "plait.cli.logs:logs"),
    Command("Inspect", "diff", "Compare two runs.", "plait.cli.diff:diff"),
    Command("Inspect", "definitions", "List definitions, with versions and tags.", "plait.cli.definitions:definitions"),
    Command("Inspect", "why", "Explain why a run is not moving, and what to do.", "plait.cli.inspect:why"),
    Command("Control", "cancel", "Cancel a run.", "plait.cli.control:cancel"),
    Command("Control", "compensate", "Compensate the steps of an ended run.", "plait.cli.control:compensate"),
    Command("Control", "retry", "Retry a failed or blocked run, or a part of one.", "plait.cli.control:retry"),
    Command("Control", "fork", "Start a new run with the past of another.", "plait.cli.control:fork"),
    Command("Control", "message", "Send a message to a run.", "plait.cli.control:message"),
    Command("Control", "approve", "Decide an approval; without ID, list them.", "plait.cli.approve:approve"),
    Command("Maintain", "dlq", "Dead letters: list, show, retry, discard.", "plait.cli.dead_letters:dlq"),
    Command("Maintain", "keys", "API keys of the server: create, list, revoke.", "plait.cli.keys:keys"),
    Command("Maintain", "doctor", "Examine a database and its engines, or a server.", "plait.cli.doctor:doctor"),
    Command("Maintain", "version", "Print the versions of Plait and its parts.", "plait.cli.versions:version"),
)

COMMANDS = {command.name: command for command in (*_OWN, *contributed())}


class Contents(typer.core.TyperGroup):
    """Knows its commands by name, and imports one when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return load(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise _unknown(args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for section in get_args(Section):
            with formatter.section(section):
                formatter.write_dl([(each.name, each.help) for each in COMMANDS.values() if each.section == section])


def load(name: str) -> Any:
    """The command of that name, ready to be called."""
    listed = COMMANDS[name]
    with extra("server", f"`plait {name}`"):  # all that a command may lack, once the command line itself is here
        found = load_place(listed.place)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, context_settings=_HELP)(found)
        found = single
    command: Any = typer.main.get_command(found)
    command.name, command.short_help = name, listed.help
    return command


def _unknown(name: str) -> Exception:
    import difflib

    from plait.kernel.errors import InvalidInput

    near = difflib.get_close_matches(name, COMMANDS, 1)
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
