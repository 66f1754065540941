"""``python -m bench.graph``: tokens a second, the time of a hop, and a fan-out into a join.

python -m bench.graph
python -m bench.graph --runs 5000 --json
"""

from __future__ import annotations

import sys

from bench.figure_table import main

from .figures import measure

if __name__ == "__main__":
    sys.exit(
        main("graph", "Graphs: tokens, hops and joins.", "Graphs with native handlers, SQLite FULL", 2_000, measure)
    )
