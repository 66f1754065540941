"""The graph editor: a graph built by hand, run, changed, undone; wrong input; two people at once."""

from __future__ import annotations

import json
import re

from playwright.sync_api import BrowserContext, Page, expect

from .acting import dialog, toast
from .browsing import Watch
from .drawing import BILL, GRAPH, canvas, card, choose, drop, lines, link, open_editor, problems, save, save_with
from .serving import Server


def test_a_graph_is_built_by_hand_saved_and_run(page: Page, server: Server, watch: Watch, name: str) -> None:
    watch.allow("422")  # what is being written is not right at once
    page.goto("/definitions")
    page.get_by_role("link", name="New graph").click()
    expect(page.get_by_role("heading", name="No nodes yet")).to_be_visible()

    drop(page, "transform", 150, 120)
    drop(page, "decision", 150, 240)
    drop(page, "human", 380, 120)
    drop(page, "transform", 380, 300)
    link(page, "transform", "decision")
    expect(lines(page)).to_have_count(1)
    link(page, "decision", "transform_2")
    link(page, "decision", "human")
    expect(lines(page)).to_have_count(3)

    node = choose(page, "transform")
    node.get_by_label("ID", exact=True).fill("total")
    node.get_by_label("ID", exact=True).press("Enter")
    expect(card(page, "total")).to_be_visible()
    config = choose(page, "total").get_by_role("group", name="Config")
    config.get_by_label("Output").fill('"$input.amount"')

    branch = choose(page, "decision").get_by_role("region", name="Branch")
    expect(branch).to_contain_text(re.compile("condition", re.IGNORECASE))
    branch.get_by_label("Condition").fill("output >")
    expect(card(page, "decision")).to_contain_text("1")
    expect(problems(page)).to_contain_text("/nodes/1/branch/rules/0/condition")
    branch.get_by_label("Condition").fill("output > 100")
    expect(problems(page)).to_contain_text("No problems")

    box = save_with(page, "Save the new definition")
    box.get_by_label("Name").fill(name)
    box.get_by_role("button", name="Save").click()
    toast(page, f"Saved {name} v1.0")
    expect(page).to_have_url(re.compile(f"/definitions/{name}/edit"))
    saved = server.get(f"/definitions/{name}/versions/main", materialize="true")["definition"]
    assert [node["id"] for node in saved["nodes"]] == ["total", "decision", "human", "transform_2"]
    assert saved["edges"] == [{"from": "total", "to": "decision"}]

    page.get_by_role("link", name="Run it").click()
    page.get_by_label("Input as JSON").fill('{"amount": 120}')
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("region", name="Why it is waiting")).to_contain_text("approval")


