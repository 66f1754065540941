"""The built pages."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from plait.server.ui import Ui


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "static" / "assets").mkdir(parents=True)
    (tmp_path / "static" / "index.html").write_text("<!doctype html><title>Plait</title>")
    (tmp_path / "static" / "assets" / "app-1f2e.js").write_text("let a = 1;\n" * 200)
    (tmp_path / "secret.txt").write_text("a secret")
    return tmp_path / "static"


@contextlib.asynccontextmanager
async def pages(folder: Path) -> AsyncGenerator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(Ui(folder))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        yield client


async def test_pages_of_the_ui_all_get_the_one_page(built: Path):
    async with pages(built) as client:
        for path in ("/", "/runs", "/runs/order-1?tab=graph", "/definitions/a"):
            answer = await client.get(path)
            assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
            assert "Plait" in answer.text
        dotted = await client.get("/runs/order.1", headers={"accept": "text/html"})
        assert "Plait" in dotted.text


async def test_files_with_a_hash_in_their_name_are_kept_for_ever(built: Path):
    async with pages(built) as client:
        answer = await client.get("/assets/app-1f2e.js")
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.headers["content-encoding"] == "gzip"
        plain = await client.get("/assets/app-1f2e.js", headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.text == answer.text


async def test_a_file_that_did_not_change_is_not_sent_again(built: Path):
    async with pages(built) as client:
        etag = (await client.get("/")).headers["etag"]
        again = await client.get("/", headers={"if-none-match": etag})
        assert (again.status_code, again.content) == (304, b"")
        (built / "index.html").write_text("<!doctype html><title>new</title>")
        assert "new" in (await client.get("/", headers={"if-none-match": etag})).text


async def test_nothing_outside_the_folder_is_given(built: Path):
    async with pages(built) as client:
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "//etc/passwd"):
            assert "secret" not in (await client.get(path)).text
        (built / "link.txt").symlink_to(built.parent / "secret.txt")
        assert (await client.get("/link.txt")).status_code == 404


async def test_a_file_that_is_not_there_is_no_page(built: Path):
    async with pages(built) as client:
        assert (await client.get("/assets/old-123.js")).status_code == 404
        assert (await client.post("/runs")).status_code == 405
        assert (await client.head("/")).content == b""


async def test_a_ui_that_is_not_built_says_how_to_build_it(tmp_path: Path):
    async with pages(tmp_path / "nothing") as client:
        answer = await client.get("/")
        assert answer.status_code == 503
        assert "make ui" in answer.text
