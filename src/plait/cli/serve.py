"""`plait serve` and `plait dev`: engine, HTTP API and web UI, in one process or several."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import typer
import uvloop

from plait.agents.model import Model
from plait.egress import EgressSettings
from plait.engine.agent_transport import AgentTransport
from plait.engine.idleness import until_idle
from plait.kernel.errors import InvalidInput
from plait.observe import logs
from plait.observe.observability import Observability
from plait.registry.engine import Engine
from plait.server.app import make_app
from plait.server.argyll.cors import ANY
from plait.server.argyll.webhooks import WebhookUrls
from plait.server.auth import AuthOptions, LinkMaker, refuse_open, refuse_open_mount, secret_of
from plait.server.auth.origins import origin_of
from plait.server.callbacks import ResultLinks
from plait.server.links import ApprovalUrls
from plait.server.process import Process, Signals, listen, local_url, url_of
from plait.server.site import Argyll, Settings, site_of
from plait.server.supervisor import Link

from . import own_dialects
from .egress import egress_of
from .extensions import load
from .loading import load_definitions
from .mcp_servers import McpFile, servers_in
from .options import DEFAULT_DB, Db, Json
from .output import emit_line, note
from .processes import refuse_several, supervised
from .session import refuse_server

DEMO_DB = "sqlite:///plait-dev.db"
HOST, PORT = "127.0.0.1", 8080

_DEMO = ("plait.demo.shop", "plait.demo.steps", "plait.demo.returns", "plait.demo.newsletter", "plait.demo.leads")
_DEMO_MODELS = "plait.demo.leads:models"
_SEED = "plait.demo.seed:seed"

Level = Literal["debug", "info", "warning", "error"]
Modules = Annotated[
    list[str] | None, typer.Argument(metavar="[MODULE]…", help="Modules or files with workflows.", show_default=False)
]
Port = Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="0: any free port.")]
ArgyllOrigins = Annotated[
    str,
    typer.Option(
        metavar="URL,…",
        envvar="PLAIT_ARGYLL_ORIGINS",
        help="Sites whose pages may call it; *: all.",
        show_default=False,
    ),
]
Processes = Annotated[
    int, typer.Option(metavar="N", min=1, max=256, help="Engines behind the port, on PostgreSQL.", show_default="1")
]
LogLevel = Annotated[Level, typer.Option(help="Log level on stderr: JSON lines, unless it is a terminal.")]

Seed = Callable[[Engine], Awaitable[None]]
"""Starts a few runs on an engine that has just been opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The options of the command line."""

    db: str
    definitions: Sequence[object]
    host: str
    port: int
    settings: Settings
    options: AuthOptions
    egress: EgressSettings
    redis: str | None = None
    agent_transport: AgentTransport = "process"
    mcp_servers: Mapping[str, Any]
    work: bool = True
    until_idle: bool = False
    seed: Seed | None = None
    models: Mapping[str, Model] = field(default_factory=dict[str, Model])
    log_level: Level
    json: bool


def serve(
    modules: Modules = None,
    db: Db = DEFAULT_DB,
    host: Annotated[str, typer.Option(metavar="HOST", help="The address to listen on.")] = HOST,
    port: Port = PORT,
    public_url: Annotated[
        str,
        typer.Option(
            metavar="URL", envvar="PLAIT_PUBLIC_URL", help="The URL under which people reach it.", show_default=False
        ),
    ] = "",
    trust_proxy: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS,…", envvar="PLAIT_TRUST_PROXY", help="Trusted proxies in front of it.", show_default=False
        ),
    ] = "",
    argyll: Annotated[
        bool, typer.Option("--argyll", envvar="PLAIT_ARGYLL", help="Serve Argyll's clients, who send no key.")
    ] = False,
    argyll_open: Annotated[
        bool, typer.Option("--argyll-open", envvar="PLAIT_ARGYLL_OPEN", help="The same, for anyone who can reach HOST.")
    ] = False,
    argyll_origins: ArgyllOrigins = "",
    open: Annotated[bool, typer.Option("--open", help="Require no key; on this machine only.")] = False,
    redis: Annotated[
        str | None,
        typer.Option(
            metavar="URL", envvar="PLAIT_REDIS", help="Redis from which workers get tasks.", show_default=False
        ),
    ] = None,
    agent_transport: Annotated[
        AgentTransport,
        typer.Option(
            metavar="NAME", envvar="PLAIT_AGENT_TRANSPORT", help="How agents are run: process, queue, stream or list."
        ),
    ] = "process",
    mcp: McpFile = None,
    until_idle: Annotated[bool, typer.Option("--until-idle", help="End when no work is left.")] = False,
    no_work: Annotated[bool, typer.Option("--no-work", help="Serve only; other engines do the work.")] = False,
    processes: Processes = 1,
    drain: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Time to finish running work at the end.")
    ] = 10.0,
    log_level: LogLevel = "info",
    json: Json = False,
) -> None:
    """Serve the API and the web UI, and run workflows. Callers need a key: plait keys create.

    Tokens of an OIDC issuer are accepted, too: set PLAIT_OIDC_ISSUER and PLAIT_OIDC_AUDIENCE. Stop it with Ctrl-C or
    SIGTERM: running work is finished, and other engines take over its runs. A second signal stops it at once.
    With --until-idle it also ends by itself: when nothing is running, no task is on a queue, and within a minute no
    timer fires and no run on a queue may start.

    With --processes, that many engines share the port and the runs. One that dies is restarted.
    """
    _check_idle(until_idle=until_idle, no_work=no_work, processes=processes)
    refuse_server(db)
    if processes > 1:
        refuse_several(db)
    refuse_open(host, open=open)
    settings = Settings(
        open=open,
        argyll=_argyll(host, on=argyll, open=argyll_open),
        argyll_origins=_origins(argyll_origins),
        public_url=_public(public_url),
        trusted_proxies=trust_proxy,
        drain_seconds=drain,
    )

    def plan() -> Plan:
        return Plan(
            db=db,
            definitions=[*load_definitions(modules or ()), *own_dialects.bundles()],
            host=host,
            port=port,
            settings=settings,
            options=AuthOptions.from_environment(os.environ, settings.public_url),
            egress=egress_of(os.environ),
            redis=redis,
            agent_transport=agent_transport,
            mcp_servers=servers_in(mcp),
            work=not no_work,
            until_idle=until_idle,
            log_level=log_level,
            json=json,
        )

    if processes == 1:
        _run(plan())
        return
    logs.configure(level=log_level, several=True)
    with listen(host, port) as sock:
        link = supervised(processes, sock, partial(_announce, url_of(sock), open=open, json=json))
        _serve_on(sock, plan(), link)


def dev(
    modules: Modules = None,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            envvar="PLAIT_DB",
            metavar="URL",
            help="The database.",
            show_default=f"{DEFAULT_DB}; {DEMO_DB} for the demo",
        ),
    ] = None,
    port: Port = PORT,
    argyll_origins: ArgyllOrigins = "",
    mcp: McpFile = None,
    log_level: LogLevel = "warning",
    json: Json = False,
) -> None:
    """Serve on this machine only, open to all its users. Without MODULE, with a tea shop and a few runs in it.

    The database is the one that your program and the other commands use; the tea shop has one of its own.
    """
    if db is not None:
        refuse_server(db)
    definitions = [*load_definitions(modules or ()), *own_dialects.bundles()]
    seed: Seed | None = None
    if not definitions:
        definitions, seed = load_definitions(_DEMO), load(_SEED)
    _run(
        Plan(
            db=db or (DEMO_DB if seed else DEFAULT_DB),
            definitions=definitions,
            host=HOST,
            port=port,
            settings=Settings(
                open=True, argyll="local", argyll_origins=_origins(argyll_origins), unsigned_webhooks=True
            ),
            options=AuthOptions.from_environment(os.environ),
            egress=egress_of(os.environ, private=True),
            mcp_servers=servers_in(mcp),
            seed=seed,
            models=load(_DEMO_MODELS)() if seed else {},
            log_level=log_level,
            json=json,
        )
    )


def _check_idle(*, until_idle: bool, no_work: bool, processes: int) -> None:
    other = "--no-work" if no_work else "--processes" if processes > 1 else ""
    if until_idle and other:
        raise InvalidInput("cli.usage", f"--until-idle with {other}", fix="leave one of them out")


def _argyll(host: str, *, on: bool, open: bool) -> Argyll:
    if open:
        return "open"
    if on:
        refuse_open_mount(host)
    return "local" if on else "off"


def _origins(text: str) -> tuple[str, ...]:
    """Parses a list of sites separated by commas into origins as browsers write them."""
    return tuple(_origin(part.strip()) for part in text.split(",") if part.strip())


def _origin(text: str) -> str:
    if text == ANY:
        return text
    if not _is_site(text):
        raise InvalidInput("cli.bad_url", f"--argyll-origins {text!r}", fix="write https://tea.example.org, or *")
    return origin_of(text)


def _public(url: str) -> str:
    if url and not _is_site(url):
        raise InvalidInput("cli.bad_url", f"--public-url {url!r}", fix="write https://plait.example.org")
    return url.rstrip("/")


def _is_site(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not parts.path.strip("/")


def _run(plan: Plan) -> None:
    logs.configure(level=plan.log_level)
    with listen(plan.host, plan.port) as sock:
        _serve_on(sock, plan)


def _serve_on(sock: socket.socket, plan: Plan, link: Link | None = None) -> None:
    """Serves on a socket. `link`: to the supervisor, if there are several processes."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(plan, sock, link))


