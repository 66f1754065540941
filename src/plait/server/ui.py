"""Serves the built web UI from memory. Every path that is not a file gets the page, which does its own routing."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from starlette.types import Receive, Scope, Send

STATIC = Path(__file__).parent / "static"
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Plait</title>
<body style="font-family:sans-serif;max-width:40em;margin:4em auto">
<h1>Plait is running</h1>
<p>The web UI is not built yet. In the source directory run</p><pre>make ui</pre>
<p>and reload this page. The API is at <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p>
</body></html>"""
_MIN_COMPRESSED = 512
"""Minimum size in bytes to compress."""
_TEXT = ("text/", "application/json", "application/javascript", "image/svg", "application/manifest")


@dataclass(frozen=True, slots=True)
class File:
    body: bytes
    packed: bytes | None
    kind: str
    etag: bytes
    changed: int


class Ui:
    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder.resolve()
        self._files: dict[str, File] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await _send(send, 405, [(b"allow", b"GET, HEAD"), _NO_CACHE], b"")
            return
        path: str = scope["path"]
        found = self._file(path.lstrip("/"))
        if found is None and not _is_page(path, scope):
            await _send(send, 404, [(b"content-type", b"text/plain; charset=utf-8"), _NO_CACHE], b"file not found\n")
            return
        if found is None:
            found = self._file("index.html")
        if found is None:
            await _send(send, 503, [(b"content-type", b"text/html; charset=utf-8"), _NO_CACHE], _NOT_BUILT)
            return
        await _respond(found, hashed=path.startswith("/assets/"), scope=scope, send=send)

    def _file(self, name: str) -> File | None:
        """Returns a file from the cache; it is read once, and again after a new build."""
        try:
            place = (self._folder / name).resolve()
            if not place.is_relative_to(self._folder) or not place.is_file():
                return None
            changed = place.stat().st_mtime_ns
            known = self._files.get(name)
            if known is None or known.changed != changed:
                known = self._files[name] = _read(place, changed)
        except (OSError, ValueError):
            return None
        return known


def _is_page(path: str, scope: Scope) -> bool:
    """Whether a person navigates there: a path whose id has a dot is a page too, but scripts and images are not."""
    asked: dict[bytes, bytes] = dict(scope["headers"])
    return "." not in path.rpartition("/")[2] or b"text/html" in asked.get(b"accept", b"")


def _read(place: Path, changed: int) -> File:
    body = place.read_bytes()
    kind = mimetypes.guess_type(place.name)[0] or "application/octet-stream"
    text = kind.startswith(_TEXT)
    packed = gzip.compress(body, 9, mtime=0) if text and len(body) >= _MIN_COMPRESSED else None
    etag = b'"%s"' % hashlib.blake2b(body, digest_size=12).hexdigest().encode()
    return File(body, packed, f"{kind}; charset=utf-8" if text else kind, etag, changed)


async def _respond(file: File, *, hashed: bool, scope: Scope, send: Send) -> None:
    asked: dict[bytes, bytes] = dict(scope["headers"])
    caching = b"public, max-age=31536000, immutable" if hashed else b"no-cache"
    headers = [(b"cache-control", caching), (b"etag", file.etag), (b"vary", b"accept-encoding")]
    if file.etag in asked.get(b"if-none-match", b""):
        await _send(send, 304, headers, b"")
        return
    headers.append((b"content-type", file.kind.encode()))
    body = file.body
    if file.packed is not None and b"gzip" in asked.get(b"accept-encoding", b""):
        body = file.packed
        headers.append((b"content-encoding", b"gzip"))
    await _send(send, 200, headers, body, head=scope["method"] == "HEAD")


_NO_CACHE = (b"cache-control", b"no-cache")


async def _send(
    send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes, *, head: bool = False
) -> None:
    if status != 304:
        headers = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else body})
