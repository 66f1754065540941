"""Limits: generous defaults, and words that say which one was reached."""

from plait.kernel import values
from plait.kernel.limits import Limits, exceeded


def test_the_defaults_are_what_the_documentation_promises():
    assert Limits() == Limits(
        max_events=1_000_000,
        max_effects=10_000,
        max_depth=64,
        max_payload=16 * 1024 * 1024,
        blob_threshold=32 * 1024,
        max_queued_messages=10_000,
        max_recoveries=5,
    )


def test_the_door_and_the_limits_agree_on_the_largest_value():
    assert Limits().max_payload == values.MAX_BYTES


def test_a_limit_that_was_reached_is_said_in_numbers():
    error = exceeded("events", 1_000_001, 1_000_000)
    assert (error.code, error.kind) == ("kernel.limit_exceeded", "limit")
    assert error.message == "the run reached 1,000,001 events; the limit is 1,000,000"
