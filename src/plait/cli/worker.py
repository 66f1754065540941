"""`plait worker`: a process that does tasks on queues, for a server or directly on the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, NoReturn

import msgspec
import typer
import uvloop

from plait.api.task import QueueName
from plait.clusters.clusters import Clusters
from plait.egress import EgressSettings
from plait.kernel.clock import SystemClock
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.task import Executor
from plait.observe import logs
from plait.registry.engine import Engine
from plait.server.process import Signals
from plait.workers.queue_worker import QueueWorker, WorkerSettings
from plait.workers.task_source import TaskSource

from . import exits
from .egress import egress_of
from .errors import report
from .loading import load_module
from .mcp_servers import McpFile, servers_in
from .options import DEFAULT_DB, Json, Key, Namespace, Where
from .output import emit_line, note
from .serve import LogLevel
from .session import is_server, must_exist

Modules = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODULE]…", help="Modules or files with steps and tools.", show_default=False),
]
Queue = Annotated[
    list[str], typer.Option("--queue", "-q", metavar="NAME", help="A queue to serve.", show_default=False)
]
Place = Annotated[
    str,
    typer.Option("--db", "--url", envvar="PLAIT_DB", metavar="URL", help="A database, or a server: http://host:port."),
]


def worker(
    queue: Queue,
    modules: Modules = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    namespace: Namespace = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The worker's name in lists.", show_default="host and process")
    ] = "",
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, max=1_000, help="Tasks at a time.")] = 10,
    lease: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, max=3_600, help="Without heartbeats for this long, others get its tasks."
        ),
    ] = 30.0,
    drain: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Time to finish running tasks at the end.")
    ] = 30.0,
    mcp: McpFile = None,
    log_level: LogLevel = "info",
    json: Json = False,
) -> None:
    """Run the tasks of queues: steps with `queue=...`, from the modules that have their functions, and agents, with the
    models of PLAIT_MODELS.

    Stop it with Ctrl-C or SIGTERM: it takes no more tasks, finishes those under way, and gives back what does not end
    in time. A second time stops it at once; its tasks are then given to others when their leases run out.
    """
    _check_queues(queue)
    where = Where(db, key, namespace)
    settings = WorkerSettings(
        name=name or f"{socket.gethostname()}-{os.getpid()}",
        queues=queue,
        namespace=namespace or DEFAULT_NAMESPACE,
        concurrency=concurrency,
        lease=lease,
        drain=drain,
    )
    definitions: list[object] = [load_module(module) for module in modules or ()]
    logs.configure(level=log_level)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs every request
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_work(where, settings, _Brought(definitions, egress_of(os.environ), servers_in(mcp)), json=json))


@dataclass(frozen=True, slots=True)
class _Brought:
    """What this process has to do tasks with."""

    definitions: list[object]
    egress: EgressSettings
    mcp_servers: dict[str, Any]

    def engine(self, url: str) -> Engine:
        """Makes an engine that runs nothing."""
        return Engine(url, definitions=self.definitions, work=False, egress=self.egress, mcp_servers=self.mcp_servers)


async def _work(where: Where, settings: WorkerSettings, brought: _Brought, *, json: bool) -> None:
    found: QueueWorker | None = None
    try:
        with Signals() as signals:
            async with _opened(where, settings, brought) as (source, executors, namespace, clusters):
                settings = replace(settings, namespace=namespace)
                found = QueueWorker(source, executors, SystemClock(), settings, clusters)
                _must_have_handlers(found)
                signals.on_first(found.stop)
                _announce(settings, found, json=json)
                await found.run()
    except Exception as error:
        if found is None or not found.is_stuck:
            raise
        _leave(report(error, json=json))
    note("stopped")
    if found.is_stuck:
        _leave(exits.OK)


def _leave(code: int) -> NoReturn:
    """Exits without waiting for steps that were given back and can't be stopped: they might take hours."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


@asynccontextmanager
async def _opened(
    where: Where, settings: WorkerSettings, brought: _Brought
) -> AsyncGenerator[tuple[TaskSource, list[Executor], str, Clusters]]:
    """Yields the source of tasks, their executors, the namespace, and the clusters."""
    if not is_server(where.url):
        must_exist(where.url)
        async with brought.engine(where.url) as engine:
            executors = [*_executors(engine), engine.agents.executor]
            yield engine.queues, executors, settings.namespace, engine.executors.clusters
        return
    from .server import served  # HTTP code is imported only where it is needed

    # Only to read what the modules declare: this engine is never opened
    engine = brought.engine("memory:")
    async with served(where) as session:
        queues, clusters = session.engine.queues, engine.executors.clusters
        yield queues, [*_executors(engine), engine.agents.remote_executor(queues)], session.namespace, clusters
    await engine.agents.close()
    await engine.executors.close()


def _executors(engine: Engine) -> list[Executor]:
    brought = [executor for bundle in engine.bundles.values() for executor in bundle.executors]
    return [*engine.executors.all, *brought]


def _check_queues(queues: list[str]) -> None:
    for name in queues:
        try:
            msgspec.convert(name, QueueName)
        except msgspec.ValidationError:
            fix = "use letters, digits, `_`, `.`, `:`, `-`; at most 200"
            raise InvalidInput("cli.bad_queue", f"queue {name!r}", fix=fix) from None


def _must_have_handlers(found: QueueWorker) -> None:
    if not found.handlers:
        raise InvalidInput(
            "cli.no_steps",
            "there is nothing that this worker could do",
            why="no module has a @step or a python step, and PLAIT_MODELS names no model for agents",
            fix="name the module that defines the steps of the queue, or set PLAIT_MODELS",
        )


def _announce(settings: WorkerSettings, found: QueueWorker, *, json: bool) -> None:
    if json:
        emit_line({"worker": settings.name, "queues": list(settings.queues), "handlers": found.handlers})
        sys.stdout.flush()  # the reader waits for this line
    else:
        note(f"{settings.name} serves {', '.join(settings.queues)}: {', '.join(found.handlers)}")
