"""The SDK takes a second to import: not in the thread of the event loop, and not before it is needed."""

import subprocess
import sys

_WATCH = """
import asyncio, importlib.abc, sys, threading

class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in WATCHED:
            if MISSING:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            seen.add("loop" if threading.current_thread() is threading.main_thread() else "thread")

seen = set()
sys.meta_path.insert(0, Watch())
from plait import refs
from tests.server.serving import serving
assert not seen, "imported before the first use"
"""
_REQUEST = """
async def main():
    async with serving() as served:
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        accepted = {"accept": "application/json, text/event-stream"}
        answer = await served.client.post("/mcp", json=body, headers=accepted)
        print(answer.status_code, answer.json().get("code"), sorted(seen))

asyncio.run(main())
"""
_TOOL = """
async def main():
    step = {"name": "a", "action": {"toolName": "plait:RUN_LIST"}, "input": {}}
    async with serving() as served:
        run = await served.engine.start(refs({"steps": [step]}))
        print(sorted(await run.result()), sorted(seen))

asyncio.run(main())
"""


def printed(use: str, *, missing: bool = False) -> str:
    names = {"mcp", "mcp_types"}
    script = f"WATCHED = {names}; MISSING = {missing}\n{_WATCH}{use}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_first_request_imports_the_sdk_in_a_thread() -> None:
    assert printed(_REQUEST).endswith("['thread']")


def test_the_first_tool_call_imports_the_sdk_in_a_thread() -> None:
    assert printed(_TOOL).endswith("['thread']")


def test_a_request_without_the_sdk_is_told_what_to_install() -> None:
    assert printed(_REQUEST, missing=True).startswith("501 plait.missing_extra")
