"""The run of a graph: its tokens and their path, a patch in flight, its undo, and the approval that it waits for."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, expect

from .acting import act, dialog, node, open_run, toast
from .browsing import Watch
from .drawing import BILL, card, choose, lines, problems, save, save_with
from .serving import Server


def _begin(server: Server, name: str) -> None:
    save(server, name, BILL)
    server.begin(name, {"amount": 5}, id=name, dialect="graph")
    server.waits(name, "join")


def test_tokens_are_drawn_where_they_are_and_listed_in_order(page: Page, server: Server, name: str) -> None:
    _begin(server, name)
    open_run(page, name)
    expect(node(page, "total, transform, completed")).to_be_visible()
    expect(node(page, "paid, wait, waiting").locator(".card-badge")).to_have_attribute("title", "1 token, hop 2")
    join = node(page, "merge, transform, waiting").locator(".card-badge")
    expect(join).to_have_attribute("title", "join has large; waits for paid")
    expect(page.locator(".edge-badge title")).to_have_text("1 token, hop 3 parked")
    page.get_by_role("link", name="Path", exact=True).click()
    expect(page.get_by_role("region", name="Tokens in flight")).to_contain_text("2 tokens in flight")
    expect(page.get_by_role("region", name="Tokens in flight")).to_contain_text("has large; waits for paid")
    path = page.get_by_role("region", name="Path", exact=True)
    assert path.get_by_role("button").all_inner_texts() == ["total", "boss", "large"]
    path.get_by_role("button", name="large").click()
    expect(page.get_by_role("complementary", name="Node large")).to_be_visible()


def test_a_run_is_forked_at_a_node(page: Page, server: Server, name: str) -> None:
    _begin(server, name)
    open_run(page, name)
    act(page, "Fork")
    box = dialog(page, "Fork this run")
    box.get_by_label("Re-run from").select_option("large")
    box.get_by_label("ID of the new run").fill(f"{name}-fork")
    box.get_by_role("button", name="Fork", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=f"{name}-fork")).to_be_visible()
    server.waits(f"{name}-fork", "join")


def test_a_run_is_patched_in_flight_and_the_patch_undone(page: Page, server: Server, watch: Watch, name: str) -> None:
    watch.allow("409")
    _begin(server, name)
    open_run(page, name, "?tab=changes")
    expect(page.get_by_role("heading", name="Not changed since it began")).to_be_visible()
    page.get_by_role("link", name="Patch this run").click()
    expect(problems(page)).to_contain_text("No problems")
    choose(page, "paid")
    page.keyboard.press("Delete")
    expect(card(page, "paid")).to_have_count(0)
    box = save_with(page, "Patch this run", "Patch the run")
    box.get_by_role("button", name="Patch the run").click()
    expect(box.get_by_role("alert")).to_contain_text("where the run is now")
    box.get_by_role("button", name="Back").click()
    page.keyboard.press("Control+z")

    choose(page, "boss")
    before = lines(page).count()
    page.get_by_role("button", name="Add transform", exact=True).click()
    expect(lines(page)).to_have_count(before + 1)
    box = save_with(page, "Patch this run", "Patch the run")
    box.get_by_role("button", name="Patch the run").click()
    toast(page, "Patched: revision 2")
    assert "transform" in [one["id"] for one in server.detail(name)["view"]["nodes"]]

    page.get_by_role("link", name="Run", exact=True).click()
    difference = page.get_by_role("region", name="Graph of the difference")
    expect(difference.get_by_label("transform, transform, added")).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).click()
    dialog(page, "Undo this change?").get_by_role("button", name="Undo", exact=True).click()
    toast(page, "The change is undone")
    expect(page.get_by_role("heading", name="Revision 3")).to_be_visible()
    assert server.get(f"/runs/{name}/graph")["definition"] == BILL


def test_an_approval_is_delegated_decided_once_and_says_by_whom(
    page: Page, context: BrowserContext, server: Server, watch: Watch, name: str
) -> None:
    watch.allow("409")
    _begin(server, name)
    open_run(page, name)
    page.get_by_role("region", name="Why it is waiting").get_by_role("link", name="Decide").click()
    chosen = page.get_by_role("region", name="Evidence", exact=True)
    expect(chosen).to_contain_text("bound to this evidence by its hash")
    page.get_by_role("button", name="Delegate").click()
    box = dialog(page, "Delegate")
    box.get_by_label("Whose vote").select_option("bob")
    box.get_by_label("To").fill("cleo")
    box.get_by_label("Comment").fill("on leave")
    box.get_by_role("button", name="Delegate", exact=True).click()
    toast(page, "Delegated to cleo")
    expect(page.get_by_text("by bob to cleo: on leave")).to_be_visible()

    late = watch.over(context.new_page())
    late.goto(page.url)
    expect(late.get_by_role("heading", name="Pay it?", level=2)).to_be_visible()
    for one in (page, late):
        one.get_by_label("Your name").fill("cleo")
        one.get_by_role("button", name="Approve").click()
    dialog(page, "Approve?").get_by_role("button", name="Approve").click()
    toast(page, "Approved: Pay it?")
    dialog(late, "Approve?").get_by_role("button", name="Approve").click()
    expect(late.get_by_text("Approved by cleo")).to_be_visible()
    assert server.detail(name)["view"]["nodes"][1]["output"]["decided_by"] == "cleo"
