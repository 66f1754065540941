"""The three examples of the seed: values, iteration by iteration, and states."""

from plait.dialects.afl.running import states
from tests.dialects.afl.player import Player
from tests.dialects.afl.running.programs import ONE, THREE, TWO


def moves(player: Player, name: str) -> list[tuple[str, str]]:
    """From where to where a step went, one pair an iteration."""
    ids = [each["step"]["id"] for each in player.of("afl.step.created") if each["step"].get("statement_name") == name]
    return [(each["source"], each["to"]) for each in player.of("afl.step.moved") if each["step_id"] in ids]


def test_the_first_example_gives_4_and_creates_s2_only_when_s1_is_complete():
    player = Player(ONE, paced=True).start()
    assert player.step("s1").params == {"input": 2}
    assert player.step("s1").state == states.COMPLETE
    assert "s2" not in player.paths
    player.go()
    assert player.step("s2").params == {"input": 3}
    while player.due:
        player.go()
    assert player.output == {"output": 4}
    assert player.created == [["TestOne", "AndThen", "s1"], ["s2"], ["yield"], [], []]


def test_the_second_example_makes_c_in_the_iteration_after_a_and_b():
    player = Player(TWO).start()
    assert player.created == [["TestTwo", "AndThen", "a", "b"], ["c"], ["yield"], [], []]
    assert {name: each.params["input"] for name, each in player.paths.items()} == {"a": 2, "b": 11, "c": 13}
    assert player.output == {"output": 13}


def test_the_third_example_runs_its_blocks_at_once_with_the_same_names():
    player = Player(THREE).start()
    assert player.created[0] == ["TestThree", "AndThen", "AndThen", "AndThen", *["a", "b"] * 3]
    assert player.created[1] == ["c"] * 3
    assert player.output == {"output1": 13, "output2": 13, "output3": 13}


def test_an_input_takes_the_place_of_the_default():
    assert Player(TWO).start(input=5).output == {"output": 21}


def test_the_workflow_stays_as_it_is_until_its_blocks_are_complete():
    player = Player(TWO, paced=True).start()
    while player.due:
        root = next(iter(player.machine.run.nodes.values())).record
        assert (root.state, root.returns) == (states.BLOCKS_CONTINUE, {})
        player.go()
    assert moves(player, "TestTwo") == [
        (states.CREATED, states.BLOCKS_CONTINUE),
        (states.BLOCKS_CONTINUE, states.COMPLETE),
    ]


def test_a_step_without_events_goes_through_its_whole_table_in_one_iteration():
    player = Player(ONE).start()
    assert moves(player, "s1") == [(states.CREATED, states.COMPLETE)]
    passed = states.passed("STEP", states.CREATED, states.COMPLETE)
    assert [each for each in passed if each == states.EVENT_TRANSMIT] == [states.EVENT_TRANSMIT]
    assert len(passed) == 17


def test_every_iteration_is_one_commit_that_ends_with_its_number():
    player = Player(TWO).start()
    ends = [[event["type"] for event in row["events"]] for row in player.log]
    assert all(each.count("afl.iteration") == 1 for each in ends)
    assert [event["n"] for event in player.of("afl.iteration")] == [1, 2, 3, 4, 5]
    assert [each[-1] for each in ends[:-1]] == ["afl.iteration"] * 4


def test_the_same_run_has_the_same_step_ids():
    assert list(Player(THREE).start().machine.run.nodes) == list(Player(THREE).start().machine.run.nodes)


def test_every_log_folds_to_the_state_that_made_it():
    for source in (ONE, TWO, THREE):
        player = Player(source, paced=True).start()
        while player.due:
            player.crash()
            if player.due:
                player.go()
        assert player.status == "completed"
