"""Reads `.sql` files: each statement stands under a line `-- name: what it is for`."""

from __future__ import annotations

import re
from importlib.resources import files

_HEADING = re.compile(r"^-- (\w+): (.+)$", re.MULTILINE)


def load(package: str, file: str) -> dict[str, str]:
    """The statements of one file by name."""
    return parse((files(package) / file).read_text(encoding="utf-8"))


def parse(text: str) -> dict[str, str]:
    parts = _HEADING.split(text)
    return {parts[i]: parts[i + 2].strip().rstrip(";") for i in range(1, len(parts), 3)}
