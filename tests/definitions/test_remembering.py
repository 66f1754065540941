"""Code that was loaded once, what older releases wrote, and records that are damaged."""

from __future__ import annotations

import pytest

from plait.definitions.library import Library
from plait.kernel.errors import PlaitError
from tests.definitions.shelf import CountedRecords, code, place


async def test_code_that_is_not_loaded_any_more_is_remembered() -> None:
    async with place() as here:
        await here.process(code("pack", "v1", source="one", doc="Old.")).remember()
        await here.clock.advance(1)
        definitions = here.process(code("pack", "v2", source="two"))
        await definitions.remember()
        await definitions.remember()
        found = await definitions.get("pack")
        assert [(each.version, each.loaded) for each in found.versions] == [("v2", True), ("v1", False)]
        text, facts = await definitions.version("pack", "v1")
        assert (text.source, facts.loaded) == ("one", False)
        later = await here.process().get("pack")
        assert (later.version, later.loaded) == ("v2", False)


async def test_what_is_loaded_counts_before_it_is_remembered() -> None:
    async with place() as here:
        definitions = here.process(code("pack", "v1"), code("pack", "v2"))
        found = await definitions.get("pack")
        assert [each.version for each in found.versions] == ["v2", "v1"]  # the last declared is the newest
        assert await here.process().list() == []


async def test_what_is_loaded_is_shown_before_what_is_newer_but_gone() -> None:
    async with place() as here:
        await here.process(code("pack", "v1"), code("pack", "v2")).remember()
        found = await here.process(code("pack", "v1", doc="One.")).get("pack")
        assert (found.version, found.doc, found.loaded) == ("v1", "One.", True)


async def test_records_of_older_releases_are_read() -> None:
    async with place() as here:
        await here.put_older(code("pack", "v2", source="two"), at=2)
        await here.put_older(code("pack", "v1", doc="Packs."), at=1)
        await here.put("tag", "default", "pack@prod", b'"v1"')
        await here.put("tag", "acme", "pack@prod", b'"v2"')
        definitions = here.process(code("wrap"))
        for _ in range(2):  # from the records, then from the stream that took them over
            found = await definitions.get("pack")
            assert [(each.version, each.created_at) for each in found.versions] == [("v2", 2), ("v1", 1)]
            assert found.tags == {"prod": "v1"}
            assert (await definitions.version("pack", "prod"))[0].doc == "Packs."
            assert await definitions.resolve("pack@prod", "acme") == "pack@v2"
            await definitions.remember()
            await definitions.tag("wrap", "prod", "v1")
            definitions = here.process(code("wrap"))
        await definitions.tag("pack", "prod", "v2")
        assert await here.process().resolve("pack@prod") == "pack@v2"


async def test_records_of_older_releases_are_read_once() -> None:
    async with place() as here:
        for number in range(1200):
            await here.put_older(code("pack", f"v{number}"), at=number)
        await here.process().remember()
        counted = CountedRecords(here.records)
        assert len((await here.process(records=counted).get("pack")).versions) == 1200
        assert counted.reads == 5


@pytest.mark.parametrize("body", [b"[1]", b'{"dialect": "graph"}'])
async def test_a_damaged_text_is_said_and_hides_nothing_else(body: bytes) -> None:
    async with place() as here:
        saved = await here.process().save("graph", "orders", {"nodes": []})
        await here.process().save("graph", "other", {"nodes": []})
        await here.put("definition", "default", f"graph/orders@1/{saved.version.hash}", body)
        definitions = here.process()
        with pytest.raises(PlaitError) as caught:
            await definitions.find("orders")
        assert caught.value.code == "store.damaged"
        assert "orders@1" in caught.value.what
        assert [each.name for each in await definitions.list()] == ["orders", "other"]


async def test_a_text_that_is_gone_is_said() -> None:
    async with place() as here:
        saved = await here.process().save("graph", "orders", {"nodes": []})
        await here.records.remove("definition", "default", f"graph/orders@1/{saved.version.hash}")
        with pytest.raises(PlaitError) as caught:
            await here.process().version("orders", "1")
        assert (caught.value.code, caught.value.why) == ("store.damaged", "it is missing")


async def test_a_damaged_record_of_an_older_release_is_listed_by_its_id() -> None:
    async with place() as here:
        await here.put("definition", "", "code/pack@v1/abc", b"[]")
        definitions = here.process()
        assert [each.version for each in (await definitions.get("pack")).versions] == ["v1"]
        with pytest.raises(PlaitError) as caught:
            await definitions.version("pack", "v1")
        assert caught.value.code == "store.damaged"


async def test_a_damaged_tag_of_an_older_release_is_said() -> None:
    async with place() as here:
        await here.put("tag", "default", "pack@prod", b"{}")
        with pytest.raises(PlaitError) as caught:
            await here.process().resolve("pack@prod")
        assert caught.value.code == "store.damaged"


@pytest.mark.parametrize("body", [b"{}", b"[1]", b'[{"type": "of.the.future"}]'])
async def test_a_damaged_change_is_said(body: bytes) -> None:
    async with place() as here:
        await here.process().save("graph", "orders", {"nodes": []})
        await here.put("definitions/default", "default", f"{2:016}", body)
        with pytest.raises(PlaitError) as caught:
            await here.process().list()
        assert caught.value.code in ("store.damaged", "kernel.unreadable_event")


@pytest.mark.parametrize("body", [b"{}", b'{"sequence": 1, "index": {"orders": []}}'])
async def test_a_damaged_snapshot_is_made_again(body: bytes) -> None:
    async with place() as here:
        await here.process().save("graph", "orders", {"nodes": []})
        await here.process().tag("orders", "prod", "1")
        await here.put("definitions.snapshot", "default", "latest", body)
        definitions = here.process()
        assert await definitions.resolve("orders@prod") == "orders@1"
        await definitions.save("graph", "orders", {"nodes": [1]})
        counted = CountedRecords(here.records)
        assert await here.process(records=counted).resolve("orders@prod") == "orders@1"
        assert counted.reads == 2


async def test_a_snapshot_and_the_stream_give_the_same_index() -> None:
    async with place() as here:
        definitions = here.process()
        for number in range(3):
            await definitions.save("graph", "orders", {"nodes": [number]}, doc="Sells.")
        await definitions.tag("orders", "prod", "2")
        with_snapshot = await Library(here.records, here.clock).index("default")
        await here.records.remove("definitions.snapshot", "default", "latest")
        without = await Library(here.records, here.clock).index("default")
        assert with_snapshot.history("orders") == without.history("orders")


async def test_the_oldest_changes_go_and_a_process_that_was_away_still_gets_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plait.kernel.streams._KEPT", 10)
    monkeypatch.setattr("plait.definitions.library.EVERY", 5)
    async with place() as here:
        definitions, away = here.process(), here.process()
        await definitions.save("graph", "orders", {"nodes": []})
        assert await away.resolve("orders@1") == "orders@1"
        for number in range(60):
            await definitions.save("graph", "orders", {"nodes": [number]})
            await definitions.tag("orders", "prod", str(number + 2))
        assert len(await here.records.list("definitions/default", "default", limit=1000)) < 20
        for each in (away, here.process()):
            assert await each.resolve("orders@prod") == "orders@61"
            assert [entry.version for entry in (await each.get("orders")).versions] == [
                str(n) for n in range(61, 0, -1)
            ]
        saved = await away.save("graph", "orders", {"nodes": ["away"]})
        assert saved.version.version == "62"
        assert await definitions.resolve("orders@62") == "orders@62"
