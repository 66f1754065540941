"""The run over time: timeline, events, the difference of two points, the slider, logs."""

import re

from playwright.sync_api import Page, expect

from .acting import head_status, node, open_run
from .serving import Server


def test_the_timeline_shows_attempts_and_waits_apart(page: Page, server: Server, ordered: str) -> None:
    open_run(page, ordered, "?tab=timeline")
    rows = page.get_by_role("region", name="Timeline by node")
    charge = rows.locator(".gantt-row").filter(has_text="charge")
    expect(charge.locator(".piece.try")).to_have_count(3)
    expect(charge.locator(".piece.try.failed")).to_have_count(2)
    expect(charge.locator(".piece.backoff")).to_have_count(2)
    expect(rows.locator(".gantt-row").filter(has_text="manager").locator(".piece.wait")).to_have_count(1)
    expect(charge.locator(".piece.try.failed").first).to_have_attribute("title", re.compile("the bank does not answer"))
    legend = page.get_by_role("list", name="Legend")
    for kind in ("attempt", "failed attempt", "waiting to retry", "queue", "waiting"):
        expect(legend).to_contain_text(kind)


def test_the_timeline_shows_time_in_the_queue(page: Page, server: Server, name: str) -> None:
    server.begin("crowd", 80, id=name)
    server.ended(name)
    tries = [t for bar in server.get(f"/runs/{name}/timeline")["bars"] for t in bar["tries"]]
    assert any(t.get("queued_at", t["started_at"]) < t["started_at"] for t in tries)
    open_run(page, name, "?tab=timeline")
    rows = page.get_by_role("region", name="Timeline by node")
    expect(rows.locator(".gantt-row").first).to_be_visible()
    rows.evaluate("list => { list.scrollTop = list.scrollHeight; }")
    expect(rows.locator(".gantt-row .piece.queue").first).to_be_visible()


def test_the_timeline_selects_by_click_and_keys_and_zooms(page: Page, ordered: str) -> None:
    open_run(page, ordered, "?tab=timeline")
    rows = page.get_by_role("region", name="Timeline by node")
    rows.get_by_role("button", name="charge").click()
    expect(page.get_by_role("complementary", name="Node charge")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("complementary", name="Node parcels")).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_role("complementary", name="Node charge")).to_be_visible()
    page.get_by_role("button", name="Zoom in (+)").click()
    expect(page.get_by_role("button", name="Zoom out (-)")).to_be_enabled()
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.get_by_role("button", name="Zoom out (-)")).to_be_disabled()


def test_events_are_filtered_by_type_and_text(page: Page, server: Server, ordered: str) -> None:
    events = server.get(f"/runs/{ordered}/events")["events"]
    open_run(page, ordered, "?tab=events")
    count = page.locator(".events .faint", has_text=f"of {len(events)}")
    expect(count).to_have_text(f"{len(events)} of {len(events)}")
    kind = "task.retry_scheduled"
    page.get_by_label("Type", exact=True).select_option(kind)
    wanted = sum(event["type"] == kind for event in events)
    expect(count).to_have_text(f"{wanted} of {len(events)}")
    page.get_by_label("Type", exact=True).select_option("")
    page.get_by_role("searchbox", name="Search events").fill("be quick")
    expect(count).not_to_have_text(f"{len(events)} of {len(events)}")
    expect(page.get_by_role("region", name="Events", exact=True)).to_contain_text("manager")
    page.get_by_role("searchbox", name="Search events").fill("nosuchword")
    expect(page.get_by_role("heading", name="No events match this filter")).to_be_visible()


def test_an_event_opens_and_leads_to_the_run_then(page: Page, waiting: str) -> None:
    open_run(page, waiting, "?tab=events")
    page.get_by_role("button", name=re.compile("run.started")).click()
    detail = page.get_by_role("region", name="Event 1", exact=True)
    expect(detail).to_contain_text("steady")
    detail.get_by_role("button", name="Run at this event").click()
    expect(page.get_by_role("status").filter(has_text="at event 1")).to_be_visible()


