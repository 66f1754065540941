"""Agents of a run, turn by turn: what they were asked, said, called and used; and one turn again, in a fork."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.agents.providers.wire_server import Said, WireServer, serving

from .access import faults
from .acting import dialog, open_run, toast
from .browsing import PHONE, shoot, sideways
from .serving import Server


@pytest.fixture(scope="module")
def model(server: Server) -> Iterator[WireServer]:
    with serving("openai", server.model_port) as wire:
        yield wire


def called(*calls: tuple[str, dict[str, Any]], text: str = "", cached: int = 0) -> Said:
    numbered = tuple((f"call_{index}", name, arguments) for index, (name, arguments) in enumerate(calls))
    return Said(text, numbered, "tool_calls", 1200, 30, cached)


def answered(output: Any, *next_nodes: str, reasoning: str = "") -> Said:
    return Said(
        json.dumps({"output": output, "next_nodes": list(next_nodes) or None, "reasoning": reasoning}),
        input=1300,
        output=40,
        cached=1000,
    )


def attempt(page: Page, number: int = 1) -> Locator:
    return page.get_by_role("region", name=f"Agent taste, attempt {number}")


def test_each_turn_is_shown_as_it_happens_with_its_calls_and_the_approval_that_one_waits_for(
    page: Page, server: Server, model: WireServer, name: str
) -> None:
    first = called(("steep", {"minutes": 5}), ("openapi_action", {}), ("pour", {"cups": 2}), text="Let me taste it.")
    model.answers = [first, answered({"taste": "strong"}, "guest", reasoning="It is strong.")]
    server.begin("taster", {"tea": "green"}, id=name, dialect="graph")
    open_run(page, name, "?tab=agents")
    agent = attempt(page)
    expect(agent).to_contain_text("Let me taste it.")
    expect(agent.get_by_role("region", name="result of steep")).to_contain_text("strong")
    expect(agent).to_contain_text("Denied")
    expect(agent.get_by_role("status")).to_contain_text("approval of pour, called by agent taste")
    agent.get_by_role("button", name="Prompt").click()
    expect(agent.get_by_role("region", name="Prompt")).to_contain_text("How is the tea?")
    shoot(page, "agents-waiting")
    reasons = page.get_by_role("region", name="Why it is waiting")
    expect(reasons.get_by_role("link", name="Decide")).to_be_visible()
    agent.get_by_role("link", name="Waits for an approval: decide").click()
    expect(page.get_by_role("region", name="Approval", exact=True)).to_contain_text("wants to call")
    page.go_back()
    server.decide(name)
    expect(agent.get_by_role("button", name="Turn 2", exact=True)).to_be_visible()
    expect(agent.get_by_role("region", name="Decision", exact=True)).to_contain_text("Goes on to guest. It is strong.")
    expect(agent).to_contain_text("2,500 tokens in (1,000 cached), 70 out")
    expect(agent.get_by_text("cache hit").first).to_be_visible()
    expect(page.locator(".run-facts")).to_contain_text("2,570 tokens · $0.0039")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        shoot(page, f"agents-{scheme}")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    shoot(page, "agents-phone")
    assert sideways(page) == 0
    assert faults(page) == []


def test_an_unknown_price_a_denied_route_and_the_attempt_after_it_are_told(
    page: Page, server: Server, model: WireServer, name: str
) -> None:
    model.answers = [answered(1, "guest", "dog"), answered(2, "cook")]
    server.begin("free_taster", None, id=name, dialect="graph")
    server.ended(name)
    open_run(page, name, "?tab=agents")
    denied = attempt(page).get_by_role("region", name="Denied route")
    expect(denied).to_contain_text("It asked for guest, dog; dog is not allowed. Allowed: guest, cook.")
    expect(attempt(page, 2)).to_contain_text("cost unknown")
    expect(page.locator(".agents")).not_to_contain_text("$")
    page.goto("/runs")
    row = page.get_by_role("row").filter(has=page.locator(f'[data-run-row="{name}"]'))
    expect(row).to_contain_text("2,680 tokens · cost unknown")


def test_one_turn_is_run_again_in_a_fork_with_another_prompt_and_model(
    page: Page, server: Server, model: WireServer, name: str
) -> None:
    model.answers = [called(("steep", {"minutes": 1})), answered("mild", "cook"), answered("splendid", "guest")]
    server.begin("taster", None, id=name, dialect="graph")
    server.ended(name)
    open_run(page, name, "?tab=agents")
    page.get_by_role("button", name="Re-run turn 2").click()
    box = dialog(page, "Re-run turn 2 of taste")
    box.get_by_label("Model").fill("free")
    box.get_by_label("Prompt").fill("Is the tea splendid?")
    box.get_by_label("ID of the new run").fill(f"{name}-fork")
    shoot(page, "agents-fork")
    box.get_by_role("button", name="Re-run in a fork").click()
    toast(page, f"Forked as {name}-fork")
    agent = attempt(page)
    expect(agent.get_by_role("region", name="reply of turn 2")).to_contain_text("splendid")
    expect(agent.get_by_role("region", name="result of steep")).to_contain_text("mild")
    expect(agent.locator("header").first).to_contain_text("free")
    asked = model.requests[-1]["body"]["messages"]
    assert any("Is the tea splendid?" in str(message.get("content")) for message in asked)


def test_a_run_without_agents_has_no_tab_for_them_and_asks_for_none(page: Page, server: Server, name: str) -> None:
    asked: list[str] = []
    page.route("**/agents*", lambda route: asked.append(route.request.url))
    server.begin("greet@2", "ada", id=name)
    server.ended(name)
    open_run(page, name)
    expect(page.get_by_role("navigation", name="Run tabs").get_by_role("link", name="Logs")).to_be_visible()
    expect(page.get_by_role("link", name="Agents")).to_have_count(0)
    page.unroute("**/agents*")
    assert not asked
