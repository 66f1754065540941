"""A compiled script: can be called with named values any number of times, from any thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .conversion import incoming, outgoing
from .errors import AleLimitError
from .kinds import Frame, Lazy, List, Object, Pair, Set, Suspended, Value, Vector
from .limits import DEFAULT, Limits, Meter
from .machine import force, run
from .parameters import checked
from .printer import printed
from .program import compile_script
from .reader import read
from .sequences import realize

_NESTED = frozenset({Lazy, Vector, List, Object, Set, Pair})


class Script:
    """A text compiled for parameters. A parameter missing in a call is null."""

    __slots__ = ("_blank", "_body", "limits", "parameters", "text")

    def __init__(self, text: str, parameters: Sequence[str] = (), limits: Limits = DEFAULT) -> None:
        self.text = text
        self.parameters = tuple(parameters)
        self.limits = limits
        case = compile_script(read(text), checked(self.parameters))
        self._body = case.code
        self._blank = case.blank

    def call(self, inputs: Mapping[str, Any] | None = None) -> Any:
        """The result as JSON data."""
        return outgoing(*self._realized(inputs))

    def show(self, inputs: Mapping[str, Any] | None = None) -> str:
        """The result as text, as `str!` prints it."""
        return printed(*self._realized(inputs))

    def holds(self, inputs: Mapping[str, Any] | None = None) -> bool:
        """Whether the result counts as true, that is, is anything but `#f`."""
        return self._run(inputs or {})[1] is not False

    def _realized(self, inputs: Mapping[str, Any] | None) -> tuple[Meter, Value]:
        meter, value = self._run(inputs or {})
        if type(value) in _NESTED and _waits(realize(meter, value)):
            force(meter, realize(meter, value))
        return meter, value

    def _run(self, inputs: Mapping[str, Any]) -> tuple[Meter, Value]:
        limits = self.limits
        meter = Meter(limits)
        frame: Frame = [meter, None]
        for name in self.parameters:
            value = inputs.get(name)
            frame.append(incoming(value, limits))
        frame += self._blank
        try:
            quick = self._body.quick
            if quick is None:
                return meter, run(meter, self._body, frame)
            meter.visit(quick[1])
            return meter, quick[0](frame)
        except RecursionError:  # only if the caller itself has used up Python's stack
            raise AleLimitError("depth_limit", "recursion too deep") from None


def _waits(steps: Suspended) -> bool:
    """Whether a core function needs the machine. Most results contain nothing lazy and skip it."""
    for _ in steps:
        return True
    return False
