"""Functions that convert values to text, and that raise the script's own errors."""

from __future__ import annotations

from sys import getsizeof

from plait.scripts.ale.errors import AleRuntimeError
from plait.scripts.ale.kinds import Suspended, Value
from plait.scripts.ale.limits import Meter
from plait.scripts.ale.printer import printed
from plait.scripts.ale.sequences import realize

from .shelf import Shelf

shelf = Shelf()


@shelf.put("str", least=0, suspends=True)
def join(meter: Meter, *args: Value) -> Suspended:
    parts: list[str] = []
    length = 0
    for arg in args:
        meter.visit(1)
        if type(arg) is str:
            text = arg
        else:
            yield from realize(meter, arg)
            text = "" if arg is None else printed(meter, arg)
        parts.append(text)
        length += len(text)
        meter.fits(length)
    return _held(meter, "".join(parts))


@shelf.put("str!", least=0, suspends=True)
def quote(meter: Meter, *args: Value) -> Suspended:
    parts: list[str] = []
    length = 0
    for arg in args:
        yield from realize(meter, arg)
        parts.append(printed(meter, arg))
        length += len(parts[-1]) + 1
        meter.fits(length)
    return _held(meter, " ".join(parts))


@shelf.put("raise", least=0, suspends=True)
def fail(meter: Meter, *args: Value) -> Suspended:
    text = yield from join(meter, *args)
    raise AleRuntimeError("raised", text)


def _held(meter: Meter, text: str) -> str:
    meter.hold(getsizeof(text))
    return text
