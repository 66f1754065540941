"""What an exception was raised from, and its notes, in the failure of a run: also through joins, steps and children."""

from __future__ import annotations

from typing import Any

import pytest

from plait.dialects.code.errors import JoinError, RaceError, StepExhaustedError, mark, ops_of, to_exception, to_info


def raised_from(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = error.__context__ = cause
    return error


@pytest.mark.parametrize("group", [JoinError, RaceError])
def test_a_join_and_a_race_keep_their_cause_and_notes(group: type[JoinError] | type[RaceError]) -> None:
    error = raised_from(group("j", {"a": ValueError("a is broken")}), KeyError("first"))
    error.add_note("of order 7")
    again = to_exception(to_info(error))
    assert isinstance(again, group)
    assert repr(again.__cause__) == "KeyError('first')"
    assert again.__notes__ == ["of order 7"]
    assert [repr(part) for part in again.exceptions] == ["ValueError('a is broken')"]


def test_a_failed_step_keeps_its_notes_and_its_last_error_as_cause() -> None:
    error = StepExhaustedError("s", 3, ValueError("no"))
    error.add_note("of order 7")
    again = to_exception(to_info(error))
    assert isinstance(again, StepExhaustedError)
    assert again.__cause__ is again.last_error
    assert again.__notes__ == ["of order 7"]


def test_a_join_that_another_exception_was_raised_from_keeps_its_branches() -> None:
    join = JoinError("j", {"a": mark(ValueError("a is broken"), "~j/a/s"), "b": KeyError("b")})
    info = to_info(raised_from(ValueError("the order is refused"), join))
    assert info.cause is not None
    assert {name: part.message for name, part in info.cause.parts.items()} == {"a": "a is broken", "b": "'b'"}
    again = to_exception(info).__cause__
    assert isinstance(again, JoinError)
    assert again.errors.keys() == {"a", "b"}
    assert info.ops == ["~j/a/s"]


def test_a_circle_of_causes_ends() -> None:
    one, two = JoinError("j", {"a": ValueError("a")}), ValueError("two")
    raised_from(one, two)
    raised_from(two, one)
    assert to_info(one).message == one.message
    assert ops_of(mark(two, "s")) == {"s"}


class Counted(Exception):
    """Counts how often its operations are looked up."""

    looks = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            Counted.looks += 1
        return super().__getattribute__(name)


def test_each_of_a_long_chain_of_causes_is_looked_at_once() -> None:
    error: BaseException = mark(Counted("0"), "the first")
    for number in range(1, 1_000):
        error = raised_from(Counted(str(number)), error)
    Counted.looks = 0
    assert ops_of(error) == {"the first"}
    assert Counted.looks == 1_000
