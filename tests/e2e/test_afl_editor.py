"""The language server through its protocol: a process of its own, and a client that speaks LSP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

MAIN = """\
namespace app {
    use shop
    /** Checks "ä😀" out. */
    workflow Checkout(total: Long) => (id: String) andThen {
        pay = Pay(sku = "😀" ++ $.total)
        note = Pay(sku = pay.id)
        yield Checkout(id = note.id)
    }
}
"""
SHOP = """\
namespace shop {
    /** Takes money.
     * @param sku what for
     */
    event facet Pay(sku: String) => (id: String, fee: Double)
}
"""


class Editor:
    """An editor with one document open."""

    def __init__(self, client: LanguageClient, uri: str) -> None:
        self.client = client
        self.uri = uri
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.version = 1

    async def diagnostics(self) -> list[types.Diagnostic]:
        return list((await self.published.get()).diagnostics)

    def type(self, text: str) -> None:
        self.version += 1
        whole = types.TextDocumentContentChangeWholeDocument(text=text)
        document = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def at(self, text: str, mark: str, inside: int = 0) -> dict[str, Any]:
        """The place of a text, in UTF-16 as editors count."""
        offset = text.index(mark) + inside
        line = text.count("\n", 0, offset)
        column = len(text[text.rfind("\n", 0, offset) + 1 : offset].encode("utf-16-le")) // 2
        return {
            "text_document": types.TextDocumentIdentifier(uri=self.uri),
            "position": types.Position(line, column),
        }


@asynccontextmanager
async def editor(folder: Path, text: str) -> AsyncIterator[Editor]:
    path = folder / "main.afl"
    path.write_text(text)
    client = LanguageClient("test", "1")
    found = Editor(client, path.as_uri())

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: types.PublishDiagnosticsParams) -> None:
        found.published.put_nowait(params)

    command = "import sys; sys.argv = ['plait', 'afl', 'lsp']; from plait.cli.entry import main; main()"
    await client.start_io(sys.executable, "-c", command)
    try:
        folders = [types.WorkspaceFolder(uri=folder.as_uri(), name="work")]
        capabilities = types.ClientCapabilities()
        await client.initialize_async(types.InitializeParams(capabilities=capabilities, workspace_folders=folders))
        client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(uri=found.uri, language_id="afl", version=1, text=text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        yield found
        await client.shutdown_async(None)
        client.exit(None)
    finally:
        await client.stop()


async def test_diagnostics_follow_what_is_typed(tmp_path: Path) -> None:
    (tmp_path / "shop.afl").write_text(SHOP)
    async with editor(tmp_path, MAIN) as open_:
        assert await open_.diagnostics() == []
        open_.type(MAIN.replace("note.id", "noet.id"))
        [error] = await open_.diagnostics()
        assert (error.code, error.source, error.severity) == (
            "REF_UNDEFINED_STEP",
            "afl",
            types.DiagnosticSeverity.Error,
        )
        assert (error.range.start.line, error.range.start.character) == (6, 28)
        assert "did you mean 'note'?" in error.message
        open_.type(MAIN.replace('"😀" ++ $.total', '"😀" ++ $.totl'))
        [error] = await open_.diagnostics()
        assert error.range.start.character == MAIN.split("\n")[4].index("$.") + 1  # 😀 is two units of UTF-16
        open_.type("namespace a {")
        [error] = await open_.diagnostics()
        assert error.code == "PARSE_ERROR"
        open_.type(MAIN)
        assert await open_.diagnostics() == []


async def test_definitions_are_found_in_this_file_and_in_others(tmp_path: Path) -> None:
    (tmp_path / "shop.afl").write_text(SHOP)
    async with editor(tmp_path, MAIN) as open_:
        await open_.diagnostics()

        async def definition(mark: str, inside: int = 0) -> tuple[str, int, int]:
            params = types.DefinitionParams(**open_.at(MAIN, mark, inside))
            found = await open_.client.text_document_definition_async(params)
            assert isinstance(found, types.Location)
            return Path(found.uri).name, found.range.start.line, found.range.start.character

        assert await definition("Pay(sku") == ("shop.afl", 4, 16)
        assert await definition("sku = pay") == ("shop.afl", 4, 20)
        assert await definition("pay.id") == ("main.afl", 4, 8)
        assert await definition("pay.id", 4) == ("shop.afl", 4, 37)
        assert await definition("$.total", 2) == ("main.afl", 3, 22)
        assert await definition("Checkout(id") == ("main.afl", 3, 13)
        assert await definition("use shop", 5) == ("shop.afl", 0, 10)
        nothing = types.DefinitionParams(**open_.at(MAIN, "namespace"))
        assert await open_.client.text_document_definition_async(nothing) is None


async def test_hover_shows_the_signature_and_the_doc(tmp_path: Path) -> None:
    (tmp_path / "shop.afl").write_text(SHOP)
    async with editor(tmp_path, MAIN) as open_:
        await open_.diagnostics()
        found = await open_.client.text_document_hover_async(types.HoverParams(**open_.at(MAIN, "Pay(sku")))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        assert "event facet shop.Pay(sku: String) => (id: String, fee: Double)" in found.contents.value
        assert "Takes money." in found.contents.value
        assert "- `sku`: what for" in found.contents.value


async def test_completion_knows_what_can_stand_where_the_text_is_not_finished(tmp_path: Path) -> None:
    (tmp_path / "shop.afl").write_text(SHOP)
    async with editor(tmp_path, MAIN) as open_:
        await open_.diagnostics()

        async def choices(line: str) -> set[str]:
            text = MAIN.replace("        yield Checkout(id = note.id)", f"        {line}")
            open_.type(text)
            await open_.diagnostics()
            place = open_.at(text, line, len(line))
            found = await open_.client.text_document_completion_async(types.CompletionParams(**place))
            assert isinstance(found, types.CompletionList)
            return {each.label for each in found.items}

        assert await choices("x = Pay(sku = $.") == {"total"}
        assert await choices("x = Pay(sku = pay.") == {"sku", "id", "fee"}
        assert await choices("x = Pay(") == {"sku = "}
        assert {"Pay", "Checkout"} <= await choices("x = ")
        assert {"Pay", "Timeout", "Retry"} <= await choices("x = Pay() with ")
        assert "id = " in await choices("yield Checkout(")
        assert {"pay", "note", "$", "true"} <= await choices("x = Pay(sku = ")
        assert await choices("x = shop.") == {"Pay"}
        assert await choices("sys.") == {"log", "assert"}


async def test_a_document_is_formatted(tmp_path: Path) -> None:
    messy = "namespace a{facet F( )}"
    async with editor(tmp_path, messy) as open_:
        await open_.diagnostics()
        options = types.FormattingOptions(tab_size=4, insert_spaces=True)
        params = types.DocumentFormattingParams(types.TextDocumentIdentifier(open_.uri), options)
        [edit] = await open_.client.text_document_formatting_async(params) or []
        assert edit.new_text == "namespace a {\n    facet F()\n}\n"
        assert edit.range.start == types.Position(0, 0)
        open_.type(edit.new_text)
        await open_.diagnostics()
        assert await open_.client.text_document_formatting_async(params) is None
        open_.type("facet F(")
        await open_.diagnostics()
        assert await open_.client.text_document_formatting_async(params) is None


async def test_another_open_document_counts_as_it_is_in_the_editor(tmp_path: Path) -> None:
    shop = tmp_path / "shop.afl"
    shop.write_text(SHOP)
    async with editor(tmp_path, MAIN) as open_:
        assert await open_.diagnostics() == []
        changed = SHOP.replace("Pay", "Charge")
        item = types.TextDocumentItem(uri=shop.as_uri(), language_id="afl", version=1, text=changed)
        open_.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        codes = {each.code for each in await open_.diagnostics()}
        assert codes == {"REF_UNKNOWN_FACET"}
