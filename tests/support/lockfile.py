"""Keeps private package indexes out of `uv.lock`: every address in it must be one that anybody can reach.

A lock made on a machine with its own mirror would name that mirror, and install nowhere else.
"""

import re
import sys
from pathlib import Path

LOCKFILE = Path(__file__).parents[2] / "uv.lock"
PUBLIC = frozenset({"https://pypi.org", "https://files.pythonhosted.org"})


def private_origins(lock: str) -> list[str]:
    """The origins (scheme and host) named in a lock file that are not public."""
    return sorted(set(re.findall(r"[a-z+]+://[^/\"\s]*", lock)) - PUBLIC)


def main() -> int:
    found = private_origins(LOCKFILE.read_text())
    for origin in found:
        print(f"uv.lock names {origin}: run `uv lock --default-index https://pypi.org/simple`", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
