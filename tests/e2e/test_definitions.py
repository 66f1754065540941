"""Definitions with their versions, source, difference and tags; and starting a run of one."""

import re

import pytest
from playwright.sync_api import Page, expect

from .acting import copy_as, dialog, toast
from .browsing import Watch, shoot
from .serving import Server


def test_the_list_is_searched(page: Page) -> None:
    page.goto("/definitions")
    expect(page.get_by_role("link", name="checkout", exact=True)).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^greet"))).to_contain_text("2")
    page.get_by_role("searchbox").fill("greet")
    expect(page.get_by_role("link", name="checkout", exact=True)).to_have_count(0)
    page.get_by_role("link", name="greet", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="greet")).to_be_visible()


def test_a_definition_tells_input_and_source(page: Page) -> None:
    page.goto("/definitions/checkout")
    expect(page.get_by_text("Reserve, look up side by side, ask").first).to_be_visible()
    expect(page.locator(".definitions-schemas")).to_contain_text("customer")
    expect(page.get_by_role("region", name="Text", exact=True)).to_contain_text('await ctx.step("reserve"')


def test_versions_are_shown_and_compared(page: Page) -> None:
    page.goto("/definitions/greet")
    expect(page.get_by_role("region", name="Source of 2")).to_contain_text("upper()")
    page.get_by_role("button", name="Show version 1").click()
    expect(page.get_by_role("region", name="Source of 1")).to_contain_text('f"hello {name}"')
    expect(page).to_have_url(re.compile("version=1"))
    page.get_by_role("button", name="Show version 2").click()
    page.get_by_role("button", name="Compare with version 1").click()
    difference = page.get_by_role("region", name="Difference")
    expect(difference.get_by_role("table")).to_contain_text("upper()")
    expect(difference.locator("td.added", has_text="loud = name.upper()")).to_be_visible()
    expect(difference.get_by_label("From version")).to_have_value("1")
    difference.get_by_role("button", name="Show the source").click()
    expect(page.get_by_role("region", name=re.compile("Source of"))).to_be_visible()


def test_a_tag_is_set_used_moved_and_removed(page: Page, server: Server, name: str) -> None:
    page.goto(f"/definitions/greet?ns={name}")
    page.get_by_role("button", name="Set a tag").click()
    box = dialog(page, "Set a tag")
    box.get_by_label("Tag").fill("stable")
    box.get_by_label("Version").select_option("1")
    box.get_by_role("button", name="Set", exact=True).click()
    toast(page, "stable is 1")
    id = server.begin("greet@stable", "ada", namespace=name)
    assert server.ended(id, namespace=name)["output"] == "hello ada"
    page.get_by_role("button", name="Move stable", exact=True).click()
    box = dialog(page, "Move stable")
    box.get_by_label("Version").select_option("2")
    box.get_by_role("button", name="Move", exact=True).click()
    toast(page, "stable is 2")
    assert server.get("/definitions/greet", namespace=name)["tags"] == {"stable": "2"}
    page.get_by_role("button", name="Remove stable").click()
    dialog(page, "Remove stable?").get_by_role("button", name="Remove", exact=True).click()
    toast(page, "Removed stable")
    assert server.get("/definitions/greet", namespace=name)["tags"] == {}


def test_what_was_saved_is_deleted_if_it_is_still_what_the_page_shows(
    page: Page, server: Server, name: str, watch: Watch
) -> None:
    def save(output: int) -> None:
        nodes = [{"id": "a", "type": "transform", "config": {"output": output}}]
        body = {"dialect": "graph", "name": name, "mode": "upsert", "definition": {"nodes": nodes}}
        server.post("/definitions", body)

    save(1)
    page.goto(f"/definitions/{name}")
    page.get_by_role("button", name="Delete", exact=True).click()
    box = dialog(page, f"Delete {name}?")
    save(2)
    watch.allow("412")
    box.get_by_role("button", name="Delete", exact=True).click()
    expect(box.get_by_role("alert")).to_contain_text("Not deleted")
    page.reload()
    page.get_by_role("button", name="Delete", exact=True).click()
    shoot(page, "definition-delete")
    dialog(page, f"Delete {name}?").get_by_role("button", name="Delete", exact=True).click()
    toast(page, f"Deleted {name}")
    expect(page).to_have_url(re.compile("/definitions$"))
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


def test_code_is_not_offered_for_deletion(page: Page) -> None:
    page.goto("/definitions/greet")
    expect(page.get_by_role("link", name="Start a run")).to_be_visible()
    expect(page.get_by_role("button", name="Delete", exact=True)).to_have_count(0)


def test_an_unknown_definition_says_so(page: Page, watch: Watch) -> None:
    watch.allow("404")
    page.goto("/definitions/nosuch")
    expect(page.get_by_role("alert")).to_contain_text("nosuch")


# -- starting -------------------------------------------------------------------------------------------------------


