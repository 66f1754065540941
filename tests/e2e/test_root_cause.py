"""What went wrong, first: in children of other dialects, in compensations, and with times that are true."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .acting import open_run
from .serving import Server


def test_a_failure_two_dialects_down_is_told_by_its_step_with_links_to_its_node_and_log(
    page: Page, server: Server, name: str
) -> None:
    server.begin("sending", id=name)
    detail = server.ended(name, "failed")
    inner = detail["view"]["cause"]["run"]
    assert server.detail(inner)["run"]["dialect"] == "refs"
    open_run(page, name)
    banner = page.get_by_role("region", name="Why it failed")
    expect(banner.get_by_role("heading")).to_have_text('Step "handover" failed: nobody is at home')
    banner.get_by_role("link", name="Log").click()
    expect(page.get_by_role("heading", level=1, name=inner)).to_be_visible()
    page.go_back()
    banner.get_by_role("link", name="Open child run").click()
    expect(page.get_by_role("heading", level=1, name=inner)).to_be_visible()
    expect(page.locator(".side, aside").get_by_text("handover").first).to_be_visible()


def test_a_compensation_that_failed_is_told_beside_the_cause_and_leads_to_its_dead_letter(
    page: Page, server: Server, name: str
) -> None:
    server.begin("stuck_undo", {"customer": "Ada"}, id=name)
    server.ended(name, "failed")
    open_run(page, name)
    banner = page.get_by_role("region", name="Why it failed")
    expect(banner.get_by_role("heading")).to_have_text("take payment failed: the card was declined")
    expect(banner).to_contain_text("rollback of reserve failed: the shelf is locked")
    banner.get_by_role("link", name="Retry or discard").click()
    expect(page.get_by_text("the shelf is locked").first).to_be_visible()
    expect(page.locator(".letters > li").filter(has_not_text=name)).to_have_count(0)
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_role("link", name="Show all")).to_have_count(0)


def test_what_a_run_waits_for_in_a_loop_is_told_by_the_number_of_its_iteration(
    page: Page, server: Server, name: str
) -> None:
    server.begin("doorbell", id=name)
    server.waits(name, "message")
    open_run(page, name)
    reasons = page.get_by_role("region", name="Why it is waiting")
    expect(reasons).to_contain_text("rings / loop 2 / open")
    expect(reasons).not_to_contain_text("~1")


def test_a_comparison_counts_the_time_at_work_and_not_the_time_until_a_retry(
    page: Page, server: Server, failed: str, name: str
) -> None:
    server.begin("opening", name, id=f"{name}-open")
    server.ended(f"{name}-open")
    server.post(f"/runs/{failed}/retry")
    ended = server.ended(failed)
    [pause] = ended["view"]["pauses"]
    page.goto(f"/compare?a={failed}&b={name}-open")
    row = page.get_by_role("row").filter(has_text="call supplier")
    node = next(node for node in ended["view"]["nodes"] if node["label"] == "call supplier")
    worked = node["ended_at"] - node["started_at"] - (pause["end"] - pause["start"])
    expect(row).to_contain_text(f"{worked} ms")
