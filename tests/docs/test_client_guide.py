"""The page about the client: its snippets against a real server with the README's program."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

import pytest

from tests.docs.test_snippets import BLOCK, ROOT
from tests.server.serving import serving

GUIDE = (ROOT / "docs/guides/client.md").read_text()
APP = BLOCK.findall((ROOT / "README.md").read_text())[0].replace('"cool down", 5', '"cool down", 0')


async def test_the_snippets_of_the_client_guide_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    app = types.ModuleType("app")
    monkeypatch.setitem(__import__("sys").modules, "app", app)
    exec(APP, app.__dict__)
    async with serving(definitions=(app,)) as served:
        names: dict[str, Any] = {}
        for code in BLOCK.findall(GUIDE):
            here = code.replace("http://127.0.0.1:8080", served.url)
            compiled = compile(here, "client.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            running = eval(compiled, names)
            if inspect.isawaitable(running):
                await running
    printed = capsys.readouterr().out
    assert "receipt for 42" in printed
    assert "run.completed" in printed
    assert "charge completed" in printed
    assert "kernel.no_run" in printed


def test_every_call_that_the_guide_names_is_there():
    from plait.client import Client, RemoteRun
    from plait.client.approvals import RemoteApprovals
    from plait.client.dead_letters import RemoteDeadLetters

    for name in ("message", "ask", "cancel", "retry", "compensate", "fork", "patch", "follow", "timeline", "logs"):
        assert callable(getattr(RemoteRun, name))
    for name in ("start", "get", "runs", "plan", "diff", "me"):
        assert callable(getattr(Client, name))
    assert RemoteApprovals.decide
    assert RemoteDeadLetters.discard
