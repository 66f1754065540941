"""Sessions with real servers: over stdio and HTTP, with servers that die, hang, come back, change and talk nonsense."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from plait.egress import Egress, EgressSettings
from plait.kernel import values
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.task import Attempt, Policy, Task, TaskError
from plait.kernel.task_inputs import TOOL, ToolInput
from plait.workers.mcp.servers import McpServers
from plait.workers.tool import ToolExecutor
from tests.support.ports import free_port

pytestmark = pytest.mark.costly

_HERE = Path(__file__).parent


class Caller:
    """Calls tools as a step does."""

    def __init__(self, mcp: McpServers) -> None:
        self.mcp = mcp
        self.beats: list[Any] = []
        self._executor = ToolExecutor(self)

    async def __call__(self, tool: str, arguments: Any = None, **more: Any) -> Any:
        more.setdefault("timeout", 30.0)
        wanted = ToolInput(tool=tool, arguments=values.encode(arguments), **more)
        task = Task(TaskToken("t1"), tool, TOOL, wanted, Policy(), "key-1")
        attempt = Attempt(RunId("default/run-1"), task, 1, Raw(b"null"), report=_nothing, log=_nothing)
        attempt.worker = self  # type: ignore[assignment]
        return await self._executor.execute(task, attempt)

    def beat(self, attempt: Attempt, progress: Raw) -> None:
        self.beats.append(values.decode(progress))

    async def fails(self, tool: str, arguments: Any = None, **more: Any) -> TaskError:
        with pytest.raises(TaskError) as caught:
            await self(tool, arguments, **more)
        return caught.value


def _nothing(*_: object) -> None: ...


@asynccontextmanager
async def connected(**servers: Any) -> AsyncIterator[Caller]:
    async with Egress(EgressSettings(private=True)) as egress:
        mcp = McpServers(servers, egress)
        try:
            yield Caller(mcp)
        finally:
            await mcp.close()


def raw(notes: Path) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(_HERE / "raw_server.py"), str(notes)]}


def real() -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(_HERE / "tool_server.py")]}


async def test_a_call_carries_its_arguments_and_where_it_comes_from(tmp_path: Path) -> None:
    async with connected(crm=raw(tmp_path / "notes")) as call:
        found = await call("ECHO", {"a": [1, None]}, meta=values.encode({"plait/step": "u"}))
        assert found["arguments"] == {"a": [1, None]}
        assert found["meta"] | {"progressToken": 0} == {
            "plait/run": "run-1",
            "plait/step": "u",
            "plait/idempotency-key": "key-1",
            "progressToken": 0,
        }
        assert (await call("crm:ECHO"))["arguments"] == {}
        assert (await call("crm_ECHO", whole=True))["result"]["content"][0]["type"] == "text"
        assert (await call.fails("ECHO", [1])).code == "input_not_object"


async def test_all_pages_of_tools_are_read_and_changes_are_heard(tmp_path: Path) -> None:
    async with connected(crm=raw(tmp_path / "notes")) as call:
        assert len((await call.mcp.tools())["crm"]) == 8
        assert (await call.fails("NEW")).code == "tool_not_found"
        await call("GROW")
        assert (await call("NEW"))["arguments"] == {}


async def test_a_server_that_dies_fails_its_call_only_and_is_started_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    async with connected(crm=raw(notes)) as call:
        before = (await call("ECHO"))["pid"]
        gone = await call.fails("EXIT")
        assert (gone.code, gone.retryable) == ("tool_unavailable", True)
        after = (await call("ECHO"))["pid"]
        assert after != before
        os.kill(after, signal.SIGKILL)
        while notes.read_text().count("ECHO") < 3:
            try:
                await call("ECHO")
            except TaskError as error:  # its end may not have been seen yet
                assert error.code == "tool_unavailable"  # noqa: PT017
    assert notes.read_text().split() == ["ECHO", "EXIT", "ECHO", "ECHO"]


async def test_a_server_that_hangs_is_timed_out_with_a_cancel_notice_and_serves_on(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    async with connected(crm=raw(notes)) as call:
        late = await call.fails("HANG", timeout=0.3)
        assert (late.code, late.retryable) == ("tool_timeout", True)
        assert str(late) == 'Tool "HANG" did not answer within 300 ms; the call was cancelled'
        given_up = asyncio.ensure_future(call("HANG"))
        while notes.read_text().count("HANG") < 2:  # noqa: ASYNC110 - a server tells nobody what it notes
            await asyncio.sleep(0.01)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        await call("ECHO")
    assert notes.read_text().split() == ["HANG", "cancelled", "HANG", "cancelled", "ECHO"]


async def test_nonsense_of_a_server_harms_nobody(tmp_path: Path) -> None:
    async with connected(crm=raw(tmp_path / "notes")) as call:
        assert await call("TWICE") == {"answer": 1}
        assert await call("GARBAGE") == {"after": "garbage"}
        assert await call("ASK") == {"refused": True}
        wrong = await call.fails("NOT_A_RESULT")
        assert wrong.code == "tool_error"
        assert "no result of this tool" in str(wrong)
        assert (await call("ECHO"))["arguments"] == {}


async def test_a_server_that_can_not_be_started_matters_only_to_its_own_tools(tmp_path: Path) -> None:
    async with connected(crm=raw(tmp_path / "notes"), gone={"command": "/no/such/program"}) as call:
        assert (await call("ECHO"))["arguments"] == {}
        missing = await call.fails("ELSEWHERE")
        assert (missing.code, missing.retryable) == ("tool_unavailable", True)
        assert '"gone"' in str(missing)
        assert (await call.fails("ELSEWHERE", servers=("crm",))).code == "tool_not_found"
        assert (await call.fails("ECHO", servers=("typo",))).code == "tool_unavailable"


async def test_a_server_of_the_sdk_over_stdio(tmp_path: Path) -> None:
    async with connected(math=real()) as call:
        assert await call("ADD", {"a": 1, "b": 2}) == {"sum": 3}
        assert await call("TEXT_JSON", {"value": {"x": [1]}}) == {"x": [1]}
        assert await call("GREET", {"name": "Ann"}) == [{"type": "text", "text": "hello Ann"}]
        assert str(await call.fails("FAIL", {"text": "no stock"})).endswith("no stock")
        whole = await call("FAIL", {"text": "no stock"}, whole=True)
        assert whole["result"]["isError"] is True
        noted = tmp_path / "cancelled"
        assert (await call.fails("SLOW", {"path": str(noted)}, timeout=1.0)).code == "tool_timeout"
        assert call.beats[-1] == {"progress": 3.0, "total": 3.0, "message": "step 3"}
        await call("ADD", {"a": 1, "b": 2})
        assert noted.read_text() == "cancelled"


async def test_a_server_of_the_sdk_over_http_survives_its_restart() -> None:
    port = free_port()
    async with connected(math={"url": f"http://127.0.0.1:{port}/mcp"}) as call:
        assert (await call.fails("ADD", {"a": 1, "b": 2})).code == "tool_unavailable"
        with served(port):
            assert await call("ADD", {"a": 1, "b": 2}) == {"sum": 3}
            assert (await call.fails("SLOW", timeout=1.0)).code == "tool_timeout"
        assert (await call.fails("ADD", {"a": 1, "b": 2})).code == "tool_unavailable"
        with served(port):
            assert await call("ADD", {"a": 2, "b": 2}) == {"sum": 4}


async def test_http_goes_only_where_the_operators_rules_allow() -> None:
    async with Egress(EgressSettings()) as egress:
        mcp = McpServers({"inside": {"url": f"http://127.0.0.1:{free_port()}/mcp"}}, egress)
        with pytest.raises(TaskError, match="not allowed") as caught:
            await mcp.tools()
        assert caught.value.code == "tool_unavailable"
        await mcp.close()


@contextmanager
def served(port: int) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, str(_HERE / "tool_server.py"), "http", str(port)])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None
        yield
    finally:
        process.kill()
        process.wait()
