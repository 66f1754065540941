"""A worker that was presumed dead reports an attempt that is long over: it must change nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import TaskResult
from plait.kernel.values import encode

from .cluster import Cluster
from .storm import Storm


def report_stale(cluster: Cluster, storm: Storm, attempts: Iterable[tuple[str, str, int]], output: Any) -> None:
    """`attempts` are runs, tokens and numbers. Leave out runs that were retried: their attempts are counted from one
    again, and the earlier ones were given up by their worker, which then reports nothing."""
    last: dict[tuple[str, str], int] = {}
    for run_id, token, attempt in attempts:
        last[run_id, token] = max(attempt, last.get((run_id, token), 0))
    tried_again = [place for place, attempt in last.items() if attempt > 1]
    if tried_again and cluster.alive:
        run_id, token = storm.random.choice(tried_again)
        storm.seen.append(f"an old attempt of {token} of {run_id} reports")
        stale = TaskResult(TaskToken(token), last[run_id, token] - 1, encode(output))
        storm.random.choice(cluster.alive).kernel.dispatcher.report(RunId(run_id), stale)
