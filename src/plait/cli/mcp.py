"""`plait mcp`: Plait as an MCP server on standard input and output, for clients that start it as a command."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import Annotated, Any
from urllib.parse import quote

import typer
import typer.core

from plait.extras import extra
from plait.observe import logs
from plait.registry.engine import Engine

from . import own_dialects
from .egress import egress_of
from .loading import load_definitions
from .mcp_servers import McpFile, servers_in
from .options import DEFAULT_DB, HELP, Key, Namespace, group
from .serve import LogLevel, Modules
from .session import is_server

RECORD = "record"
"""The mode of a session whose calls are recorded."""

Place = Annotated[
    str,
    typer.Option("--db", "--url", envvar="PLAIT_DB", metavar="URL", help="A database, or a server: http://host:port."),
]


class RecordCommand(typer.core.TyperCommand):
    """Allows `--record` without a value, which Typer does not support."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ends = [*args[1:], "-"]
        given = ["--record=" if arg == "--record" and ends[at].startswith("-") else arg for at, arg in enumerate(args)]
        return super().parse_args(ctx, given)


mcp = group()


@mcp.command("mcp", cls=RecordCommand, context_settings=HELP)
def serve(
    modules: Modules = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    namespace: Namespace = None,
    mcp: McpFile = None,
    record: Annotated[
        str | None,
        typer.Option(
            "--record",
            metavar="[RUN]",
            help="Record the client's tool calls: in this recording, or in a new one.",
            show_default=False,
        ),
    ] = None,
    no_work: Annotated[bool, typer.Option("--no-work", help="Start and show runs; other engines do the work.")] = False,
    log_level: LogLevel = "warning",
) -> None:
    """Speak MCP on standard input and output. In a client's .mcp.json:

    {"mcpServers": {"plait": {"command": "plait", "args": ["mcp", "--db", "sqlite:///plait.db"]}}}

    With --record, it shows the tools of the servers in --mcp FILE, and their calls become steps of a workflow.
    With a database, this process runs the workflows, too; with the address of a server, that server does.
    """
    logs.configure(level=log_level)
    with extra("mcp", "plait mcp"):
        import_module("mcp")  # reports a missing extra before anything is opened
    if is_server(db):
        from plait.server.mcp.bridge import bridge_stdio

        way = "" if record is None else f"/{RECORD}/{quote(record, safe='')}".rstrip("/")
        asyncio.run(bridge_stdio(db, key, namespace, way))
        return
    definitions = [*load_definitions(modules or ()), *own_dialects.bundles()]
    asyncio.run(_serve(db, definitions, servers_in(mcp), namespace, record, work=not no_work))


async def _serve(
    db: str, definitions: list[Any], servers: dict[str, Any], namespace: str | None, record: str | None, *, work: bool
) -> None:
    from plait.server.app import make_app
    from plait.server.mcp.stdio import serve_stdio
    from plait.server.site import Settings, site_of

    egress = egress_of(os.environ)
    engine = Engine(db, definitions=definitions, work=work, egress=egress, mcp_servers=servers)
    async with engine, site_of(engine, Settings(open=True)) as site:
        await engine.definitions.remember()
        mode = "" if record is None else RECORD
        await serve_stdio(engine, make_app(site), namespace, mode=mode, subject=record or "")
