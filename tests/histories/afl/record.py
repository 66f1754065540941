"""Records histories of AFL: `python -m tests.histories.afl.record`. Once stored, they stay as they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import plait

from .recipes import RECIPES

LOGS = Path(__file__).parent / "logs"


def main() -> int:
    LOGS.mkdir(exist_ok=True)
    for name, recipe in RECIPES.items():
        path = LOGS / f"{name}.json"
        if path.exists():
            print(f"{name} is stored already; a history is recorded once and then kept")
            continue
        player = recipe()
        content = {"plait": plait.__version__, "status": player.status, "log": player.log}
        path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