async def _serve(plan: Plan, sock: socket.socket, link: Link | None) -> None:
    watch = Observability()
    secret = await _secret(plan)
    engine = Engine(
        plan.db,
        definitions=plan.definitions,
        work=plan.work,
        observers=watch.observers,
        egress=plan.egress,
        redis=plan.redis,
        agent_transport=plan.agent_transport,
        mcp_servers=plan.mcp_servers,
        models=plan.models,
    )
    address = plan.settings.public_url or local_url(sock)
    engine.executors.callbacks = WebhookUrls(secret, address)
    engine.executors.result_urls = ResultLinks(LinkMaker(engine.kernel.clock, secret), address)
    engine.notices.links = ApprovalUrls(LinkMaker(engine.kernel.clock, secret), engine.kernel.clock, address)
    with Signals() as signals:
        async with (
            watch.on(engine),
            engine,
            site_of(engine, plan.settings, plan.options, watch.metrics, watch.traces, secret) as site,
        ):
            await engine.definitions.remember()
            if plan.seed is not None:
                await plan.seed(engine)
            process = Process(site, make_app(site), sock)
            signals.on_first(process.stop)
            if link is None:
                _announce(process.url, open=plan.settings.open, json=plan.json)
                _tell_of_models(plan)
            else:
                link.when_alone(process.stop)
                link.tell_ready()
            await _served(process, engine, plan)
            if link is not None:
                link.let_go()
    if link is None:
        note("stopped")


async def _served(process: Process, engine: Engine, plan: Plan) -> None:
    serving = asyncio.ensure_future(process.serve())
    if plan.until_idle:
        idle = asyncio.ensure_future(until_idle(engine.kernel))
        await asyncio.wait((serving, idle), return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        process.stop()
    await serving


async def _secret(plan: Plan) -> bytes:
    """Returns the signing secret. It is read before any run starts, because a run may need a signed address at once."""
    async with Engine(plan.db, work=False) as engine:
        return await secret_of(engine, plan.options)


def _announce(url: str, processes: list[int] | None = None, *, open: bool, json: bool) -> None:
    if json:
        emit_line({"url": url, "open": open, **({"processes": processes} if processes else {})})
        sys.stdout.flush()  # the reader waits for this line
        return
    several = f", with {len(processes)} processes" if processes else ""
    note(f"Plait is at {url}{several}" + (", open to whoever uses this machine" if open else ""))


def _tell_of_models(plan: Plan) -> None:
    """Tells that the demo's models are scripted."""
    for name in () if plan.json else plan.models:
        note(f"its agent is scripted; to ask a real model, name one `{name}` in the file that PLAIT_MODELS names")
