"""The flaws of a condition, collected while it is compiled, and the error that carries them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from plait.kernel.errors import Flaw, InvalidInput

_SHOWN = 20
"""Names listed in a message."""
_MOST = 200
"""Flaws collected: a condition with very many must not hold up others."""
_LONGEST = 64
"""Characters of a name shown in a message."""


class InvalidCondition(InvalidInput):
    """The text names the first flaw, `flaws` has them all, each with its JSON pointer."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        first, *others = flaws
        more = f" (and {len(others)} more)" if others else ""
        super().__init__(first.code, f"{first.message}{more}", flaws=flaws)


class Findings:
    """Mutable: readers add to it and continue, until it is full."""

    def __init__(self) -> None:
        self.flaws: list[Flaw] = []

    @property
    def full(self) -> bool:
        """Whether it holds as many flaws as are collected at most."""
        return len(self.flaws) >= _MOST

    def add(self, code: str, pointer: str, what: str, fix: str = "") -> None:
        message = f"{what}; {fix}" if fix else what
        self.flaws.append(Flaw(f"condition.{code}", pointer, message))


def suggestion(wanted: str, known: Iterable[str], otherwise: str = "") -> str:
    """The name that was probably meant, as the fix of a flaw."""
    found = difflib.get_close_matches(wanted, list(known), n=1)
    return f"did you mean `{found[0]}`?" if found else otherwise


def listed(names: Iterable[object]) -> str:
    """Some of the existing names, for a message that must stay short."""
    found = [shortened(str(name)) for name in names]
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more or "nothing"


def shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
