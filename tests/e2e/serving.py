"""A real `plait dev` or `plait serve` process, and what a test asks of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from tests.support.ports import free_port
from tests.support.processes import Process, start

ROOT = Path(__file__).parents[2]
PLAIT = str(Path(sys.executable).with_name("plait"))
FLOWS = "tests.e2e.flows"
TOOLS = ROOT / "tests" / "workers" / "mcp" / "raw_server.py"
PATIENCE = 20.0


@dataclass
class Server:
    """A server with a database file of its own; stopped and started again it keeps both its port and its runs."""

    folder: Path
    module: str = FLOWS
    cwd: Path = ROOT
    command: str = "dev"
    key: str = ""
    port: int = field(default_factory=free_port)
    model_port: int = field(default_factory=free_port)
    """Where tests that need a language model answer for it."""
    _process: Process | None = None

    def __post_init__(self) -> None:
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        self.client = httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=PATIENCE)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def db(self) -> str:
        return f"sqlite:///{self.folder / 'e2e.db'}"

    def start(self) -> Server:
        log = (self.folder / "server.log").open("a")
        with log:
            args = (self.command, self.module, "--port", str(self.port), "--db", self.db, "--mcp", self._tools())
            env = {**os.environ, "PLAIT_MODELS": self._models()}
            streams = {"stdout": subprocess.PIPE, "stderr": log}
            self._process = start("plait.cli.main", *args, "--json", **streams, cwd=self.cwd, env=env)
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        if not told:
            self.stop()
            raise AssertionError((self.folder / "server.log").read_text())
        assert json.loads(told)["url"] == self.url
        return self

    def _tools(self) -> str:
        """The configuration of an MCP server, which is started when somebody asks for its tools."""
        command = {"command": sys.executable, "args": [str(TOOLS), str(self.folder / "calls.txt")]}
        path = self.folder / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"raw": command}}))
        return str(path)

    def _models(self) -> str:
        """Two that are the same, but for a price."""
        model = {"provider": "openai", "model": "tea-1", "url": f"http://127.0.0.1:{self.model_port}/v1"}
        priced = {**model, "price": {"input": 2, "output": 10, "cached": 0.2}}
        path = self.folder / "models.json"
        path.write_text(json.dumps({"models": {"free": model, "priced": priced}}))
        return str(path)

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def close(self) -> None:
        self.stop()
        self.client.close()

    # -- what a test asks ------------------------------------------------------------------------------------------

    def get(self, path: str, **params: Any) -> Any:
        return self._told(self.client.get(path, params=params))

    def post(self, path: str, body: Any = None, **params: Any) -> Any:
        return self._told(self.client.post(path, json=body or {}, params=params))

    @staticmethod
    def _told(answer: httpx.Response) -> Any:
        assert answer.is_success, answer.text
        return answer.json()

    def begin(self, definition: str, input: Any = None, **more: Any) -> str:
        return self.post("/runs", {"definition": definition, "input": input, **more})["id"]

    def detail(self, id: str, **params: Any) -> Any:
        return self.get(f"/runs/{quote(id, safe='')}", **params)

    def ended(self, id: str, status: str = "completed", **params: Any) -> Any:
        """The run, once it has that status."""
        return self.soon(lambda: self.detail(id, **params), lambda found: found["run"]["status"] == status)

    def waits(self, id: str, kind: str, **params: Any) -> Any:
        """The run, once it waits for something of that kind."""
        return self.soon(
            lambda: self.detail(id, **params), lambda found: any(r["kind"] == kind for r in found["waiting"])
        )

    def blocked(self, id: str) -> Any:
        return self.soon(lambda: self.detail(id), lambda found: found["run"].get("blocked"))

    def asked(self, run: str, **params: Any) -> Any:
        """The approval that a run requests, once it does."""
        found = self.soon(lambda: self.get("/approvals", run=run, **params), lambda found: found["approvals"])
        return found["approvals"][0]

    def decide(self, run: str, decision: str = "approve", data: Any = None, **params: Any) -> None:
        """Decides the approval that a run requests."""
        id = quote(self.asked(run, **params)["id"], safe="")
        body = {"decision": decision} if data is None else {"decision": decision, "data": data}
        self.post(f"/approvals/{id}/decide", body, **params)

    def letter(self, run: str, **params: Any) -> Any:
        found = self.soon(lambda: self.get("/dlq", run=run, **params), lambda found: found["dead_letters"])
        return found["dead_letters"][0]

    @staticmethod
    def soon(ask: Callable[[], Any], good: Callable[[Any], Any]) -> Any:
        until = time.monotonic() + PATIENCE
        while not good(found := ask()):
            assert time.monotonic() < until, f"still {json.dumps(found)[:2000]}"
            time.sleep(0.02)  # a client has nothing to wait for
        return found

    def shell(self, line: str) -> str:
        """Runs a line as a person would paste it, with our `plait`, this server and its key."""
        env = {
            **os.environ,
            "PATH": f"{Path(PLAIT).parent}:{os.environ['PATH']}",
            "PLAIT_DB": self.url,
            "PLAIT_KEY": self.key or "none",
        }
        done = subprocess.run(line, shell=True, env=env, cwd=self.folder, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def make_key(server_db: str, name: str, role: str, namespace: str = "*") -> str:
    """A key made on the database, as the first one is."""
    line = ("keys", "create", name, "--role", role, "-n", namespace, "--db", server_db, "--json")
    made, _ = start("plait.cli.main", *line, stdout=subprocess.PIPE).communicate(30)
    return json.loads(made)["key"]
