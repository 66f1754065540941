"""What holds on every page: keys, themes, dialogs and focus, HTML as text, the live connection, compare, size."""

import gzip
import re

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from plait.server.ui import STATIC

from .access import tab_stops
from .acting import act, dialog, head_status, node, open_run, ready
from .browsing import PHONE, Watch, sideways
from .flows import EVIL
from .serving import Server

LONG_MS = 25_000
"""For a page that tries again after ever longer rests."""

# -- keys and themes ------------------------------------------------------------------------------------------------


def test_keys_lead_everywhere(page: Page, name: str) -> None:
    page.goto(f"/runs?ns={name}")
    ready(page, "Runs")
    for keys, path in (
        ("ga", "approvals"),
        ("gd", "dlq"),
        ("gq", "queues"),
        ("gf", "definitions"),
        ("gh", "schedules"),
        ("gc", "catalog"),
        ("gs", "settings"),
        ("gr", "runs"),
    ):
        for key in keys:
            page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"/{path}"))
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search runs")).to_be_focused()
    page.keyboard.type("gs?")
    expect(page).to_have_url(re.compile("q=gs"))
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("/runs/new"))


def test_the_search_key_leads_to_the_runs_from_a_page_without_search(page: Page) -> None:
    page.goto("/settings")
    ready(page, "Settings")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search runs")).to_be_focused()


def test_the_help_lists_the_keys_and_keeps_the_others_off(page: Page, waiting: str) -> None:
    open_run(page, waiting)
    expect(node(page, "go, message, waiting")).to_be_visible()
    page.keyboard.press("?")
    box = dialog(page, "Keyboard shortcuts")
    for label in ("Search", "Go to runs", "One event back", "Fold or unfold the scope", "Show keyboard shortcuts"):
        expect(box).to_contain_text(label)
    page.keyboard.press("n")
    expect(box).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def test_the_theme_follows_the_system_until_one_is_chosen(page: Page) -> None:
    page.goto("/settings")
    body = page.locator("body")
    light = body.evaluate("body => getComputedStyle(body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    expect(body).not_to_have_css("background-color", light)
    dark = body.evaluate("body => getComputedStyle(body).backgroundColor")
    page.get_by_role("radio", name="Light").check()
    expect(body).to_have_css("background-color", light)
    page.reload()
    expect(page.get_by_role("radio", name="Light")).to_be_checked()
    expect(body).to_have_css("background-color", light)
    page.get_by_role("button", name=re.compile("^Theme: light")).click()
    expect(body).to_have_css("background-color", dark)


# -- focus ----------------------------------------------------------------------------------------------------------


def test_tab_walks_in_the_order_that_is_read(page: Page, ordered: str) -> None:
    page.goto("/runs")
    expect(page.locator(f"[data-run-row='{ordered}']")).to_be_visible()
    stops = tab_stops(page, 25)
    assert "skip" in stops[0]["name"]
    assert all(stop["visible"] and not stop["body"] for stop in stops), stops
    unseen = [stop["name"] for stop in stops if not stop["seen"]]
    assert not unseen, unseen
    names = [stop["name"] for stop in stops]
    parts = [next(n for n, name in enumerate(names) if part in name) for part in ("nav-item", "Theme:", "search")]
    assert parts == sorted(parts), names


def test_a_dialog_holds_the_focus_and_gives_it_back(page: Page, waiting: str) -> None:
    open_run(page, waiting)
    act(page, "Cancel")
    dialog(page, "Cancel this run")
    expect(page.get_by_label("Reason")).to_be_focused()
    stops = tab_stops(page, 12)
    outside = [stop["name"] for stop in stops if not stop["inside"] and not stop["body"]]
    assert not outside, outside
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_focused()


def test_a_dialog_can_be_done_by_keys_alone(page: Page, server: Server, waiting: str) -> None:
    open_run(page, waiting)
    page.locator(".run-actions").get_by_role("button", name="Cancel").focus()
    page.keyboard.press("Enter")
    dialog(page, "Cancel this run")
    page.keyboard.type("enough")
    page.keyboard.press("Enter")
    expect(head_status(page)).to_have_text("Cancelled")
    assert "enough" in str(server.detail(waiting)["run"]["error"])


# -- deep links -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("?tab=timeline&node=charge", "Node charge"),
        ("?node=look+up/tax/tax", "Node tax"),
        ("?tab=events&event=4", "Event 4"),
        ("?tab=events&a=3&b=4", "The run after event 3 and after event 4"),
        ("?tab=events&at=4", "Events"),
        ("?tab=logs&node=charge&level=error", "Log lines"),
        ("?tab=io", "output"),
        ("?at=4&node=reserve", "Node reserve"),
    ],
)
def test_a_link_to_any_state_of_a_run_opens_it(page: Page, ordered: str, query: str, shown: str) -> None:
    open_run(page, ordered, query)
    expect(page.get_by_label(shown, exact=True).first).to_be_visible()
    if "at=" in query:
        expect(page.get_by_text("at event 4")).to_be_visible()


