"""Every action on a run, done through its dialog; the effect is asked of the API, and what is copied really works."""

import ast
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .acting import act, copy_as, dialog, head_status, node, open_run, toast
from .browsing import Watch
from .serving import Server


def _gave_back(server: Server, id: str) -> None:
    """The compensator ran; what it said is stored a moment after the run's own events."""
    server.soon(lambda: server.get(f"/runs/{id}/logs"), lambda found: "giving back hold-Ada" in str(found))


def test_cancel_with_a_reason(page: Page, server: Server, waiting: str) -> None:
    open_run(page, waiting)
    act(page, "Cancel")
    box = dialog(page, "Cancel this run")
    box.get_by_label("Reason").fill("it's late")
    box.get_by_role("button", name="Cancel the run").click()
    toast(page, f"{waiting} is being cancelled")
    expect(head_status(page)).to_have_text("Cancelled")
    assert server.ended(waiting, "cancelled")["run"]["error"]["message"].find("it's late") >= 0


def test_cancel_and_undo(page: Page, server: Server, waiting: str) -> None:
    open_run(page, waiting)
    act(page, "Cancel")
    box = dialog(page, "Cancel this run")
    box.get_by_role("checkbox").check()
    box.get_by_role("button", name="Cancel the run").click()
    expect(head_status(page)).to_have_text("Cancelled")
    _gave_back(server, waiting)


def test_retry_of_what_failed(page: Page, server: Server, failed: str) -> None:
    open_run(page, failed)
    server.ended(server.begin("opening", failed))
    act(page, "Retry")
    dialog(page, "Retry this run").get_by_role("button", name="Retry", exact=True).click()
    toast(page, "Retry started")
    expect(head_status(page)).to_have_text("Completed")
    assert server.ended(failed)["output"] == f"ordered from {failed}"


def test_retry_from_a_node(page: Page, server: Server, ordered: str) -> None:
    before = server.detail(ordered)["seq"]
    open_run(page, ordered, "?node=charge")
    page.get_by_role("complementary", name="Node charge").get_by_role("button", name="Re-run from here").click()
    dialog(page, "Re-run from here").get_by_role("button", name="Re-run from here").click()
    toast(page, "Re-running from charge")
    expect(page.locator(".slider-point")).not_to_contain_text(f"of {before}")
    expect(head_status(page)).to_have_text("Completed")
    assert server.ended(ordered)["seq"] > before


def test_a_message_ends_the_wait(page: Page, server: Server, waiting: str) -> None:
    open_run(page, waiting)
    page.get_by_role("button", name="Send message").click()
    box = dialog(page, "Send a message")
    expect(box.get_by_label("Name")).to_have_value("go")
    body = box.get_by_label("Body (JSON)")
    body.fill("hello")
    expect(box).to_contain_text('write a string as "hello"')
    expect(box.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    body.fill('{"by": "me"}')
    box.get_by_role("button", name="Send", exact=True).click()
    toast(page, "Message go sent")
    expect(head_status(page)).to_have_text("Completed")
    assert "me" in server.ended(waiting)["output"]


def test_fork_does_a_node_again(page: Page, server: Server, ordered: str) -> None:
    open_run(page, ordered)
    act(page, "Fork")
    box = dialog(page, "Fork this run")
    box.get_by_label("Re-run from").select_option("charge")
    box.get_by_label("ID of the new run").fill(f"{ordered}-fork")
    box.get_by_role("button", name="Fork", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=f"{ordered}-fork")).to_be_visible()
    assert server.ended(f"{ordered}-fork")["output"]["payment"] == server.detail(ordered)["output"]["payment"]


def test_fork_from_a_node_with_another_output(page: Page, server: Server, ordered: str) -> None:
    open_run(page, ordered, "?node=charge")
    page.get_by_role("complementary", name="Node charge").get_by_role("button", name="Fork from here").click()
    box = dialog(page, "Fork this run")
    box.get_by_label("Change the output of a completed node").check()
    box.get_by_label("Output (JSON)").fill('"paid in gold"')
    box.get_by_label("ID of the new run").fill(f"{ordered}-gold")
    box.get_by_role("button", name="Fork", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=f"{ordered}-gold")).to_be_visible()
    assert server.ended(f"{ordered}-gold")["output"]["payment"] == "paid in gold"
    expect(node(page, "thanks, child, completed")).to_be_visible()


def test_fork_from_the_past(page: Page, server: Server, ordered: str) -> None:
    open_run(page, ordered, "?at=4")
    page.get_by_role("status").filter(has_text="Showing the run").get_by_role("button", name="Fork from here").click()
    box = dialog(page, "Fork this run")
    expect(box).to_contain_text("up to event 4")
    box.get_by_label("ID of the new run").fill(f"{ordered}-past")
    box.get_by_role("button", name="Fork", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=f"{ordered}-past")).to_be_visible()
    server.waits(f"{ordered}-past", "approval")


def test_a_refused_action_says_why_and_stays_open(page: Page, watch: Watch, server: Server, ordered: str) -> None:
    watch.allow("409")
    open_run(page, ordered)
    act(page, "Fork")
    box = dialog(page, "Fork this run")
    box.get_by_label("Re-run from").select_option("reserve")
    box.get_by_label("ID of the new run").fill(server.begin("reminder"))
    box.get_by_role("button", name="Fork", exact=True).click()
    expect(box.get_by_role("alert")).to_contain_text("run_exists")
    expect(box.get_by_role("button", name="Fork", exact=True)).to_be_enabled()


