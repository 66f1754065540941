"""Whether the result of a step can be read back as what its function says it returns."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values


def check_result(name: str, returns: Any, output: object, raw: Raw) -> None:
    if returns is Any or (returns is None and output is None):
        return
    try:
        values.decode(raw, returns)
    except (msgspec.DecodeError, TypeError, ValueError) as error:
        text = f"the result of step `{name}` does not fit what its function says it returns"
        raise TypeError(f"{text}, {getattr(returns, '__name__', returns)}: {error}") from None
