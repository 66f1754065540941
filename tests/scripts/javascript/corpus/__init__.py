"""Attacks on the sandbox, as data: each a title, what must come of it, and a script.

A case starts with `// --- title: expected`. Expected is `= <JSON>` for a value, or the codes that are right, without
`code_`; `limit` stands for the limits on time and memory, since a busy machine meets another one first.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_CASE = re.compile(r"^// --- (.+?): (.+)$\n", re.MULTILINE)
LIMITS = frozenset({"code_timeout", "code_memory"})


@dataclass(frozen=True)
class Attack:
    title: str
    script: str
    codes: frozenset[str]
    value: Any = None


def attacks(name: str) -> list[Attack]:
    _, *parts = _CASE.split((_HERE / f"{name}.js").read_text())
    return [
        _attack(title, expected, script)
        for title, expected, script in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def _attack(title: str, expected: str, script: str) -> Attack:
    if expected.startswith("= "):
        return Attack(title, script, frozenset(), json.loads(expected[2:]))
    codes = frozenset(f"code_{word}" for word in expected.split())
    return Attack(title, script, codes - {"code_limit"} | (LIMITS if "code_limit" in codes else frozenset()))
