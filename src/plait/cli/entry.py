"""The console script `plait`. Every installation has it; the packages that it needs come with the extra `cli`."""

from __future__ import annotations

import sys

from plait.extras import MissingExtra, extra

from . import exits


def main() -> None:
    try:
        with extra("cli", "the command line"):
            from .main import main as run
    except MissingExtra as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(exits.REFUSED)
    run()
