"""Executors know no dialect: tasks as data go in, results come out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from msgspec import Raw

from plait.conditions import Verdict
from plait.egress import EgressSettings, Headers, Request, Response
from plait.kernel import values
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.task import LATER, Attempt, Executor, Policy, Task, TaskError
from plait.kernel.task_inputs import (
    CONDITION,
    HTTP,
    PYTHON,
    SCRIPT,
    Callback,
    ConditionInput,
    HttpInput,
    PythonInput,
    ScriptInput,
)
from plait.workers.common import CommonExecutors
from plait.workers.condition import ConditionExecutor
from plait.workers.http import HttpExecutor
from plait.workers.python import Functions, PythonExecutor
from plait.workers.script import ScriptExecutor

CALLBACK = "http://127.0.0.1:8080/webhook/run/a-node/t-1"


async def done(executor: Executor, kind: str, input: Any) -> Any:
    """What becomes of a task, tried once."""
    task = Task(TaskToken("t-1"), "a task", kind, input, Policy(), "a-key", node="a-node")
    attempt = Attempt(RunId("run"), task, 1, values.NULL, lambda *_: None, lambda *_: None)
    attempt.worker = Beside()
    return await executor.execute(task, attempt)


class Beside:
    """A worker with a thread for each call."""

    def beat(self, attempt: Attempt, progress: Raw) -> None:
        raise NotImplementedError

    async def on_cluster(self, attempt: Attempt, on: str, ref: str, arguments: Raw) -> Raw:
        raise NotImplementedError

    async def in_thread(self, attempt: Attempt, function: Callable[[], Any]) -> Any:
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(function()), name="beside")
        thread.start()
        thread.join()
        return found[0]


# -- python ------------------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    x: int
    y: int


async def test_a_registered_function_is_called_with_arguments_by_name():
    functions = Functions()
    functions.add("add", lambda a, b: a + b)
    assert await done(PythonExecutor(functions), PYTHON, PythonInput("add", values.encode({"a": 1, "b": 2}))) == 3


async def test_plain_functions_run_in_a_thread_and_async_ones_do_not():
    async def later() -> str:
        return threading.current_thread().name

    functions = Functions()
    functions.add("plain", lambda: threading.current_thread().name)
    functions.add("later", later)
    executor = PythonExecutor(functions)
    assert await done(executor, PYTHON, PythonInput("plain")) == "beside"
    assert await done(executor, PYTHON, PythonInput("later")) == threading.current_thread().name


async def test_a_record_is_an_object_and_an_unwanted_result_is_dropped():
    functions = Functions()
    functions.add("point", lambda: Point(1, 2))
    executor = PythonExecutor(functions)
    assert await done(executor, PYTHON, PythonInput("point")) == {"x": 1, "y": 2}
    assert await done(executor, PYTHON, PythonInput("point", discard=True)) is None


async def test_a_function_that_is_not_here_may_come():
    with pytest.raises(TaskError, match="no handler `gone`") as caught:
        await done(PythonExecutor(Functions()), PYTHON, PythonInput("gone"))
    assert caught.value.retryable


async def test_a_callback_address_is_put_where_the_input_says():
    functions = Functions()
    functions.add("tell", lambda **given: given)
    input = PythonInput("tell", values.encode({"inner": {"a": 1}}), Callback("t-1", fields=("/hook", "/inner/b~1c")))
    found = await done(PythonExecutor(functions), PYTHON, input)
    assert found == {"inner": {"a": 1, "b/c": CALLBACK}, "hook": CALLBACK}


# -- http --------------------------------------------------------------------------------------------------------------


class Service:
    """Takes requests in place of the guarded client."""

    def __init__(self, body: bytes = b"", status: int = 200) -> None:
        self.body = body
        self.status = status
        self.asked: list[Request] = []

    async def send(self, request: Request) -> Response:
        self.asked.append(request)
        return Response(
            status=self.status,
            headers=Headers([("content-type", "application/json")]),
            body=self.body,
            url=request.url,
            address="127.0.0.1",
            redirects=0,
            bytes_sent=0,
            bytes_received=0,
            ms=0,
        )

    async def ask(self, **input: Any) -> Any:
        return await done(HttpExecutor(self.send), HTTP, HttpInput(url="http://a/b", **input))


async def test_a_request_is_sent_as_the_input_says_with_the_key_of_its_task():
    service = Service(b"[1]")
    params, body = values.encode({"id": "a/b"}), values.encode({"n": 1})
    input = HttpInput(url="http://a/{id}", method="PUT", params=params, headers={"A": "b"}, body=body, timeout=2)
    assert await done(HttpExecutor(service.send), HTTP, input) == [1]
    [asked] = service.asked
    assert (asked.method, asked.url, asked.body, asked.timeout) == ("PUT", "http://a/a%2Fb", b'{"n":1}', 2)
    assert (asked.headers, asked.idempotency_key) == ({"A": "b"}, "a-key")


async def test_what_is_expected_decides_what_a_response_means():
    assert await Service(b"5").ask() == 5
    assert await Service(b"").ask() is None
    assert await Service(b"null").ask(expects="object") == {}
    assert await Service(b"not JSON").ask(expects="nothing") is None
    with pytest.raises(TaskError, match="a plain value, not an object") as caught:
        await Service(b"5").ask(expects="object")
    assert not caught.value.retryable


@pytest.mark.parametrize(("status", "retryable"), [(404, False), (429, True), (503, True)])
async def test_some_statuses_are_tried_again(status: int, retryable: bool):
    with pytest.raises(TaskError, match=f"status {status}") as caught:
        await Service(status=status).ask(retry_statuses=(429,))
    assert caught.value.retryable is retryable


async def test_a_large_response_is_read_in_a_thread(monkeypatch: pytest.MonkeyPatch):
    readers: list[threading.Thread] = []
    parse = values.parse

    def seen(text: str | bytes) -> Any:
        readers.append(threading.current_thread())
        return parse(text)

    monkeypatch.setattr(values, "parse", seen)
    text = "x" * 100_000
    assert await Service(f'["{text}"]'.encode()).ask() == [text]
    with pytest.raises(TaskError, match="more than 100,000 values") as caught:
        await Service(b"[" + b"{}," * 300_000 + b"{}]").ask()
    assert not caught.value.retryable
    with pytest.raises(TaskError, match="status 500"):
        await Service(b"[" + b"{}," * 300_000 + b"{}]", 500).ask()
    assert len(readers) == 3
    assert threading.main_thread() not in readers


async def test_a_result_may_come_later():
    service = Service(b"whatever", 202)
    assert await service.ask(expects="callback", callback=Callback("t-1", ("X-Callback",))) is LATER
    assert service.asked[0].headers == {"X-Callback": CALLBACK}


# -- script ------------------------------------------------------------------------------------------------------------


async def test_scripts_are_called_or_asked_for_truth():
    owner = CommonExecutors(EgressSettings())
    executor, document = ScriptExecutor(owner), values.encode({"n": 2})
    try:
        assert await done(executor, SCRIPT, ScriptInput("ale", "(* n 2)", ("n",), document)) == 4
        assert await done(executor, SCRIPT, ScriptInput("lua", "return n > 1", ("n",), document, "holds")) is True
        assert await done(executor, SCRIPT, ScriptInput("jpath", "$.n", (), document)) == 2
        with pytest.raises(TaskError, match="unknown script language 'basic'"):
            await done(executor, SCRIPT, ScriptInput("basic", "PRINT", (), document))
    finally:
        await owner.close()


# -- conditions --------------------------------------------------------------------------------------------------------


async def test_a_condition_with_python_gives_its_verdict():
    common = CommonExecutors(EgressSettings())
    code = "def evaluate(output, context):\n    return output > context['before']['output']"
    source = {
        "type": "composite",
        "operator": "AND",
        "conditions": ["output > 1", {"type": "python_sandbox", "code": code}],
    }
    wanted = ConditionInput(values.encode(source), Raw(b"5"), values.encode({"before": {"output": 4, "metadata": {}}}))
    try:
        found = await done(ConditionExecutor(common), CONDITION, wanted)
    finally:
        await common.close()
    assert found == Verdict(True)
    assert values.decode(values.encode(found)) == {"value": True, "error": None}


async def test_a_condition_that_does_not_compile_is_not_tried_again():
    common = CommonExecutors(EgressSettings())
    with pytest.raises(TaskError, match="it ends early") as caught:
        await done(ConditionExecutor(common), CONDITION, ConditionInput(values.encode("output >")))
    assert not caught.value.retryable
    await common.close()
