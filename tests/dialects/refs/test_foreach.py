"""Steps with `forEach`: section 4.3 of the spec."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.refs.player import Player, code, tool


def loop(**more: Any) -> dict[str, Any]:
    concurrency = more.pop("concurrency", 2)
    ref = more.pop("ref", "@input.items")
    return tool("f", {"item": "@item", "n": "@index"}, forEach={"ref": ref, "concurrency": concurrency}, **more)


def items(count: int) -> dict[str, Any]:
    return {"items": [f"i{number}" for number in range(count)]}


def test_iterations_start_in_order_and_give_an_array_by_position() -> None:
    player = Player([loop()]).start(items(4))
    assert list(player.tasks) == ["f[0]", "f[1]"]
    player.finish("f[1]", "b")
    assert list(player.tasks) == ["f[0]", "f[2]"]
    player.finish("f[0]", "a")
    player.finish("f[3]", "d")
    player.finish("f[2]", "c")
    assert player.output == ["a", "b", "c", "d"]
    assert player.inputs["f[2]"] == {"item": "i2", "n": 2}


def test_one_at_a_time_is_the_default() -> None:
    player = Player([tool("f", {"x": "@item"}, forEach={"ref": "@input.items"})]).start(items(3))
    assert list(player.tasks) == ["f[0]"]


def test_an_empty_array_completes_at_once() -> None:
    player = Player([loop(), tool("after", {"x": "@f"})]).start(items(0))
    assert player.inputs == {"after": {"x": []}}


@pytest.mark.parametrize("given", [None, {}, "abc", 3])
def test_what_is_no_array_fails_the_step_and_the_run(given: Any) -> None:
    player = Player([loop()]).start({"items": given})
    assert player.error.message == 'Step "f" failed: forEach ref did not resolve to an array: @input.items'


def test_what_is_no_array_is_null_only_if_that_is_said() -> None:
    player = Player([loop(config={"onError": "continue"}), tool("after", {"x": "@f"})]).start({})
    assert player.inputs == {"after": {"x": None}}


@pytest.mark.parametrize("ended", ["skipped", "failed"])
def test_null_of_a_producer_without_a_result_counts_as_no_items(ended: str) -> None:
    producer = tool("p", when={"ref": "@input.go"}, config={"onError": "continue"})
    player = Player([producer, loop(ref="@p.items")]).start({"go": ended == "failed"})
    if ended == "failed":
        player.fail("p")
    assert player.output == []


def test_null_of_a_producer_that_returned_it_is_no_array() -> None:
    player = Player([tool("p"), loop(ref="@p.items")]).start()
    player.finish("p", None)
    assert "forEach ref did not resolve" in player.error.message


def test_too_many_items_fail_before_any_starts() -> None:
    player = Player([loop()]).start(items(10_001))
    assert player.error.code == "too_large"
    assert not player.inputs


def test_a_failed_iteration_is_null_and_the_rest_go_on() -> None:
    player = Player([loop()]).start(items(3))
    player.fail("f[0]", "bad item")
    player.finish("f[1]", 1)
    player.finish("f[2]", 2)
    assert player.output == [None, 1, 2]
    details = player.machine.details()
    assert details is not None
    assert details["partial"]


def test_on_error_fail_fails_the_run_and_starts_no_more() -> None:
    player = Player([loop(config={"onError": "fail"})]).start(items(4))
    player.fail("f[1]", "bad item")
    assert player.error.message == 'Step "f[1]" failed: bad item'
    assert "f[2]" not in player.inputs


def test_a_condition_is_judged_once_before_any_iteration() -> None:
    player = Player([loop(when={"ref": "@input.go"})]).start(items(2))
    assert player.types.count("step.skipped") == 1
    assert player.output is None


def test_bail_reads_the_whole_array() -> None:
    player = Player([loop(bail={"ref": "@f.1", "eq": "stop"}), tool("after", {"x": "@f"})]).start(items(2))
    player.finish("f[0]", "go")
    player.finish("f[1]", "stop")
    assert player.output == ["go", "stop"]


def test_after_a_crash_only_unfinished_iterations_run() -> None:
    player = Player([loop(concurrency=3)]).start(items(5))
    player.finish("f[1]", 1)
    player.fail("f[0]")
    player.crash()
    assert list(player.tasks) == ["f[2]", "f[3]", "f[4]"]
    player.finish_all(lambda id, input: input["n"])
    assert player.output == [None, 1, 2, 3, 4]


def test_iterations_of_a_preset_step_never_run() -> None:
    player = Player({"steps": [loop()], "presets": {"f": [1]}}).start(items(2))
    assert player.output == [1]


def test_outputs_are_checked_by_iteration() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    player = Player([loop(outputSchema=schema), code("c", {"x": "@f"})]).start(items(2))
    player.finish("f[0]", {"n": 1, "more": 2})
    player.finish("f[1]", {"n": "x"})
    assert player.inputs["c"] == {"x": [{"n": 1}, None]}
    assert player.of("step.failed")[0]["error"]["code"] == "output_mismatch"


def test_ten_thousand_items_take_no_longer_each_than_a_hundred() -> None:
    """Counted in events: a decision must not look at all items again."""
    player = Player([loop(concurrency=50)]).start(items(10_000))
    run = player.machine.run
    looked_at = 0
    original = type(run).items

    def counted(self: Any, step: Any) -> Any:
        nonlocal looked_at
        looked_at += 1
        return original(self, step)

    type(run).items = counted
    try:
        for _ in range(200):
            player.finish(next(iter(player.tasks)), 1)
    finally:
        type(run).items = original
    assert looked_at == 0
