"""Which recorded steps become steps of the template, and why the others don't."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from plait.dialects.refs.references.heads import heads

from .recorded import RecordedStep, Recording
from .sources import fingerprint

Reason = Literal[
    "success", "included", "referenced", "failed", "running", "exploratory", "duplicate", "preset", "excluded"
]
"""success: it succeeded. included, excluded: by request. referenced: an included step needs it. preset: it stands for
no call, and becomes a parameter."""


class Choice(msgspec.Struct, frozen=True, gc=False):
    included: bool
    reason: Reason
    duplicate_of: str = ""


def duplicates(recording: Recording, kept: Collection[str]) -> dict[str, str]:
    """Reads that repeat an earlier one, by name, with the earlier one: same tool, arguments and answer. A step with
    another answer has seen a change, so it is no duplicate; nor is one that is `kept` on request."""
    found: dict[str, str] = {}
    first: dict[tuple[str, bytes], RecordedStep] = {}
    for step in recording.steps:
        if not (step.read_only and step.succeeded and step.tool):
            continue
        earlier = first.setdefault((step.tool, fingerprint(step.input)), step)
        same = earlier is not step and fingerprint(earlier.output) == fingerprint(step.output)
        if same and step.name not in kept:
            found[step.name] = earlier.name
    return found


def select(
    recording: Recording,
    inputs: Mapping[str, Any],
    output: Any,
    include: Collection[str],
    exclude: Collection[str],
    repeated: Mapping[str, str],
) -> dict[str, Choice]:
    """Choices by name, in order of arrival. `inputs` and `output` already refer to the first of duplicates."""
    last = recording.last_success()
    kept = repeated.get(last.name, last.name) if last is not None else ""
    steps = {step.name: step for step in recording.steps}

    def choice(name: str, needed: bool) -> Choice:
        return _choice(steps[name], needed, name == kept, include, exclude, repeated)

    needed = heads(None if output is msgspec.UNSET else output)
    found = {name: choice(name, name in needed) for name in steps}
    users = [name for name in found if found[name].included]
    while users:  # a step that waited may refer to one that arrived after it
        for name in heads(inputs[users.pop()]) - needed:
            needed.add(name)
            if name in found and not found[name].included:
                found[name] = choice(name, needed=True)
                if found[name].included:
                    users.append(name)
    return found


def _choice(
    step: RecordedStep,
    needed: bool,
    is_last: bool,
    include: Collection[str],
    exclude: Collection[str],
    repeated: Mapping[str, str],
) -> Choice:
    if not step.tool:
        return Choice(False, "preset")
    if step.name in exclude:
        return Choice(False, "excluded")
    if step.name in include:
        return Choice(True, "included")
    if step.name in repeated:
        return Choice(False, "duplicate", repeated[step.name])
    if step.succeeded and (is_last or not step.read_only):
        return Choice(True, "success")
    if needed:
        return Choice(True, "referenced")
    if step.succeeded:
        return Choice(False, "exploratory")
    return Choice(False, "failed" if step.status == "failed" else "running")
