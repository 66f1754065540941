"""Templates of prompts: `{p}` and `{p.field}` are filled in, `{{` and `}}` are braces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from plait.dialects.afl.expressions.text import text_of

_PART = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w.]*)\}")


def filled(template: str, params: Mapping[str, Any]) -> str:
    def part(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group(0)[0]
        found: Any = params
        for name in match.group(1).split("."):
            found = cast("Mapping[str, Any]", found).get(name) if isinstance(found, Mapping) else None
        return text_of(found)

    return _PART.sub(part, template)
