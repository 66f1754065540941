"""A QuickJS context for one call: fresh globals and its own heap. Used once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .heap import Heap
from .quickjs import JSException, StackOverflow, new_context

_PRELUDE = Path(__file__).with_name("prelude.js")
_SELDOM = Path(__file__).with_name("seldom.js")
_TO_EXPLAIN = 8 * 1024 * 1024
"""Bytes of heap for reporting an error when the script's memory is used up."""
_FRAME = re.compile(r"^    at (?!plait_)(?:.*\()?<input>:(\d+)", re.MULTILINE)
_DEFAULT = 'import { default as main } from "<input>";'
_EXPORT = "write `export default function (input) { … }`"
_NULL = "null"
_STOP = "throw 0;"
"""Put before a script that is only checked: all of it is parsed, none of it runs. On its first line, so that line
numbers are the author's."""


class Failed(Exception):
    """Carries one of our error codes, and a line if it is known."""

    def __init__(self, code: str, message: str, line: int = 0, fix: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.line, self.fix = code, message, line, fix


class NotParsed(Failed):
    """The text is not JavaScript. `column` counts from 1, and is 0 if unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__("code_syntax", message, line)
        self.column = column


class Contexts:
    """Creates contexts. Their common prelude is read once."""

    def __init__(self, heap: Heap) -> None:
        self._prelude = _PRELUDE.read_text()
        self._seldom = _SELDOM.read_text()
        self._heap = heap

    def new(self) -> ScriptContext:
        """The previous context must be gone by now: its heap is given back."""
        self._heap.trim()
        return ScriptContext(self._prelude, self._seldom, self._heap)


class ScriptContext:
    def __init__(self, prelude: str, seldom: str, heap: Heap) -> None:
        self._context = new_context()
        self._heap = heap
        self._memory = 0
        self._output = _Output()
        self._context.add_callable("__plait_print", self._output.print)
        self._control: Any = self._context.eval(prelude)(seldom)

    def begin(self, memory: int, stack: int, printed: Callable[[str], None]) -> None:
        """Called before the script is loaded: from here on allocations count."""
        self._memory = memory
        self._output.printed = printed
        self._heap.begin()
        self._context.set_memory_limit(memory)
        self._context.set_max_stack_size(stack)

    def load(self, text: str) -> None:
        """Parses a script and runs its top level. Raises `NotParsed`; another text may then be loaded."""
        try:
            self._context.module(text)
        except JSException as error:
            failed = _not_loaded(str(error))
            raise (self._unless_out_of_memory(failed) if failed.message == _NULL else failed) from None
        except StackOverflow:
            raise NotParsed("it is nested too deep") from None

    def look_at(self, text: str) -> None:
        """Parses a script and checks that it has a default export. Executes none of it."""
        self.load(_STOP + text)
        try:
            self._context.module(_DEFAULT)
        except JSException:
            raise Failed("code_syntax", "the script has no default export", fix=_EXPORT) from None

    def call(self, text: str, *, truth: bool, most: int) -> str:
        """The result of the default export for an input, as JSON."""
        control = self._control
        try:
            control("begin", text, truth, most)
            while not (ended := control("ended")) and self._context.execute_pending_job():
                pass
        except StackOverflow:
            raise Failed("code_error", "RangeError: Maximum call stack size exceeded") from None
        except JSException as error:
            raise self._unless_out_of_memory(_thrown(str(error))) from None
        match ended:
            case "V":
                return control("value")
            case "":
                never = Failed("code_never_settled", "the promise of the default export is never settled")
                raise self._unless_out_of_memory(never)
            case "N":
                raise Failed("code_no_default", "the script has no default export that is a function")
            case _:
                self._context.set_memory_limit(self._memory + _TO_EXPLAIN)
                raise self._why(ended)

    def _why(self, ended: str) -> Failed:
        try:
            text: str = self._control("why")
        except (JSException, StackOverflow, UnicodeError):
            return self._unless_out_of_memory(Failed("code_error", "an error that can't be shown was thrown"))
        if ended == "B":
            return Failed("code_bad_output", text)
        match text[0]:
            case "E":
                return _thrown(text[1:])
            case "N":
                return self._unless_out_of_memory(Failed("code_error", f"{_NULL} was thrown"))
            case _:
                return _out_of_memory()

    def _unless_out_of_memory(self, failed: Failed) -> Failed:
        """Detects what may be left of a memory error: `null`, or a promise that there was no memory to settle."""
        return _out_of_memory() if self._heap.reached(self._memory) else failed


class _Output:
    """Receives printed lines. It has no reference to the context, which is freed as soon as it is unreferenced."""

    def __init__(self) -> None:
        self.printed: Callable[[str], None] = _nobody

    def print(self, line: str) -> None:
        self.printed(line)


def _nobody(line: str) -> None:
    """Nothing prints before a script is loaded."""


def _not_loaded(text: str) -> Failed:
    message, _, rest = text.partition("\n")
    if message.startswith("ReferenceError: could not load module"):
        why = message.removeprefix("ReferenceError: ")
        return Failed("code_syntax", f"imports are not possible: {why}", fix="put all code into the script")
    if "out of memory" in message:
        return _out_of_memory()
    place = re.search(r"<input>:(\d+):(\d+)", rest)
    line, column = (int(place[1]), int(place[2])) if place else (0, 0)
    return NotParsed(message.removeprefix("SyntaxError: "), line, column)


def _thrown(text: str) -> Failed:
    message, _, stack = text.partition("\n    at ")
    if "InternalError: out of memory" in message:
        return _out_of_memory()
    frame = _FRAME.search(f"    at {stack}")
    return Failed("code_error", message.strip(), int(frame[1]) if frame else 0)


def _out_of_memory() -> Failed:
    return Failed("code_memory", "the script took more memory than it may")
