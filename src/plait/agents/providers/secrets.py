"""Values that must not leak by accident: not into a log, a repr, an error or a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

HIDDEN: Final = "[secret]"
_SHORTEST: Final = 6
"""Characters; anything shorter could be part of any text."""


class Secret:
    """Only `reveal` returns the value."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __bool__(self) -> bool:
        return bool(self._value)

    def __reduce__(self) -> str:
        raise TypeError("a secret is not copied or stored")


def hide(text: str, secrets: Iterable[Secret]) -> str:
    """Removes the secrets from a text, wherever it came from. `Bearer KEY` hides KEY, too."""
    for value in sorted({part for secret in secrets for part in _parts(secret.reveal())}, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return text


def _parts(value: str) -> set[str]:
    return {part for part in (value, *value.split()) if len(part) >= _SHORTEST}
