"""What people see first: why a run failed, what it waits for, how long it really took, and text that can be read."""

import re

import pytest
from playwright.sync_api import Page, expect

from .acting import act, dialog, head_status, node, open_run
from .serving import Server

PHONE = {"width": 390, "height": 800}
SMALLEST = """() => {
    const zoom = new DOMMatrix(getComputedStyle(document.querySelector(".react-flow__viewport")).transform).a;
    const shown = [...document.querySelectorAll(".react-flow__viewport *")].filter(
        (one) => one.getClientRects().length
            && [...one.childNodes].some((part) => part.nodeType === 3 && part.data.trim()),
    );
    return Math.min(...shown.map((one) => parseFloat(getComputedStyle(one).fontSize) * zoom));
}"""


# -- why it failed -----------------------------------------------------------------------------------------------------


def test_the_step_that_failed_is_named_with_ways_to_its_node_its_log_and_a_retry(page: Page, failed: str) -> None:
    open_run(page, failed)
    banner = page.get_by_role("region", name="Why it failed")
    expect(banner).to_contain_text(f"call supplier failed after 2 attempts: supplier {failed} is closed")
    banner.get_by_role("button", name="Show the node").click()
    expect(page.get_by_role("complementary", name="Node call supplier")).to_be_visible()
    banner.get_by_role("link", name="Log").click()
    expect(page).to_have_url(re.compile("tab=logs&node=call%20supplier"))
    banner.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_the_failure_of_a_child_is_told_once_and_leads_to_the_child(page: Page, server: Server, name: str) -> None:
    server.begin("buying", id="b-1", namespace=name)
    server.ended("b-1", "failed", namespace=name)
    page.goto(f"/runs?ns={name}&status=failed")
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    expect(page.locator("table.runs tbody tr")).to_contain_text("take payment failed: the card was declined")
    page.goto(f"/runs?ns={name}")
    expect(page.locator("table.runs tbody tr")).to_have_count(2)
    expect(page.locator("table.runs tbody tr", has_text="paying")).to_contain_text("child of b-1")
    open_run(page, "b-1", f"?ns={name}")
    page.get_by_role("region", name="Why it failed").get_by_role("link", name="Open child run").click()
    expect(page.get_by_role("complementary", name="Node take payment")).to_contain_text("the card was declined")


def test_the_failure_of_a_grandchild_is_told_by_the_step_that_failed(page: Page, server: Server, name: str) -> None:
    server.begin("shopping", id="s-1", namespace=name)
    server.ended("s-1", "failed", namespace=name)
    page.goto(f"/runs?ns={name}&status=failed")
    rows = page.locator("table.runs tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("take payment failed: the card was declined")
    open_run(page, "s-1", f"?ns={name}")
    banner = page.get_by_role("region", name="Why it failed")
    expect(banner.get_by_role("heading")).to_have_text("take payment failed: the card was declined")
    banner.get_by_role("link", name="Open child run").click()
    expect(page.get_by_role("complementary", name="Node take payment")).to_contain_text("the card was declined")


# -- what it waits for -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flow", "input", "kind", "words"),
    [
        ("steady", {"customer": "Ada"}, "message", "message go"),
        ("checkout", {"customer": "Ada"}, "approval", "approval manager by sales manager"),
        ("reminder", None, "sleep", "sleep until"),
        ("patient", None, "retry", "retry 2 of 4 of dial at"),
    ],
)
def test_a_run_that_waits_says_so_in_the_list(
    page: Page, server: Server, name: str, flow: str, input: object, kind: str, words: str
) -> None:
    server.begin(flow, input, id="w-1", namespace=name)
    server.waits("w-1", kind, namespace=name)
    page.goto(f"/runs?ns={name}")
    row = page.locator("table.runs tbody tr")
    expect(row).to_contain_text("Waiting")
    expect(row).to_contain_text(words)
    expect(row.locator(".st-spin")).to_have_count(0)
    page.get_by_role("button", name="Running", exact=True).last.click()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Running", exact=True).last.click()
    page.get_by_role("button", name="Waiting", exact=True).last.click()
    expect(row).to_have_count(1)
    open_run(page, "w-1", f"?ns={name}")
    expect(head_status(page)).to_have_text("Waiting")


# -- true times --------------------------------------------------------------------------------------------------------


def test_a_run_that_was_tried_again_says_so_and_keeps_its_attempts(page: Page, server: Server, failed: str) -> None:
    server.begin("opening", failed)
    server.post(f"/runs/{failed}/retry")
    server.ended(failed)
    open_run(page, failed)
    expect(page.locator(".run-head")).to_contain_text("tried again")
    idle = server.get(f"/runs/{failed}")["run"]["idle_ms"]
    assert idle > 0, "the time between its failure and the retry is not counted"
    chip = page.locator(".run-head .chip", has_text="tried again")
    expect(chip).to_have_attribute("title", re.compile("That time is not counted"))
    expect(node(page, "call supplier, step, completed, 3 attempts")).to_contain_text("×3")
    page.get_by_role("link", name="Timeline").click()
    expect(page.locator(".gantt-pause")).to_contain_text("tried again")


def test_a_fork_names_its_source_and_leads_to_a_comparison(page: Page, server: Server, ordered: str) -> None:
    fork = server.post(f"/runs/{ordered}/fork", {"at": "charge"})["id"]
    open_run(page, fork)
    head = page.locator(".run-head")
    expect(head).to_contain_text(f"forked from{ordered}")
    head.get_by_role("link", name=f"Compare with {ordered}").click()
    expect(page).to_have_url(re.compile(f"/compare\\?a={ordered}&b="))
    page.get_by_label("Show identical nodes").check()
    expect(page.get_by_role("table")).to_contain_text("parcels / loop 2 / ship")


# -- what can be read and reached --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, PHONE, {"width": 820, "height": 600}])
def test_no_text_of_the_graph_is_too_small_when_it_opens(page: Page, ordered: str, size: dict[str, int]) -> None:
    page.set_viewport_size({"width": size["width"], "height": size["height"]})
    open_run(page, ordered)
    expect(page.locator(".react-flow__node").first).to_be_visible()
    assert page.evaluate(SMALLEST) >= 11


def test_the_timeline_is_by_start_time(page: Page, server: Server, name: str) -> None:
    server.begin("overtaking", id=name)
    server.ended(name)
    open_run(page, name, "?tab=timeline")
    rows = page.get_by_role("region", name="Timeline by node").locator(".gantt-row")
    expect(rows).to_have_text([re.compile(each) for each in ("nap", "at once", "after the nap")])


def test_steps_of_a_loop_are_named_by_their_round(page: Page, ordered: str) -> None:
    open_run(page, ordered, "?tab=timeline")
    names = page.get_by_role("region", name="Timeline by node")
    expect(names).to_contain_text("loop 2 / ship")
    expect(names).not_to_contain_text("~1")


def test_arrow_keys_move_the_focused_slider(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    slider = page.get_by_role("slider", name="Show the run at event")
    last = int(slider.get_attribute("max") or 0)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(slider).to_have_value(str(last - 1))
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_value(str(last))
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_a_fork_is_offered_from_steps_in_words(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    act(page, "Fork")
    choices = dialog(page, "Fork this run").get_by_label("Re-run from")
    expect(choices).to_contain_text("parcels / loop 2 / ship (completed)")
    expect(choices).not_to_contain_text("~")
