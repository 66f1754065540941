"""The run page: its head, why it waits, the graph, the inspector, family."""

import re

import pytest
from playwright.sync_api import Page, expect

from .acting import head_status, node, open_run
from .gallery import NODES, NS
from .serving import Server


def test_the_graph_follows_the_run(page: Page, server: Server, waiting: str) -> None:
    open_run(page, waiting)
    expect(node(page, "reserve, step, completed")).to_be_visible()
    expect(node(page, "go, message, waiting")).to_be_visible()
    expect(head_status(page)).to_have_text("Waiting")
    server.post(f"/runs/{waiting}/messages", {"name": "go"})
    expect(node(page, "ship, step, completed")).to_be_visible()
    expect(node(page, "go, message, completed")).to_be_visible()
    expect(head_status(page)).to_have_text("Completed")


@pytest.mark.parametrize("tab", ["graph", "timeline"])
def test_a_run_that_ended_without_a_step_says_so(page: Page, server: Server, name: str, tab: str) -> None:
    server.begin("long", 0, id=name)
    server.ended(name)
    open_run(page, name, f"?tab={tab}")
    expect(page.get_by_role("heading", name="No steps")).to_be_visible()


def test_before_its_first_step_a_run_that_ended_is_shown_as_not_started(page: Page, ordered: str) -> None:
    open_run(page, ordered, "?at=1")
    expect(page.get_by_role("heading", name="Not started yet")).to_be_visible()


