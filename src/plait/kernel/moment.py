"""A moment as people read it: with its day, as what a run waits for may be a year ahead, and with its zone."""

from __future__ import annotations

from datetime import UTC, datetime

from .ids import Millis


def utc(at: Millis | None) -> str:
    return "?" if at is None else datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
