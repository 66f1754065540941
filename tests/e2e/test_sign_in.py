"""A server that asks for keys: signing in and out, roles, keys, the audit log."""

import re

from playwright.sync_api import Page, expect

from .acting import act, copy_as, dialog, open_run, toast
from .browsing import Watch, copied
from .serving import Server


def sign_in(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_a_visitor_signs_in_and_comes_to_where_they_wanted(
    keyed_page: Page, keyed: Server, watch: Watch, name: str
) -> None:
    watch.allow("401")
    keyed.begin("reminder", id=name)
    keyed_page.goto(f"/runs/{name}?tab=events")
    expect(keyed_page.get_by_role("heading", name="Sign in to Plait")).to_be_visible()
    expect(keyed_page.get_by_label("API key")).to_be_focused()
    sign_in(keyed_page, keyed.key)
    expect(keyed_page.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(keyed_page).to_have_url(re.compile("tab=events"))
    expect(keyed_page.locator(".topbar-who")).to_contain_text("root")


def test_a_wrong_key_is_refused_in_words(keyed_page: Page, watch: Watch) -> None:
    watch.allow("401")
    keyed_page.goto("/login")
    sign_in(keyed_page, "plait_nonsense")
    expect(keyed_page.get_by_role("alert")).to_contain_text("Sign-in failed")
    expect(keyed_page.get_by_role("alert")).to_contain_text("auth.bad_key")
    expect(keyed_page).to_have_url(re.compile("/login"))


def test_signing_out_ends_the_session(keyed_page: Page, keyed: Server, watch: Watch) -> None:
    watch.allow("401")
    keyed_page.goto("/login?next=/settings")
    sign_in(keyed_page, keyed.key)
    expect(keyed_page.get_by_text("browser session")).to_be_visible()
    keyed_page.get_by_role("button", name="Sign out").click()
    expect(keyed_page.get_by_role("heading", name="Sign in to Plait")).to_be_visible()
    keyed_page.goto("/runs")
    expect(keyed_page.get_by_role("heading", name="Sign in to Plait")).to_be_visible()


def test_a_foreign_next_is_not_followed(keyed_page: Page, keyed: Server) -> None:
    keyed_page.goto("/login?next=https://example.org/")
    sign_in(keyed_page, keyed.key)
    expect(keyed_page).to_have_url(re.compile(rf"^{keyed.url}/"))


def test_changes_carry_the_proof_that_they_come_from_the_page(keyed_page: Page, keyed: Server, name: str) -> None:
    keyed_page.goto("/login?next=/runs/new?definition=steady")
    sign_in(keyed_page, keyed.key)
    keyed_page.get_by_label("Customer").fill("Ada")
    keyed_page.get_by_label("ID", exact=True).fill(name)
    keyed_page.get_by_role("button", name="Start", exact=True).click()
    expect(keyed_page.get_by_role("heading", level=1, name=name)).to_be_visible()
    keyed.waits(name, "message")


def test_a_viewer_sees_but_is_offered_nothing(keyed_page: Page, keyed: Server, name: str) -> None:
    keyed.begin("steady", {"customer": "Ada"}, id=name)
    keyed.waits(name, "message")
    key = keyed.post("/keys", {"name": "looker", "role": "viewer", "namespace": "default"})["key"]
    keyed_page.goto(f"/login?next=/runs/{name}")
    sign_in(keyed_page, key)
    expect(keyed_page.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(keyed_page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(keyed_page.get_by_role("button", name="Send message")).to_have_count(0)
    keyed_page.goto("/runs")
    expect(keyed_page.locator(f"[data-run-row='{name}']")).to_be_visible()
    expect(keyed_page.get_by_role("link", name="New run")).to_have_count(0)
    keyed_page.goto("/settings")
    expect(keyed_page.get_by_role("heading", name="You", exact=True)).to_be_visible()
    expect(keyed_page.get_by_role("heading", name="API keys")).to_have_count(0)


def test_a_key_is_made_shown_once_used_and_revoked(keyed_page: Page, keyed: Server, name: str) -> None:
    keyed_page.goto("/login?next=/settings")
    sign_in(keyed_page, keyed.key)
    keyed_page.get_by_role("button", name="New key").click()
    box = dialog(keyed_page, "New key")
    box.get_by_label("Name", exact=True).fill(name)
    box.get_by_label("Role").select_option("operator")
    box.get_by_label("Namespace").fill("Not Good")
    expect(box.get_by_role("button", name="Create key")).to_be_disabled()
    box.get_by_label("Namespace").fill("default")
    box.get_by_label("Starts per second").fill("none")
    expect(box.get_by_role("button", name="Create key")).to_be_disabled()
    box.get_by_label("Starts per second").fill("50")
    box.get_by_label("Runs at once").fill("200")
    box.get_by_role("button", name="Create key").click()
    box = dialog(keyed_page, f"Key for {name}")
    box.get_by_role("button", name="Copy key").click()
    toast(keyed_page, "Copied the key")
    key = copied(keyed_page)
    asked = keyed.client.get("/me", headers={"authorization": f"Bearer {key}"})
    assert (asked.json()["name"], asked.json()["role"]) == (name, "operator")
    box.get_by_role("button", name="Done").click()
    expect(keyed_page.get_by_text(key)).to_have_count(0)
    expect(keyed_page.get_by_role("row", name=re.compile(name)).first).to_contain_text("50 starts/s, 200 at once")
    keyed_page.get_by_role("button", name=f"Revoke {name}").click()
    dialog(keyed_page, "Revoke this key?").get_by_role("button", name="Revoke", exact=True).click()
    toast(keyed_page, f"Revoked {name}")
    expect(keyed_page.get_by_role("row", name=re.compile(name)).first).to_contain_text("revoked")
    keyed.soon(
        lambda: keyed.client.get("/me", headers={"authorization": f"Bearer {key}"}).status_code,
        lambda code: code == 401,
    )


def test_the_audit_log_tells_who_did_what(keyed_page: Page, keyed: Server, name: str) -> None:
    keyed.begin("reminder", id=name)
    keyed_page.goto("/login?next=/settings")
    sign_in(keyed_page, keyed.key)
    audit = keyed_page.get_by_role("region", name="Audit log")
    entry = audit.get_by_role("row").filter(has_text=name)
    expect(entry).to_contain_text("root")
    expect(entry).to_contain_text("ok")
    keyed.client.post("/session", json={"key": "plait_wrong"})
    audit.get_by_role("button", name="Refresh").click()
    expect(audit.get_by_role("row").filter(has_text="refused").first).to_be_visible()


def test_a_copied_line_works_with_a_key(keyed_page: Page, keyed: Server, name: str) -> None:
    keyed.begin("steady", {"customer": "Ada"}, id=name)
    keyed_page.goto(f"/login?next=/runs/{name}")
    sign_in(keyed_page, keyed.key)
    expect(keyed_page.get_by_role("heading", level=1, name=name)).to_be_visible()
    open_run(keyed_page, name)
    act(keyed_page, "Cancel")
    keyed.shell(copy_as(keyed_page, dialog(keyed_page, "Cancel this run"), "curl"))
    keyed.ended(name, "cancelled")