def test_back_leads_back(page: Page, waiting: str) -> None:
    page.goto("/runs")
    page.locator(f"[data-run-row='{waiting}']").click()
    expect(page.get_by_role("heading", level=1, name=waiting)).to_be_visible()
    page.get_by_role("link", name="Timeline").click()
    expect(page).to_have_url(re.compile("tab=timeline"))
    page.go_back()
    expect(page).not_to_have_url(re.compile("tab=timeline"))
    page.go_back()
    expect(page.locator(f"[data-run-row='{waiting}']")).to_be_visible()


def test_the_root_leads_to_the_runs_and_nonsense_says_so(page: Page) -> None:
    page.goto("/")
    expect(page).to_have_url(re.compile("/runs$"))
    page.goto("/no/such/page")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()


# -- HTML is text ---------------------------------------------------------------------------------------------------


def test_html_is_shown_and_never_executed(page: Page, server: Server, name: str) -> None:
    id = f"<b>{name}"
    labels = {"<i>k</i>": EVIL.format("label")}
    server.begin("hostile", EVIL.format("input"), id=id, namespace=name, labels=labels)
    server.asked(id, namespace=name)
    page.goto(f"/runs?ns={name}")
    expect(page.get_by_text(EVIL.format("label")).first).to_be_visible()
    page.goto(f"/approvals?ns={name}")
    expect(page.get_by_role("heading", name=EVIL.format("title"))).to_be_visible()
    expect(page.get_by_role("region", name="evidence", exact=True)).to_contain_text("window.hacked")
    server.decide(id, namespace=name)
    server.ended(id, "failed", namespace=name)
    for tab in ("graph", "timeline", "events", "logs", "io"):
        open_run(page, id, f"?ns={name}&tab={tab}")
        expect(page.locator(".run-main")).to_contain_text("window.hacked")
    open_run(page, id, f"?ns={name}&node=echo")
    expect(page.get_by_role("region", name="output of the node")).to_contain_text(EVIL.format("input").split('"')[0])
    for path in (f"/dlq?ns={name}", f"/compare?a={id}&b={id}&ns={name}"):
        page.goto(path)
        expect(page.get_by_role("main")).to_contain_text("<")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


# -- compare --------------------------------------------------------------------------------------------------------


def test_two_runs_are_compared(page: Page, server: Server, ordered: str) -> None:
    other = f"{ordered}-b"
    server.begin("checkout", {"customer": "Ada", "cups": 4}, id=other)
    server.decide(other, data={"discount": 0})
    server.ended(other)
    page.goto(f"/compare?a={ordered}&b={other}")
    expect(page.get_by_role("region", name="Run A")).to_contain_text(ordered)
    expect(page.get_by_role("region", name="input", exact=True)).to_contain_text("cups")
    expect(page.get_by_role("region", name="Nodes")).to_contain_text("only in B")
    page.get_by_role("button", name=re.compile("charge")).click()
    expect(page.locator(".compare-inside")).to_contain_text("paid")
    page.get_by_label("Show identical nodes").check()
    expect(page.get_by_role("button", name=re.compile("tax"))).to_be_visible()
    page.get_by_role("button", name="Swap").click()
    expect(page.get_by_role("region", name="Run A")).to_contain_text(other)
    page.get_by_role("button", name="Other runs").click()
    page.get_by_label("Run A").fill(ordered)
    page.get_by_label("Run B").fill(other)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("region", name="Run B")).to_contain_text(other)


