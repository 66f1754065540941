"""The catalog: steps as a list and as a graph, a step's panel, registering and unregistering."""

import asyncio
import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from plait import Engine

from .acting import copy_as, dialog, toast
from .browsing import Watch
from .flows import EVIL
from .serving import Server
from .steps import CHARGE, LETTER, ORDER, TOTAL, evil, need, out, register, script

MANY = 10_000


@pytest.fixture
def order(server: Server, name: str) -> str:
    """A namespace with the steps of an order."""
    register(server, ORDER, name)
    return name


def _rows(page: Page) -> Locator:
    return page.get_by_role("region", name="Steps, by id").get_by_role("listitem")


def _panel(page: Page, step: dict[str, Any]) -> Locator:
    return page.get_by_role("complementary", name=f"Step {step['name']}")


# -- the list -------------------------------------------------------------------------------------------------------


def test_all_steps_are_listed_and_found_by_what_they_take_and_give(page: Page, order: str) -> None:
    page.goto(f"/catalog?ns={order}")
    expect(_rows(page)).to_have_count(len(ORDER))
    search = page.get_by_role("searchbox", name="Find a step")
    search.fill("receipt")
    expect(_rows(page)).to_have_count(3)
    expect(page).to_have_url(re.compile("q=receipt"))
    search.fill("team:pay")
    expect(_rows(page)).to_have_text([re.compile("Charge the card")])
    search.fill("")
    page.get_by_label("Type", exact=True).select_option("sync")
    expect(_rows(page)).to_have_text([re.compile("Ship it")])
    page.get_by_label("Type", exact=True).select_option("flow")
    expect(page.get_by_role("heading", name="No matching steps")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(_rows(page)).to_have_count(len(ORDER))


def test_keys_walk_over_the_steps_and_mark_goals(page: Page, order: str) -> None:
    page.goto(f"/catalog?ns={order}")
    expect(_rows(page)).to_have_count(len(ORDER))
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page).to_have_url(re.compile("goal=cached-cart"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Step Cart of the cache")).to_be_visible()
    page.get_by_role("link", name="Plan 1 goal").click()
    expect(page).to_have_url(re.compile("tab=plan"))


@pytest.fixture
def crowded(own: Server) -> Server:
    """A server with ten thousand steps, each of which needs the one before."""

    async def fill() -> None:
        async with Engine(own.db) as engine, engine.catalog.transaction() as change:
            for n in range(MANY):
                change.register(script(f"s{n}", f"Step {n}", "{}", {f"v{n}": out(), f"v{n - 1}": need()}))

    asyncio.run(fill())
    return own.start()


def test_ten_thousand_steps_are_searched_without_waiting(page: Page, crowded: Server) -> None:
    page.goto(f"{crowded.url}/catalog")
    expect(page.get_by_text("10,000 steps")).to_be_visible()
    assert _rows(page).count() < 60
    page.get_by_role("searchbox", name="Find a step").press_sequentially("step 9876")
    expect(page.get_by_text("2 of 10,000 steps")).to_be_visible()
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(page.get_by_role("heading", name="Choose a step")).to_be_visible()
    page.get_by_role("combobox", name="Find a step").fill("step 77")
    page.keyboard.press("Enter")
    graph = page.get_by_role("region", name="Graph of the steps")
    expect(graph.get_by_label("Step 77, script", exact=True)).to_be_visible()
    expect(page.get_by_text("The 120 nearest of 10,000 steps")).to_be_visible()
    page.get_by_role("complementary").get_by_role("link", name="Plan", exact=True).click()
    expect(page.get_by_text("Missing inputs:")).to_be_visible()
    page.get_by_label("v-1", exact=True).fill("1")
    expect(page.get_by_text("78 steps would run")).to_be_visible()


def test_an_empty_catalog_says_what_to_do(page: Page, name: str) -> None:
    page.goto(f"/catalog?ns={name}")
    expect(page.get_by_role("heading", name="No steps yet")).to_be_visible()
    page.get_by_role("button", name="Register a step").last.click()
    dialog(page, "Register a step")


# -- a step ---------------------------------------------------------------------------------------------------------


def test_a_step_tells_all_about_itself(page: Page, order: str) -> None:
    page.goto(f"/catalog?ns={order}")
    page.get_by_role("link", name=re.compile("Charge the card")).click()
    panel = _panel(page, CHARGE)
    inputs = panel.get_by_role("region", name="Inputs")
    for text in ("card", "required", "no provider", "rebate", "optional", "default", "waits as long as"):
        expect(inputs).to_contain_text(text)
    expect(panel.get_by_role("region", name="script")).to_contain_text("(- total rebate)")
    expect(panel).to_contain_text("Healthy")
    expect(panel).to_contain_text("teampay")
    inputs.get_by_role("link", name="total", exact=True).click()
    expect(_panel(page, TOTAL)).to_contain_text("up to 3 retries, after 500 ms")
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_mapping_for_each_and_predicate_are_shown(page: Page, order: str) -> None:
    page.goto(f"/catalog?ns={order}&step=label-parcels")
    inputs = page.get_by_role("complementary").get_by_role("region", name="Inputs")
    expect(inputs).to_contain_text("for each")
    expect(inputs).to_contain_text("insideitem")
    page.goto(f"/catalog?ns={order}&step=rebate")
    expect(page.get_by_role("region", name="condition")).to_contain_text("(> total 100)")


def test_the_graph_joins_who_gives_and_who_takes(page: Page, order: str) -> None:
    page.goto(f"/catalog?ns={order}&tab=graph")
    graph = page.get_by_role("region", name="Graph of the steps")
    expect(graph.get_by_label("Write a letter, script", exact=True)).to_be_visible()
    for label in ("customer_id", "receipt", "total"):
        expect(graph.locator(".edge-label", has_text=re.compile(f"^{label}$")).first).to_be_visible()
    graph.get_by_label("Write a letter, script", exact=True).click()
    expect(_panel(page, LETTER)).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(_panel(page, LETTER)).to_have_count(0)
    expect(page.get_by_role("complementary")).to_be_visible()


def test_an_unknown_step_says_so(page: Page, order: str) -> None:
    page.goto(f"/catalog?ns={order}&step=nosuch")
    expect(page.get_by_role("heading", name="Step nosuch not found")).to_be_visible()


def test_html_of_a_step_is_text(page: Page, server: Server, name: str) -> None:
    register(server, [evil()], name)
    page.goto(f"/catalog?ns={name}&step=evil")
    panel = page.get_by_role("complementary")
    expect(panel).to_contain_text(EVIL.format("script"))
    expect(panel).to_contain_text(EVIL.format("label"))
    for tab in ("graph", "plan&goal=evil"):
        page.goto(f"/catalog?ns={name}&tab={tab}")
        expect(page.get_by_role("main")).to_contain_text(EVIL.format("name"))
    assert page.locator("img[src=x]").count() == 0


# -- changing it ----------------------------------------------------------------------------------------------------


def _write(box: Locator, step: dict[str, Any]) -> None:
    box.get_by_label("Step (JSON)").fill(json.dumps(step, indent=2))


def test_a_step_is_registered_and_updated(page: Page, server: Server, name: str) -> None:
    page.goto(f"/catalog?ns={name}")
    page.get_by_role("button", name="Register a step").first.click()
    box = dialog(page, "Register a step")
    _write(box, TOTAL)
    box.get_by_role("button", name="Register", exact=True).click()
    toast(page, "Registered total")
    expect(_panel(page, TOTAL)).to_be_visible()
    page.get_by_role("button", name="Edit", exact=True).click()
    box = dialog(page, "Update Add it up")
    _write(box, {**TOTAL, "name": "Sum it"})
    box.get_by_role("button", name="Update", exact=True).click()
    toast(page, "Updated total")
    expect(page.get_by_role("complementary", name="Step Sum it")).to_be_visible()
    assert server.get("/catalog/total", namespace=name)["step"]["name"] == "Sum it"


def test_what_is_wrong_is_told_at_its_line(page: Page, watch: Watch, name: str) -> None:
    watch.allow("422")
    page.goto(f"/catalog?ns={name}")
    page.get_by_role("button", name="Register a step").first.click()
    box = dialog(page, "Register a step")
    field = box.get_by_label("Step (JSON)")
    field.fill('{\n  "id": "x",\n  "nam": "X"\n')
    expect(box).to_contain_text("Invalid JSON")
    expect(box.get_by_role("button", name="Register", exact=True)).to_be_disabled()
    broken = {**TOTAL, "script": {"language": "ale", "script": "{:total (+ 1 carts)}"}, "nam": "X"}
    _write(box, {**broken})
    box.get_by_role("button", name="Register", exact=True).click()
    expect(box).to_contain_text("/nam")
    box.get_by_role("button", name=re.compile("^line ")).first.click()
    expect(field).to_be_focused()
    _write(box, {**TOTAL, "script": broken["script"]})
    box.get_by_role("button", name="Register", exact=True).click()
    expect(box.get_by_role("listitem").filter(has_text="/script")).to_contain_text("carts")


def test_a_step_that_differs_is_not_overwritten(page: Page, order: str, watch: Watch) -> None:
    watch.allow("409")
    page.goto(f"/catalog?ns={order}")
    page.get_by_role("button", name="Register a step").click()
    box = dialog(page, "Register a step")
    _write(box, {**TOTAL, "name": "Another"})
    box.get_by_role("button", name="Register", exact=True).click()
    expect(box.get_by_role("alert")).to_contain_text("goals.step_exists")


def test_unregistering_tells_who_is_left_without_a_provider(page: Page, server: Server, order: str) -> None:
    page.goto(f"/catalog?ns={order}&step=total")
    page.get_by_role("button", name="Unregister", exact=True).click()
    box = dialog(page, "Unregister Add it up?")
    left = box.get_by_role("region", name="Left without a provider")
    expect(left).to_contain_text("charge")
    expect(left).to_contain_text("rebate")
    box.get_by_role("button", name="Unregister", exact=True).click()
    toast(page, "Unregistered total")
    expect(_rows(page)).to_have_count(len(ORDER) - 1)
    assert "total" not in [step["id"] for step in server.get("/catalog", namespace=order)["steps"]]


def test_copied_changes_work(page: Page, server: Server, name: str) -> None:
    page.goto(f"/catalog?ns={name}")
    page.get_by_role("button", name="Register a step").first.click()
    box = dialog(page, "Register a step")
    _write(box, TOTAL)
    server.shell(copy_as(page, box, "curl"))
    page.goto(f"/catalog?ns={name}&step=total")
    page.get_by_role("button", name="Unregister", exact=True).click()
    server.shell(copy_as(page, dialog(page, "Unregister Add it up?"), "curl"))
    assert server.get("/catalog", namespace=name)["steps"] == []


def test_a_viewer_looks_and_plans_but_changes_nothing(keyed_page: Page, keyed: Server, name: str) -> None:
    register(keyed, ORDER, name)
    key = keyed.post("/keys", {"name": name, "role": "viewer", "namespace": name})["key"]
    keyed_page.goto("/login?next=" + quote("/catalog?step=charge"))
    keyed_page.get_by_label("API key").fill(key)
    keyed_page.get_by_role("button", name="Sign in").click()
    expect(_panel(keyed_page, CHARGE)).to_be_visible()
    for action in ("Register a step", "Edit", "Unregister"):
        expect(keyed_page.get_by_role("button", name=action, exact=True)).to_have_count(0)
    keyed_page.goto("/catalog?tab=plan&goal=greet&in=name=Ada")
    expect(keyed_page.get_by_text("1 step would run")).to_be_visible()
    expect(keyed_page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
