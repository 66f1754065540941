"""What a person does on many pages: looking at a node, answering a dialog, copying an action."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from .browsing import copied


def ready(page: Page, title: str) -> None:
    """The page is there and listens to keys: the title is set when it does."""
    expect(page).to_have_title(f"{title} · Plait")


def run_path(id: str, query: str = "") -> str:
    return f"/runs/{quote(id, safe='')}{query}"


def open_run(page: Page, id: str, query: str = "") -> None:
    page.goto(run_path(id, query))
    expect(page.get_by_role("heading", level=1, name=id)).to_be_visible()
    ready(page, id)


def head_status(page: Page) -> Locator:
    """The status beside the run's id."""
    return page.locator(".run-title .status")


def node(page: Page, words: str) -> Locator:
    """A node of the graph by its spoken name: label, kind, status."""
    return page.get_by_role("region", name="Graph of the run").get_by_label(words, exact=True)


def act(page: Page, action: str) -> None:
    """Opens the dialog of an action, from the row of buttons or from More."""
    direct = page.locator(".run-actions").get_by_role("button", name=action, exact=True)
    more = page.locator(".run-actions").get_by_role("button", name="More")
    expect(direct.or_(more).first).to_be_visible()
    if direct.count() == 0:
        more.click()
        page.get_by_role("menuitem", name=action, exact=True).click()
    else:
        direct.click()


def dialog(page: Page, title: str) -> Locator:
    found = page.get_by_role("dialog", name=title)
    expect(found).to_be_visible()
    return found


def copy_as(page: Page, box: Locator, kind: str) -> str:
    """The text that "Copy as" puts on the clipboard."""
    box.get_by_role("button", name="Copy as").click()
    box.get_by_role("menuitem", name=kind, exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Copied").last).to_be_visible()
    return copied(page)


def toast(page: Page, text: str) -> None:
    expect(page.get_by_role("region", name="Notifications").get_by_text(text)).to_be_visible()
