"""The order of `examples/`: in each dialect, and as a family of all five."""

from __future__ import annotations

import pytest

from examples.order import afl, family, graph, refs


@pytest.mark.parametrize("module", [afl, graph, refs], ids=["afl", "graph", "refs"])
async def test_an_order_of_this_dialect_runs_by_itself(module: object, capsys: pytest.CaptureFixture[str]) -> None:
    await module.main()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    assert "tea" in capsys.readouterr().out


async def test_an_order_is_made_of_runs_of_the_other_four(capsys: pytest.CaptureFixture[str]) -> None:
    await family.main()
    lines = capsys.readouterr().out.splitlines()
    runs = ["afl: shop.Order", "code: bank", "goals: tax", "graph: shipping", "refs: warehouse"]
    assert sorted(lines[1:]) == [f"{run} completed" for run in runs]
