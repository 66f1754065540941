"""What a person does in the graph editor, and the graphs that its tests begin with."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from .acting import dialog
from .serving import Server

GRAPH: dict[str, Any] = {
    "nodes": [
        {"id": "total", "type": "transform", "config": {"output": "$input.amount"}},
        {"id": "boss", "type": "human", "human_config": {"title": "Pay it?", "timeout_hours": None}},
    ],
    "edges": [{"from": "total", "to": "boss"}],
}

BILL: dict[str, Any] = {
    "nodes": [
        {"id": "total", "type": "transform", "config": {"output": "$input.amount"}},
        {
            "id": "boss",
            "type": "human",
            "human_config": {"title": "Pay it?", "timeout_hours": 2, "approvers": ["ada", "bob"]},
        },
        {"id": "paid", "type": "wait", "config": {"message": "paid"}},
        {"id": "merge", "type": "transform", "config": {"output": "$payload"}},
        {"id": "large", "type": "transform", "config": {"output": "large"}},
    ],
    "edges": [
        {"from": "total", "to": "boss"},
        {"from": "total", "to": "paid"},
        {"from": "total", "to": "large"},
        {"from": "paid", "to": "merge"},
        {"from": "large", "to": "merge"},
    ],
}
"""Waits for a person, for a message, and at a join."""
THANKS: list[dict[str, Any]] = [
    {"op": "add", "path": "/nodes/-", "value": {"id": "thank", "type": "transform", "config": {"output": "thanks"}}},
    {"op": "add", "path": "/edges/-", "value": {"from": "merge", "to": "thank"}},
]


def save(server: Server, name: str, definition: Any = None, **params: Any) -> str:
    """Saves a graph; the name of its version."""
    body = {"dialect": "graph", "name": name, "definition": definition or GRAPH}
    return server.post("/definitions", body, **params)["version"]


def open_editor(page: Page, name: str) -> None:
    page.goto(f"/definitions/{name}/edit")
    expect(page.get_by_role("region", name="Problems")).to_contain_text("No problems")


def canvas(page: Page) -> Locator:
    return page.get_by_role("region", name="Graph to edit")


def card(page: Page, id: str) -> Locator:
    return canvas(page).locator(f'.react-flow__node[data-id="{id}"]')


def panel(page: Page, id: str) -> Locator:
    return page.get_by_role("complementary", name=f"Node {id}", exact=True)


def problems(page: Page) -> Locator:
    return page.get_by_role("region", name="Problems")


def drop(page: Page, type: str, x: int, y: int) -> None:
    """From the palette onto the canvas."""
    pane = canvas(page).locator(".react-flow__pane")
    page.get_by_role("button", name=f"Add {type}", exact=True).drag_to(pane, target_position={"x": x, "y": y})


def link(page: Page, source: str, target: str, side: str = "out") -> None:
    """By dragging from the side of a node to another one."""
    a = card(page, source).locator(f'.react-flow__handle[data-handleid="{side}"]').bounding_box()
    b = card(page, target).locator('.react-flow__handle[data-handleid="in"]').bounding_box()
    assert a is not None
    assert b is not None
    page.mouse.move(a["x"] + a["width"] / 2, a["y"] + a["height"] / 2)
    page.mouse.down()
    page.mouse.move(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2, steps=6)
    page.mouse.up()


def lines(page: Page) -> Locator:
    return canvas(page).locator(".react-flow__edge")


def choose(page: Page, id: str) -> Locator:
    """Selects a node; its panel."""
    card(page, id).click(position={"x": 60, "y": 12})
    found = panel(page, id)
    expect(found).to_be_visible()
    return found


def save_with(page: Page, title: str, button: str = "Save") -> Locator:
    """Opens the dialog of the save button."""
    page.get_by_role("banner").or_(page.locator(".ed-head")).get_by_role("button", name=button, exact=True).click()
    return dialog(page, title)
