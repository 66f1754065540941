"""Fan-out: one item for each combination of the arrays among a step's `for_each` inputs; and fan-in of their outputs.

The inputs are as the step gets them: by inner name, mapped. Names are sorted, and the last one varies fastest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

import msgspec
from msgspec import Raw

from plait.dialects.goals.steps.step import Step

_array = msgspec.json.Decoder(list[Raw])
_encode = msgspec.json.Encoder().encode


class Fan(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    """The `for_each` inputs whose value is an array, by outer name, sorted."""
    inner: tuple[str, ...]
    """The step's own names for them."""
    arrays: tuple[list[Raw], ...]

    @property
    def count(self) -> int:
        """The number of items: one without an array, none if one is empty."""
        return prod(map(len, self.arrays))

    def values(self, place: int) -> dict[str, Raw]:
        """The values that distinguish the item at this place, by outer name."""
        return dict(zip(self.names, self._chosen(place), strict=True))

    def inputs(self, place: int, whole: Mapping[str, Raw]) -> dict[str, Raw]:
        """All inputs of the item, by inner name."""
        return {**whole, **dict(zip(self.inner, self._chosen(place), strict=True))}

    def _chosen(self, place: int) -> list[Raw]:
        chosen: list[Raw] = []
        for array in reversed(self.arrays):
            place, index = divmod(place, len(array))
            chosen.append(array[index])
        return chosen[::-1]


PLAIN = Fan((), (), ())


def fan_of(step: Step, inputs: Mapping[str, Raw]) -> Fan:
    found = [
        (name, inner, _array.decode(raw))
        for name, each in sorted(step.attributes.items())
        if each.goes_in and each.detail.for_each
        if (raw := inputs.get(inner := each.inner(name))) is not None and bytes(raw).startswith(b"[")
    ]
    if not found:
        return PLAIN
    names, inners, arrays = zip(*found, strict=True)
    return Fan(names, inners, arrays)


def gathered(outputs: Iterable[str], items: Iterable[tuple[Mapping[str, Raw], Mapping[str, Raw]]]) -> dict[str, Raw]:
    """The outputs of a step of several items, each as (its values, its outputs), in their order: for every declared
    name a list of entries with the values that made it. An item without that output adds no entry."""
    done = list(items)
    return {
        name: Raw(_encode([{**values, name: given[name]} for values, given in done if name in given]))
        for name in outputs
    }
