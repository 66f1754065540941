"""`plait pipeline`: data pipelines without a run."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from plait.agents import PipelineError
from plait.agents import pipeline as run_pipeline
from plait.agents.pipelines.limits import MOST_VALUES

from . import exits
from .egress import egress_of
from .options import Json, read_json
from .output import emit, note
from .session import do

pipeline = typer.Typer(
    help="Run a data pipeline: steps that sort, filter, group and join tables. The result is JSON;\n"
    "with --json, errors are, too.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@pipeline.callback()
def _group() -> None:  # pyright: ignore[reportUnusedFunction]
    """So that `run` is a command of its own, though it is the only one."""


@pipeline.command("run")
def run(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The steps, as JSON; - for stdin.", show_default=False)],
    data: Annotated[
        str, typer.Option(metavar="JSON|@FILE", help="The input of the first step.", show_default=False)
    ] = "null",
    json: Json = False,
) -> None:
    """Run the steps in a file on data, and print the result as JSON."""
    steps, given = read_json(f"@{file}", "the pipeline"), read_json(data, "the data", MOST_VALUES)
    try:
        emit(do(run_pipeline(steps, given, egress=egress_of(os.environ))))
    except PipelineError as error:
        note(f"error: {error.what}")
        raise typer.Exit(exits.FAILED) from None
