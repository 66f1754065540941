"""Step servers on virtual time: what goes out by the guarded client ends here. Real HTTP has its tests elsewhere."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from plait.egress import Headers, Request, Response
from plait.kernel import values


@dataclass
class Sent:
    path: str
    headers: dict[str, str]
    body: Any
    answer: asyncio.Future[tuple[int, Any]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def token(self) -> str:
        return self.headers["Argyll-Receipt-Token"]


class Wire:
    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self._orders: dict[str, list[tuple[int, Any]]] = {}

    def plays(self, path: str, *orders: tuple[int, Any]) -> None:
        """What requests to a path are answered, as (status, body); the last for all further. Without: they wait."""
        self._orders[path] = list(orders)

    def to(self, path: str) -> list[Sent]:
        return [each for each in self.sent if each.path == path]

    async def send(self, request: Request) -> Response:
        body = values.parse(request.body) if request.body else None
        sent = Sent(urlsplit(request.url).path, dict(request.headers), body)
        self.sent.append(sent)
        orders = self._orders.get(sent.path)
        if orders is None:
            status, answer = await sent.answer
        else:
            sent.answer.cancel()
            status, answer = orders.pop(0) if len(orders) > 1 else orders[0]
        return Response(
            status=status,
            headers=Headers([("content-type", "application/json")]),
            body=b"" if answer is None else bytes(values.encode(answer)),
            url=request.url,
            address="127.0.0.1",
            redirects=0,
            bytes_sent=0,
            bytes_received=0,
            ms=0,
        )
