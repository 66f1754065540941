"""Tunes garbage collection while an engine works: otherwise nearly a tenth of its time is spent scanning long-lived
objects.

When the first engine of a process opens, existing objects are frozen and collections become rarer. When the last one
closes, the settings are restored. Thresholds chosen by the program are kept.
"""

from __future__ import annotations

import gc

_USUAL = (700, 10, 10)
_RARE = (100_000, 20, 100)
"""The first exceeds what a round with more than a thousand runs creates and drops, so that these need not be
scanned."""

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
