"""Chromium for the tests: one a worker, a page that they use in turn, and a watch that nothing went wrong unseen.

Playwright's sync API keeps an event loop in its thread, which the `asyncio` tests of the same worker would trip over.
So it has a thread of its own, and the tests that use it run there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Request,
    sync_playwright,
)

P = ParamSpec("P")
T = TypeVar("T")

ARTEFACTS = Path(__file__).parents[1] / "artefacts"
PICTURES = bool(os.environ.get("PLAIT_PICTURES"))
"""`PLAIT_PICTURES=1 pytest tests/e2e/test_screens.py` leaves every screen in `tests/artefacts`."""
PATIENCE_MS = 10_000
WIDE, PHONE = (1280, 800), (390, 844)
ARGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]
Scheme = Literal["light", "dark"]


class Desk:
    """The thread with the browser in it."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "browser")
        self._playwright, self._browser = self.do(_launch)
        self._pages: dict[str, Page] = {}

    def do(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._thread.submit(call, *args, **kwargs).result()

    def context(self, url: str, size: tuple[int, int] = WIDE, scheme: Scheme = "light") -> BrowserContext:
        """A fresh one; to be called on the desk."""
        context = self._browser.new_context(
            base_url=url,
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_MS)
        return context

    def page(self, url: str) -> Page:
        """The one that the tests of a server use in turn: another needs a process of its own, and a second to start."""
        if url not in self._pages:
            self._pages[url] = self.context(url).new_page()
        return self._pages[url]

    def close(self) -> None:
        """All of it, even when the browser has crashed: the driver is a process that nobody else would end."""
        try:
            self.do(self._browser.close)
        finally:
            self.do(self._playwright.stop)
            self._thread.shutdown()


def _launch() -> tuple[Playwright, Browser]:
    playwright = sync_playwright().start()
    path = os.environ.get("PLAIT_CHROMIUM", "/usr/bin/chromium")
    try:
        return playwright, playwright.chromium.launch(executable_path=path, args=ARGS)
    except BaseException:
        playwright.stop()
        raise


def leave(page: Page, url: str) -> None:
    """As if nobody had been on this server: for the next test."""
    if page.url.startswith(url):
        page.evaluate("sessionStorage.clear()")
    # Not `about:blank`: for that Chromium ends the process that has the scripts of the page compiled
    page.goto(f"{url}/icon.svg")
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "local_storage,cookies"})
    session.detach()  # each that stays makes every later navigation of the page dearer: sixty of them by a quarter
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    page.emulate_media(color_scheme="light")
    page.mouse.move(0, 0)


@dataclass
class Watch:
    """Collects what must not happen: words on the console, failed requests, refused content, executed HTML."""

    seen: list[str] = field(default_factory=list[str])
    allowed: list[str] = field(default_factory=list[str])

    def over(self, page: Page) -> Page:
        page.on("console", self._console)
        page.on("pageerror", self._broken)
        page.on("requestfailed", self._failed)
        return page

    def off(self, page: Page) -> None:
        page.remove_listener("console", self._console)
        page.remove_listener("pageerror", self._broken)
        page.remove_listener("requestfailed", self._failed)

    def allow(self, pattern: str) -> None:
        """This test provokes it: it must happen, and is no fault."""
        self.allowed.append(pattern)

    def check(self, context: BrowserContext) -> None:
        for page in context.pages:
            if hacked := page.evaluate("window.hacked"):
                self.seen.append(f"HTML was executed: {hacked}")
        unmet = [pattern for pattern in self.allowed if not any(re.search(pattern, line) for line in self.seen)]
        wrong = [line for line in self.seen if not any(re.search(pattern, line) for pattern in self.allowed)]
        assert not wrong, "\n".join(wrong)
        assert not unmet, f"expected, but did not happen: {unmet}"

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.seen.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _broken(self, error: Error) -> None:
        self.seen.append(f"page error: {error}")

    def _failed(self, request: Request) -> None:
        # A page that is left, or no longer needs an answer, breaks off by itself.
        if request.failure != "net::ERR_ABORTED":
            self.seen.append(f"failed: {request.method} {request.url} {request.failure}")


def copied(page: Page) -> str:
    return page.evaluate("navigator.clipboard.readText()")


def shoot(page: Page, name: str) -> None:
    """A picture to look at, if they are wanted: taking them is half of the time that a screen takes."""
    if PICTURES:
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"{name}.png", animations="disabled")


def sideways(page: Page) -> Any:
    """How far the page can be scrolled sideways, which is never wanted."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
