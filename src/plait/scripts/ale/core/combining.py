"""Functions that return functions."""

from __future__ import annotations

from collections.abc import Callable

from plait.scripts.ale.kinds import Builtin, Suspended, Tail, Value, to_vector
from plait.scripts.ale.limits import Meter
from plait.scripts.ale.sequences import SLOT_BYTES

from .shelf import Shelf

shelf = Shelf()

_FUNCTION_BYTES = 256


def _made(meter: Meter, name: str, parts: tuple[Value, ...], run: Callable[..., Value]) -> Builtin:
    meter.build(len(parts), SLOT_BYTES)
    meter.hold(_FUNCTION_BYTES)
    return Builtin(name, 0, None, run, suspends=True)


@shelf.put("partial", least=1)
def partial(meter: Meter, function: Value, *fixed: Value) -> Value:
    def run(meter: Meter, *args: Value) -> Value:
        meter.build(len(fixed) + len(args), SLOT_BYTES)
        return Tail(function, fixed + args)

    return _made(meter, "partial", fixed, run)


@shelf.put("comp", least=0)
def compose(meter: Meter, *functions: Value) -> Value:
    if not functions:
        return Builtin("identity", 1, 1, identity)

    def run(meter: Meter, *args: Value) -> Suspended:
        for function in functions[:-1]:
            args = ((yield function, args),)
        return Tail(functions[-1], args)

    return _made(meter, "comp", functions, run)


@shelf.put("juxt", least=1)
def juxtapose(meter: Meter, *functions: Value) -> Value:
    def run(meter: Meter, *args: Value) -> Suspended:
        results: list[Value] = []
        for function in functions:
            results.append((yield function, args))
        meter.build(len(results), SLOT_BYTES)
        return to_vector(tuple(results))

    return _made(meter, "juxt", functions, run)


@shelf.put("identity", least=1, most=1)
def identity(_: Meter, value: Value) -> Value:
    return value


@shelf.put("constantly", least=1, most=1)
def constantly(meter: Meter, value: Value) -> Value:
    def run(_: Meter, *args: Value) -> Value:
        return value

    return _made(meter, "constantly", (), run)


@shelf.put("no-op", least=0)
def no_op(_: Meter, *args: Value) -> Value:
    return None
