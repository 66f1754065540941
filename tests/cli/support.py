"""The `plait` command for tests: in this process, in another, and an engine in another process to talk to."""

import asyncio
import concurrent.futures
import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

import plait
from plait import Engine
from plait.cli.loading import load_module
from plait.cli.main import main
from plait.client import Client
from plait.errors import RunFailed
from plait.server.site import Settings
from tests.server.serving import serving
from tests.support.processes import Process, start

ROOT = Path(__file__).parents[2]
SOURCES = Path(plait.__file__).parents[1]

both_ways = pytest.mark.parametrize("desk", ["database", "server"], indirect=True)
"""For what must be the same on a database and through a server."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def problem(self) -> dict[str, str]:
        """The JSON document of an error."""
        return json.loads(self.err)


def run_plait(*args: str, input: str = "") -> Ran:
    """Runs the command in this process, as the console script does."""
    out, err = _stream(), _stream()
    before = sys.stdin
    sys.stdin = io.StringIO(input)
    code: Any = None
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(list(args))
            except SystemExit as exit:
                code = exit.code
    finally:
        sys.stdin = before
    return Ran(code, _text(out), _text(err))


def environment() -> dict[str, str]:
    """For other processes: they see the same sources."""
    path = os.pathsep.join([str(SOURCES), str(ROOT)])
    return os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@contextmanager
def killed(process: Process) -> Iterator[Process]:
    """A process that is gone when the block ends, whatever happened in it."""
    with process:
        try:
            yield process
        finally:
            process.kill()


@dataclass(frozen=True)
class Desk:
    """A folder with a module of workflows and a database, in which commands are run."""

    folder: Path
    module: str

    @property
    def heard(self) -> str:
        """What is said when something was told."""
        return "an engine has taken it"

    @property
    def db(self) -> str:
        return f"sqlite:///{self.folder}/plait.db"

    def write(self, source: str) -> None:
        """Changes the module, as a new deployment does."""
        (self.folder / f"{self.module}.py").write_text(source)
        sys.modules.pop(self.module, None)

    def load(self) -> ModuleType:
        with contextlib.chdir(self.folder):
            return load_module(self.module)

    def plait(self, *args: str, input: str = "") -> Ran:
        with contextlib.chdir(self.folder):
            return run_plait(*args, input=input)

    def run(self, workflow: str, *args: str) -> Ran:
        return self.plait("run", f"{self.module}:{workflow}", *args)

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "plait.cli.main", *args]

    def spawn(self, *args: str) -> Process:
        """The command as a process of its own; its progress can be read from stderr while it runs."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return start("plait.cli.main", *args, cwd=self.folder, env=environment(), **pipes)

    @contextmanager
    def following(self, command: str, run: str, *args: str) -> Iterator[Process]:
        """A command that does not end by itself while the run goes on."""
        with killed(self.spawn(command, run, "--follow", "--db", self.db, *args)) as process:
            yield process

    def start(self, workflow: str, run: str) -> None:
        """Starts a run, and leaves it when it waits for something from outside."""
        with self.spawn("run", f"{self.module}:{workflow}", "--id", run) as process:
            read_until(process.stderr, "◌")
            process.terminate()
            process.communicate()

    def end(self, run: str) -> dict[str, Any]:
        """How a run ended; waits for a living engine to bring it there."""

        async def wait() -> None:
            async with Engine(self.db, work=False) as engine:
                with contextlib.suppress(RunFailed):
                    await (await engine.get(run)).result()

        asyncio.run(wait())
        return self.plait("show", run, "--json").json

    @contextmanager
    def engine(self) -> Iterator[Process]:
        """An engine with the module's workflows, in a process of its own, until the block ends."""
        where: Any = {"cwd": self.folder, "env": environment()}
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with start("tests.cli.engine_process", self.db, self.module, **where, **pipes) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
                yield process
            finally:
                process.communicate()


@dataclass(frozen=True)
class ServedDesk(Desk):
    """The same desk, with a server on its database for as long as it stands. Commands find it by PLAIT_DB."""

    url: str

    @property
    def heard(self) -> str:
        return "the server has it"

    @property
    def db(self) -> str:
        return self.url

    def run(self, workflow: str, *args: str) -> Ran:
        return self.plait("run", workflow, *args)

    def start(self, workflow: str, run: str) -> None:
        async def start() -> None:
            async with Client(self.url) as client:
                begun = await client.start(workflow, id=run)
                while not {"message", "approval"} & {reason.kind for reason in await begun.waiting()}:
                    pass

        asyncio.run(start())

    def end(self, run: str) -> dict[str, Any]:
        assert self.plait("events", run, "--follow").code == 0
        return self.plait("show", run, "--json").json

    @contextmanager
    def engine(self) -> Iterator[Process]:
        """The server's own does the work."""
        yield None  # type: ignore[misc]


@contextmanager
def server_on(desk: Desk, settings: Settings | None = None) -> Iterator[str]:
    """A server with the desk's workflows, in a thread of its own: its address."""
    ready: concurrent.futures.Future[tuple[str, Any]] = concurrent.futures.Future()

    async def serve() -> None:
        done, loop = asyncio.Event(), asyncio.get_running_loop()
        async with serving(desk.db, definitions=(desk.load(),), settings=settings) as served:
            await served.engine.definitions.remember()
            ready.set_result((served.url, lambda: loop.call_soon_threadsafe(done.set)))
            await done.wait()

    def work() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    thread = Thread(target=work, name="server")
    thread.start()
    url, stop = ready.result(30)
    try:
        yield url
    finally:
        stop()
        thread.join()


def read_until(stream: Any, text: str) -> str:
    """Lines of a process up to the one that holds `text`."""
    found = ""
    for line in stream:
        found += line
        if text in line:
            return found
    raise AssertionError(f"{text!r} never came; there was only:\n{found}")