def test_the_head_tells_the_facts(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    head = page.locator(".run-head")
    for text in ("Completed", "checkout", "code", "started", "took", "teamblue"):
        expect(head).to_contain_text(text)
    expect(page).to_have_title(re.compile(ordered))
    head.get_by_role("link", name="team blue").or_(head.locator("a.chip", has_text="blue")).first.click()
    expect(page).to_have_url(re.compile("/runs\\?label=team"))


def test_scopes_fold_and_unfold(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    inner = node(page, "price, step, completed")
    expect(inner).to_be_visible()
    page.get_by_role("button", name="Fold look up", exact=True).click()
    expect(inner).to_have_count(0)
    page.get_by_role("button", name="Unfold look up", exact=True).click()
    expect(inner).to_be_visible()
    page.get_by_role("button", name="Fold all", exact=True).click()
    expect(inner).to_have_count(0)
    page.get_by_role("button", name="Unfold all").click()
    expect(inner).to_be_visible()


def test_attempts_are_on_the_node(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    expect(node(page, "charge, step, completed, 3 attempts")).to_contain_text("×3")


def test_a_node_opens_its_inspector(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    node(page, "reserve, step, completed").click()
    inspector = page.get_by_role("complementary", name="Node reserve")
    expect(inspector.get_by_role("region", name="input of the node")).to_contain_text("Ada")
    expect(inspector.get_by_role("region", name="output of the node")).to_contain_text("hold-Ada")
    expect(inspector).to_contain_text("reserving 3 cups for Ada")
    expect(page).to_have_url(re.compile("node=reserve"))
    inspector.get_by_role("link", name=re.compile("All 2 lines")).click()
    expect(page).to_have_url(re.compile("tab=logs"))
    expect(page.get_by_role("region", name="Log lines").first).to_contain_text("the shelf is nearly empty")


def test_the_inspector_tells_the_error_and_the_attempts(page: Page, failed: str) -> None:
    open_run(page, failed, "?node=call+supplier")
    inspector = page.get_by_role("complementary", name="Node call supplier")
    expect(inspector).to_contain_text("is closed")
    expect(inspector).to_contain_text("Attempts2")
    expect(inspector).to_contain_text("nobody picks up the phone")
    page.keyboard.press("Escape")
    expect(inspector).to_have_count(0)


def test_arrows_walk_over_the_nodes(page: Page, waiting: str) -> None:
    open_run(page, waiting)
    expect(node(page, "go, message, waiting")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("complementary")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("complementary", name="Node go")).to_be_visible()


def test_zoom_tools_work(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    picture = page.locator(".react-flow__viewport")
    expect(node(page, "reserve, step, completed")).to_be_visible()
    before = picture.get_attribute("style") or ""
    page.get_by_role("button", name="Zoom in").click()
    expect(picture).not_to_have_attribute("style", before)
    zoomed = picture.get_attribute("style") or ""
    page.get_by_role("button", name="Show all (0)").click()
    expect(picture).not_to_have_attribute("style", zoomed)


def _pan(page: Page) -> None:
    page.keyboard.press("0")
    page.mouse.move(600, 500)
    page.mouse.down()
    page.mouse.move(300, 420, steps=5)
    page.mouse.up()


def test_five_hundred_nodes_in_a_row_are_shown(page: Page, gallery: Server) -> None:
    assert len(gallery.detail("long-1", namespace=NS)["view"]["nodes"]) == NODES
    open_run(page, "long-1", f"?ns={NS}")
    expect(node(page, "step 0, step, completed")).to_be_visible()
    _pan(page)
    page.get_by_role("link", name="Timeline").click()
    expect(page.get_by_role("region", name="Timeline by node")).to_contain_text("step 1")


def test_five_hundred_nodes_in_a_scope_start_folded(page: Page, server: Server, name: str) -> None:
    server.begin("wide", NODES, id=name)
    server.ended(name)
    open_run(page, name)
    expect(node(page, "shelves, join, completed")).to_contain_text(str(NODES))
    page.get_by_role("button", name="Unfold shelves").first.click()
    expect(node(page, "count, step, completed").first).to_be_visible()
    _pan(page)
    page.get_by_role("button", name="Fold all", exact=True).click()
    expect(node(page, "count, step, completed")).to_have_count(0)


@pytest.mark.parametrize(
    ("flow", "input", "kind", "words"),
    [
        ("steady", {"customer": "Ada"}, "message", "Waiting for message go"),
        ("checkout", {"customer": "Ada"}, "approval", "Waiting for approval manager by sales manager until"),
        ("reminder", None, "sleep", "Waiting for sleep steep until"),
        ("patient", None, "retry", "Waiting for retry 2 of 4 of dial at"),
    ],
)
def test_why_it_waits_is_said_in_words(
    page: Page, server: Server, name: str, flow: str, input: object, kind: str, words: str
) -> None:
    server.begin(flow, input, id=name)
    server.waits(name, kind)
    open_run(page, name)
    expect(page.get_by_role("region", name="Why it is waiting")).to_contain_text(words)


def test_a_waiting_approval_leads_to_its_question(page: Page, server: Server, name: str) -> None:
    first, second = f"{name}-a", f"{name}-b"
    for id in (first, second):
        server.begin("asking", f"May {id} go on?", id=id)
        server.waits(id, "approval")
    open_run(page, second)
    page.get_by_role("region", name="Why it is waiting").get_by_role("link", name="Decide").click()
    expect(
        page.get_by_role("region", name="Approval", exact=True).get_by_role("heading", name=f"May {second} go on?")
    ).to_be_visible()


def test_child_and_parent_lead_to_each_other(page: Page, server: Server, ordered: str) -> None:
    child = next(n["child"] for n in server.detail(ordered)["view"]["nodes"] if n.get("child"))
    open_run(page, ordered)
    page.get_by_role("link", name=f"Open the child run {child}").click()
    expect(page.get_by_role("heading", level=1, name=child)).to_be_visible()
    page.locator(".run-facts").get_by_role("link", name="parent").click()
    expect(page.get_by_role("heading", level=1, name=ordered)).to_be_visible()
    expect(page.get_by_role("complementary", name="Node thanks")).to_be_visible()
    page.get_by_role("complementary", name="Node thanks").get_by_role("link", name=child).click()
    expect(page.get_by_role("heading", level=1, name=child)).to_be_visible()


def test_one_page_shows_the_whole_family(page: Page, server: Server, name: str) -> None:
    server.begin("family", 2, id=name)
    server.ended(name)
    open_run(page, name)
    facts = page.locator(".run-facts")
    for child in ("code thank", "refs bill", "afl post.Stamp", "graph parcel"):
        expect(facts.get_by_role("link", name=child)).to_be_visible()
    for step in ("letter", "bill", "stamp", "parcel"):
        expect(node(page, f"{step}, child, completed")).to_be_visible()
    facts.get_by_role("link", name="afl post.Stamp").click()
    expect(facts.get_by_role("link", name="parent")).to_be_visible()
    expect(page.locator(".run-head")).to_contain_text("post.Stamp")


def test_input_and_output_have_a_tab(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    page.get_by_role("link", name="Input and output").click()
    expect(page.get_by_role("region", name="input", exact=True)).to_contain_text('"cups": 3')
    expect(page.get_by_role("region", name="output", exact=True)).to_contain_text("Dear Ada")


def test_an_unknown_run_says_so(page: Page, watch, name: str) -> None:
    watch.allow("404")
    page.goto(f"/runs/{name}")
    expect(page.get_by_role("heading", name=f"Run {name} not found")).to_be_visible()
    page.get_by_role("link", name="Go to runs").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


def test_a_failed_run_tells_its_error_in_the_head(page: Page, failed: str) -> None:
    open_run(page, failed)
    expect(head_status(page)).to_have_text("Failed")
    expect(page.get_by_role("region", name="Why it failed")).to_contain_text("is closed")
