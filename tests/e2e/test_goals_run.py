"""The run page of a goals run: its graph, its attributes and who gave them, and its plan against what ran."""

import base64
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from .acting import dialog, head_status, node, open_run
from .serving import Server
from .steps import ORDER, reach, register

ADA = "ada@example.com"


@pytest.fixture
def ns(server: Server, name: str) -> str:
    register(server, ORDER, name)
    return name


@pytest.fixture
def sold(server: Server, ns: str) -> str:
    """A run that has reached its goal."""
    reach(server, ["letter"], {"email": ADA, "card": "visa", "customer_id": "c-1"}, ns, ns)
    server.ended(ns, namespace=ns)
    return ns


def _attribute(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=f"Attribute {name}", exact=True)


def _planned(page: Page, step: str) -> Locator:
    return (
        page.get_by_role("region", name="Planned steps")
        .get_by_role("row")
        .filter(has=page.get_by_role("button", name=step, exact=True))
    )


def test_the_graph_has_the_planned_steps_and_what_was_given(page: Page, sold: str) -> None:
    open_run(page, sold, f"?ns={sold}")
    expect(head_status(page)).to_have_text("Completed")
    expect(node(page, "Write a letter, script, completed")).to_be_visible()
    graph = page.get_by_role("region", name="Graph of the run")
    expect(graph.locator(".edge-label", has_text="receipt").first).to_be_visible()
    page.locator(".run-facts").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("/catalog.*goal=letter"))


NEARLY_BACKGROUND = """
async ([picture, area]) => {
  const image = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (each) => each.charCodeAt(0))]));
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(area.x, area.y, area.width, area.height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const color = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const [background] = [...counts].sort((a, b) => b[1] - a[1])[0];
  const part = (color, bits) => (color >> bits) & 255;
  const near = (color) => [16, 8, 0].every((bits) => Math.abs(part(color, bits) - part(background, bits)) < 4);
  return [...counts].reduce((sum, [color, count]) => sum + (color !== background && near(color) ? count : 0), 0);
}
"""
"""How many pixels of a picture hardly differ from most of it."""


def test_edges_of_what_was_never_reached_leave_no_shade_on_a_dark_page(page: Page, server: Server, ns: str) -> None:
    reach(server, ["letter"], {"email": ADA, "card": "visa", "cart": [{"price": "free"}]}, ns, ns)
    server.ended(ns, "failed", namespace=ns)
    page.emulate_media(color_scheme="dark")
    open_run(page, ns, f"?ns={ns}")
    graph = page.get_by_role("region", name="Graph of the run")
    expect(graph.locator(".edge.ahead").first).to_be_attached()
    picture = base64.b64encode(page.screenshot()).decode()
    assert page.evaluate(NEARLY_BACKGROUND, [picture, graph.bounding_box()]) < 8_000


STRIPE = "one => getComputedStyle(one).borderLeftColor"


def _reddish(color: str) -> bool:
    red, green, blue = (float(part) for part in re.findall(r"[\d.]+", color)[:3])
    return red > 1.5 * max(green, blue)


def test_steps_that_were_never_reached_are_grey_and_those_that_failed_are_red(
    page: Page, server: Server, ns: str
) -> None:
    reach(server, ["letter"], {"email": ADA, "card": "visa", "cart": [{"price": "free"}]}, ns, ns)
    server.ended(ns, "failed", namespace=ns)
    open_run(page, ns, f"?ns={ns}")
    graph = page.get_by_role("region", name="Graph of the run")
    reds = graph.locator(".card-node.edge-failed")
    expect(reds).to_have_count(2)  # the charge, and a rebate beside it
    unreached = graph.locator(".card-node").filter(has_text="Write a letter")
    expect(unreached).to_have_class(re.compile("edge-(skipped|pending)"))
    expect(unreached).to_contain_text("not reached: no receipt")
    assert _reddish(reds.first.evaluate(STRIPE))
    assert not _reddish(unreached.evaluate(STRIPE))


def test_each_attribute_tells_its_value_and_who_gave_it(page: Page, sold: str) -> None:
    open_run(page, sold, f"?ns={sold}")
    page.get_by_role("link", name="Attributes").click()
    for text in ("init", ADA, "taken"):
        expect(_attribute(page, "email")).to_contain_text(text)
    for text in ("total", "130", "taken"):
        expect(_attribute(page, "total")).to_contain_text(text)
    page.get_by_role("searchbox", name="Search attributes").fill("charge")
    expect(page.locator(".attribute")).to_have_count(1)
    _attribute(page, "receipt").get_by_role("button", name="charge", exact=True).click()
    expect(page.get_by_role("complementary", name="Node Charge the card")).to_be_visible()


