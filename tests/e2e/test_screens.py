"""Every page in light, dark and on a phone: a picture to look at, no sideways scrolling, usable by everyone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from .access import faults
from .acting import act, dialog
from .browsing import PHONE, WIDE, shoot, sideways
from .drawing import choose
from .gallery import NS
from .serving import Server


@dataclass(frozen=True)
class Screen:
    name: str
    path: str
    shows: str
    """A text that is there when the page is."""
    act: Callable[[Page], None] | None = None


def _dialog(action: str, title: str) -> Callable[[Page], None]:
    def open(page: Page) -> None:
        act(page, action)
        dialog(page, title)

    return open


def _help(page: Page) -> None:
    page.get_by_role("button", name="Keyboard shortcuts (?)").click()
    dialog(page, "Keyboard shortcuts")


def _select(page: Page) -> None:
    page.get_by_role("checkbox", name="Select order-1 to compare").check()
    page.get_by_role("checkbox", name="Select order-2 to compare").check()


def _check(page: Page) -> None:
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_label("Customer")).to_have_attribute("aria-invalid", "true")


def _register(page: Page) -> None:
    page.get_by_role("button", name="Register a step").click()
    box = dialog(page, "Register a step")
    box.get_by_label("Step (JSON)").fill('{\n  "id": "x",\n  "name" "X"\n}')
    expect(box).to_contain_text("Invalid JSON")


def _unregister(page: Page) -> None:
    page.get_by_role("button", name="Unregister", exact=True).click()
    dialog(page, "Unregister Add it up?")


def _node(page: Page) -> None:
    choose(page, "boss")


def _delegate(page: Page) -> None:
    page.get_by_role("link", name="Pay it?").click()
    page.get_by_role("button", name="Delegate").click()
    dialog(page, "Delegate")


SCREENS = [
    Screen("runs", "/runs", "order-2"),
    Screen("runs-selected", "/runs", "order-2", _select),
    Screen("runs-no-match", "/runs?q=nosuch", "No runs match this filter"),
    Screen("runs-empty", "/runs?ns=void", "No runs yet"),
    Screen("run-graph", "/runs/order-1", "reserve"),
    Screen("run-graph-node", "/runs/order-1?node=charge", "An earlier attempt failed"),
    Screen("run-graph-past", "/runs/order-1?at=8", "at event 8"),
    Screen("run-graph-500", "/runs/long-1", "step 0"),
    Screen("run-graph-wide", "/runs/wide-1", "shelves"),
    Screen("run-waiting-approval", "/runs/order-3", "Waiting for"),
    Screen("run-waiting-message", "/runs/steady-1", "Waiting for"),
    Screen("run-waiting-retry", "/runs/dial-1", "Waiting for"),
    Screen("run-failed", "/runs/restock-1", "is closed"),
    Screen("run-timeline", "/runs/order-1?tab=timeline", "failed attempt"),
    Screen("run-timeline-queue", "/runs/crowd-1?tab=timeline", "failed attempt"),
    Screen("run-events", "/runs/order-1?tab=events", "run.completed"),
    Screen("run-events-diff", "/runs/order-1?tab=events&a=3&b=8", "After event 3"),
    Screen("run-event", "/runs/order-1?tab=events&event=4", "Run at this event"),
    Screen("run-logs", "/runs/order-1?tab=logs", "the shelf is nearly empty"),
    Screen("run-io", "/runs/order-1?tab=io", "Dear Ada"),
    Screen("dialog-fork", "/runs/order-1", "reserve", _dialog("Fork", "Fork this run")),
    Screen("dialog-cancel", "/runs/steady-1", "Waiting for", _dialog("Cancel", "Cancel this run")),
    Screen("dialog-message", "/runs/steady-1", "Waiting for", _dialog("Send a message", "Send a message")),
    Screen("compare", "/compare?a=order-1&b=order-2", "Nodes"),
    Screen("compare-pick", "/compare", "Choose two runs"),
    Screen("approvals", "/approvals", "Let Edsger pay"),
    Screen("approval", "/approvals/" + quote(f"{NS}/order-3:manager", safe=""), "hold-Edsger"),
    Screen("approvals-empty", "/approvals?ns=void", "No open approvals"),
    Screen("dead-letters", "/dlq", "is closed"),
    Screen("dead-letters-empty", "/dlq?ns=void", "No dead letters"),
    Screen("queues", "/queues", "emails"),
    Screen("queue", "/queues?queue=emails", "mail-1"),
    Screen("queues-empty", "/queues?ns=void", "No queues yet"),
    Screen("run-queued", "/runs/mail-2", "1 of 1 slots taken"),
    Screen("schedules", "/schedules", "nightly"),
    Screen("schedule", "/schedules/nightly", "Past times"),
    Screen("schedule-edit", "/schedules/nightly/edit", "CET"),
    Screen("schedule-new", "/new-schedule", "UTC"),
    Screen("schedules-empty", "/schedules?ns=void", "No schedules yet"),
    Screen("definitions", "/definitions", "checkout"),
    Screen("definition", "/definitions/checkout", "Source of"),
    Screen("definition-diff", "/definitions/greet?version=2&against=1", "loud"),
    Screen("start-pick", "/runs/new", "Choose a definition"),
    Screen("start", "/runs/new?definition=checkout", "Customer"),
    Screen("start-errors", "/runs/new?definition=checkout", "Customer", _check),
    Screen("catalog", "/catalog", "Charge the card"),
    Screen("catalog-step", "/catalog?step=charge", "waits as long as"),
    Screen("catalog-graph", "/catalog?tab=graph", "Say hello"),
    Screen("catalog-graph-step", "/catalog?tab=graph&step=rebate", "condition"),
    Screen("catalog-empty", "/catalog?ns=void", "No steps yet"),
    Screen("dialog-register", "/catalog", "Charge the card", _register),
    Screen("dialog-unregister", "/catalog?step=total", "Add it up", _unregister),
    Screen("plan-none", "/catalog?tab=plan", "Search for a step"),
    Screen("plan-gaps", "/catalog?tab=plan&goal=letter", "Missing inputs:"),
    Screen("plan", "/catalog?tab=plan&goal=letter&goal=ship&in=email=ada@x.org&in=card=visa", "8 steps would run"),
    Screen("run-goals", "/runs/sale-1", "Rebate of friends"),
    Screen("run-attributes", "/runs/sale-1?tab=attributes", "paid 125 with visa"),
    Screen("run-plan", "/runs/sale-1?tab=plan", "Outcome"),
    Screen("run-plan-failed", "/runs/sale-2?tab=plan", "out of ink"),
    Screen("editor", "/definitions/bill/edit", "No problems"),
    Screen("editor-node", "/definitions/bill/edit", "No problems", _node),
    Screen("editor-json", "/definitions/bill/edit?view=both", '"human_config"'),
    Screen("editor-new", "/new/graph", "No nodes yet"),
    Screen("editor-none", "/definitions/checkout/edit", "can't be edited here"),
    Screen("definition-graph-diff", "/definitions/bill?version=v1.1&against=v1.0", "thank"),
    Screen("run-tokens", "/runs/bill-1", "merge"),
    Screen("run-path", "/runs/bill-1?tab=path", "tokens in flight"),
    Screen("run-changes", "/runs/bill-1?tab=changes", "Patched"),
    Screen("run-edit", "/runs/bill-1/edit", "No problems"),
    Screen("dialog-delegate", "/approvals?run=bill-1", "Pay it?", _delegate),
    Screen("settings", "/settings", "Audit log"),
    Screen("keys", "/runs", "order-2", _help),
    Screen("login", "/login", "Sign in to Plait"),
    Screen("not-found", "/nonsense", "Page not found"),
]


def _show(page: Page, screen: Screen) -> None:
    page.goto(screen.path if "ns=" in screen.path else f"{screen.path}{'&' if '?' in screen.path else '?'}ns={NS}")
    expect(page.get_by_text(screen.shows).filter(visible=True).first).to_be_visible()
    if screen.act is not None:
        screen.act(page)
    expect(page.locator(".loading")).to_have_count(0)


def _resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.name)
def test_a_page_is_fit_for_everyone(page: Page, gallery: Server, screen: Screen) -> None:
    _resize(page, PHONE)
    _show(page, screen)
    shoot(page, f"{screen.name}-phone")
    assert sideways(page) == 0
    assert faults(page) == []
    _resize(page, WIDE)
    if page.get_by_role("region", name=re.compile("^Graph of")).count():
        _show(page, screen)  # a graph keeps the shape that it had at first
    shoot(page, f"{screen.name}-light")
    assert sideways(page) == 0
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(13, 14, 18)")
    shoot(page, f"{screen.name}-dark")


def test_the_page_behind_a_link_is_fit_for_everyone(page: Page, gallery: Server) -> None:
    asked = quote(gallery.asked("order-3", namespace=NS)["id"], safe="")
    url = gallery.post(f"/approvals/{asked}/link", {"expires_in": 3600}, namespace=NS)["url"]
    for look, size in (("light", WIDE), ("phone", PHONE)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(url)
        expect(page.get_by_role("heading", name="Let Edsger pay")).to_be_visible()
        shoot(page, f"link-{look}")
        assert sideways(page) == 0
        assert faults(page) == []
