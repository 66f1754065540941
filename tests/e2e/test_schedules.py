"""Schedules: saved after a look at their next times, seen, triggered, paused, edited, deleted."""

import re

from playwright.sync_api import Page, expect

from .acting import copy_as, dialog, toast
from .browsing import Watch
from .serving import Server


def save(server: Server, name: str, **settings: object) -> None:
    body = {"definition": "thank", "input": "Ada", "cron": "30 2 1 1 *"} | settings
    server.client.put("/schedules/yearly", json=body, params={"namespace": name}).raise_for_status()


def test_a_schedule_is_saved_after_a_look_at_its_next_ten_times(
    page: Page, server: Server, name: str, watch: Watch
) -> None:
    watch.allow("422.*schedule-preview")
    page.goto(f"/schedules?ns={name}")
    expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()
    page.get_by_role("link", name="New schedule").click()
    times = page.get_by_role("region", name="Next times")
    expect(times.get_by_role("listitem")).to_have_count(10)
    page.get_by_label("Cron", exact=True).fill("30 2 * * 8")
    expect(times).to_contain_text("8 is out of range")
    page.get_by_label("Cron", exact=True).fill("30 2 1 7 *")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    expect(times.get_by_role("listitem").first).to_contain_text(re.compile(r"-07-01 02:30:00 (CEST|GMT\+2)"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Name", exact=True).fill("yearly")
    page.get_by_label("Definition").fill("thank")
    page.get_by_label("Input (JSON)").fill('"Ada"')
    page.get_by_role("button", name="Save").click()
    toast(page, "Saved yearly")
    expect(page.get_by_role("region", name="Settings")).to_contain_text("30 2 1 7 * in Europe/Berlin")
    saved = server.get("/schedules/yearly", namespace=name)
    assert (saved["definition"], saved["input"], saved["cron"]) == ("thank", "Ada", "30 2 1 7 *")


def test_what_can_not_be_started_is_not_saved(page: Page, name: str, watch: Watch) -> None:
    watch.allow("404.*schedules/yearly")
    page.goto(f"/new-schedule?ns={name}")
    page.get_by_label("Name", exact=True).fill("yearly")
    page.get_by_label("Definition").fill("nothing")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Could not save the schedule")


def test_a_trigger_starts_a_run_and_is_told(page: Page, server: Server, name: str) -> None:
    save(server, name)
    page.goto(f"/schedules/yearly?ns={name}")
    page.get_by_role("button", name="Trigger now").click()
    dialog(page, "Start a run now?").get_by_role("button", name="Start", exact=True).click()
    toast(page, "Starting yearly:")
    past = page.get_by_role("region", name="Past times")
    expect(past).to_contain_text("started")
    past.get_by_role("link", name=re.compile("^yearly:")).click()
    expect(page).to_have_url(re.compile("/runs/yearly"))


def test_a_schedule_is_paused_resumed_edited_and_deleted(page: Page, server: Server, name: str) -> None:
    save(server, name)
    page.goto(f"/schedules/yearly?ns={name}")
    page.get_by_role("button", name="Pause").click()
    box = dialog(page, "Pause this schedule?")
    assert copy_as(page, box, "Command line").startswith(f"plait schedules pause yearly -n {name}")
    box.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("region", name="Next times")).to_contain_text("None while it is paused")
    page.get_by_role("button", name="Resume").click()
    dialog(page, "Resume this schedule?").get_by_role("button", name="Resume", exact=True).click()
    expect(page.get_by_role("region", name="Next times").get_by_role("listitem")).to_have_count(10)
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("yearly")
    page.get_by_label("By").select_option("every")
    page.get_by_label("Every").fill("3 d")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Settings")).to_contain_text("every 3 d")
    page.get_by_role("button", name="Delete").click()
    dialog(page, "Delete this schedule?").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()


def test_a_backfill_starts_runs_for_times_of_the_past(page: Page, server: Server, name: str) -> None:
    save(server, name)
    page.goto(f"/schedules/yearly?ns={name}")
    page.get_by_role("button", name="Backfill").click()
    box = dialog(page, "Backfill")
    box.get_by_label("From (UTC)").fill("2019-01-01T00:00")
    box.get_by_label("Until (UTC)").fill("2021-12-31T00:00")
    box.get_by_label("Runs").select_option("allow")
    box.get_by_role("button", name="Backfill").click()
    toast(page, "Backfill of 3 times started")
    expect(page.get_by_role("region", name="Past times").get_by_role("row")).to_have_count(4)


def test_runs_of_a_schedule_wait_on_the_queue_that_is_named(page: Page, server: Server, name: str) -> None:
    page.goto(f"/new-schedule?ns={name}")
    page.get_by_label("Name", exact=True).fill("yearly")
    page.get_by_label("Definition").fill("thank")
    page.get_by_label("Input (JSON)").fill('"Ada"')
    page.get_by_label("Queue", exact=True).fill("reports")
    page.get_by_label("Priority", exact=True).fill("2")
    page.get_by_label("Partition", exact=True).fill("tea")
    page.get_by_role("button", name="Save").click()
    toast(page, "Saved yearly")
    expect(page.get_by_role("region", name="Settings")).to_contain_text("reports, priority 2, partition tea")
    saved = server.get("/schedules/yearly", namespace=name)
    assert (saved["queue"], saved["priority"], saved["partition"]) == ("reports", 2, "tea")
