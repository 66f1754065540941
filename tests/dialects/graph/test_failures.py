"""Attempts that fail, dead letters, compensation, limits and guardrails."""

from __future__ import annotations

from typing import Any

import pytest

from plait.kernel.inputs import Cancel, Resume
from tests.dialects.graph.drawing import branch, drawn, rule, task
from tests.dialects.graph.player import Player


def settle(player: Player, verdict: Any) -> None:
    [letter] = player.letters.values()
    player.give(Resume("settle", token=letter.token, verdict=verdict), f"{verdict}-{len(player.events)}")


def test_a_failed_attempt_is_tried_again_and_its_token_stays_counted() -> None:
    player = Player(drawn("A > B", task("A", retry={"max_attempts": 3, "backoff_ms": 1000, "multiplier": 2})))
    player.start()
    player.finish("A", error="away", retryable=True)
    assert player.machine.run.state.counter == 1
    assert list(player.timers.values()) == [player.now + 1000]
    player.ring()
    player.finish("A", error="away", retryable=True)
    assert list(player.timers.values()) == [player.now + 2000]
    player.ring()
    player.finish("A")
    assert player.of("node.consumed")[0]["attempt"] == 3


def test_a_node_that_fails_for_good_is_a_dead_letter_and_fails_the_run_when_nothing_else_moves() -> None:
    player = Player(drawn("A > B C"))
    player.start()
    player.finish("A")
    player.finish("B", error="card declined")
    assert player.status == "running"
    player.finish("C")
    assert player.status == "failed"
    assert player.error.message == "node `B` failed: card declined"
    [dead] = player.of("token.dead_lettered")
    assert (dead["node_id"], dead["failure_reason"]) == ("B", "card declined")
    assert list(player.letters) == [dead["dlq_id"]]


def test_a_dead_letter_that_is_retried_reopens_the_run_with_the_same_token() -> None:
    player = Player(drawn("A > B"))
    player.start()
    player.finish("A")
    first = player.open("B").task
    player.finish("B", error="broken")
    settle(player, "retry")
    assert player.status == "running"
    assert player.types[-2:] == ["run.reopened", "token.reprocessed"]
    again = player.open("B").task
    assert again.key != first.key
    assert again.input.token_id == first.input.token_id
    player.crash()
    player.finish("B")
    assert player.status == "completed"
    assert not player.letters


def test_retry_of_a_run_takes_up_all_its_dead_letters() -> None:
    player = Player(drawn("A > B C > D"))
    player.start()
    player.finish("A")
    for node in "BC":
        player.finish(node, error="broken")
    assert player.status == "failed"
    player.give(Resume("retry"), "retry")
    for node in "BCD":
        player.finish(node)
    assert player.status == "completed"


def test_a_dead_letter_that_is_discarded_lets_the_run_end() -> None:
    player = Player(drawn("A > B C"))
    player.start()
    player.finish("A")
    player.finish("B", error="broken")
    player.finish("C")
    settle(player, "discard")
    assert player.status == "completed"
    assert player.counters[-1] == (1, 0)


def test_a_run_that_ended_otherwise_is_not_retried() -> None:
    player = Player(drawn("A > B", limits={"max_hops": 1}))
    player.start()
    player.finish("A")
    assert player.error.code == "graph.exceeded_max_hops"
    player.give(Resume("retry"), "retry")
    assert b"graph.nothing_to_retry" in bytes(player.replies[-1].reply)


def test_a_run_on_hold_waits_for_a_person() -> None:
    player = Player(drawn("A", on_failure="hold"))
    player.start()
    player.finish("A", error="broken")
    assert player.status == "running"
    [reason] = player.machine.waiting({})
    assert reason.text.endswith("at `A`: retry or discard")


# -- limits ------------------------------------------------------------------------------------------------------------


def test_too_many_targets_end_the_run_with_the_output_kept() -> None:
    player = Player(drawn("A > B C D", limits={"max_fanout": 2}))
    player.start()
    player.finish("A", {"n": 1})
    assert player.types[-3:] == ["node.consumed", "limit.exceeded", "run.failed"]
    assert player.error.code == "graph.exceeded_max_fanout"
    assert not player.tasks


def test_a_run_has_only_so_many_tokens() -> None:
    player = Player(drawn("A > B > C", limits={"max_tokens": 2}))
    player.start()
    player.finish("A")
    player.finish("B")
    assert player.error.code == "graph.exceeded_max_tokens"


