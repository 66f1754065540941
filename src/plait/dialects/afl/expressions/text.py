"""Values as text, in the form of `++` and of prompts."""

from __future__ import annotations

from typing import Any

import msgspec


def text_of(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "True" if value else "False"
        case str():
            return value
        case int():
            return str(value)
        case float():
            return repr(value)
        case _:
            return msgspec.json.encode(value).decode()
