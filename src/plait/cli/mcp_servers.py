"""`--mcp FILE`: the MCP servers whose tools steps may call."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from plait.workers.mcp.settings import read_file

_VARIABLE = "PLAIT_MCP"

McpFile = Annotated[
    Path | None,
    typer.Option(
        "--mcp",
        metavar="FILE",
        envvar=_VARIABLE,
        help="MCP servers for tool steps, as in .mcp.json.",
        show_default=False,
    ),
]


def servers_in(file: Path | None) -> dict[str, Any]:
    return {} if file is None else read_file(file)


def servers_of_environment() -> dict[str, Any]:
    """Reads the servers from the environment, for short-lived commands without this option."""
    named = os.environ.get(_VARIABLE)
    return servers_in(Path(named) if named else None)
