"""A run of an AFL program: its source beside the graph, the step that waits lit, the tree of its steps; and a program
that is written, corrected and saved by hand."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .acting import open_run, toast
from .browsing import Watch, shoot, sideways
from .drawing import save_with
from .serving import Server

PROGRAM = """\
namespace {name} {{
    event facet Charge(amount: Long) => (id: String)
    facet Value(input: Long)
    /** Takes an order. */
    workflow Checkout(total: Long, skus: [String] = []) => (payment: String) andThen {{
        sum = Value(input = $.total + 1) // with tax
        charge = Charge(amount = sum.input)
        after = Value(input = sum.input)
        yield Checkout(payment = charge.id)
    }} andThen foreach sku in $.skus {{
        pack = Value(input = 1)
    }}
}}
"""


@pytest.fixture
def paused(server: Server, name: str) -> str:
    """A run that waits for an agent at `charge`."""
    server.post("/definitions", {"dialect": "afl", "name": name, "definition": PROGRAM.format(name=name)})
    run = server.begin(f"{name}.Checkout", {"total": 4, "skus": ["tea", "cup"]})
    server.waits(run, "queue")
    return run


def line(page: Page, number: int):
    return page.get_by_role("region", name="Source", exact=True).locator(f'[data-line="{number}"]')


def step_of(server: Server, run: str, statement: str) -> str:
    steps = server.get(f"/afl/runs/{run}/steps")["steps"]
    return next(each["id"] for each in steps if each["statement_name"] == statement)


def test_the_statement_that_waits_is_lit_beside_the_graph_until_it_has_its_answer(
    page: Page, server: Server, paused: str
) -> None:
    open_run(page, paused)
    expect(page.get_by_role("region", name="Graph of the run")).to_contain_text("charge")
    expect(line(page, 7).locator(".lit-waiting").first).to_have_text("charge")
    expect(page.locator(".lit")).not_to_have_count(0)
    expect(line(page, 6).locator(".lit")).to_have_count(0)
    expect(line(page, 6).locator(".code-comment")).to_have_text("// with tax")
    expect(line(page, 11).get_by_role("button")).to_have_accessible_name("2 steps: 2 completed")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        shoot(page, f"afl-run-{scheme}")
    assert sideways(page) == 0

    line(page, 7).get_by_role("button", name="charge: waiting").click()
    expect(page.get_by_role("complementary", name="Node charge")).to_contain_text("Charge")
    expect(line(page, 7).locator(".lit-chosen").first).to_be_visible()

    body = {"step_id": step_of(server, paused, "charge"), "result": {"id": "p1"}}
    server.post(f"/runs/{paused}/messages", {"name": "StepContinue", "body": body})
    server.ended(paused)
    expect(page.locator(".lit")).to_have_count(0)
    expect(line(page, 7).get_by_role("button")).to_have_accessible_name("charge: completed")


def test_the_tree_has_the_state_of_each_step_and_its_iterations_now_and_in_the_past(page: Page, paused: str) -> None:
    open_run(page, paused, "?tab=tree")
    tree = page.get_by_role("tree")
    charge = tree.get_by_role("treeitem").filter(has=page.get_by_role("button", name="charge"))
    expect(charge).to_contain_text("EventTransmit")
    expect(charge).to_contain_text("2 –")
    expect(charge).to_have_attribute("aria-level", "3")
    tree.get_by_role("button", name="Fold andThen 1").click()
    expect(charge).to_have_count(0)
    tree.get_by_role("button", name=re.compile("Unfold andThen 1")).click()
    charge.get_by_role("button", name="charge").click()
    expect(page.get_by_role("complementary", name="Node charge")).to_be_visible()
    open_run(page, paused, "?tab=tree&at=6")
    expect(tree.get_by_role("treeitem").filter(has_text="EventTransmit")).to_have_count(0)


def test_a_program_is_written_with_what_is_wrong_marked_at_its_place_and_saved(
    page: Page, server: Server, watch: Watch, name: str
) -> None:
    watch.allow("422")  # what is being written is not right at once
    page.goto("/definitions")
    page.get_by_role("link", name="New AFL program").click()
    source = page.get_by_label("Source", exact=True)
    source.fill(PROGRAM.format(name=name).replace("= charge.id", "= chrge.id"))
    told = page.locator(".editor-told")
    expect(told).to_contain_text("undefined step 'chrge'")
    expect(page.locator(".code-wrong").first).to_have_text("chrge")
    expect(page.locator(".code-keyword").first).to_have_text("namespace")
    shoot(page, "afl-editor")
    told.get_by_role("button", name="line 9").click()
    page.keyboard.type("charge.id")
    expect(told).to_have_count(0)
    box = save_with(page, "Save the new definition")
    box.get_by_label("Name").fill(name)
    box.get_by_role("button", name="Save").click()
    toast(page, f"Saved {name} 1")

    page.goto(f"/definitions/{name}")
    expect(page.get_by_role("region", name="Text of source").locator(".code-doc")).to_contain_text("Takes an order")
    page.get_by_role("link", name=f"{name}.Checkout").click()
    expect(page.get_by_text("Part of")).to_contain_text(name)
    expect(page.get_by_text("Takes an order.", exact=True)).to_be_visible()
    assert server.get(f"/definitions/{name}.Checkout")["input_schema"]["required"] == ["total"]


def test_two_versions_of_a_program_are_compared_line_by_line_in_colour(page: Page, server: Server, name: str) -> None:
    first = PROGRAM.format(name=name)
    for text in (first, first.replace("$.total + 1", "$.total + 2")):
        server.post("/definitions", {"dialect": "afl", "name": name, "definition": {"source": text}})
    page.goto(f"/definitions/{name}?version=2&against=1")
    difference = page.get_by_role("region", name="Difference", exact=True)
    expect(difference.locator("td.added .code-name").first).to_have_text("sum")
    expect(difference.locator(".added .textdiff-word")).to_have_text("2")
    expect(difference.locator(".removed .textdiff-word")).to_have_text("1")
