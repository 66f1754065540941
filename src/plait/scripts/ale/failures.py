"""Run-time errors raised by more than one core function."""

from __future__ import annotations

from .errors import AleRuntimeError
from .kinds import Value, kind


def unexpected(value: Value, expected: str) -> AleRuntimeError:
    return AleRuntimeError("kind", f"got {kind(value)}, expected {expected}")


def miscounted(got: int, least: int, most: int | None) -> AleRuntimeError:
    if most is None:
        expected = f"{least} or more"
    elif most == least:
        expected = str(least)
    else:
        expected = f"{least} or {most}" if most == least + 1 else f"{least} to {most}"
    return AleRuntimeError("arity", f"got {got} arguments, expected {expected}")


def out_of_bounds() -> AleRuntimeError:
    return AleRuntimeError("out_of_bounds", "index out of bounds")


def odd_object() -> AleRuntimeError:
    return AleRuntimeError("odd_object", "map must contain an even number of elements")
