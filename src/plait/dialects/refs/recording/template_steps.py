"""The steps of a template, made from the selected recorded steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from plait.dialects.refs.references.heads import heads
from plait.dialects.refs.references.template import Ref

from .recorded import RecordedStep
from .reference_text import replace_refs, written

_RESULT: Final = "result"


class Naming:
    """The names of recorded steps in the template."""

    def __init__(self, renamed: Mapping[str, str], parameters: Mapping[str, str]) -> None:
        """`parameters` are results that were set without a tool, which the template takes as input."""
        self._renamed = renamed
        self._parameters = parameters

    def of(self, name: str) -> str:
        return self._renamed.get(name, name)

    def rewritten(self, value: Any) -> Any:
        """A value with all its references renamed."""
        return replace_refs(value, self._ref)

    def _ref(self, ref: Ref) -> str:
        if ref.head in self._parameters:
            return written("input", (self._parameters[ref.head], *ref.path), braced=ref.braced)
        name = self.of(ref.head)
        return ref.text if name == ref.head else written(name, ref.path, braced=ref.braced)


def moved(value: Any, repeated: Mapping[str, str]) -> Any:
    """A value with references to the first of duplicates."""
    return Naming(repeated, {}).rewritten(value) if repeated else value


def tool_step(step: RecordedStep, input: Any, after: Sequence[str], naming: Naming) -> dict[str, Any]:
    found = {
        "name": naming.of(step.name),
        "action": {"toolName": step.tool},
        "input": naming.rewritten(input),
    }
    return found | ({"dependsOn": [naming.of(name) for name in after]} if after else {})


def return_step(output: Any, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the template's output after all other steps, so that every recorded step is replayed."""
    taken = {step["name"] for step in steps}
    name = next(name for number in range(len(taken) + 1) if (name := _numbered(number)) not in taken)
    waited = {before for step in steps for before in (*heads(step["input"]), *step.get("dependsOn", ()))}
    known = heads(output)
    after = [step["name"] for step in steps if step["name"] not in waited and step["name"] not in known]
    found = {"name": name, "action": {"return": True}, "input": output}
    return found | ({"dependsOn": after} if after else {})


def _numbered(number: int) -> str:
    return f"{_RESULT}_{number + 1}" if number else _RESULT
