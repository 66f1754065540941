"""An archive in S3-compatible object storage. Address and credentials are those of its other clients: `AWS_ENDPOINT`,
`AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, or the role of the machine."""

from __future__ import annotations

from typing import Any

from plait.extras import extra
from plait.kernel.errors import InvalidInput, Unavailable

from .names import is_of, start_of

_FEW = 10
"""Names listed at a time: that of the run is the first."""


class ObjectArchive:
    def __init__(self, url: str) -> None:
        with extra("s3", "an archive in object storage"):
            import obstore
            import obstore.exceptions
            import obstore.store
        self._obstore: Any = obstore
        self._error: type[Exception] = obstore.exceptions.BaseError
        self._url = url
        try:
            self._store: Any = obstore.store.from_url(url)
        except (self._error, ValueError) as error:
            fix = "write s3://bucket/folder"
            raise InvalidInput("archive.bad_place", f"{url} names no bucket", why=_first_line(error), fix=fix) from None

    async def put(self, name: str, content: bytes) -> None:
        """Stores a document, atomically."""
        try:
            await self._obstore.put_async(self._store, name, content)
        except (self._error, OSError) as error:
            raise Unavailable(
                "archive.unwritable",
                f"the archive {self._url} can't be written",
                why=_first_line(error),
                fix="check its address and its keys (AWS_ENDPOINT, AWS_ACCESS_KEY_ID, …); nothing was removed",
            ) from error

    async def find(self, folder: str, run_id: str) -> bytes | None:
        try:
            listed = await self._obstore.list_with_delimiter_async(self._store, folder)
            for month in sorted(listed["common_prefixes"], reverse=True):
                if (name := await self._newest(month, run_id)) is not None:
                    found = await self._obstore.get_async(self._store, name)
                    return bytes(await found.bytes_async())
        except (self._error, OSError) as error:
            raise Unavailable(
                "archive.unreadable",
                f"the archive {self._url} can't be read",
                why=_first_line(error),
                fix="check its address and its keys (AWS_ENDPOINT, AWS_ACCESS_KEY_ID, …)",
            ) from error
        return None

    async def _newest(self, month: str, run_id: str) -> str | None:
        """The newest document of a run. Names are listed in order: those of one run are adjacent."""
        start, newest = f"{month}/{start_of(run_id)}", None
        async for page in self._obstore.list(self._store, month, offset=start, chunk_size=_FEW):
            for each in page:
                if not each["path"].startswith(start):
                    return newest
                if is_of(each["path"].rpartition("/")[2], run_id):
                    newest = each["path"]
        return newest


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
