from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from plait.agents import tool
from plait.agents.tools.names import AllowedTools, called
from plait.agents.tools.toolbox import Offer, RegisteredTools, Toolbox, argument_flaws


@tool
def zeta(a: int) -> int:
    """Last."""
    return a


@tool
def alpha(a: int) -> int:
    """First."""
    return a


def offer(allowed: Iterable[str], only: Iterable[str] | None = None) -> Offer:
    return asyncio.run(Toolbox([RegisteredTools([zeta, alpha])]).offer("default", allowed, only))


def test_an_offer_is_sorted_and_has_what_is_allowed_only() -> None:
    assert offer(["zeta", "alpha"]).names == ["alpha", "zeta"]
    assert offer(["zeta"]).names == ["zeta"]
    assert offer([]).names == []


def test_an_offer_stays_as_it_is_when_tools_are_added() -> None:
    async def scenario() -> None:
        known = RegisteredTools([alpha])
        frozen = await Toolbox([known]).offer("default", ["alpha", "zeta"])
        known.add(zeta)
        assert frozen.names == ["alpha"]
        assert (await Toolbox([known]).offer("default", ["alpha", "zeta"])).names == ["alpha", "zeta"]

    asyncio.run(scenario())


def test_an_execution_that_goes_on_has_the_tools_that_it_had() -> None:
    assert offer(["zeta", "alpha"], only=["zeta", "gone"]).names == ["zeta"]


def test_a_model_is_told_name_description_and_parameters() -> None:
    (told,) = offer(["alpha"]).offered
    assert (told.name, told.description) == ("alpha", "First.")
    assert told.parameters["required"] == ["a"]


@pytest.mark.parametrize("name", ["Alpha", "alpha ", " alpha", "alpha\0", "alphа", "alpha/../zeta", "*", "alpha:*"])
def test_a_forged_name_finds_nothing(name: str) -> None:
    assert offer(["alpha"]).get(name) is None
    assert offer([name]).names == []


@pytest.mark.parametrize(
    ("allowed", "reference", "permitted"),
    [
        ("crm:*", "crm:find", True),
        ("crm:*", "crm2:find", False),
        ("crm:*", "crm", False),
        ("*", "crm:find", False),
        ("*:*", "crm:find", False),
        (":*", ":find", True),
        ("workflow:order", "workflow:order", True),
        ("workflow:order", "workflow:order2", False),
        ("crm:f*", "crm:find", False),
    ],
)
def test_a_wildcard_stands_for_all_of_one_source_and_no_more(allowed: str, reference: str, permitted: bool) -> None:
    assert (reference in AllowedTools([allowed])) is permitted


def test_names_that_models_call_are_plain_and_never_collide() -> None:
    made = [called("crm", name) for name in ("find", "find.by", "find/by", "find by", "f" * 80, "f" * 81)]
    assert len(set(made)) == len(made)
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in made)


@pytest.mark.parametrize("arguments", [None, "{}", [], 1, {"a": "x"}, {}, {"a": 1, "b": 2}])
def test_arguments_are_checked_against_the_schema(arguments: object) -> None:
    assert argument_flaws(alpha.parameters, arguments)


def test_flaws_are_few_and_short() -> None:
    flaws = argument_flaws({"type": "object", "additionalProperties": False}, {f"k{n}": "x" * 10_000 for n in range(9)})
    assert 1 <= len(flaws) <= 5
    assert all(len(flaw) <= 300 for flaw in flaws)