def test_a_run_is_started_from_the_form(page: Page, server: Server, name: str) -> None:
    page.goto("/runs/new")
    page.get_by_role("searchbox", name="Search definitions").fill("checkout")
    page.keyboard.press("Enter")
    page.get_by_label("Customer").fill("Ada")
    expect(page.get_by_label("Cups")).to_have_value("2")
    page.get_by_label("Tea").select_option("black")
    page.get_by_label("Gift").check()
    page.get_by_label("ID", exact=True).fill(name)
    page.get_by_label("Labels").fill("team:blue tier:gold")
    page.get_by_label("Deadline").fill("2 h")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    found = server.detail(name)
    assert found["input"] == {"customer": "Ada", "cups": 2, "tea": "black", "gift": True}
    assert found["run"]["labels"] == {"team": "blue", "tier": "gold"}
    assert found["run"]["deadline"] - found["run"]["created_at"] == pytest.approx(7_200_000, abs=1000)


def test_the_form_shows_defaults_and_sends_them(page: Page, server: Server, name: str) -> None:
    page.goto("/runs/new?definition=checkout")
    expect(page.get_by_label("Cups")).to_have_value("2")
    expect(page.get_by_label("Cups")).to_have_accessible_description(re.compile("default 2"))
    expect(page.get_by_label("Tea")).to_have_accessible_description(re.compile('default "green"'))
    expect(page.get_by_label("Gift")).not_to_be_checked()
    expect(page.get_by_label("Customer")).not_to_have_accessible_description(re.compile("default"))
    page.get_by_label("Customer").fill("Ada")
    page.get_by_label("ID", exact=True).fill(name)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    assert server.detail(name)["input"] == {"customer": "Ada", "cups": 2, "tea": "green", "gift": False}


def test_what_does_not_fit_is_said_at_its_field(page: Page) -> None:
    page.goto("/runs/new?definition=checkout")
    page.get_by_label("Cups").fill("13")
    page.get_by_label("ID", exact=True).fill("a/b")
    page.get_by_label("Labels").fill("nocolon")
    page.get_by_label("Deadline").fill("soon")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_label("Customer")).to_have_attribute("aria-invalid", "true")
    for field in ("Cups", "Labels", "Deadline"):
        expect(page.get_by_label(field)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("An ID can't contain slashes")).to_be_visible()
    expect(page).to_have_url(re.compile("/runs/new"))


def test_what_the_server_refuses_is_said(page: Page, server: Server, watch: Watch, name: str) -> None:
    watch.allow("409")
    server.begin("reminder", id=name)
    page.goto("/runs/new?definition=checkout")
    page.get_by_label("Customer").fill("Ada")
    page.get_by_label("ID", exact=True).fill(name)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("kernel.run_exists")
    page.get_by_role("link", name="View the run with this ID").click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def test_what_only_the_server_can_check_is_said_at_its_field(page: Page, watch: Watch) -> None:
    watch.allow("422")
    page.goto("/runs/new?definition=steady")
    page.get_by_label("Customer").fill("Ada")
    page.get_by_label("Labels").fill(f"team:{'x' * 3000}")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("label")
    expect(page).to_have_url(re.compile("/runs/new"))


def test_input_is_given_as_json(page: Page, server: Server, name: str) -> None:
    page.goto("/runs/new?definition=steady")
    page.get_by_label("Customer").fill("Ada")
    page.get_by_role("button", name="Edit as JSON").click()
    raw = page.get_by_label("Input as JSON")
    expect(raw).to_have_value(re.compile("Ada"))
    raw.fill("{")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(raw).to_have_attribute("aria-invalid", "true")
    raw.fill('{"customer": "Grace", "cups": 3}')
    page.get_by_label("ID", exact=True).fill(name)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    assert server.detail(name)["input"] == {"customer": "Grace", "cups": 3}


def test_a_check_shows_the_plan_and_starts_nothing(page: Page, server: Server, name: str) -> None:
    page.goto(f"/runs/new?definition=checkout&ns={name}")
    page.get_by_label("Customer").fill("Ada")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("heading", name="Parsed input")).to_be_visible()
    assert server.get("/runs", namespace=name)["runs"] == []


def test_an_older_version_is_chosen(page: Page, server: Server, name: str) -> None:
    page.goto("/runs/new?definition=greet")
    page.get_by_label("Version or tag").select_option("1")
    page.get_by_label("Value").fill("ada")
    page.get_by_label("ID", exact=True).fill(name)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    assert server.ended(name)["output"] == "hello ada"


def test_a_copied_start_works(page: Page, server: Server, name: str) -> None:
    page.goto("/runs/new?definition=steady")
    page.get_by_label("Customer").fill("D'Artagnan")
    page.get_by_label("ID", exact=True).fill(name)
    server.shell(copy_as(page, page.locator("form"), "curl"))
    assert server.detail(name)["input"]["customer"] == "D'Artagnan"