def test_compensate_undoes_what_was_done(page: Page, server: Server, ordered: str) -> None:
    open_run(page, ordered)
    act(page, "Compensate")
    dialog(page, "Compensate this run").get_by_role("button", name="Compensate").click()
    toast(page, "Compensation started")
    expect(page.get_by_role("region", name="Graph of the run")).to_contain_text(re.compile("rollback|undo"))
    _gave_back(server, ordered)


CHANGING = """
from pathlib import Path
from plait import Context, workflow

async def one() -> int:
    return 1

@workflow
async def changing(ctx: Context) -> int:
    await ctx.step(Path("first-step").read_text(), one)  # stands for code that is edited
    await ctx.listen("go")
    return await ctx.step("last", one)
"""


def test_a_blocked_run_says_why_and_is_resumed_when_repaired(page: Page, own: Server, tmp_path: Path) -> None:
    name = tmp_path / "first-step"
    (tmp_path / "changing.py").write_text(CHANGING)
    own.cwd, own.module = tmp_path, "changing"
    name.write_text("begin")
    own.start().begin("changing", id="b-1")
    own.waits("b-1", "message")
    own.stop()
    name.write_text("other")
    own.start().post("/runs/b-1/messages", {"name": "go"})
    own.blocked("b-1")
    page.goto(f"{own.url}/runs?status=blocked")
    page.locator("[data-run-row='b-1']").click()
    expect(head_status(page)).to_have_text("Blocked")
    expect(page.locator(".error-box", has_text="This run is blocked")).to_contain_text("begin")
    name.write_text("begin")
    page.locator(".run-actions").get_by_role("button", name="Resume").click()
    dialog(page, "Resume this run").get_by_role("button", name="Resume").click()
    toast(page, "Run resumed")
    expect(head_status(page)).to_have_text("Completed")
    assert own.ended("b-1")["output"] == 1
    page.goto("about:blank")  # it would miss the server, which ends first


# -- copy as --------------------------------------------------------------------------------------------------------

KINDS = ["curl", "Command line"]


def _cancelling(page: Page) -> Locator:
    act(page, "Cancel")
    box = dialog(page, "Cancel this run")
    box.get_by_label("Reason").fill("it's $HOME `late`")
    return box


def _messaging(page: Page) -> Locator:
    page.get_by_role("button", name="Send message").click()
    box = dialog(page, "Send a message")
    box.get_by_label("Body (JSON)").fill('{"it\'s": "\\"fine\\" $x"}')
    return box


@pytest.mark.parametrize("kind", KINDS)
def test_a_copied_cancel_works(page: Page, server: Server, waiting: str, kind: str) -> None:
    open_run(page, waiting)
    server.shell(copy_as(page, _cancelling(page), kind))
    assert "it's $HOME `late`" in str(server.ended(waiting, "cancelled")["run"]["error"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_copied_message_works(page: Page, server: Server, waiting: str, kind: str) -> None:
    open_run(page, waiting)
    server.shell(copy_as(page, _messaging(page), kind))
    assert server.ended(waiting)["output"].endswith("""{"it's": '"fine" $x'}""")


@pytest.mark.parametrize("kind", KINDS)
def test_a_copied_retry_works(page: Page, server: Server, failed: str, kind: str) -> None:
    server.ended(server.begin("opening", failed))
    open_run(page, failed)
    act(page, "Retry")
    server.shell(copy_as(page, dialog(page, "Retry this run"), kind))
    server.ended(failed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copied_retry_from_a_node_works(page: Page, server: Server, ordered: str, kind: str) -> None:
    before = server.detail(ordered)["seq"]
    open_run(page, ordered, "?node=look+up/tax/tax")
    page.get_by_role("complementary").get_by_role("button", name="Re-run from here").click()
    server.shell(copy_as(page, dialog(page, "Re-run from here"), kind))
    server.soon(lambda: server.detail(ordered), lambda found: found["seq"] > before)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copied_fork_works(page: Page, server: Server, ordered: str, kind: str) -> None:
    open_run(page, ordered, "?node=charge")
    page.get_by_role("complementary").get_by_role("button", name="Fork from here").click()
    box = dialog(page, "Fork this run")
    box.get_by_label("Change the output of a completed node").check()
    box.get_by_label("Output (JSON)").fill('"it\'s gold"')
    box.get_by_label("ID of the new run").fill(f"{ordered}-copy")
    expect(box.get_by_role("button", name="Copy as")).to_be_visible()
    server.shell(copy_as(page, box, kind))
    assert server.ended(f"{ordered}-copy")["output"]["payment"] == "it's gold"


def test_a_copied_compensation_works(page: Page, server: Server, ordered: str) -> None:
    open_run(page, ordered)
    act(page, "Compensate")
    server.shell(copy_as(page, dialog(page, "Compensate this run"), "curl"))
    _gave_back(server, ordered)


def test_copied_python_is_python(page: Page, waiting: str) -> None:
    open_run(page, waiting)
    text = copy_as(page, _messaging(page), "Python")
    compile(text, "copied", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert f'engine.get("{waiting}")' in text
    assert "await run.message(" in text


def test_another_namespace_is_in_the_copied_lines(page: Page, server: Server, name: str) -> None:
    server.begin("steady", {"customer": "Ada"}, id="far", namespace=name)
    server.waits("far", "message", namespace=name)
    open_run(page, "far", f"?ns={name}")
    server.shell(copy_as(page, _messaging(page), "curl"))
    server.ended("far", namespace=name)
