"""Checks that a page can be used by everyone: names, ids, structure, focus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_CHECKS = Path(__file__).with_suffix(".js").read_text()


def faults(page: Page) -> list[str]:
    """What is wrong for people who do not see, or use no mouse."""
    return page.evaluate(f"{_CHECKS}.faults()")


def tab_stops(page: Page, count: int) -> list[dict[str, Any]]:
    """Where Tab leads, step by step."""
    stops: list[dict[str, Any]] = []
    for _ in range(count):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(f"{_CHECKS}.focus()"))
    return stops
