"""The tool `search_tools`: finds other tools that the node may use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .tool import ToolUse
from .toolbox import AnyTool, Toolbox

_WORD: Final = re.compile(r"[a-z0-9]+")
_IN_NAME, _IN_DESCRIPTION = 2, 1
_MOST: Final = 50


class SearchTools:
    """Searches the tools that one execution may use."""

    name = "search_tools"
    description = "Finds tools and workflows that can be used here, by what they do."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 10},
        },
        "required": ["query"],
        "additionalProperties": False,
    }

    def __init__(self, toolbox: Toolbox, allowed: Iterable[str]) -> None:
        self._toolbox = toolbox
        self._allowed = tuple(allowed)

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        """Asks the sources again, so that a tool promoted a moment ago is found."""
        offer = await self._toolbox.offer(use.namespace, self._allowed)
        return {"tools": found(offer.tools, str(arguments["query"]), int(arguments.get("limit", 10)))}


def found(tools: Sequence[AnyTool], query: str, limit: int) -> list[dict[str, Any]]:
    """Tools that share a word with the query, best first; ties by name."""
    wanted = frozenset(_words(query))
    scored = [(score(tool, wanted), tool) for tool in tools]
    best = sorted((each for each in scored if each[0] > 0), key=lambda each: (-each[0], each[1].name))
    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters, "score": points}
        for points, tool in best[: min(limit, _MOST)]
    ]


def score(tool: AnyTool, wanted: frozenset[str]) -> float:
    """From 0 to 1: a word in the name counts twice, in the description once."""
    if not wanted:
        return 0.0
    named, described = frozenset(_words(tool.name)), frozenset(_words(tool.description))
    points = _IN_NAME * len(wanted & named) + _IN_DESCRIPTION * len(wanted & described)
    return round(points / ((_IN_NAME + _IN_DESCRIPTION) * len(wanted)), 3)


def _words(text: str) -> list[str]:
    """In lower case and without a plural `s`, so that both forms match."""
    return [word.removesuffix("s") if len(word) > 3 else word for word in _WORD.findall(text.lower())]
