"""The approvals inbox, the decision with its form, and the signed link for people without an account."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from .acting import copy_as, dialog, open_run, ready, toast
from .browsing import Watch, copied
from .serving import Server

A_WHILE_MS = 10_000
"""Longer than the page waits before it looks again."""


@pytest.fixture
def asked(server: Server, name: str) -> str:
    """A namespace in which one run asks the manager, with a form."""
    server.begin("checkout", {"customer": "Ada"}, id="ask-1", namespace=name)
    server.asked("ask-1", namespace=name)
    return name


def chosen(page: Page) -> Locator:
    return page.get_by_role("region", name="Approval", exact=True)


def confirm(page: Page, word: str) -> None:
    dialog(page, f"{word}?").get_by_role("button", name=word, exact=True).click()


def test_an_empty_inbox_says_how_to_ask(page: Page, name: str) -> None:
    page.goto(f"/approvals?ns={name}")
    expect(page.get_by_role("heading", name="No open approvals")).to_be_visible()


def test_an_approval_shows_who_until_when_and_evidence(page: Page, asked: str) -> None:
    page.goto(f"/approvals?ns={asked}")
    shown = chosen(page)
    for text in ("Let Ada pay 10.89?", "sales manager", "left", "ask-1"):
        expect(shown).to_contain_text(text)
    expect(shown.get_by_role("region", name="evidence", exact=True)).to_contain_text("hold-Ada")
    expect(page.get_by_role("link", name="Approvals 1 open")).to_be_visible()


def test_the_form_is_checked_before_it_is_sent(page: Page, asked: str) -> None:
    page.goto(f"/approvals?ns={asked}")
    shown = chosen(page)
    shown.get_by_role("button", name="Approve").click()
    expect(shown.get_by_label("Discount")).to_have_attribute("aria-invalid", "true")
    expect(shown).to_contain_text("Required")
    shown.get_by_label("Discount").fill("51")
    shown.get_by_role("button", name="Approve").click()
    expect(shown.get_by_label("Discount")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_approving_lets_the_run_go_on(page: Page, server: Server, asked: str) -> None:
    page.goto(f"/approvals?ns={asked}")
    shown = chosen(page)
    shown.get_by_label("Discount").fill("10")
    shown.get_by_label("Note").fill("be quick")
    shown.get_by_label("Comment").fill("fine by me")
    shown.get_by_role("button", name="Approve").click()
    box = dialog(page, "Approve?")
    expect(box).to_contain_text("be quick")
    confirm(page, "Approve")
    toast(page, "Approved: Let Ada pay 10.89?")
    expect(page.get_by_role("heading", name="No open approvals")).to_be_visible()
    assert server.ended("ask-1", namespace=asked)["output"]["note"] == "be quick"


def test_rejecting_ends_it_without_the_form(page: Page, server: Server, asked: str) -> None:
    page.goto(f"/approvals?ns={asked}")
    chosen(page).get_by_label("Comment").fill("too dear")
    page.get_by_role("heading", level=2).first.click()
    chosen(page).get_by_role("button", name="Reject").click()
    confirm(page, "Reject")
    toast(page, "Rejected")
    assert "too dear" in server.ended("ask-1", "failed", namespace=asked)["run"]["error"]["message"]


def test_what_was_decided_elsewhere_is_said(page: Page, server: Server, watch: Watch, asked: str) -> None:
    watch.allow("409|404")
    page.goto(f"/approvals?ns={asked}")
    chosen(page).get_by_label("Discount").fill("1")
    chosen(page).get_by_role("button", name="Approve").click()
    server.decide("ask-1", data={"discount": 2}, namespace=asked)
    confirm(page, "Approve")
    expect(page.get_by_text("No longer open.").or_(page.get_by_role("alert"))).to_be_visible()
    expect(page.get_by_text("No longer open.")).to_be_visible()
    page.get_by_role("link", name="View run").click()
    expect(page.get_by_role("heading", level=1, name="ask-1")).to_be_visible()


def test_an_approval_arrives_and_leaves_by_itself(own_page: Page, server: Server, name: str) -> None:
    page = own_page
    page.clock.install()
    page.goto(f"/approvals?ns={name}")
    expect(page.get_by_role("heading", name="No open approvals")).to_be_visible()
    server.begin("asking", "Tea?", id="tea", namespace=name)
    server.asked("tea", namespace=name)
    page.clock.fast_forward(A_WHILE_MS)
    expect(page.get_by_role("heading", name="Tea?")).to_be_visible()
    server.decide("tea", namespace=name)
    page.clock.fast_forward(A_WHILE_MS)
    expect(page.get_by_text("No longer open.")).to_be_visible()


def test_keys_walk_and_decide(page: Page, server: Server, name: str) -> None:
    for id in ("one", "two"):
        server.begin("asking", f"May {id}?", id=id, namespace=name)
        server.asked(id, namespace=name)
    page.goto(f"/approvals?ns={name}")
    expect(chosen(page).get_by_role("heading", name="May one?")).to_be_visible()
    ready(page, "Approvals")
    page.keyboard.press("j")
    expect(chosen(page).get_by_role("heading", name="May two?")).to_be_visible()
    page.keyboard.press("r")
    confirm(page, "Reject")
    toast(page, "Rejected: May two?")
    assert server.ended("two", namespace=name)["output"].startswith("no")
    expect(chosen(page).get_by_role("heading", name="May one?")).to_be_visible()


def _vote(page: Page, name: str) -> None:
    chosen(page).get_by_label("Your name").fill(name)
    chosen(page).get_by_role("button", name="Approve").click()
    confirm(page, "Approve")


def test_two_people_approve_and_the_record_stays(page: Page, server: Server, watch: Watch, name: str) -> None:
    watch.allow("403")
    server.begin("board", "Buy a kiln?", id="kiln", namespace=name)
    server.asked("kiln", namespace=name)
    page.goto(f"/approvals?ns={name}")
    _vote(page, "mallory")
    expect(chosen(page).get_by_role("alert")).to_contain_text("ada, bob")
    _vote(page, "ada")
    toast(page, "Approved: Buy a kiln? (1 more needed)")
    expect(chosen(page)).to_contain_text("1 of 2")
    expect(page.get_by_role("list", name="Open approvals")).to_contain_text("for ada, bob · 1 of 2")
    _vote(page, "bob")
    assert server.ended("kiln", namespace=name)["output"] == "approve by ada, bob"
    expect(page.get_by_role("heading", name="No open approvals")).to_be_visible()

    page.get_by_label("Filter by status").select_option("Approved")
    expect(page.get_by_role("list", name="Approved approvals")).to_contain_text("Approved by ada, bob")
    expect(chosen(page).get_by_role("status")).to_contain_text("No longer open. Approved by ada, bob")
    expect(chosen(page).get_by_role("region", name="Votes")).to_contain_text("bob approved")
    page.get_by_label("Filter by status").select_option("Rejected")
    expect(page.get_by_role("heading", name="No rejected approvals")).to_be_visible()


@pytest.mark.parametrize("kind", ["curl", "Command line"])
def test_a_copied_decision_works(page: Page, server: Server, name: str, kind: str) -> None:
    server.begin("asking", f"May {name}?", id=name)
    approval = server.asked(name)["id"]
    page.goto(f"/approvals/{approval}")
    chosen(page).get_by_label("Comment").fill("it's fine")
    chosen(page).get_by_role("button", name="Approve").click()
    server.shell(copy_as(page, dialog(page, "Approve?"), kind))
    assert server.ended(name)["output"] == "yes: it's fine"


def _link(page: Page) -> str:
    page.get_by_role("button", name="Share link").click()
    box = dialog(page, "Share a link")
    box.get_by_label("Expires in").select_option("1 hour")
    box.get_by_role("button", name="Create link").click()
    expect(box.get_by_label("Link")).to_have_value(re.compile("/approve/"))
    box.get_by_role("button", name="Copy link").click()
    toast(page, "Copied the link")
    return copied(page)


def test_a_link_works_once_for_someone_without_a_session(
    page: Page, context: BrowserContext, server: Server, watch: Watch, asked: str
) -> None:
    watch.allow("410")
    page.goto(f"/approvals?ns={asked}")
    link = _link(page)
    guest = watch.over(context.new_page())
    late = watch.over(context.new_page())
    for one in (guest, late):
        one.goto(link)
        expect(one.get_by_role("heading", name="Let Ada pay 10.89?")).to_be_visible()
        expect(one.get_by_role("navigation")).to_have_count(0)
        one.get_by_label("Discount").fill("5")
    guest.get_by_label("Your name").fill("Grace")
    guest.get_by_role("button", name="Approve").click()
    confirm(guest, "Approve")
    expect(guest.get_by_role("heading", name="Approved. Thank you.")).to_be_visible()
    server.ended("ask-1", namespace=asked)
    late.get_by_role("button", name="Approve").click()
    confirm(late, "Approve")
    expect(late.get_by_role("heading", name="This link no longer works")).to_be_visible()
    guest.goto(link)
    expect(guest.get_by_role("heading", name="This link no longer works")).to_be_visible()


def test_a_forged_link_is_not_valid(page: Page, watch: Watch) -> None:
    watch.allow("404")
    page.goto("/approve/forged.token")
    expect(page.get_by_role("heading", name="This link is not valid")).to_be_visible()


def test_the_approval_leads_to_its_run(page: Page, asked: str) -> None:
    page.goto(f"/approvals?ns={asked}")
    chosen(page).get_by_role("link", name="ask-1").click()
    expect(page.get_by_role("complementary", name="Node manager")).to_be_visible()
    open_run(page, "ask-1", f"?ns={asked}")
