"""The plan preview: goals, inputs, what would run and what not, and the run that comes of it."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from .acting import copy_as, head_status
from .browsing import Watch
from .serving import Server
from .steps import ORDER, may, need, out, register, script

ADA = "ada@example.com"
GIVEN = f"in=email={quote(ADA)}&in=card=visa"


@pytest.fixture
def order(server: Server, name: str) -> str:
    register(server, ORDER, name)
    return name


def _plan(page: Page, ns: str, query: str = "") -> None:
    page.goto(f"/catalog?ns={ns}&tab=plan{query}")
    expect(page.get_by_role("complementary", name="Plan")).to_be_visible()


def _step(page: Page, words: str) -> Locator:
    return page.get_by_role("region", name="Graph of the plan").get_by_label(words, exact=True)


def _would_run(page: Page) -> Locator:
    return page.get_by_role("region", name="Would run", exact=True).get_by_role("link")


def _given(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Inputs").get_by_label(name, exact=True)


def test_a_click_makes_a_goal_and_its_gaps_become_fields(page: Page, server: Server, order: str) -> None:
    _plan(page, order)
    _step(page, "Write a letter, script").click()
    expect(page).to_have_url(re.compile("goal=letter"))
    expect(_step(page, "Write a letter, script, goal")).to_be_visible()
    expect(page.get_by_text("Missing inputs:")).to_be_visible()
    run = page.get_by_role("button", name="Run", exact=True)
    expect(run).to_be_disabled()
    _step(page, "email, missing input").click()
    expect(_given(page, "email")).to_be_focused()
    page.keyboard.type(ADA)
    _given(page, "card").fill("visa")
    expect(page.get_by_text("6 steps would run")).to_be_visible()
    expect(_would_run(page)).to_have_text(
        ["Find the customer", "Load the cart", "Add it up", "Rebate of friends", "Charge the card", "Write a letter"]
    )
    run.click()
    expect(head_status(page)).to_have_text("Completed")
    id = page.url.split("/runs/")[1].split("?")[0]
    found = server.ended(id, namespace=order)
    assert found["input"] == {"email": ADA, "card": "visa"}
    assert found["output"] == {"letter": f"Dear {ADA}: paid 125 with visa"}


def test_what_would_not_run_is_told_with_the_reason(page: Page, order: str) -> None:
    _plan(page, order, f"&goal=letter&{GIVEN}&in=customer_id=c-1")
    expect(page.get_by_role("region", name="Not needed")).to_contain_text("find-customer already given: customer_id")
    expect(page.get_by_role("region", name="Would not run")).to_contain_text("cached-cart missing session")
    expect(page.get_by_text("other steps are unrelated")).to_be_visible()
    expect(_step(page, "Find the customer, script, not needed: outputs are given")).to_be_visible()
    expect(_step(page, "Say hello, script, unrelated")).to_be_visible()
    page.get_by_label("Show unrelated steps").uncheck()
    expect(_step(page, "Say hello, script, unrelated")).to_have_count(0)


def test_a_given_value_makes_the_plan_smaller_at_once(page: Page, order: str) -> None:
    _plan(page, order, f"&goal=letter&{GIVEN}")
    expect(_would_run(page)).to_have_count(6)
    page.get_by_label("Name of the new input").fill("total")
    page.keyboard.press("Enter")
    expect(_given(page, "total")).to_be_focused()
    page.keyboard.type("12")
    expect(_would_run(page)).to_have_text(["Rebate of friends", "Charge the card", "Write a letter"])
    page.get_by_role("button", name="Remove total", exact=True).click()
    expect(_would_run(page)).to_have_count(6)


def test_several_goals_are_planned_together(page: Page, order: str) -> None:
    _plan(page, order, f"&goal=letter&{GIVEN}")
    finder = page.get_by_role("combobox", name="Add a goal")
    finder.fill("label each")
    page.keyboard.press("Enter")
    expect(_would_run(page)).to_have_count(7)
    expect(_step(page, "Label each parcel, script, goal")).to_be_visible()
    page.get_by_role("button", name="Remove the goal label-parcels").click()
    expect(_would_run(page)).to_have_count(6)


def test_keys_walk_over_the_plan_and_choose_goals(page: Page, order: str) -> None:
    _plan(page, order)
    expect(_step(page, "Write a letter, script")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("x")
    expect(page).to_have_url(re.compile("goal="))
    page.keyboard.press("x")
    expect(page).not_to_have_url(re.compile("goal="))


def test_a_value_that_can_not_be_read_is_told_at_its_field(page: Page, order: str) -> None:
    _plan(page, order, f"&goal=letter&{GIVEN}&in=total=twelve")
    field = _given(page, "total")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Not valid JSON")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    field.fill("12")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_a_link_opens_the_same_plan(page: Page, order: str) -> None:
    _plan(page, order, f"&goal=letter&goal=greet&{GIVEN}&in=name=Ada&in=session=")
    expect(_would_run(page)).to_have_count(7)
    expect(_given(page, "email")).to_have_value(ADA)
    expect(_given(page, "session")).to_have_value("")
    page.reload()
    expect(_would_run(page)).to_have_count(7)


def _sell(**inputs: Any) -> dict[str, Any]:
    """A step that charges in a child run."""
    attributes = {**inputs, "deal": out("string", mapping={"name": "receipt"})}
    return {"id": "sell", "name": "Sell", "type": "flow", "attributes": attributes, "flow": {"goals": ["charge"]}}


def test_the_plan_of_a_child_is_shown_inside(page: Page, server: Server, order: str) -> None:
    register(server, [_sell(email=need("string"), card=need("string"))], order)
    _plan(page, order, f"&goal=sell&{GIVEN}")
    expect(page.get_by_text("1 step would run")).to_be_visible()
    page.get_by_text("The child run of sell: 5 steps").click()
    child = page.locator(".plan-child")
    expect(child.get_by_role("region", name="Would run")).to_contain_text("Charge the card")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(head_status(page)).to_have_text("Completed")


def test_what_a_child_lacks_is_told_at_its_flow_step(page: Page, server: Server, order: str) -> None:
    register(server, [_sell(email=need("string"))], order)
    _plan(page, order, f"&goal=sell&in=email={quote(ADA)}")
    expect(page.get_by_text("Missing inputs in child runs")).to_be_visible()
    expect(page.get_by_role("complementary", name="Plan")).to_contain_text("The child run of sell is missing card")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()


def test_warnings_and_what_is_blocked_are_told(page: Page, server: Server, order: str) -> None:
    offer = script("offer", "Offer", "{:offer 1}", {"rebate": may("number"), "offer": out()})
    plain = script("plain", "Plain", "{:offer 2}", {"promo": need("string", collect="none"), "offer": out()})
    best = script("best", "Best", "{:best 1}", {"offer": need(), "best": out()})
    register(server, [offer, plain, best], order)
    _plan(page, order, f"&goal=best&{GIVEN}&in=promo=summer")
    expect(page.get_by_role("list", name="Warnings")).to_contain_text("optional input 'rebate' is not waited for")
    expect(page.get_by_role("region", name="Blocked")).to_contain_text("plain")
    expect(page.get_by_role("region", name="Blocked")).to_contain_text("promo")


def test_a_goal_that_is_gone_is_told(page: Page, order: str, watch: Watch) -> None:
    watch.allow("404")
    _plan(page, order, "&goal=lettre")
    expect(page.get_by_role("alert")).to_contain_text("letter")


def test_a_copied_run_and_a_copied_plan_work(page: Page, server: Server, order: str) -> None:
    _plan(page, order, "&goal=greet&in=name=" + quote("D'Artagnan & Ada"))
    expect(page.get_by_text("1 step would run")).to_be_visible()
    server.shell(_copy(page, "curl"))
    server.shell(_copy(page, "Command line"))
    runs = server.soon(lambda: server.get("/runs", namespace=order)["runs"], lambda found: len(found) == 2)
    for run in runs:
        assert server.ended(run["id"], namespace=order)["output"] == {"greeting": "hello D'Artagnan & Ada"}
    assert "greet" in server.shell(_copy(page, "Plan only: curl"))
    assert "greet" in server.shell(_copy(page, "Plan only: Command line"))
    python = _copy(page, "Python")
    assert python.startswith('handle = await engine.start(goals("greet"), {"name": "D\'Artagnan & Ada"}')


def _copy(page: Page, kind: str) -> str:
    """The note that something was copied lies over the button for some seconds: it is closed, as a person would."""
    text = copy_as(page, page.get_by_role("complementary", name="Plan"), kind)
    page.get_by_role("button", name="Dismiss").click()
    return text
