"""`diff` and `definitions`."""

import asyncio

import pytest

from plait import Engine
from tests.cli.support import Desk, both_ways


@both_ways
def test_diff_says_what_differs(desk: Desk):
    desk.run("sums", "--id", "a", "--input", "2")
    desk.run("sums", "--id", "b", "--input", "3")
    out = desk.plait("diff", "a", "b").out
    for part in (
        "a  a  sums  completed",
        "b  b  sums  completed",
        "input\n  ~ /  2 → 3",
        "output\n  ~ /  3 → 6",
        "+ rounds/~2/add  step  only in b",
        "2 operations are the same",
    ):
        assert part in out


@both_ways
def test_diff_for_programs(desk: Desk):
    (desk.folder / "closed").touch()
    desk.run("gated", "--id", "a")
    (desk.folder / "closed").unlink()
    desk.run("gated", "--id", "b")
    found = desk.plait("diff", "a", "b", "--json").json
    assert (found["a"]["status"], found["b"]["status"]) == ("failed", "completed")
    assert [(node["id"], node["change"]) for node in found["nodes"]] == [("before", "same"), ("gate", "changed")]
    assert {"path": "/status", "kind": "changed", "a": "failed", "b": "completed"} in found["nodes"][1]["changes"]


@both_ways
def test_two_runs_that_went_the_same_way(desk: Desk):
    for name in ("a", "b"):
        desk.run("nothing", "--id", name)
    assert "no differences except times and ids" in desk.plait("diff", "a", "b").out


@both_ways
@pytest.mark.parametrize("names", [("n", "nobody"), ("nobody", "n")])
def test_a_run_that_is_not_there_can_not_be_compared(desk: Desk, names: tuple[str, str]):
    desk.run("nothing", "--id", "n")
    ran = desk.plait("diff", *names, "--json")
    assert (ran.code, ran.problem["code"]) == (2, "kernel.no_run")


@both_ways
def test_definitions_are_those_that_servers_loaded(desk: Desk):
    _remember(desk)
    found = {known["name"]: known for known in desk.plait("definitions", "--json").json}
    assert {"hello", "sums", "waits"} <= set(found)
    assert found["hello"]["input_schema"] == {"type": "string"}
    header, *lines = desk.plait("definitions").out.splitlines()
    assert header.split() == ["NAME", "DIALECT", "VERSION", "TAGS", "SINCE"]
    assert [line.split()[0] for line in lines] == sorted(found)


@both_ways
def test_definitions_of_a_dialect_that_has_none(desk: Desk):
    _remember(desk)
    assert desk.plait("definitions", "--dialect", "spec").out == "no definitions\n"


def _remember(desk: Desk) -> None:
    """As a server does when it starts."""
    if desk.db.startswith("sqlite"):

        async def remember() -> None:
            async with Engine(desk.db, definitions=[desk.load()], work=False) as engine:
                await engine.definitions.remember()

        asyncio.run(remember())