def test_a_change_is_undone_redone_and_saved_as_a_patch(page: Page, server: Server, watch: Watch, name: str) -> None:
    watch.allow("422")
    save(server, name)
    open_editor(page, name)
    choose(page, "boss")
    page.get_by_role("button", name="Add wait", exact=True).click()
    expect(card(page, "wait")).to_be_visible()
    expect(lines(page)).to_have_count(2)
    canvas(page).click(position={"x": 30, "y": 300})
    page.keyboard.press("Control+z")
    expect(card(page, "wait")).to_have_count(0)
    page.keyboard.press("Control+Shift+z")
    expect(card(page, "wait")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Delete")
    expect(lines(page)).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(lines(page)).to_have_count(2)

    node = choose(page, "wait").get_by_role("group", name="Config")
    node.get_by_label("Seconds").fill("soon")
    expect(node.get_by_text("must be of type number")).to_be_visible()
    node.get_by_label("Seconds").fill("1")
    expect(problems(page)).to_contain_text("No problems")
    page.keyboard.press("Control+s")
    box = dialog(page, "Save a new version")
    box.get_by_label("Description").fill("Rest a while")
    box.get_by_role("button", name="Save").click()
    toast(page, f"Saved {name} v1.1")
    patch = server.get(f"/definitions/{name}/versions/v1.1")
    assert (patch["base"], patch["description"]) == ("v1.0", "Rest a while")
    assert [operation["path"] for operation in patch["operations"]] == ["/nodes/2", "/edges/1"]

    page.goto(f"/definitions/{name}?version=v1.1&against=v1.0")
    picture = page.get_by_role("region", name="Graph of the difference")
    expect(picture.get_by_label("wait, wait, added")).to_be_visible()
    expect(picture.get_by_label("boss, human", exact=True)).to_be_visible()
    page.get_by_role("button", name="Undo the last move of main").click()
    expect(page.get_by_role("listitem").filter(has_text="main")).to_contain_text("v1.0")
    page.get_by_role("button", name="Redo the last move of main").click()
    expect(page.get_by_role("listitem").filter(has_text="main")).to_contain_text("v1.1")


def test_json_and_graph_are_one_document(page: Page, server: Server, watch: Watch, name: str) -> None:
    watch.allow("422")
    save(server, name)
    open_editor(page, name)
    page.get_by_role("button", name="Both", exact=True).click()
    text = page.get_by_label("Definition (JSON)")
    more = {**GRAPH, "nodes": [*GRAPH["nodes"], {"id": "extra", "type": "tranform"}]}
    text.fill(json.dumps(more, indent=2))
    expect(card(page, "extra")).to_contain_text("1")
    expect(page.get_by_role("button", name=re.compile("^line"))).to_be_visible()
    text.fill('{"nodes": [')
    expect(page.get_by_text("Invalid JSON")).to_be_visible()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    expect(card(page, "extra")).to_be_visible()
    text.fill(json.dumps(GRAPH))
    expect(card(page, "extra")).to_have_count(0)
    page.get_by_role("button", name="Add wait", exact=True).click()
    expect(text).to_have_value(re.compile('"type": "wait"'))


def test_a_graph_stays_in_the_middle_when_the_window_gets_another_size(
    page: Page, server: Server, watch: Watch, name: str
) -> None:
    save(server, name, BILL)
    page.set_viewport_size({"width": 1_000, "height": 700})
    open_editor(page, name)
    for width, height in ((1_500, 900), (1_100, 800)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(_IS_INSIDE)


_IS_INSIDE = """() => {
    const room = document.querySelector(".ed-canvas").getBoundingClientRect();
    const cards = [...document.querySelectorAll(".react-flow__node")].map((card) => card.getBoundingClientRect());
    return cards.length === 5 && cards.every((card) => card.left >= room.left && card.right <= room.right);
}"""


def _rename(page: Page, id: str, label: str) -> None:
    choose(page, id).get_by_label("Label").fill(label)


def test_of_two_who_save_at_once_the_second_sees_the_first(
    page: Page, context: BrowserContext, server: Server, watch: Watch, name: str
) -> None:
    watch.allow("412")
    save(server, name)
    other = watch.over(context.new_page())
    for one in (page, other):
        open_editor(one, name)
    _rename(page, "total", "Add it up")
    _rename(other, "boss", "Ask the boss")
    save_with(page, "Save a new version").get_by_role("button", name="Save").click()
    toast(page, f"Saved {name} v1.1")
    save_with(other, "Save a new version").get_by_role("button", name="Save").click()
    box = other.get_by_role("dialog", name="Changed by someone else")
    expect(box).to_contain_text("it is at v1.1 now")
    expect(box).to_contain_text("Add it up")
    box.get_by_role("button", name="Apply mine on top").click()
    save_with(other, "Save a new version").get_by_role("button", name="Save").click()
    toast(other, f"Saved {name} v1.2")
    saved = server.get(f"/definitions/{name}/versions/v1.2", materialize="true")["definition"]
    assert [node["name"] for node in saved["nodes"]] == ["Add it up", "Ask the boss"]


def test_a_name_that_is_taken_is_refused_and_nothing_is_lost_by_looking_elsewhere(
    page: Page, server: Server, name: str
) -> None:
    save(server, name)
    page.goto("/new/graph")
    page.get_by_role("button", name="Add transform", exact=True).click()
    expect(problems(page)).to_contain_text("No problems")
    box = save_with(page, "Save the new definition")
    box.get_by_label("Name").fill(name)
    box.get_by_role("button", name="Save").click()
    expect(box.get_by_role("alert")).to_contain_text(f"There is a definition {name} already")
    box.get_by_role("button", name="Back").click()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
    page.go_back()
    expect(card(page, "transform")).to_be_visible()
