"""The result of a tool as the value of a step: the same in a recording and in its replay."""

from __future__ import annotations

from typing import Any, cast

from plait.kernel import values
from plait.kernel.errors import PlaitError

_SHOWN = 2000


def output_of(result: dict[str, Any]) -> Any:
    """Structured content; otherwise a single text that is a JSON object or array; otherwise the content as it is."""
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    content = cast("list[dict[str, Any]]", result.get("content") or [])
    if len(content) == 1 and content[0].get("type") == "text":
        try:
            found = values.parse(content[0].get("text", ""))
        except PlaitError:
            return content
        if isinstance(found, dict | list):
            return cast("Any", found)
    return content


def error_text(result: dict[str, Any]) -> str:
    """A tool's error message, for people."""
    content = cast("list[dict[str, Any]]", result.get("content") or [])
    text = " ".join(str(part.get("text", "")) for part in content if part.get("type") == "text").strip()
    return (text or "it says nothing more")[:_SHOWN]
