"""Work and compensation by step servers: one request for each attempt, through the guarded client.

POST /charge            Content-Type, Accept: application/json
{"amount": 5}           Argyll-Flow-ID, Argyll-Step-ID, Argyll-Receipt-Token, Idempotency-Key,
                        Argyll-Webhook-URL if the step answers later
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NoReturn
from urllib.parse import quote

from msgspec import Raw

from plait.dialects.goals.limits import RUN_BYTES
from plait.dialects.goals.running.hands import Item, Worked, WorkError
from plait.dialects.goals.steps.step import Http
from plait.egress import Request, Response
from plait.egress.errors import EgressError
from plait.kernel import values
from plait.kernel.ids import caller_id
from plait.kernel.machine import RunInfo

from . import mapping
from .addresses import filled
from .answers import check_status, outputs_of
from .facts import Facts, Webhooks
from .shaping import Shaping

_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_BODILESS = frozenset(["GET"])


def local_webhook(run: RunInfo, step_id: str, token: str) -> str:
    """Where a server on this machine listens, if nobody knows better."""
    parts = (quote(part, safe="") for part in (caller_id(run.run_id), step_id, token))
    return f"http://127.0.0.1:8080/webhook/{'/'.join(parts)}"


Send = Callable[[Request], Awaitable[Response]]
"""The guarded client; a test may put step servers of its own there."""


class HttpCalls:
    def __init__(self, send: Send, webhooks: Webhooks, shaping: Shaping) -> None:
        self._call = send
        self._webhooks = webhooks
        self._shaping = shaping

    async def work(self, item: Item, facts: Facts, http: Http) -> Worked | None:
        """The outputs; None if the step server took the work and will answer by webhook."""
        inputs = facts.inputs(item, self._webhooks)
        url = filled(http.endpoint, lambda: values.decode(inputs))
        body = b"" if http.method in _BODILESS else bytes(inputs)
        response = await self._send(item, http, url, http.method, body)
        if item.step.type == "async":
            return None
        return await self._shaping.worked(facts, outputs_of(response), item.token)

    async def undo(self, item: Item, facts: Facts, http: Http, outputs: Raw) -> None:
        inputs = facts.inputs(item, self._webhooks)
        output = mapping.as_returned(item.step, values.decode(outputs) or {})
        url = filled(http.compensate, lambda: {**values.decode(inputs), **output})
        await self._send(item, http, url, "POST", values.plain({"input": inputs, "output": output}))

    async def _send(self, item: Item, http: Http, url: str, method: str, body: bytes) -> Response:
        request = Request(
            method=method,
            url=url,
            headers=self._headers(item),
            body=body,
            timeout=http.timeout / 1000,
            idempotency_key=item.token,
            max_bytes=RUN_BYTES,
        )
        try:
            response = await self._call(request)
        except EgressError as error:
            _fail(error)
        check_status(response, item.step.work_config.retry_statuses)
        return response

    def _headers(self, item: Item) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "Argyll-Flow-ID": _printable(caller_id(item.run.run_id)),
            "Argyll-Step-ID": item.step.id,
            "Argyll-Receipt-Token": item.token,
        }
        if item.step.type == "async":
            headers["Argyll-Webhook-URL"] = self._webhooks(item.run, item.step.id, item.token)
        return headers


def _printable(text: str) -> str:
    """A run id may hold what no header can: that is percent-encoded."""
    return text if text.isascii() and text == text.strip() else quote(text.strip(), safe=_PRINTABLE)


def _fail(error: EgressError) -> NoReturn:
    why = f": {error.why}" if error.why else ""
    raise WorkError(f"step call failed: {error.what}{why}", retryable=error.retryable) from error
