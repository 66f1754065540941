"""Garbage collection while an engine works: nearly a tenth of its time goes into looking through objects that stay.

What is there when the first engine of a process opens is set aside, and collections become rarer. When the last one
closes all is as before. A program that has chosen thresholds of its own keeps them.
"""

from __future__ import annotations

import gc

_USUAL = (700, 10, 10)
_RARE = (100_000, 20, 100)
"""The first is more than a thousand runs at once make and drop in a round, which need not be looked through."""

_engines = 0


def collect_rarely() -> None:
    global _engines
    _engines += 1
    if _engines == 1 and gc.get_threshold() == _USUAL:
        gc.freeze()
        gc.set_threshold(*_RARE)


def collect_as_before() -> None:
    global _engines
    _engines -= 1
    if _engines == 0 and gc.get_threshold() == _RARE:
        gc.set_threshold(*_USUAL)
        gc.unfreeze()
