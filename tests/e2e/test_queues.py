"""Queues: what waits, who holds the slots, limits, and pausing."""

import pytest
from playwright.sync_api import Page, expect

from .acting import dialog, toast
from .serving import Server


@pytest.fixture
def queue(server: Server, name: str) -> str:
    """A namespace with a queue that has one slot: a run holds it, another waits."""
    server.client.put("/queues/emails", json={"concurrency": 1}, params={"namespace": name})
    for id in ("steady-1", "steady-2"):
        server.begin("steady", {"customer": "Ada"}, id=id, namespace=name, queue="emails")
    server.waits("steady-1", "message", namespace=name)
    return name


def test_none_says_so(page: Page, name: str) -> None:
    page.goto(f"/queues?ns={name}")
    expect(page.get_by_role("heading", name="No queues yet")).to_be_visible()


def test_who_holds_a_slot_and_who_waits_is_shown(page: Page, queue: str) -> None:
    page.goto(f"/queues?ns={queue}")
    row = page.get_by_role("row", name="emails")
    for text in ("1 at once", "1 run"):
        expect(row).to_contain_text(text)
    row.get_by_role("link", name="emails").click()
    shown = page.get_by_role("region", name="Queue emails")
    expect(shown).to_contain_text("steady-1")
    expect(shown).not_to_contain_text("steady-2")
    shown.get_by_role("link", name="steady-1").click()
    expect(page.get_by_role("heading", name="steady-1")).to_be_visible()


def test_a_waiting_run_says_what_it_waits_for(page: Page, queue: str) -> None:
    page.goto(f"/runs/steady-2?ns={queue}")
    reasons = page.get_by_role("region", name="Why it is waiting")
    expect(reasons).to_contain_text("1 of 1 slots taken")
    expect(reasons).not_to_contain_text("`")


def test_limits_are_changed(page: Page, server: Server, queue: str) -> None:
    page.goto(f"/queues?ns={queue}")
    page.get_by_role("button", name="Set limits of emails").click()
    box = dialog(page, "Limits of emails")
    box.get_by_label("At once").fill("none")
    expect(box.get_by_role("button", name="Save")).to_be_disabled()
    box.get_by_label("At once").fill("2")
    box.get_by_label("Rate", exact=True).fill("50")
    box.get_by_role("button", name="Save").click()
    toast(page, "Limits saved")
    expect(page.get_by_role("row", name="emails")).to_contain_text("2 at once, 50 per s")
    expect(page.get_by_role("row", name="emails")).to_contain_text("2 runs")
    assert server.get("/queues/emails", namespace=queue)["queue"]["limits"]["rate"] == 50


def test_a_queue_is_paused_and_resumed(page: Page, queue: str) -> None:
    page.goto(f"/queues?ns={queue}")
    page.get_by_role("button", name="Pause emails").click()
    toast(page, "Paused")
    expect(page.get_by_role("row", name="emails")).to_contain_text("paused")
    page.get_by_role("button", name="Resume emails").click()
    toast(page, "Resumed")
    expect(page.get_by_role("button", name="Pause emails")).to_be_visible()
