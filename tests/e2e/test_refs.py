"""Workflows of steps: one built by hand, its iterations, and one that was recorded."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from .acting import dialog, open_run, toast
from .browsing import Watch
from .drawing import problems, save_with
from .serving import Server

ITEMS: dict[str, Any] = {
    "steps": [
        {
            "name": "double",
            "action": {"code": "export default ({n}) => { if (n === 3) throw new Error('three'); return n * 2 }"},
            "forEach": {"ref": "@input.numbers", "concurrency": 5},
            "input": {"n": "@item"},
        },
        {"name": "gift", "action": {"code": "export default () => 1"}, "when": {"ref": "@input.vip", "eq": True}},
    ]
}


def panel(page: Page, name: str):
    return page.get_by_role("complementary", name=f"Step {name}")


def test_a_workflow_of_steps_is_built_by_hand_saved_and_run(
    page: Page, server: Server, watch: Watch, name: str
) -> None:
    watch.allow("422")  # what is being written is not right at once
    page.goto("/definitions")
    page.get_by_role("link", name="New workflow of steps").click()
    page.get_by_role("button", name="Code", exact=True).click()
    first = panel(page, "step_1")
    first.get_by_label("Name", exact=True).fill("shout")
    first.get_by_label("Name", exact=True).press("Enter")
    panel(page, "shout").get_by_label("Code").fill("export default ({text}) => ({loud: text.toUpperCase()})")
    panel(page, "shout").get_by_label("Input (JSON)").fill('{"text": "@input.word"}')
    page.get_by_role("button", name="Return", exact=True).click()

    result = panel(page, "result")
    result.get_by_label("Input (JSON)").fill('{"said": "@nobody.x"}')
    expect(problems(page)).to_contain_text("names no step")
    result.get_by_label("Input (JSON)").fill("")
    result.get_by_label("Input (JSON)").press_sequentially('{"said": "@sh')
    page.get_by_role("option", name="@shout").click()
    result.get_by_label("Input (JSON)").press("End")
    result.get_by_label("Input (JSON)").press_sequentially('.loud"}')
    result.get_by_role("button", name="Condition").click()
    result.get_by_label("Value of").fill("@input.word")
    result.get_by_label("Operator").select_option("is not")
    result.get_by_label("Value", exact=True).fill("quiet")
    expect(problems(page)).to_contain_text("No problems")

    box = save_with(page, "Save the new definition")
    box.get_by_label("Name").fill(name)
    box.get_by_role("button", name="Save").click()
    toast(page, f"Saved {name} 1")
    saved = server.get(f"/definitions/{name}/versions/1", materialize="true")["definition"]
    assert saved["steps"][1]["when"] == {"ref": "@input.word", "neq": "quiet"}
    run = server.begin(name, {"word": "tea"})
    assert server.ended(run)["output"] == {"said": "TEA"}
    assert server.ended(server.begin(name, {"word": "quiet"})).get("output") is None


def test_iterations_are_looked_at_one_by_one_and_partial_success_is_seen(page: Page, server: Server) -> None:
    started = {"dialect": "refs", "definition": ITEMS, "input": {"numbers": [*range(1, 31)]}}
    run = server.post("/runs", started)["id"]
    server.ended(run)
    open_run(page, run, "?tab=steps")
    expect(page.get_by_role("link", name="partial success")).to_be_visible()
    iterations = page.get_by_role("region", name="Iterations of double")
    expect(iterations).to_contain_text("29 of 30 done, 1 failed")
    iterations.get_by_label("Only failed").check()
    expect(iterations.get_by_role("button")).to_have_text(["double[2]"])
    expect(iterations).to_contain_text("three")
    expect(page.get_by_text('{"ref":"@input.vip","eq":true}')).to_be_visible()
    page.goto("/runs")
    row = page.get_by_role("row").filter(has=page.locator(f'[data-run-row="{run}"]'))
    expect(row).to_contain_text("partial success")


def test_a_recorded_session_becomes_a_workflow_that_runs_with_other_input(
    page: Page, server: Server, name: str
) -> None:
    page.goto("/recordings")
    page.get_by_role("button", name="Start a recording").click()
    box = dialog(page, "Start a recording")
    box.get_by_label("Title").fill(name)
    box.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("Nothing was recorded yet")).to_be_visible()
    expect(page.get_by_text("/mcp/record/")).to_be_visible()
    recording = page.url.rsplit("/", 1)[1]

    call = {"tool": "ECHO", "arguments": {"customer": "customer-4217"}}
    told = {"name": "call", "body": call, "wait_ms": 20_000}
    server.post(f"/runs/{recording}/messages", told)
    steps = page.get_by_role("region", name="Recorded steps")
    expect(steps).to_contain_text("echo_1")

    suggestions = page.get_by_role("region", name="Suggestions")
    suggestions.get_by_role("checkbox", name=re.compile("customer")).check()
    expect(page.get_by_role("region", name="Input of the workflow")).to_contain_text("customer")
    steps.get_by_role("checkbox", name="echo_1").uncheck()
    expect(page.get_by_role("button", name="Save as a workflow")).to_be_disabled()
    steps.get_by_role("checkbox", name="echo_1").check()

    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("stopped", exact=True)).to_be_visible()
    page.get_by_role("button", name="Save as a workflow").click()
    page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("/definitions/"))
    saved = page.url.rsplit("/", 1)[1]
    run = server.begin(saved, {"customer": "customer-9"})
    assert server.ended(run)["output"]["arguments"] == {"customer": "customer-9"}
