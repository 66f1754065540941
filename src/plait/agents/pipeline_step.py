"""A pipeline as a step of a definition whose steps take an object and return one: which of its inputs it works on, and
which of them its joins name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.task_inputs import EMPTY, PipelineInput
from plait.kernel.values import NULL

_object = msgspec.json.Decoder(dict[str, Raw])


class PipelineStep(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    steps: tuple[Mapping[str, Any], ...]
    data: str = ""
    """The input to work on. Empty: the only input, or an object of all inputs."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that its joins use."""
        sides = (step.get(side) for step in self.steps if step.get("step") == "join" for side in ("left", "right"))
        return tuple(dict.fromkeys(each for each in sides if isinstance(each, str)))

    def input(self, inputs: Raw, names: Sequence[str], outputs: Sequence[str]) -> PipelineInput:
        """`names`: the inputs that may exist. A single output is the whole result; several outputs are its fields."""
        given = _object.decode(inputs)
        name = self.data or (names[0] if len(names) == 1 else "")
        tables = {each: given.get(each, NULL) for each in self.tables}
        return PipelineInput(
            Raw(values.plain(self.steps)),
            given.get(name, NULL) if name else inputs if names else NULL,
            Raw(values.plain(tables)) if tables else EMPTY,
            outputs[0] if len(outputs) == 1 else "",
        )
