"""A small server that speaks S3's protocol: put, get and list objects of one bucket, for who signs a request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.server.process import Server, listen

_XML = "application/xml"


@dataclass
class Bucket:
    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])
    url: str = ""
    refuses: bool = False

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/runs", self._list, methods=["GET"]),
                Route("/runs/{name:path}", self._put, methods=["PUT"]),
                Route("/runs/{name:path}", self._get, methods=["GET"]),
            ]
        )

    async def _put(self, request: Request) -> Response:
        if (refused := self._refused(request)) is not None:
            return refused
        self.objects[request.path_params["name"]] = await request.body()
        return Response(headers={"etag": '"1"'})

    async def _get(self, request: Request) -> Response:
        content = self.objects.get(request.path_params["name"])
        if content is None:
            return _error(404, "NoSuchKey")
        return Response(content, headers={"etag": '"1"', "last-modified": "Tue, 01 Jan 2030 00:00:00 GMT"})

    async def _list(self, request: Request) -> Response:
        if (refused := self._refused(request)) is not None:
            return refused
        asked = request.query_params
        prefix, after = asked.get("prefix", ""), asked.get("start-after", "")
        names = sorted(name for name in self.objects if name.startswith(prefix) and name > after)
        folders: set[str] = set()
        if asked.get("delimiter"):
            folders = {prefix + rest.partition("/")[0] + "/" for name in names if "/" in (rest := name[len(prefix) :])}
            names = [name for name in names if "/" not in name[len(prefix) :]]
        objects = "".join(map(self._shown, names))
        parts = "".join(f"<CommonPrefixes><Prefix>{escape(each)}</Prefix></CommonPrefixes>" for each in sorted(folders))
        body = f"<IsTruncated>false</IsTruncated><KeyCount>{len(names)}</KeyCount>{objects}{parts}"
        return Response(f"<ListBucketResult>{body}</ListBucketResult>", media_type=_XML)

    def _shown(self, name: str) -> str:
        facts = (
            f"<LastModified>2030-01-01T00:00:00.000Z</LastModified><ETag>1</ETag><Size>{len(self.objects[name])}</Size>"
        )
        return f"<Contents><Key>{escape(name)}</Key>{facts}</Contents>"

    def _refused(self, request: Request) -> Response | None:
        signed = request.headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 Credential=tests/")
        return None if signed and not self.refuses else _error(403, "AccessDenied")


def _error(status: int, code: str) -> Response:
    return Response(f"<Error><Code>{code}</Code><Message>{code}</Message></Error>", status, media_type=_XML)


@asynccontextmanager
async def bucket() -> AsyncGenerator[Bucket]:
    """One that is empty, at an address of its own."""
    found, sock = Bucket(), listen("127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    server = Server(uvicorn.Config(found.app, lifespan="off", log_config=None, timeout_graceful_shutdown=1))
    serving = asyncio.ensure_future(server.serve(sockets=[sock]))
    try:
        while not server.started:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        yield found
    finally:
        server.should_exit = True
        await serving