def test_two_points_are_compared_as_json(page: Page, waiting: str) -> None:
    open_run(page, waiting, "?tab=events")
    page.get_by_role("button", name="Compare from event 3", exact=True).click()
    page.get_by_role("button", name="Compare to event 4", exact=True).click()
    diff = page.get_by_role("region", name="The run after event 3 and after event 4")
    expect(diff).to_contain_text("hold-Ada")
    expect(diff).to_contain_text("added")
    expect(page).to_have_url(re.compile("a=3&b=4"))
    diff.get_by_role("button", name="Close the comparison").click()
    expect(diff).to_have_count(0)


def test_new_events_come_by_themselves(page: Page, server: Server, waiting: str) -> None:
    open_run(page, waiting, "?tab=events")
    expect(page.get_by_role("button", name=re.compile("run.started"))).to_be_visible()
    server.post(f"/runs/{waiting}/messages", {"name": "go"})
    expect(page.get_by_role("button", name=re.compile("run.completed"))).to_be_visible()


def test_the_slider_shows_the_past_and_comes_back(page: Page, server: Server, ordered: str) -> None:
    last = server.detail(ordered)["seq"]
    open_run(page, ordered)
    slider = page.get_by_role("slider", name="Show the run at event")
    expect(slider).to_have_attribute("aria-valuetext", "now")
    slider.fill("3")
    banner = page.get_by_role("status").filter(has_text="at event 3")
    expect(banner).to_contain_text(f"of {last}")
    expect(head_status(page)).to_have_text("Running")
    expect(node(page, "reserve, step, running")).to_be_visible()
    expect(node(page, "charge, step, completed, 3 attempts")).to_have_count(0)
    page.get_by_role("button", name="One event forward").click()
    expect(page).to_have_url(re.compile("at=4"))
    page.keyboard.press("[")
    expect(page).to_have_url(re.compile("at=3"))
    page.get_by_role("button", name="Back to now").click()
    expect(node(page, "charge, step, completed, 3 attempts")).to_be_visible()
    expect(head_status(page)).to_have_text("Completed")


def test_the_past_stays_while_the_run_goes_on(page: Page, server: Server, waiting: str) -> None:
    open_run(page, waiting, "?at=3")
    expect(node(page, "reserve, step, running")).to_be_visible()
    server.post(f"/runs/{waiting}/messages", {"name": "go"})
    last = server.ended(waiting)["seq"]
    expect(page.locator(".slider-point")).to_have_text(f"3 of {last}")
    expect(node(page, "reserve, step, running")).to_be_visible()
    page.keyboard.press("l")
    expect(node(page, "ship, step, completed")).to_be_visible()


def test_logs_are_filtered_by_node_level_and_text(page: Page, ordered: str) -> None:
    open_run(page, ordered, "?tab=logs")
    lines = page.get_by_role("region", name="Log lines")
    expect(page.get_by_text("4 lines", exact=True)).to_be_visible()
    page.get_by_label("Level", exact=True).select_option("error")
    expect(page.get_by_text("2 lines", exact=True)).to_be_visible()
    expect(lines).to_contain_text("attempt 2: the bank does not answer")
    page.get_by_label("Level", exact=True).select_option("debug")
    page.get_by_role("searchbox", name="Search logs").fill("shelf")
    expect(page.get_by_text("1 line", exact=True)).to_be_visible()
    page.get_by_role("searchbox", name="Search logs").fill("")
    page.get_by_label("Node", exact=True).select_option("charge")
    expect(page.get_by_text("2 lines", exact=True)).to_be_visible()


def test_a_run_without_logs_says_how_to_get_some(page: Page, server: Server, name: str) -> None:
    server.begin("thank", "Ada", id=name)
    server.ended(name)
    open_run(page, name, "?tab=logs")
    expect(page.get_by_role("heading", name="No log lines")).to_be_visible()
