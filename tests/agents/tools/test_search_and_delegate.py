from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait.agents import tool
from plait.agents.tools.delegate import TYPES, DelegateToAgent, Delegation
from plait.agents.tools.search import SearchTools
from plait.agents.tools.tool import ToolFault
from plait.agents.tools.toolbox import RegisteredTools, Toolbox, argument_flaws

from .building import use


@tool
def currency_rate(currency: str) -> float:
    """Looks up today's exchange rate."""
    return 1.0


@tool
def send_parcel(to: str) -> None:
    """Ships goods; the rate is fixed."""


@tool
def secret_tool() -> None:
    """Rates of everything."""


def searched(query: str, allowed: list[str], **more: Any) -> list[dict[str, Any]]:
    search = SearchTools(Toolbox([RegisteredTools([currency_rate, send_parcel, secret_tool])]), allowed)
    return asyncio.run(search.call({"query": query, **more}, use()))["tools"]


BOTH = ["currency_rate", "send_parcel"]


def test_the_best_match_comes_first_with_its_score_and_parameters() -> None:
    found = searched("exchange rates of a currency", BOTH)
    assert [each["name"] for each in found] == BOTH
    assert 1 >= found[0]["score"] > found[1]["score"] > 0
    assert found[0]["parameters"]["required"] == ["currency"]


def test_what_the_node_may_not_use_is_not_found() -> None:
    assert [each["name"] for each in searched("rates", ["send_parcel"])] == ["send_parcel"]
    assert searched("rates secret tool", []) == []


@pytest.mark.parametrize("query", ["", "???", "zebra", "' or 1=1 --", "*", "\0", "日本", "(a+)+$", "x" * 1_000])
def test_a_query_that_matches_nothing_finds_nothing(query: str) -> None:
    assert searched(query, BOTH) == []


def test_no_more_are_found_than_were_asked_for() -> None:
    assert len(searched("rate", BOTH, limit=1)) == 1


@pytest.mark.parametrize(
    "arguments", [{}, {"query": ""}, {"query": 1}, {"query": "x", "limit": 0}, {"query": "x", "limit": 9999}]
)
def test_searches_of_another_shape_are_refused(arguments: dict[str, Any]) -> None:
    assert argument_flaws(SearchTools.parameters, arguments)


# -- delegates ---------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def delegating(**delegates: Any) -> AsyncIterator[DelegateToAgent]:
    made = DelegateToAgent(delegates)
    try:
        yield made
    finally:
        await made.close()


def asked(agent_type: str, inputs: Any, delegates: dict[str, Any] | None = None, **changed: Any) -> Any:
    async def scenario() -> Any:
        async with delegating(**(delegates or {})) as made:
            return await made.call({"agent_type": agent_type, "inputs": inputs}, use(**changed))

    return asyncio.run(scenario())


def test_code_runs_in_the_sandbox_with_its_inputs_and_the_payload() -> None:
    code = "print('hello')\ninputs['n'] * 2 if payload['customer'] == 'Ada' else 0"
    assert asked("code_interpreter", {"code": code, "n": 21}) == {"result": 42, "printed": "hello\n"}


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd').read()",
        "import os\nos.environ",
        "import subprocess",
        "import socket",
        "__import__('os').system('id')",
        "().__class__.__bases__[0].__subclasses__()",
        "eval(\"open('/etc/passwd')\")",
        "exec(\"open('/etc/passwd').read()\")",
        "1/0",
        "def f(: pass",
        "float('nan')",
    ],
)
def test_code_that_reaches_out_or_fails_goes_back_to_the_model(code: str) -> None:
    with pytest.raises(ToolFault):
        asked("code_interpreter", {"code": code})


@pytest.mark.parametrize("inputs", [{}, {"code": ""}, {"code": 7}, {"code": None}])
def test_without_code_there_is_nothing_to_interpret(inputs: Any) -> None:
    with pytest.raises(ToolFault, match=r"inputs\.code"):
        asked("code_interpreter", inputs)


@pytest.mark.parametrize("kind", [*TYPES[1:], "shell", "../x"])
def test_a_delegate_that_nobody_brought_is_unavailable(kind: str) -> None:
    with pytest.raises(ToolFault, match=r"agent\.delegate_unavailable"):
        asked(kind, {})


def test_a_delegate_gets_the_work_its_key_and_how_deep_it_is() -> None:
    async def langchain_agent(work: Delegation) -> Any:
        return [work.inputs, work.key, work.depth]

    assert asked("langchain_agent", {"q": 1}, {"langchain_agent": langchain_agent}) == [{"q": 1}, "x1/1/0", 1]


def test_a_plain_function_may_be_a_delegate() -> None:
    assert asked("custom_container", {"q": 1}, {"custom_container": lambda work: work.inputs}) == {"q": 1}


def test_what_a_delegate_raises_goes_to_the_model() -> None:
    with pytest.raises(ToolFault, match="`custom_container` failed: KeyError"):
        asked("custom_container", {}, {"custom_container": lambda work: {}["x"]})


@pytest.mark.parametrize("depth", [3, 4, 100])
def test_work_is_delegated_three_times_and_no_more(depth: int) -> None:
    with pytest.raises(ToolFault, match="3 are allowed"):
        asked("code_interpreter", {"code": "1"}, depth=depth)
