"""Signed links for people and programs without a key: one answers a question, one sends a message to a run.

A link is good for one use and until its time. Whoever has it may use it, so nothing else is asked.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta
from starlette.requests import Request

from plait.kernel.ids import Millis

from .approvals import Approval, Comment, Decided, Decision, approval_of
from .auth import Link, Minted
from .routes import Answer, Body, Call, Fault, Query, Reply, Route, Scoped
from .shapes import Done, Shape
from .site import Site

Seconds = Annotated[int, Meta(ge=1, le=90 * 86_400)]
_DAY = 86_400
AnyJson: Any = Any
_USED = Fault(410, "auth.link_used", "The link was used, or its time is over (`auth.link_expired`).")


class NewHook(Body, frozen=True, kw_only=True):
    message: Annotated[str, Meta(min_length=1, max_length=1000)]
    """The name of the message that a call of the link sends."""
    expires_in: Seconds = _DAY


class NewLink(Body, frozen=True, kw_only=True):
    expires_in: Seconds = _DAY


class Made(Shape, frozen=True, kw_only=True):
    url: str
    expires_at: Millis


class Answered(Body, frozen=True, kw_only=True):
    decision: Decision
    by: Annotated[str, Meta(max_length=200)] = ""
    """Who decides, as he calls himself."""
    comment: Comment = ""
    data: Any = None


async def make_hook(call: Call[Scoped, NewHook]) -> Answer:
    handle = await call.engine.get(call.params["id"], call.namespace)
    minted = call.site.auth.links.mint(
        "hook", call.namespace, handle.id, name=call.body.message, expires_in=call.body.expires_in
    )
    return _made(call.site, call.request, "/hooks", minted)


async def call_hook(call: Call[Query, Any]) -> Answer:
    links = call.site.auth.links
    link = await links.open(call.params["token"], "hook")

    async def send() -> str:
        handle = await call.engine.get(link.target, link.namespace)
        return await handle.message(link.name, call.body, id=link.id)

    return Answer(Done(id=await links.spend(link, send)))


async def make_link(call: Call[Scoped, NewLink]) -> Answer:
    found = await call.engine.approvals.get(call.params["id"], call.namespace)
    minted = call.site.auth.links.mint("approval", call.namespace, found.id, expires_in=call.body.expires_in)
    return _made(call.site, call.request, "/approve", minted)


async def look(call: Call[Query, None]) -> Answer:
    link = await call.site.auth.links.open(call.params["token"], "approval")
    return Answer(approval_of(await call.engine.approvals.get(link.target, link.namespace)))


async def answer(call: Call[Query, Answered]) -> Answer:
    links, body = call.site.auth.links, call.body
    link = await links.open(call.params["token"], "approval")

    async def decide() -> Decided:
        by = body.by or _nameless(link)
        await call.engine.approvals.decide(
            link.target, body.decision, by=by, comment=body.comment, data=body.data, namespace=link.namespace
        )
        return Decided(id=link.target, decision=body.decision)

    return Answer(await links.spend(link, decide))


def _nameless(link: Link) -> str:
    return f"link {link.id[:8]}"


def _made(site: Site, request: Request, path: str, minted: Minted) -> Answer:
    base = site.settings.public_url.rstrip("/") or f"{request.url.scheme}://{request.url.netloc}"
    return Answer(Made(url=f"{base}{path}/{minted.token}", expires_at=minted.link.expires_at), 201)


ROUTES = (
    Route(
        method="POST",
        path="/runs/{id}/hooks",
        name="hooks.create",
        role="operator",
        summary="Make a link that sends one message to the run",
        handler=make_hook,
        query=Scoped,
        body=NewHook,
        replies=(Reply(201, Made, "The link, for one use."),),
        noun="run",
        example={"message": "paid"},
    ),
    Route(
        method="POST",
        path="/hooks/{token}",
        name="hooks.call",
        role="public",
        summary="Send the message of a link; the body is the message's",
        handler=call_hook,
        query=Query,
        body=AnyJson,
        body_optional=True,
        replies=(Reply(200, Done, "The message is durable."),),
        faults=(_USED, Fault(409, "RUN_FINISHED", "The run has ended.")),
        noun="hook",
        bare=True,
        audited=False,
    ),
    Route(
        method="POST",
        path="/approvals/{id}/link",
        name="approvals.link",
        role="approver",
        summary="Make a link that answers one question",
        handler=make_link,
        query=Scoped,
        body=NewLink,
        body_optional=True,
        replies=(Reply(201, Made, "The link, for one use."),),
        noun="approval",
        example={"expires_in": 3600},
    ),
    Route(
        method="GET",
        path="/links/{token}",
        name="links.show",
        role="public",
        summary="The question of a link",
        handler=look,
        query=Query,
        replies=(Reply(200, Approval, "The question."),),
        faults=(_USED,),
        noun="link",
    ),
    Route(
        method="POST",
        path="/links/{token}",
        name="links.answer",
        role="public",
        summary="Answer the question of a link",
        handler=answer,
        query=Query,
        body=Answered,
        replies=(Reply(200, Decided, "The answer is durable."),),
        faults=(_USED, Fault(409, "kernel.decided", "Someone else was first.")),
        noun="link",
        audited=False,
        example={"decision": "approve", "by": "Ann"},
    ),
)
