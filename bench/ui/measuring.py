"""The page in a browser, measured from inside: the clock is the page's own, from navigation on."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from playwright.sync_api import BrowserContext, Page

from tests.e2e.browsing import WIDE, Desk

FRAMES = 120

# Counts from the start of the navigation; a frame later than the wanted thing is in the page, so that it is painted.
_SEEN = """async (selector) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  while (!document.querySelector(selector)) await frame();
  await frame();
  return performance.now();
}"""
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
# A long task holds the page up: it can be used when the last one before now has ended.
_BUSY = """() => new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(Math.max(...list.getEntries().map((one) => one.startTime + one.duration))))
    .observe({ type: "longtask", buffered: true });
  setTimeout(() => resolve(0), 100);
})"""
_PAN = """(count) => new Promise((resolve) => {
  const box = document.querySelector(".react-flow__pane");
  const send = (type, x, y) => box.dispatchEvent(new MouseEvent(type, {
    bubbles: true, cancelable: true, view: window, button: 0, buttons: 1, clientX: x, clientY: y }));
  const gaps = [];
  let last, turn = 0;
  send("mousedown", 640, 500);
  const step = (now) => {
    if (last !== undefined) gaps.push(now - last);
    last = now;
    if (turn++ >= count) { send("mouseup", 640, 500); resolve(gaps); return; }
    send("mousemove", 640 + 200 * Math.sin(turn / 15), 500 - turn * 4);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


@dataclass(frozen=True)
class Opening:
    """Milliseconds from the navigation on."""

    paint: float
    shown: float
    usable: float


def opened(context: BrowserContext, path: str, selector: str) -> tuple[Page, Opening]:
    page = context.new_page()
    page.goto(path, wait_until="commit")
    shown: float = page.evaluate(_SEEN, selector)
    paint: float = page.evaluate(_PAINT)
    return page, Opening(paint, shown, max(shown, page.evaluate(_BUSY)))


def openings(desk: Desk, url: str, path: str, selector: str, rounds: int) -> list[Opening]:
    """Each in a context of its own: nothing is cached. The first warms up the server, and does not count."""
    found: list[Opening] = []
    for _ in range(rounds + 1):
        context = desk.context(url, WIDE)
        found.append(opened(context, path, selector)[1])
        context.close()
    return found[1:]


def panning(desk: Desk, url: str, path: str, selector: str) -> list[float]:
    """Milliseconds between frames while the picture is moved."""
    context = desk.context(url, WIDE)
    page, _ = opened(context, path, selector)
    page.keyboard.press("0")
    picture = page.locator(".react-flow__viewport")
    before = picture.get_attribute("style")
    gaps: list[float] = page.evaluate(_PAN, FRAMES)
    assert picture.get_attribute("style") != before, "the picture did not move"
    context.close()
    return gaps


def median(values: list[float]) -> float:
    return statistics.median(values)
