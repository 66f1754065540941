"""The order of effects: calls made one after the other are replayed in that order, even if no data flows between them.

Steps that only read may run as soon as their data is there. Of the others, each waits for the nearest that had ended
before it began; what ran side by side still does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol


class Timed(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def began(self) -> int: ...
    @property
    def ended(self) -> int: ...


def effect_order(steps: Sequence[Timed], data: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """The steps that each must wait for beside those in `data`, which it references; both by name. `steps` come in
    order of arrival."""
    effects = sorted((step for step in steps if not step.read_only), key=lambda step: step.began)
    behind: dict[str, set[str]] = {}
    """Effects that are certain to have ended when a step begins."""
    found: dict[str, list[str]] = {}
    names = {step.name for step in effects}
    for step in sorted(steps, key=lambda step: step.began):
        known: set[str] = set()
        for head in data.get(step.name, ()):
            known |= behind.get(head, set()) | ({head} & names)
        if not step.read_only:
            wanted = [each.name for each in _nearest(step, effects) if each.name not in known]
            if wanted:
                found[step.name] = wanted
            for name in wanted:
                known |= behind[name] | {name}
        behind[step.name] = known
    return found


def _nearest(step: Timed, effects: Sequence[Timed]) -> list[Timed]:
    """The steps that ended before it began, except those that ended before another of these began."""
    before = [each for each in effects if 0 < each.ended < step.began]
    latest = max((each.began for each in before), default=0)
    return [each for each in before if each.ended >= latest]
