"""Signed links for people and programs without a key: one decides an approval, one sends a message to a run.

A link works once, until it expires. Anyone who has it may use it; there is no other check.
"""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request

from plait.api.approval import Decided
from plait.api.caller import Caller
from plait.api.link import DecideByLink, LinkedApproval, NewHook, NewLink, SignedLink
from plait.api.noun import RUN
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Accepted, Query, Scoped
from plait.engine.decided_approval import already_closed
from plait.kernel.approval import Approval
from plait.kernel.clock import Clock
from plait.kernel.errors import Forbidden, InvalidInput

from .approvals import approval_of, decided
from .auth import Link, Minted
from .auth.links import LONGEST, LinkMaker
from .call import Call
from .nouns import APPROVAL, LINK
from .site import Site

_ANY_JSON: Any = Any
_USED = Fault(410, "auth.link_used", "The link was already used, or has expired (`auth.link_expired`).")


async def make_hook(call: Call[Scoped, NewHook]) -> Answer:
    handle = await call.host.engine.get(call.params["id"], call.namespace)
    minted = call.host.auth.links.mint(
        "hook", call.namespace, handle.id, name=call.body.message, expires_in=call.body.expires_in
    )
    return _made(call.host, call.request, "/hooks", minted)


async def call_hook(call: Call[Query, Any]) -> Answer:
    links = call.host.auth.links
    link = await links.open(call.params["token"], "hook")

    async def send() -> str:
        handle = await call.host.engine.get(link.target, link.namespace)
        return await handle.message(link.name, call.body, id=link.id)

    return Answer(Accepted(id=await links.spend(link, send)))


async def make_link(call: Call[Scoped, NewLink]) -> Answer:
    found = await call.host.engine.approvals.get(call.params["id"], call.namespace)
    if found.status != "open":
        raise already_closed(found)
    links, name = call.host.auth.links, _voter(found, call.body.by, call.caller)
    minted = links.mint("approval", call.namespace, found.id, name=name, expires_in=call.body.expires_in)
    return _made(call.host, call.request, "/approve", minted)


async def show(call: Call[Query, None]) -> Answer:
    link = await call.host.auth.links.open(call.params["token"], "approval")
    found = await call.host.engine.approvals.get(link.target, link.namespace)
    return Answer(LinkedApproval(**msgspec.structs.asdict(approval_of(found)), voter=link.name))


async def decide(call: Call[Query, DecideByLink]) -> Answer:
    links, body = call.host.auth.links, call.body
    link = await links.open(call.params["token"], "approval")

    async def use() -> Decided:
        by = link.name or body.by or _anonymous(link)
        found = await call.host.engine.approvals.decide(
            link.target, body.decision, by=by, comment=body.comment, data=body.data, namespace=link.namespace
        )
        return decided(found, body.decision)

    return Answer(await links.spend(link, use))


def _voter(approval: Approval, by: str, caller: Caller) -> str:
    """Returns whose vote the link casts; empty: that of whoever uses it. Where it matters who votes, only an
    administrator may make links for others' votes: an administrator could create a key of any name anyway."""
    if approval.required == 1 and not approval.approvers:
        return by
    if not by:
        raise InvalidInput(
            "links.whose_vote",
            f"approval {approval.id} needs the votes of certain people",
            why="a link for it counts as the vote of one person",
            fix='say whose: {"by": "ada"}',
        )
    if approval.approvers and by not in approval.approvers:
        raise Forbidden(
            "kernel.not_an_approver",
            f"{by} may not decide approval {approval.id}",
            why=f"its approvers are {', '.join(approval.approvers)}",
        )
    if by != caller.name and not caller.may("admin"):
        raise Forbidden(
            "links.not_your_vote",
            f"{caller.name} may not create a link that votes as {by}",
            why="whoever has the link votes under that name",
            fix="let an administrator create it",
        )
    return by


def _anonymous(link: Link) -> str:
    return f"link {link.id[:8]}"


class ApprovalUrls:
    """The links in notices: each lets one approver decide while the approval is open."""

    def __init__(self, maker: LinkMaker, clock: Clock, base: str) -> None:
        self._maker = maker
        self._clock = clock
        self._base = base.rstrip("/")

    def __call__(self, approval: Approval, approver: str) -> str:
        left = LONGEST if approval.deadline is None else (approval.deadline - self._clock.now()) / 1000
        seconds = min(max(left, 1), LONGEST)
        minted = self._maker.mint("approval", approval.namespace, approval.id, name=approver, expires_in=seconds)
        return f"{self._base}/approve/{minted.token}"


def _made(site: Site, request: Request, path: str, minted: Minted) -> Answer:
    base = site.settings.public_url.rstrip("/") or f"{request.url.scheme}://{request.url.netloc}"
    return Answer(SignedLink(url=f"{base}{path}/{minted.token}", expires_at=minted.link.expires_at), 201)


ROUTES = (
    Route(
        method="POST",
        path="/runs/{id}/hooks",
        name="hooks.create",
        role="operator",
        summary="Create a link that sends one message to the run",
        handler=make_hook,
        query=Scoped,
        body=NewHook,
        replies=(Reply(201, SignedLink, "The link; it works once."),),
        noun=RUN,
        example={"message": "paid"},
    ),
    Route(
        method="POST",
        path="/hooks/{token}",
        name="hooks.call",
        role="public",
        summary="Send the message of a link, with the request body as its body",
        handler=call_hook,
        query=Query,
        body=_ANY_JSON,
        body_optional=True,
        replies=(Reply(200, Accepted, "The message is durable."),),
        faults=(_USED, Fault(409, "RUN_FINISHED", "The run has ended.")),
        noun=LINK,
        bare=True,
        audited=False,
    ),
    Route(
        method="POST",
        path="/approvals/{id}/link",
        name="approvals.link",
        role="approver",
        summary="Create a link that decides one approval",
        handler=make_link,
        query=Scoped,
        body=NewLink,
        body_optional=True,
        replies=(Reply(201, SignedLink, "The link; it works once."),),
        faults=(Fault(409, "kernel.approval_decided", "It has been decided, has expired or was withdrawn."),),
        noun=APPROVAL,
        example={"expires_in": 3600},
    ),
    Route(
        method="GET",
        path="/links/{token}",
        name="links.show",
        role="public",
        summary="The approval of a link",
        handler=show,
        query=Query,
        replies=(Reply(200, LinkedApproval, "The approval."),),
        faults=(_USED,),
        noun=LINK,
    ),
    Route(
        method="POST",
        path="/links/{token}",
        name="links.answer",
        role="public",
        summary="Decide the approval of a link",
        handler=decide,
        query=Query,
        body=DecideByLink,
        replies=(Reply(200, Decided, "The decision is durable."),),
        faults=(_USED, Fault(409, "kernel.approval_decided", "It was decided.")),
        noun=LINK,
        audited=False,
        example={"decision": "approve", "by": "Ann"},
    ),
)
