"""Webhooks: where step servers report the results of work that they have accepted.

    POST /webhook/{flow}/{step}/{token}?signature=…

The address is signed, so only the server that got the work can report it, and it needs no key. A report is durable
before it is acknowledged. A repeated or late report is accepted and changes nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, cast
from urllib.parse import parse_qs, quote, urlencode

from plait.dialects.goals.limits import RUN_BYTES
from plait.dialects.goals.running.machine import GoalsMachine
from plait.dialects.goals.running.results import FAILED, WORK
from plait.dialects.goals.running.state import ItemState
from plait.kernel import values
from plait.kernel.errors import Busy, PlaitError
from plait.kernel.ids import DEFAULT_NAMESPACE, RunId, caller_id, run_key
from plait.kernel.inputs import Message
from plait.server.auth.signing import Signer
from plait.server.errors import BadRequest

from .route import Ask, MountRoute, Said

_PROBLEM = "application/problem+json"


class WebhookUrls:
    """Makes the signed addresses, and verifies them."""

    def __init__(self, secret: bytes, base: str) -> None:
        self._signer = Signer(secret, "webhook")
        self._base = base.rstrip("/")

    def __call__(self, run_id: RunId, step_id: str, token: str) -> str:
        flow_id = caller_id(run_id)
        namespace = run_id.rpartition("/")[0] or DEFAULT_NAMESPACE
        query = {} if namespace == DEFAULT_NAMESPACE else {"namespace": namespace}
        query["signature"] = self.signature(namespace, flow_id, step_id, token)
        path = "/".join(quote(part, safe="") for part in (flow_id, step_id, token))
        return f"{self._base}/webhook/{path}?{urlencode(query)}"

    def signature(self, namespace: str, flow_id: str, step_id: str, token: str) -> str:
        return self._signer.mac("\0".join((namespace, flow_id, step_id, token)))


async def report(ask: Ask) -> Said:
    namespace, run_id = _run_of(ask)
    body = await ask.object()
    problem = ask.content_type.partition(";")[0].strip().lower() == _PROBLEM
    item = await _awaited(ask, run_id)
    await _tell(ask, run_id, (FAILED if problem else WORK) + ask.params["token"], item.round, body)
    return Said(None, target=ask.target, namespace=namespace)


def _run_of(ask: Ask) -> tuple[str, RunId]:
    """Returns the namespace and the run of an address; refuses one that we did not sign."""
    query = parse_qs(ask.query.decode("latin-1"))
    namespace = query.get("namespace", [DEFAULT_NAMESPACE])[0]
    flow_id, step_id, token = ask.params["flow"], ask.params["step"], ask.params["token"]
    if not ask.site.settings.unsigned_webhooks:
        made = WebhookUrls(ask.site.auth.secret, "").signature(namespace, flow_id, step_id, token)
        sent = query.get("signature", [""])[0]
        if not hmac.compare_digest(made.encode(), sent.encode("utf-8", "replace")):
            raise _unknown()
    try:
        return namespace, run_key(namespace, flow_id)
    except PlaitError:
        raise _unknown() from None


async def _awaited(ask: Ask, run_id: RunId) -> ItemState:
    """Returns the work that the address is for, which started before the address was given out."""
    kernel = ask.engine.kernel
    kernel.must_live()
    row = await kernel.store.run(run_id)
    if row is None or row.dialect != ask.engine.goals.name:
        raise _unknown()
    run = await kernel.peek(row)
    found = cast("GoalsMachine", run.machine).flow.done_work(ask.params["token"]) if run.state.seq else None
    if found is None or found[0].id != ask.params["step"] or found[0].step.type != "async" or not found[1].started_at:
        raise _unknown()
    if row.full:
        raise Busy("kernel.queue_full", "too many messages are waiting for this flow", fix="send it again later")
    return found[1]


async def _tell(ask: Ask, run_id: RunId, name: str, round: int, body: dict[str, Any]) -> None:
    """Sends the report to the run. A repeated report has the same id and counts once: a sender that missed our answer
    may try again. A report after the flow was reopened has another id, because the work was requested again."""
    raw = values.encode(body)
    key = f"webhook:{name}:{round}:{hashlib.sha256(raw).hexdigest()[:32]}"
    kernel = ask.engine.kernel
    await kernel.send(run_id, Message(key, name, raw, kernel.clock.now()), key)


def _unknown() -> PlaitError:
    return BadRequest(
        "goals.unknown_work",
        "no step is waiting for this callback",
        why="the flow, step, token or signature is unknown",
        fix="use Argyll-Webhook-URL exactly as it was sent, with its query",
    )


ROUTES = (
    MountRoute(
        method="POST",
        full_path="/webhook/{flow}/{step}/{token}",
        handler=report,
        name="webhook.report",
        who="step server",
        limit=RUN_BYTES,
    ),
)
