"""``python -m bench.refs``: a chain of functions beside the same chain as code, a code step, and a `forEach`.

python -m bench.refs
python -m bench.refs --runs 2000 --json
"""

from __future__ import annotations

import sys

from bench.figure_table import main

from .figures import measure

if __name__ == "__main__":
    sys.exit(main("refs", "Workflows of steps.", "Steps wired by references, SQLite FULL", 1_000, measure))
