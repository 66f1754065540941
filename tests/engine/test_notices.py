"""Notices of approvals, received by real servers: mail by SMTP, a webhook, and the service that an approval names."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from plait import Context, Engine, graph, workflow
from plait.egress import EgressSettings
from plait.errors import InvalidInput
from plait.kernel.approval import Approval
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.notice import Channel, Notice, NoticeInput
from plait.kernel.task import Policy, Task, TaskError
from plait.workers.notice import NoticeExecutor
from plait.workers.notice_settings import NoticeSettings, settings_from
from plait.workers.notice_settings import mail_server as mail_server_of
from tests.egress.site import Asked, Caller, http
from tests.egress.site import site as serve
from tests.engine.fleets import kill
from tests.engine.mail_server import MailServer, mail_server
from tests.engine.places import OnDisk, soon, until

PRIVATE = EgressSettings(private=True)


@workflow
async def purchase(ctx: Context) -> str:
    verdict = await ctx.approve("kiln", title="A new kiln", approvers=["ada@example.com", "bob"], timeout=3600)
    return verdict.by


async def fine(asked: Asked, caller: Caller) -> bytes:
    return http(204)


def engine(db: str = "memory:", **settings: str) -> Engine:
    return Engine(db, definitions=[purchase], notices=NoticeSettings(**settings), egress=PRIVATE)


def mail_url(server: MailServer, more: str = "") -> str:
    return f"smtp://127.0.0.1:{server.port}?from=plait@example.com{more}"


async def notices_of(engine: Engine, run: str) -> list[dict[str, Any]]:
    events = await (await engine.get(run)).events()
    return [event.data for event in events if event.type == "approval.notice"]


async def test_an_approver_gets_a_mail():
    async with mail_server() as server, engine(mail=mail_url(server)) as e:
        e.notices.links = lambda approval, approver: f"https://plait.test/approve/{approver}"
        await e.start(purchase, id="p-1")
        [told] = await soon(lambda: notices_of(e, "p-1"))
        assert told["status"] == "sent"
    [mail] = server.mails
    assert (mail["to"], mail["from"], mail["subject"]) == (
        "ada@example.com",
        "plait@example.com",
        "Approval: A new kiln",
    )
    text = str(mail.get_payload())
    assert "Run p-1 waits for your decision" in text
    assert "https://plait.test/approve/ada@example.com" in text


async def test_a_name_becomes_an_address_where_the_domain_is_known():
    async with mail_server() as server, engine(mail=mail_url(server, "&domain=example.org")) as e:
        await e.start(purchase, id="p-1")
        await until(lambda: len(server.mails) == 2)
    assert sorted(str(mail["to"]) for mail in server.mails) == ["ada@example.com", "bob@example.org"]


async def test_a_webhook_is_told_of_each_approver():
    async with serve(fine) as site, engine(webhook=site.url("/hook")) as e:
        await e.start(purchase, id="p-1")
        await until(lambda: len(site.asked) == 2)
        [open_one] = await e.approvals.list()
        found = [json.loads(each.body) for each in site.asked]
        assert sorted(each["approver"] for each in found) == ["ada@example.com", "bob"]
        assert {each["approval_id"] for each in found} == {"p-1:kiln"}
        assert {each["deadline"] for each in found} == {open_one.deadline}
        assert len({each.headers["idempotency-key"] for each in site.asked}) == 2


async def test_the_service_that_a_human_node_names_is_told():
    async with serve(fine) as site, engine() as e:
        e.notices.links = lambda approval, approver: f"https://plait.test/approve/{approval.id}/{approver}"
        human = {"approvers": ["boss"], "title": "Sign it", "approval_ui_url": site.url("/approvals")}
        await e.start(graph({"nodes": [{"id": "sign", "type": "human", "human_config": human}]}), id="g-1")
        await until(lambda: bool(site.asked))
        [asked] = site.asked
        [approval] = await e.approvals.list()
        assert json.loads(asked.body) == {
            "approval_id": approval.id,
            "run_id": "g-1",
            "namespace": "default",
            "title": "Sign it",
            "approver": "boss",
            "deadline": approval.deadline,
            "callback_url": f"https://plait.test/approve/{approval.id}/boss",
        }


async def test_a_notice_that_was_on_its_way_when_the_engine_died_is_sent_by_the_next(disk: OnDisk):
    entered = asyncio.Event()

    async def hang(asked: Asked, caller: Caller) -> None:
        entered.set()
        await caller.gone()

    async with serve(hang) as site:
        first = disk.engine(purchase, notices=NoticeSettings(webhook=site.url()), egress=PRIVATE)
        await first.__aenter__()
        await first.start(purchase, id="p-1")
        await asyncio.wait_for(entered.wait(), 10)
        await kill(first)
    async with serve(fine, port=site.port) as again, disk.engine(purchase, egress=PRIVATE):
        await until(lambda: len(again.asked) == 2)
    keys = {each.headers["idempotency-key"] for each in [*site.asked, *again.asked]}
    assert len(keys) == 2


# -- what fails --------------------------------------------------------------------------------------------------------


class Thread:
    """As much of an attempt as the executor asks for."""

    run_id = RunId("p-1")

    async def in_thread(self, function: Any) -> Any:
        return await asyncio.to_thread(function)


async def sending(channel: Channel, to: str, settings: NoticeSettings, *, found: bool = True) -> Any:
    async def find(run_id: RunId, token: TaskToken) -> Approval | None:
        title = "Ship it?\r\nBcc: eve@example.com"
        return Approval("p-1:kiln", run_id, "default", token, title, "", 0) if found else None  # type: ignore[arg-type]

    async with Engine("memory:", work=False, egress=PRIVATE) as e:
        executor = NoticeExecutor(settings, e.executors.send_out, find)
        input = NoticeInput(TaskToken("kiln"), Notice(channel, to, "ada"))
        task = Task(TaskToken("n"), "notice", "notice", input, Policy(), "key")
        return await executor.execute(task, Thread())  # type: ignore[arg-type]


@pytest.mark.parametrize(("answer", "again"), [("451 later", True), ("550 no such user", False)])
async def test_a_mail_server_that_refuses_says_whether_to_try_again(answer: str, again: bool):
    async with mail_server() as server:
        server.refusals = [answer]
        with pytest.raises(TaskError) as refused:
            await sending("mail", "ada@example.com", NoticeSettings(mail=mail_url(server)))
    assert (refused.value.retryable, server.mails) == (again, [])


async def test_a_mail_server_that_is_away_is_tried_again():
    async with mail_server() as server:
        url = mail_url(server)
    with pytest.raises(TaskError) as refused:
        await sending("mail", "ada@example.com", NoticeSettings(mail=url))
    assert refused.value.retryable


@pytest.mark.parametrize(("status", "again"), [(503, True), (429, True), (404, False)])
async def test_a_service_that_refuses_says_whether_to_try_again(status: int, again: bool):
    async def refuse(asked: Asked, caller: Caller) -> bytes:
        return http(status)

    async with serve(refuse) as site:
        with pytest.raises(TaskError) as refused:
            await sending("service", site.url(), NoticeSettings())
    assert refused.value.retryable is again


async def test_a_title_adds_no_header_to_a_mail():
    async with mail_server() as server:
        await sending("mail", "ada@example.com", NoticeSettings(mail=mail_url(server)))
    [mail] = server.mails
    assert (mail["bcc"], mail["subject"]) == (None, "Approval: Ship it? Bcc: eve@example.com")


async def test_nobody_is_told_of_an_approval_that_was_decided_meanwhile():
    async with serve(fine) as site:
        assert await sending("service", site.url(), NoticeSettings(), found=False) == "closed"
        assert site.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "http://mail",
        "smtp:///x",
        "smtp://mail",
        "smtp://mail?from=x",
        "smtp://mail:x?from=a@b",
        "smtp://m?from=a@b&x=1",
    ],
)
def test_a_mail_server_that_can_not_be_used_is_refused_at_the_start(url: str):
    with pytest.raises(InvalidInput) as refused:
        settings_from({"PLAIT_NOTICE_MAIL": url})
    assert (refused.value.code, url in str(refused.value)) == ("notices.bad_mail_url", False)


def test_a_mail_server_has_its_user_and_its_port():
    found = mail_server_of("smtps://me%40x:pa%3Ass@mail.example.com?from=plait@example.com")
    assert (found.user, found.password, found.port, found.tls) == ("me@x", "pa:ss", 465, True)
