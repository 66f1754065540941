"""In which order queues have their turns."""

from plait.kernel.admitter import in_turn


def test_namespaces_take_turns():
    queues = [("a", "q1"), ("a", "q2"), ("a", "q3"), ("b", "q1"), ("c", "q1"), ("c", "q2")]
    assert in_turn(queues) == [("a", "q1"), ("b", "q1"), ("c", "q1"), ("a", "q2"), ("c", "q2"), ("a", "q3")]