def test_comparing_with_a_missing_run_says_so(page: Page, watch: Watch, waiting: str) -> None:
    watch.allow("404")
    page.goto(f"/compare?a={waiting}&b=nosuch")
    expect(page.get_by_role("alert").first).to_contain_text("nosuch")


# -- the connection -------------------------------------------------------------------------------------------------


def refused(request: Request) -> bool:
    return request.failure != "net::ERR_ABORTED"


def test_a_lost_connection_is_told_and_made_good(
    own_page: Page, context: BrowserContext, own: Server, watch: Watch
) -> None:
    watch.allow("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_NETWORK")
    own.start().begin("steady", {"customer": "Ada"}, id="lost-1")
    own.waits("lost-1", "message")
    events, runs = own_page, watch.over(context.new_page())
    events.goto(f"{own.url}/runs/lost-1?tab=events")
    runs.goto(f"{own.url}/runs")
    expect(events.locator(".event-seq").last).to_have_text("5")
    expect(runs.locator(".live")).to_have_text("Live")
    with runs.expect_event("requestfailed", refused, timeout=LONG_MS):  # it has tried again, and nobody was there
        own.stop()
    for one in (events, runs):
        expect(one.locator(".live")).to_have_text("Connection lost, reconnecting")
    expect(runs.locator("[data-run-row='lost-1']")).to_be_visible()
    own.start().post("/runs/lost-1/messages", {"name": "go"})
    own.ended("lost-1")
    own.begin("thank", "Ada", id="lost-2")
    expect(events.get_by_role("button", name=re.compile("run.completed"))).to_be_visible(timeout=LONG_MS)
    wanted = [str(event["seq"]) for event in own.get("/runs/lost-1/events")["events"]]
    expect(events.locator(".event-seq")).to_have_text(wanted)
    expect(head_status(events)).to_have_text("Completed")
    expect(runs.locator("[data-run-row]")).to_have_count(2, timeout=LONG_MS)
    expect(runs.locator(".live")).to_have_text("Live")


# -- size -----------------------------------------------------------------------------------------------------------


def _needed(name: str, seen: set[str]) -> set[str]:
    """A file and all that it imports at once."""
    if name in seen:
        return seen
    seen.add(name)
    text = (STATIC / name).read_text()
    found = re.findall(r'(?:src|href)="/([^"]+)"', text) if name.endswith(".html") else []
    found += [f"assets/{one}" for one in re.findall(r'(?:from|import)\s*"\./([^"]+\.js)"', text)]
    for one in found:
        _needed(one, seen)
    return seen


def test_the_first_load_is_small(own_page: Page, ordered: str) -> None:
    page, loaded = own_page, set[str]()
    page.on("request", lambda request: loaded.add(request.url.partition(page.url.split("/runs")[0])[2]))
    open_run(page, ordered)
    expect(node(page, "reserve, step, completed")).to_be_visible()
    files = {name.lstrip("/") for name in loaded if "." in name.rpartition("/")[2] and "/api/" not in name}
    files = {name for name in files | _needed("index.html", set()) if (STATIC / name).is_file()}
    size = sum(len(gzip.compress((STATIC / name).read_bytes(), 9)) for name in files)
    assert "index.html" in files
    assert size <= 300_000, f"{size} bytes in {sorted(files)}"


def test_the_phone_has_all_of_the_navigation(page: Page) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto("/runs")
    for label in ("Runs", "Approvals", "Dead letters", "Definitions", "Catalog", "Settings"):
        link = page.get_by_role("navigation", name="Main").get_by_role("link", name=re.compile(f"^{label}"))
        expect(link).to_be_visible()
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE[0]
    page.get_by_role("navigation", name="Main").get_by_role("link", name=re.compile("^Settings")).click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    assert sideways(page) == 0
