"""Exceptions as data and back: whatever a step raises can be kept, shown, and raised again."""

import asyncio
import sys
from typing import Any

import msgspec
import pytest

from plait.kernel import values
from plait.kernel.errors import Conflict, ErrorInfo
from plait.kernel.failures import describe, rebuild
from plait.kernel.task import TaskError


class Plain(Exception):
    pass


class WithArguments(Exception):
    def __init__(self, sku: str, count: int) -> None:
        super().__init__(f"no {sku}")
        self.sku = sku
        self.count = count


class KeywordOnly(Exception):
    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NeedsItsConstructor(Exception):
    def __init__(self, parts: list[str]) -> None:
        self._parts = parts

    def __str__(self) -> str:
        return "/".join(self._parts)


class Mute(Exception):
    """Some libraries' exceptions can't be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class NoTuple(Exception):
    args = property(lambda self: 1 / 0)  # pyright: ignore[reportAssignmentType]


class Picky(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("read only")


class Outer:
    class Inner(Exception):
        pass


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def round_trip(error: BaseException) -> BaseException | None:
    info = describe(raised(error))
    stored = msgspec.json.decode(values.plain(info), type=ErrorInfo)
    assert stored == info
    return rebuild(stored)


@pytest.mark.parametrize(
    "error",
    [
        Plain("no luck"),
        Plain(),
        Plain("two", 2, None, 1.5, True),
        ValueError("bad"),
        KeyError("sku"),
        FileNotFoundError(2, "No such file", "a.txt"),
        WithArguments("tea", 3),
        KeywordOnly(reason="rain"),
        Outer.Inner("inside"),
        TimeoutError(),
        SystemExit(3),
        KeyboardInterrupt(),
        StopIteration(4),
        asyncio.CancelledError(),
        Conflict("a.code", "what", why="why", fix="fix"),
    ],
)
def test_an_exception_comes_back_as_what_it_was(error: BaseException):
    back = round_trip(error)
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_attributes_that_are_not_plain_are_left_behind():
    error = Plain("x")
    error.connection = object()  # pyright: ignore[reportAttributeAccessIssue]
    error.port = 80  # pyright: ignore[reportAttributeAccessIssue]
    back = round_trip(error)
    assert vars(back) == {"port": 80}


def test_a_message_stands_for_arguments_that_can_not_be_kept():
    back = round_trip(Plain({"a": object}))
    assert isinstance(back, Plain)
    assert "object" in str(back)


@pytest.mark.parametrize("error", [NeedsItsConstructor(["a"]), Picky("x")])
def test_an_exception_that_can_not_be_made_again_is_still_described(error: BaseException):
    info = describe(raised(error))
    assert info.message == str(error)
    assert rebuild(info) is None


def test_an_exception_that_would_come_back_without_its_words_does_not_come_back():
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    info = describe(raised(error))
    assert "invalid start byte" in info.message
    assert rebuild(info) is None


def test_an_exception_that_can_not_say_what_it_is_is_named_by_its_class():
    info = describe(raised(Mute("x")))
    assert info.message == "Mute"
    assert rebuild(info) is None


def test_an_exception_with_broken_arguments_is_described():
    assert describe(raised(NoTuple())).type.endswith(":NoTuple")


@pytest.mark.parametrize(
    "text", ["a\0b", "\ud800", "x" * 100_000, "\udcff" * 50], ids=["nul", "surrogate", "long", "surrogates"]
)
def test_whatever_an_exception_says_can_be_stored(text: str):
    error = Plain(text)
    error.detail = text  # pyright: ignore[reportAttributeAccessIssue]
    info = describe(raised(error))
    assert values.encode(msgspec.to_builtins(info))
    assert len(info.message) < 20_000


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2**200, -(2**63) - 1])
def test_numbers_that_json_does_not_have_are_kept_as_text(number: Any):
    info = describe(raised(Plain(number)))
    assert info.args == [str(number)]


def test_the_place_is_kept_and_the_code_of_our_own_errors():
    info = describe(raised(Conflict("kernel.x", "it is")))
    assert info.code == "kernel.x"
    assert "test_failures.py" in info.trace
    assert describe(raised(Plain())).code == "task.failed"


@pytest.mark.parametrize(
    "type",
    ["gone.module:Error", "builtins:print", "builtins:int", "builtins:no.such", "", ":", "os:path.join", "tests"],
)
def test_what_names_no_exception_class_that_is_loaded_is_not_rebuilt(type: str):
    assert rebuild(ErrorInfo("task.failed", "x", type=type)) is None


def test_rebuilding_imports_nothing():
    before = set(sys.modules)
    assert rebuild(ErrorInfo("task.failed", "x", type="this:Error")) is None
    assert set(sys.modules) == before


def test_causes_parts_and_notes_are_kept_and_come_back() -> None:
    first = ValueError("bad sku")
    first.add_note("while packing")
    second = KeyError("price")
    group = ExceptionGroup("two of them", [first, second])
    try:
        try:
            raise OSError("disk")
        except OSError as error:
            raise group from error
    except ExceptionGroup as error:
        info = describe(error)
    assert info.cause is not None
    assert info.cause.message == "disk"
    assert [part.message for part in info.parts.values()] == ["bad sku", "'price'"]
    assert info.parts["0"].notes == ["while packing"]
    again = rebuild(msgspec.json.decode(msgspec.json.encode(info), type=ErrorInfo))
    assert isinstance(again, ExceptionGroup)
    assert again.message == "two of them"
    assert [type(part) for part in again.exceptions] == [ValueError, KeyError]
    assert again.exceptions[0].__notes__ == ["while packing"]
    assert isinstance(again.__cause__, OSError)


def test_a_chain_of_causes_without_end_is_cut() -> None:
    error = ValueError("0")
    error.__cause__ = error
    info: ErrorInfo | None = describe(error)
    for _ in range(20):
        info = info.cause if info is not None else None
    assert info is None


def test_the_code_of_failed_work_is_kept() -> None:
    assert describe(TaskError("no such tool", retryable=False, code="tool_not_found")).code == "tool_not_found"
    assert describe(TaskError("no", retryable=True)).code == "task.failed"