def test_attributes_are_shown_as_they_were(page: Page, server: Server, sold: str) -> None:
    open_run(page, sold, f"?ns={sold}&tab=attributes&at=1")
    expect(_attribute(page, "email")).to_be_visible()
    expect(_attribute(page, "letter")).to_have_count(0)
    page.get_by_role("button", name="Back to now").click()
    expect(_attribute(page, "letter")).to_be_visible()


def test_the_plan_is_compared_with_what_ran(page: Page, server: Server, ns: str) -> None:
    given = {"email": ADA, "card": "visa", "customer_id": "c-1", "cart": [{"price": 7}]}
    reach(server, ["letter"], given, ns, ns)
    server.ended(ns, namespace=ns)
    open_run(page, ns, f"?ns={ns}")
    page.get_by_role("link", name="Plan", exact=True).click()
    expect(_planned(page, "charge")).to_contain_text("Completed")
    expect(_planned(page, "letter")).to_contain_text("goal")
    expect(_planned(page, "rebate")).to_contain_text("predicate returned false")
    expect(page.get_by_role("region", name="Not needed")).to_contain_text("load-cart")
    page.get_by_role("link", name="Plan again").click()
    expect(page.get_by_text("4 steps would run")).to_be_visible()
    expect(page.get_by_role("region", name="Inputs").get_by_label("cart", exact=True)).to_have_value('[{"price":7}]')


def test_a_goal_that_failed_says_why(page: Page, server: Server, ns: str) -> None:
    reach(server, ["break"], {"name": "Ada"}, ns, ns)
    server.ended(ns, "failed", namespace=ns)
    open_run(page, ns, f"?ns={ns}&tab=plan")
    expect(page.get_by_role("region", name="Why it failed")).to_contain_text("out of ink")
    expect(_planned(page, "break")).to_contain_text("Failed")
    _planned(page, "break").get_by_role("button", name="break", exact=True).click()
    expect(page.get_by_role("complementary", name="Node Break")).to_contain_text("out of ink: Ada")


def test_items_of_a_list_are_one_node(page: Page, server: Server, ns: str) -> None:
    reach(server, ["label-parcels"], {"email": ADA, "cart": [{"price": 1}, {"price": 2}, {"price": 3}]}, ns, ns)
    server.ended(ns, namespace=ns)
    open_run(page, ns, f"?ns={ns}&tab=attributes")
    expect(_attribute(page, "label")).to_contain_text("to ada@example.com: 3")
    open_run(page, ns, f"?ns={ns}&node=label-parcels")
    expect(page.get_by_role("complementary", name="Node Label each parcel")).to_contain_text("3")


def test_a_value_that_came_late_is_shown_beside_the_one_that_counts(page: Page, server: Server, ns: str) -> None:
    given = {"customer_id": "c-1", "session": {"cart": [{"price": 1}]}}
    reach(server, ["total"], given, ns, ns)
    details = server.ended(ns, namespace=ns)["view"]["details"]
    open_run(page, ns, f"?ns={ns}&tab=attributes")
    values = _attribute(page, "cart").get_by_role("listitem")
    expect(values).to_have_count(len(details["attributes"]["cart"]))
    winner = details["plan_diff"]["winners"]["cart"]
    expect(values.first).to_contain_text(winner)
    expect(values.first).to_contain_text("taken")
    late = details["plan_diff"]["late"]["cart"]
    expect(values.filter(has_text="late")).to_contain_text(late)
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(page.locator(".edge.won")).to_have_count(1)
    expect(page.locator(".edge.ahead")).to_have_count(1)


def test_a_fork_gives_an_attribute_another_value(page: Page, server: Server, sold: str) -> None:
    open_run(page, sold, f"?ns={sold}&node=charge")
    expect(page.get_by_role("button", name="Re-run from here")).to_have_count(0)
    page.get_by_role("button", name="Fork from here").click()
    box = dialog(page, "Fork this run")
    expect(box.get_by_label("Re-run from")).to_have_value("charge")
    box.get_by_label("Change the value of an attribute").check()
    box.get_by_label("Attribute", exact=True).select_option("card")
    box.get_by_label("Value (JSON)").fill('"amex"')
    box.get_by_label("ID of the new run").fill(f"{sold}-2")
    box.get_by_role("button", name="Fork", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=f"{sold}-2")).to_be_visible()
    assert server.ended(f"{sold}-2", namespace=sold)["output"] == {"letter": f"Dear {ADA}: paid 125 with amex"}


def test_runs_of_other_dialects_have_no_such_tabs(page: Page, ordered: str) -> None:
    open_run(page, ordered)
    expect(page.get_by_role("link", name="Timeline")).to_be_visible()
    expect(page.get_by_role("link", name="Attributes")).to_have_count(0)
    open_run(page, ordered, "?tab=plan")
    expect(page.get_by_role("heading", name="This run has no plan")).to_be_visible()
