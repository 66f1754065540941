"""The counter tables of the examples, event by event."""

from __future__ import annotations

from tests.dialects.graph.drawing import drawn, human, task
from tests.dialects.graph.player import Player


def test_a_chain_shows_the_counter_go_up_and_down_with_every_node() -> None:
    player = Player(drawn("A > B > C"))
    player.start({"n": 1})
    for node in "ABC":
        player.finish(node)
    assert player.types == [
        "run.started",
        *["node.consumed", "node.emitted"] * 2,
        "node.consumed",
        "run.completed",
    ]
    assert player.counters == [(1, 0), (0, 1), (1, 0), (0, 1), (1, 0)]
    assert player.output == {"C": {"node": "C"}}


def test_a_fan_out_and_its_join_consume_and_emit_as_the_table_says() -> None:
    player = Player(drawn("A > B C > D"))
    player.start()
    for node in "ABCD":
        player.finish(node)
    assert player.counters == [(1, 0), (0, 2), (2, 1), (1, 2), (2, 1), (1, 2), (2, 0)]
    fired, last = player.of("join.fired")[0], player.of("node.consumed")[-1]
    assert fired["arrived"] == ["B", "C"]
    assert last["delta"] == -2
    assert last["op_keys"] == [f"consume:{token}" for token in fired["token_ids"]]


def test_a_human_node_consumes_its_token_so_the_counter_is_zero_while_it_waits() -> None:
    player = Player(drawn("A > approval > B", human("approval")))
    player.start()
    player.finish("A")
    assert player.counters[-1] == (1, 0)
    assert player.types[-2:] == ["node.consumed", "approval.created"]
    assert player.status == "running"
    player.decide("approval")
    assert player.counters[-1] == (0, 1)
    emitted = player.of("node.emitted")[-1]
    assert emitted["op_key"] == f"emit:approval_{player.of('approval.created')[0]['approval_id']}"
    player.finish("B")
    assert player.status == "completed"


def test_two_entry_nodes_make_a_counter_of_two() -> None:
    player = Player(drawn("user orders > merge > mail"))
    player.start()
    assert player.of("run.started")[0]["data"]["counter_after"] == 2
    player.finish("orders")
    assert player.machine.waiting({})[-1].text == "join `merge` has `orders`, waits for `user`"
    player.finish("user")
    player.finish("merge")
    player.finish("mail")
    assert player.counters == [(2, 1), (1, 2), (2, 1), (1, 2), (2, 0), (0, 1), (1, 0)]


def test_the_payload_of_a_join_holds_the_outputs_by_dependency() -> None:
    player = Player(drawn("B C D > E"))
    player.start("NYC")
    for node in "DCB":
        player.finish(node, {"by": node})
    assert bytes(player.open("E").task.input.payload) == b'{"B":{"by":"B"},"C":{"by":"C"},"D":{"by":"D"}}'


def test_a_duplicate_of_a_result_changes_nothing() -> None:
    player = Player(drawn("A > B"))
    player.twice = True
    player.start()
    player.finish("A")
    assert player.counters == [(1, 0), (0, 1)]
    assert player.types[-1] == "task.late"


def test_one_run_has_one_op_key_for_each_consume_and_each_batch() -> None:
    player = Player(drawn("A > B C"))
    player.start()
    player.finish("A")
    [emitted] = player.of("node.emitted")
    assert emitted["op_key"] == f"emit:{emitted['token_id']}"
    assert emitted["delta"] == 2


def test_without_wait_for_all_every_token_fires_the_node() -> None:
    player = Player(drawn("A > B C > D", task("D", wait_for_all=False)))
    player.start()
    for node in "ABC":
        player.finish(node)
    player.finish("D")
    player.finish("D")
    assert player.status == "completed"
    assert not player.of("join.fired")


def test_a_fold_at_every_event_is_the_live_state() -> None:
    player = Player(drawn("A > B C > D > E", human("E")))
    player.start()
    for node in "ABCD":
        player.finish(node)
        player.crash()
    player.decide("E")
    player.crash()
    assert player.status == "completed"
