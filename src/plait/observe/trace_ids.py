"""Ids of traces and spans, derived from run ids: the same in every process and after every crash.

A root run determines the id of its trace. A child of a root run is in that trace; a run further down does not know its
root, so it has its own trace, which links to its parent's.
"""

from __future__ import annotations

import hashlib

from plait.kernel.ids import RunId
from plait.kernel.machine import RunInfo


def trace_id(run_id: RunId) -> int:
    """Returns the id of the trace of a run without a parent."""
    return _digest(f"trace\0{run_id}", 16)


def span_id(run_id: RunId) -> int:
    """Returns the id of a run's span."""
    return _digest(f"run\0{run_id}", 8)


def task_span_id(run_id: RunId, name: str) -> int:
    """Returns the id of the span of a task's first attempt, for tasks that others follow from."""
    return _digest(f"task\0{run_id}\0{name}", 8)


def trace_of(run: RunInfo) -> int:
    return trace_id(run.parent if run.parent is not None and run.depth == 1 else run.run_id)


def _digest(text: str, size: int) -> int:
    found = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=size).digest())
    return found or 1  # zero is not a valid id
