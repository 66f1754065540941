"""Results of work that an outside service has accepted, reported to a signed address that works once.

    POST /callbacks/{token}                                 the body is the result, as in a response with status 200
    Content-Type: application/problem+json                  the attempt failed; {"detail", "retryable": true}

Anyone who has the address may report; there is no other check. A report is durable before it is acknowledged. One
that arrives too late, or for an attempt that is over, is recorded as late and changes nothing.
"""

from __future__ import annotations

from typing import Any, cast

from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Accepted, Query
from plait.kernel import values
from plait.kernel.errors import ErrorInfo, InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE, RunId, TaskToken, caller_id, run_key
from plait.kernel.inputs import TaskResult

from .auth import Link, LinkMaker
from .call import Call
from .nouns import LINK

_ANY_JSON: Any = Any
_PROBLEM = "application/problem+json"
_LATE = 86_400.0
"""Seconds that an address outlives the wait for its result: a late result is recorded, not lost."""
_UNLIMITED = 30 * 86_400.0
_MOST = 89 * 86_400.0


class ResultLinks:
    """Makes the addresses to which results are reported."""

    def __init__(self, links: LinkMaker, base: str) -> None:
        self._links = links
        self._base = base.rstrip("/")

    def __call__(self, run_id: RunId, token: TaskToken, attempt: int, seconds: float | None) -> str:
        namespace = run_id.rpartition("/")[0] or DEFAULT_NAMESPACE
        lifetime = min(_MOST, _UNLIMITED if seconds is None else seconds) + _LATE
        minted = self._links.mint(
            "result", namespace, caller_id(run_id), name=f"{attempt}:{token}", expires_in=lifetime
        )
        return f"{self._base}/callbacks/{minted.token}"


async def report(call: Call[Query, Any]) -> Answer:
    links, engine = call.host.auth.links, call.host.engine
    link = await links.open(call.params["token"], "result")
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    result = _result(link, call.body, failed=kind == _PROBLEM, most=engine.kernel.limits.max_payload)
    key = f"callback:{result.token}:{result.attempt}"

    async def send() -> Accepted:
        run_id = run_key(link.namespace, link.target)
        await engine.get(link.target, link.namespace)
        await engine.kernel.send(run_id, result, key)
        return Accepted(id=key)

    return Answer(await links.spend(link, send))


def _result(link: Link, body: Any, *, failed: bool, most: int) -> TaskResult:
    number, _, token = link.name.partition(":")
    if not failed:
        return TaskResult(TaskToken(token), int(number), values.encode(body, max_bytes=most))
    if not isinstance(body, dict):
        raise InvalidInput("http.bad_problem", "a problem is an object", fix='send {"detail": "what went wrong"}')
    problem = cast("dict[str, Any]", body)
    told = next((text for name in ("detail", "title") if isinstance(text := problem.get(name), str) and text), "")
    error = ErrorInfo("task.failed", told or "it was reported as failed, without a reason")
    return TaskResult(TaskToken(token), int(number), error=error, retryable=problem.get("retryable") is not False)


ROUTES = (
    Route(
        method="POST",
        path="/callbacks/{token}",
        name="callbacks.report",
        role="public",
        summary="Report the result of work that was accepted with 202",
        handler=report,
        query=Query,
        body=_ANY_JSON,
        body_optional=True,
        replies=(Reply(200, Accepted, "The result is durable."),),
        faults=(Fault(410, "auth.link_used", "The address was already used, or has expired (`auth.link_expired`)."),),
        noun=LINK,
        bare=True,
        audited=False,
    ),
)
