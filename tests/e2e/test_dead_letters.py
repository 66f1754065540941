"""Dead letters: seen, tried again, given up."""

import pytest
from playwright.sync_api import Page, expect

from .acting import copy_as, dialog, toast
from .serving import Server


@pytest.fixture
def letter(server: Server, name: str) -> str:
    """A namespace with one dead letter; the supplier is called as the namespace."""
    server.begin("restock", name, id="stock-1", namespace=name)
    server.letter("stock-1", namespace=name)
    return name


def test_none_says_so(page: Page, name: str) -> None:
    page.goto(f"/dlq?ns={name}")
    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.get_by_role("heading", name="No dead letters so far")).to_be_visible()


def test_a_letter_tells_what_failed(page: Page, letter: str) -> None:
    page.goto(f"/dlq?ns={letter}")
    shown = page.get_by_role("article")
    for text in ("call supplier", "stock-1", "2 attempts", f"supplier {letter} is closed"):
        expect(shown).to_contain_text(text)
    expect(page.get_by_role("link", name="Dead letters 1 open")).to_be_visible()
    shown.get_by_role("link", name="stock-1").click()
    expect(page.get_by_role("complementary", name="Node call supplier")).to_be_visible()


def test_a_retry_repairs_the_run(page: Page, server: Server, letter: str) -> None:
    page.goto(f"/dlq?ns={letter}")
    server.ended(server.begin("opening", letter, namespace=letter), namespace=letter)
    page.get_by_role("button", name="Retry step `call supplier`").click()
    dialog(page, "Retry this task?").get_by_role("button", name="Retry", exact=True).click()
    toast(page, "Retry started")
    assert server.ended("stock-1", namespace=letter)["output"] == f"ordered from {letter}"
    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()


def test_a_discard_is_kept_among_all(page: Page, server: Server, letter: str) -> None:
    page.goto(f"/dlq?ns={letter}")
    page.get_by_role("button", name="Discard step `call supplier`").click()
    dialog(page, "Discard this task?").get_by_role("button", name="Discard", exact=True).click()
    toast(page, "Discarded")
    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.get_by_role("article")).to_contain_text("discarded")
    assert server.get("/dlq", status="all", namespace=letter)["dead_letters"][0]["status"] == "discarded"


@pytest.mark.parametrize("kind", ["curl", "Command line"])
def test_a_copied_retry_works(page: Page, server: Server, failed: str, kind: str) -> None:
    server.ended(server.begin("opening", failed))
    page.goto("/dlq")
    shown = page.get_by_role("article", name=f"step `call supplier` of {failed}")
    shown.get_by_role("button", name="Retry").click()
    server.shell(copy_as(page, dialog(page, "Retry this task?"), kind))
    server.ended(failed)
