"""`plait`: the list of its commands, and the handling of their errors.

Commands are loaded when they are called: `plait --help` must not wait for the engine to be imported.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Annotated, Any, get_args

import typer
import typer.core
import typer.main

from plait.extras import extra

from . import exits, own_dialects
from .command import Command, Section
from .extensions import contributed
from .extensions import load as load_place

_OWN = (
    Command("Run", "run", "Run a definition to its end, with live progress.", "plait.cli.run:run"),
    Command("Run", "dev", "Engine, API and web UI on this machine, with a demo.", "plait.cli.serve:dev"),
    Command("Run", "serve", "Engine, API and web UI, in one process or several.", "plait.cli.serve:serve"),
    Command("Run", "mcp", "Speak MCP, for clients that start it as a command.", "plait.cli.mcp:mcp"),
    Command("Run", "worker", "Run the tasks of queues, for a server or a database.", "plait.cli.worker:worker"),
    Command("Run", "pipeline", "Run a data pipeline on tables, without a run.", "plait.cli.pipeline:pipeline"),
    Command("Run", "demo", "Watch a few runs, a crash and a recovery.", "plait.cli.demo.command:demo"),
    Command("Run", "check", "Check code and steps, also against the live runs.", "plait.cli.check:check"),
    Command("Inspect", "runs", "List runs, newest first.", "plait.cli.inspect:runs"),
    Command("Inspect", "show", "Show a run: input, operations, output.", "plait.cli.inspect:show"),
    Command("Inspect", "events", "Print the event log of a run.", "plait.cli.inspect:events"),
    Command("Inspect", "logs", "Print the log lines of a run's tasks.", "plait.cli.logs:logs"),
    Command("Inspect", "diff", "Compare two runs.", "plait.cli.diff:diff"),
    Command("Inspect", "definitions", "List definitions, with versions and tags.", "plait.cli.definitions:definitions"),
    Command("Inspect", "plan", "Show what a run would do, before it is started.", "plait.cli.plan:plan"),
    Command("Inspect", "why", "Explain why a run is not moving, and what to do.", "plait.cli.inspect:why"),
    Command("Inspect", "query", "Ask a run's code something; changes nothing.", "plait.cli.answers:query"),
    Command("Inspect", "approvals", "List approvals, open or decided.", "plait.cli.approvals:approvals"),
    Command("Control", "cancel", "Cancel a run.", "plait.cli.control:cancel"),
    Command("Control", "compensate", "Compensate the steps of an ended run.", "plait.cli.control:compensate"),
    Command("Control", "retry", "Retry a failed or blocked run, or a part of one.", "plait.cli.control:retry"),
    Command("Control", "fork", "Start a new run with the past of another.", "plait.cli.control:fork"),
    Command("Control", "patch", "Change the definition of one run.", "plait.cli.patch:patch"),
    Command("Control", "message", "Send a message to a run.", "plait.cli.control:message"),
    Command("Control", "update", "Have a run's code handle an update.", "plait.cli.answers:update"),
    Command("Control", "approve", "Decide an approval; without ID, list them.", "plait.cli.approve:approve"),
    Command("Control", "schedules", "Schedules: list, set, preview, pause, trigger.", "plait.cli.schedules:schedules"),
    Command("Maintain", "save", "Save a definition as a version of a name.", "plait.cli.save:save"),
    Command("Maintain", "tag", "Tags of definitions: list, move, undo, redo.", "plait.cli.tag:tag"),
    Command("Maintain", "dlq", "Dead letters: list, show, retry, discard.", "plait.cli.dead_letters:dlq"),
    Command("Maintain", "queues", "Queues: list, show, set limits, pause, resume.", "plait.cli.queues:queues"),
    Command("Maintain", "keys", "API keys of the server, and encryption keys.", "plait.cli.keys:keys"),
    Command("Maintain", "erase", "Make the values of one subject unreadable.", "plait.cli.erase:erase"),
    Command("Maintain", "retention", "How long ended runs are kept.", "plait.cli.retention:retention"),
    Command("Maintain", "backup", "Write a database to a file, while engines work.", "plait.cli.backup:backup"),
    Command("Maintain", "restore", "Create a database from a backup.", "plait.cli.backup:restore"),
    Command("Maintain", "drain", "Start no new runs on a version; how many are left.", "plait.cli.drain:drain"),
    Command("Maintain", "tools", "Tools that pipelines were promoted to.", "plait.cli.tools:tools"),
    Command("Maintain", "doctor", "Check a database and its engines, or a server.", "plait.cli.doctor:doctor"),
    Command("Maintain", "version", "Print the versions of Plait and its parts.", "plait.cli.versions:version"),
)


def commands() -> dict[str, Command]:
    """Returns the commands by name; also those of the user's own dialects, once their module is loaded."""
    found: dict[str, Command] = {}
    for command in (*_OWN, *contributed()):
        if command.name in found:
            raise _taken(command)
        found[command.name] = command
    return found


class Contents(typer.core.TyperGroup):
    """A group that knows its commands by name and imports one when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return load(cmd_name) if cmd_name in commands() else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in commands() and not args[0].startswith("-"):
            raise _unknown(args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        listed = commands().values()
        for section in get_args(Section):
            with formatter.section(section):
                formatter.write_dl([(each.name, each.help) for each in listed if each.section == section])


def load(name: str) -> Any:
    """Returns the command of that name, ready to be called."""
    listed = commands()[name]
    with extra("server", f"`plait {name}`"):  # the only extra that a command may lack, since `cli` is installed
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

    near = difflib.get_close_matches(name, commands(), 1)
    fix = f"did you mean `plait {near[0]}`? `plait --help` lists all" if near else "`plait --help` lists them"
    return InvalidInput("cli.usage", f"there is no command `{name}`", fix=fix)


def _taken(command: Command) -> Exception:
    from plait.kernel.errors import InvalidInput

    return InvalidInput(
        "cli.command_taken",
        f"there are two commands `{command.name}`",
        why=f"{command.place} is one of them",
        fix="give the command of your dialect another name",
    )


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


def _load_modules(names: list[str] | None) -> None:
    """Loads modules while options are parsed, so that the commands of their dialects can be called and listed."""
    if names:
        from .loading import load_module

        for name in names:
            load_module(name)


def _print_version(wanted: bool) -> None:
    if wanted:
        from plait import __version__

        typer.echo(f"plait {__version__}")
        raise typer.Exit


@app.callback()
def _root(  # pyright: ignore[reportUnusedFunction]
    module: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE",
            help="Load a module or file first: its dialects, with their commands.",
            callback=_load_modules,
            is_eager=True,
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
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
    own_dialects.forget()
    try:
        code = command.main(args=args, prog_name="plait", standalone_mode=False)
    except Exception as error:
        from .errors import report

        return report(error, json="--json" in args)
    return code if isinstance(code, int) else exits.OK


if __name__ == "__main__":
    main()
