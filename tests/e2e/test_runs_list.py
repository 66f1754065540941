"""The list of runs: live, searched, filtered, saved, paged, compared, by mouse and by keys."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from .acting import dialog, ready
from .serving import Server


def rows(page: Page) -> Locator:
    return page.get_by_role("table", name="Runs, newest first").locator("tbody tr")


def row(page: Page, id: str) -> Locator:
    return rows(page).filter(has=page.locator(f'[data-run-row="{id}"]'))


@pytest.fixture
def three(server: Server, name: str) -> str:
    """A namespace with a running, a completed and a failed run."""
    server.begin("steady", {"customer": "Ada"}, id="running-1", namespace=name, labels={"team": "blue"})
    server.begin("thank", "Ada", id="completed-1", namespace=name, labels={"team": "red"})
    server.begin("restock", name, id="failed-1", namespace=name, labels={"team": "red", "tier": "gold"})
    server.waits("running-1", "message", namespace=name)
    server.ended("completed-1", namespace=name)
    server.ended("failed-1", "failed", namespace=name)
    return name


def test_a_run_appears_and_changes_while_one_looks(page: Page, server: Server, name: str) -> None:
    page.goto(f"/runs?ns={name}")
    expect(page.get_by_role("heading", name="No runs yet")).to_be_visible()
    expect(page.get_by_role("link", name="Start a run")).to_be_visible()
    server.begin("steady", {"customer": "Ada"}, id="live-1", namespace=name)
    expect(row(page, "live-1")).to_contain_text("Waiting")
    server.post("/runs/live-1/messages", {"name": "go"}, namespace=name)
    expect(row(page, "live-1")).to_contain_text("Completed")
    expect(page.locator(".live")).to_have_text("Live")


def test_a_row_tells_what_matters(page: Page, three: str) -> None:
    page.goto(f"/runs?ns={three}")
    failed = row(page, "failed-1")
    for text in ("Failed", "restock", "failed-1", "teamred", "tiergold", "is closed", "code"):
        expect(failed).to_contain_text(text)
    expect(rows(page)).to_have_count(3)


def test_search_finds_in_id_label_and_error(page: Page, three: str) -> None:
    page.goto(f"/runs?ns={three}")
    search = page.get_by_role("searchbox", name="Search runs")
    for text, ids in (("completed", ["completed-1"]), ("gold", ["failed-1"]), ("is closed", ["failed-1"])):
        search.fill(text)
        expect(page).to_have_url(re.compile(rf"q={text.replace(' ', '(%20|.)')}"))
        expect(rows(page)).to_have_count(len(ids))
        for id in ids:
            expect(row(page, id)).to_be_visible()


def test_search_without_a_match_says_so_and_leads_back(page: Page, three: str) -> None:
    page.goto(f"/runs?ns={three}&q=nosuchthing")
    expect(page.get_by_role("heading", name="No runs match this filter")).to_be_visible()
    page.get_by_role("button", name="Show all runs").click()
    expect(rows(page)).to_have_count(3)


@pytest.mark.parametrize(
    ("status", "id"), [("Waiting", "running-1"), ("Completed", "completed-1"), ("Failed", "failed-1")]
)
def test_status_pills_filter(page: Page, three: str, status: str, id: str) -> None:
    page.goto(f"/runs?ns={three}")
    pill = page.get_by_role("group", name="Status").get_by_role("button", name=status)
    pill.click()
    expect(rows(page)).to_have_count(1)
    expect(row(page, id)).to_be_visible()
    expect(pill).to_have_attribute("aria-pressed", "true")
    pill.click()
    expect(rows(page)).to_have_count(3)


def test_definition_and_dialect_filter(page: Page, three: str) -> None:
    page.goto(f"/runs?ns={three}")
    page.get_by_label("Definition", exact=True).select_option("restock")
    expect(rows(page)).to_have_count(1)
    page.get_by_label("Dialect", exact=True).select_option("goals")
    expect(page.get_by_role("heading", name="No runs match this filter")).to_be_visible()
    page.get_by_label("Dialect", exact=True).select_option("code")
    expect(row(page, "failed-1")).to_be_visible()


def test_labels_filter_by_typing_and_by_a_click_on_a_chip(page: Page, three: str) -> None:
    page.goto(f"/runs?ns={three}")
    row(page, "failed-1").get_by_role("button", name="tier gold").or_(
        row(page, "failed-1").get_by_title("Filter by tier:gold")
    ).first.click()
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name="Remove the filter tier:gold").click()
    expect(rows(page)).to_have_count(3)
    field = page.get_by_role("textbox", name="Filter by label")
    field.fill("team:red")
    field.press("Enter")
    expect(rows(page)).to_have_count(2)
    expect(page).to_have_url(re.compile("label=team"))


def test_a_filter_is_kept_as_a_view(page: Page, three: str) -> None:
    page.goto(f"/runs?ns={three}&label=team:red")
    page.get_by_role("button", name="Save view").click()
    box = dialog(page, "Save this view")
    box.get_by_label("Name").fill("All")
    expect(box.get_by_text("A built-in view has this name.")).to_be_visible()
    box.get_by_label("Name").fill("Reds")
    box.get_by_role("button", name="Save").click()
    page.goto(f"/runs?ns={three}")
    views = page.get_by_role("navigation", name="Saved views")
    views.get_by_role("button", name="Reds", exact=True).click()
    expect(rows(page)).to_have_count(2)
    views.get_by_role("button", name="Failed").click()
    expect(rows(page)).to_have_count(1)
    views.get_by_role("button", name="Reds", exact=True).click()
    page.get_by_role("button", name="Delete the view Reds").click()
    expect(views.get_by_role("button", name="Reds", exact=True)).to_have_count(0)


def test_older_runs_are_loaded_by_cursor_each_once(page: Page, server: Server, name: str) -> None:
    for number in range(60):
        server.begin("greet@2", "Ada", id=f"many-{number:02}", namespace=name)
    page.goto(f"/runs?ns={name}")
    expect(rows(page)).to_have_count(50)
    page.get_by_role("button", name="Load older runs").click()
    expect(rows(page)).to_have_count(60)
    shown = page.locator("[data-run-row]").evaluate_all("all => all.map(one => one.dataset.runRow)")
    assert shown == [f"many-{number:02}" for number in reversed(range(60))]
    expect(page.get_by_role("button", name="Load older runs")).to_have_count(0)


def test_two_are_selected_and_compared(page: Page, three: str) -> None:
    page.goto(f"/runs?ns={three}")
    page.get_by_role("checkbox", name="Select running-1 to compare").check()
    bar = page.get_by_role("region", name="Selected runs")
    expect(bar).to_contain_text("choose another run to compare")
    expect(bar.get_by_role("button", name="Compare")).to_be_disabled()
    page.get_by_role("checkbox", name="Select failed-1 to compare").check()
    bar.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(re.compile(r"/compare\?a=running-1&b=failed-1"))
    expect(page.get_by_role("region", name="Run B")).to_contain_text("failed-1")


def test_keys_walk_select_and_open(page: Page, three: str) -> None:
    page.goto(f"/runs?ns={three}")
    ready(page, "Runs")
    expect(rows(page)).to_have_count(3)
    links = page.locator("[data-run-row]")
    page.keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("x")
    expect(rows(page).nth(0).get_by_role("checkbox")).to_be_checked()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/runs/completed-1"))


def test_only_the_children_of_a_run(page: Page, server: Server, name: str) -> None:
    id = server.begin("checkout", {"customer": "Ada"}, namespace=name)
    server.decide(id, data={"discount": 0}, namespace=name)
    server.ended(id, namespace=name)
    page.goto(f"/runs?ns={name}&parent={id}")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name=f"Remove the filter children of {id}").click()
    expect(rows(page)).to_have_count(2)