def test_a_run_reads_only_so_many_bytes() -> None:
    player = Player(drawn("A > B > C", limits={"max_bytes_scanned": 100}))
    player.start()
    player.finish("A", "x" * 200)
    player.finish("B")
    assert player.error.code == "graph.exceeded_max_bytes"


def test_a_run_takes_only_so_long() -> None:
    player = Player(drawn("A > B", limits={"max_wall_time_s": 60}))
    player.start()
    player.ring()
    assert player.status == "failed"
    assert player.error.code == "graph.deadline_exceeded"


# -- guardrails --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "policy"),
    [
        (task("A", capabilities={"can_emit_to": ["C"]}), {}),
        (task("A", capabilities={"max_fanout": 1}), {}),
        (task("A"), {"allowed_transitions": {"A": ["C"]}}),
        (task("A"), {"rules": [{"effect": "deny", "condition": "to_node == 'B'"}]}),
        (task("A"), {"rules": [{"effect": "allow", "condition": "to_node == 'C'"}]}),
        (task("A"), {"rules": [{"effect": "allow", "condition": "input.missing == 1"}]}),
    ],
)
def test_what_a_guardrail_forbids_fails_the_attempt_and_emits_nothing(node: Any, policy: Any) -> None:
    player = Player(drawn("A > B C", node, policy=policy))
    player.start({"n": 1})
    player.finish("A")
    assert player.of("policy.denied")
    assert not player.of("node.emitted")
    assert player.status == "failed"


def test_a_rule_that_allows_lets_a_token_through() -> None:
    policy = {"rules": [{"effect": "allow", "condition": "input.n == 1"}]}
    player = Player(drawn("A > B", policy=policy))
    player.start({"n": 1})
    player.finish("A")
    player.finish("B")
    assert player.status == "completed"


# -- compensation ------------------------------------------------------------------------------------------------------


def undoing(on_failure: str) -> Player:
    book = task("book", compensator={"action": "unbook"})
    again = {"condition": "output.again", "max_iterations": 2, "timeout_path": ["fail"]}
    player = Player(
        drawn(
            "book > pay, fail", book, task("pay", compensator={"action": "refund"}, loop=again), on_failure=on_failure
        )
    )
    player.start({"n": 1})
    player.finish("book")
    player.finish("pay", {"again": True, "i": 1})
    player.finish("pay", {"again": True, "i": 2})
    player.finish("fail", error="broken")
    return player


def test_every_success_is_compensated_newest_first() -> None:
    player = undoing("compensate")
    done: list[Any] = []
    while player.tasks:
        [opened] = player.tasks.values()
        done.append((opened.task.input.handler, bytes(opened.task.input.payload)))
        player.end(opened, None)
    assert [handler for handler, _ in done] == ["refund", "refund", "unbook"]
    assert b'"i":2' in done[0][1]
    assert player.status == "failed"


def test_a_run_that_fails_without_on_failure_compensates_nothing() -> None:
    player = undoing("fail")
    assert player.status == "failed"
    assert not player.tasks
    player.give(Resume("compensate"), "compensate")
    assert player.tasks


def test_a_cancelled_run_is_compensated_when_asked_to() -> None:
    player = Player(drawn("A > B", task("A", compensator={"action": "undo"})))
    player.start()
    player.finish("A")
    player.give(Cancel("enough", compensate=True), "cancel")
    [opened] = player.tasks.values()
    assert opened.task.key.endswith(f":compensate:{opened.task.input.token_id}")
    player.end(opened)
    assert player.status == "cancelled"


def test_a_late_result_of_a_cancelled_run_is_kept_and_not_routed() -> None:
    player = Player(drawn("A > B"))
    player.start()
    opened = player.open("A")
    player.give(Cancel("enough"), "cancel")
    player.end(opened, {"n": 1})
    assert player.types[-2:] == ["run.cancelled", "task.late"]


def test_a_branch_that_nothing_reaches_is_skipped_with_its_reason() -> None:
    player = Player(drawn("hi, lo", task("A", branch=branch(rule("output.n > 1", "hi"), default=["lo"]))))
    player.start()
    player.finish("A", {"n": 5})
    player.finish("hi")
    nodes = {node.id: node for node in player.machine.nodes({})[0]}
    assert nodes["lo"].status == "skipped"
    assert nodes["lo"].skip_reason == "branch of `A` chose `hi`"
