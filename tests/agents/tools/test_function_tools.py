from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from plait.agents import tool
from plait.agents.tools.names import BUILT_IN
from plait.agents.tools.tool import ToolFault
from plait.agents.tools.toolbox import argument_flaws, needs_approval
from plait.kernel.errors import InvalidInput

from .building import use


@dataclass
class Address:
    city: str
    zip: str = ""


@tool
async def lookup_rate(
    currency: Annotated[str, Meta(description="ISO 4217")], day: str | None = None, key: str = ""
) -> dict[str, Any]:
    """Today's rate of a currency against the euro."""
    return {"currency": currency, "day": day, "key": key}


@tool(name="ship", needs_approval=True)
def send_parcel(to: Address, speed: Literal["slow", "fast"] = "slow", notes: list[str] = []) -> Any:  # noqa: B006
    notes.append(threading.current_thread().name)
    return {"city": to.city, "speed": speed, "notes": len(notes)}


def called(made: Any, arguments: dict[str, Any], **changed: Any) -> Any:
    return asyncio.run(made.call(arguments, use(**changed)))


def test_the_schema_comes_from_the_annotations_and_never_has_the_key() -> None:
    assert lookup_rate.name == "lookup_rate"
    assert lookup_rate.description == "Today's rate of a currency against the euro."
    assert lookup_rate.parameters["properties"].keys() == {"currency", "day"}
    assert lookup_rate.parameters["properties"]["currency"]["description"] == "ISO 4217"
    assert lookup_rate.parameters["required"] == ["currency"]
    assert send_parcel.parameters["properties"]["speed"]["enum"] == ["fast", "slow"]
    assert "Address" in send_parcel.parameters["$defs"]


def test_the_key_is_the_idempotency_key_of_the_call() -> None:
    assert called(lookup_rate, {"currency": "SEK"}, key="x9/2/1")["key"] == "x9/2/1"


def test_a_key_that_the_model_sends_is_refused() -> None:
    with pytest.raises(ToolFault, match="key"):
        called(lookup_rate, {"currency": "SEK", "key": "forged"})


def test_plain_functions_run_in_threads_with_defaults_of_their_own() -> None:
    first = called(send_parcel, {"to": {"city": "Lund"}})
    again = called(send_parcel, {"to": {"city": "Lund"}})
    assert first == again == {"city": "Lund", "speed": "slow", "notes": 1}


def test_a_tool_is_still_a_function() -> None:
    assert send_parcel(Address("Lund"), "fast", [])["speed"] == "fast"


def test_approval_is_asked_for_where_the_tool_says_so() -> None:
    assert needs_approval(send_parcel)
    assert not needs_approval(lookup_rate)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"to": "Lund"}, {"to": {"city": 1}}, {"to": {"city": "Lund"}, "speed": "warp"}, {"to": {"city": "x"}, "z": 1}],
)
def test_arguments_that_do_not_fit_go_back_to_the_model(arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolFault, match="can't take these arguments"):
        called(send_parcel, arguments)
    assert argument_flaws(send_parcel.parameters, arguments) or arguments == {"to": {"city": 1}}


def test_what_a_function_raises_goes_to_the_model() -> None:
    @tool
    def fail() -> None:
        raise LookupError("no such customer")

    with pytest.raises(ToolFault, match="fail failed: LookupError: no such customer"):
        called(fail, {})


def test_a_result_that_is_not_json_goes_to_the_model() -> None:
    @tool
    def odd() -> Any:
        return object()

    with pytest.raises(ToolFault, match="not JSON"):
        called(odd, {})


@pytest.mark.parametrize(
    "name",
    [
        *BUILT_IN,
        "",
        "pipe_a_b_123456",
        "two words",
        "a.b",
        "server:tool",
        "a__b",
        "1st",
        "ünïcode",
        "x" * 65,
        "a\n",
        "-rf",
    ],
)
def test_a_name_that_could_be_taken_for_another_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        tool(name=name or " ")(lambda: None)
    assert refused.value.code == "agent.bad_tool"


def test_parameters_that_have_no_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="can't be a tool"):
        tool(name="f")(lambda *args: args)
