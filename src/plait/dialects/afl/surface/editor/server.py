"""The language server: documents as they are typed, diagnostics, definitions, hover, completion, formatting."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from plait.dialects.afl.language.diagnostic import Diagnostic
from plait.dialects.afl.language.editing.completion import Choice, choices_at
from plait.dialects.afl.language.editing.lookup import Meaning, meaning_at
from plait.dialects.afl.language.formatting.format import format_source
from plait.dialects.afl.language.program import Program
from plait.dialects.afl.language.source_file import Place, SourceFile, SourceText
from plait.extras import extra

from .documents import Documents

with extra("lsp", "the language server"):
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer

_KINDS = {
    "keyword": types.CompletionItemKind.Keyword,
    "facet": types.CompletionItemKind.Function,
    "event": types.CompletionItemKind.Event,
    "workflow": types.CompletionItemKind.Module,
    "schema": types.CompletionItemKind.Struct,
    "type": types.CompletionItemKind.TypeParameter,
    "step": types.CompletionItemKind.Variable,
    "parameter": types.CompletionItemKind.Field,
    "namespace": types.CompletionItemKind.Module,
}
_SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


class AflServer(LanguageServer):
    """Identifies everything by file names; a document that is not a file is named by its URI."""

    def __init__(self, version: str) -> None:
        super().__init__("plait-afl", version)  # pyright: ignore[reportUnknownMemberType]
        self.programs = Documents()

    def opened(self) -> dict[str, str]:
        return {name_of(uri): document.source for uri, document in self.workspace.text_documents.items()}

    def folders(self) -> list[Path]:
        uris = [folder.uri for folder in self.workspace.folders.values()]
        return [Path(name) for name in map(name_of, uris) if Path(name).is_dir()]

    def check(self, uri: str) -> Program:
        """Reads the program of a document again, and publishes the document's diagnostics."""
        name = name_of(uri)
        program = self.programs.read(name, self.opened(), self.folders())
        document = self.workspace.get_text_document(uri)
        found = [self._diagnostic(each, document.lines) for each in program.diagnostics if each.file == name]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=document.version)
        )
        return program

    def check_all(self) -> None:
        """Checks all documents, since one may be used by another."""
        for uri in list(self.workspace.text_documents):
            self.check(uri)

    def offset(self, uri: str, position: types.Position) -> tuple[SourceText, int]:
        document = self.workspace.get_text_document(uri)
        found = self.workspace.position_codec.position_from_client_units(document.lines, position)
        text = SourceText(SourceFile(name_of(uri), document.source))
        return text, text.offset(Place(found.line + 1, found.character + 1))

    def meaning(self, uri: str, position: types.Position) -> Meaning | None:
        _, offset = self.offset(uri, position)
        program = self.programs.last(name_of(uri))
        return meaning_at(program, name_of(uri), offset) if program is not None else None

    def location(self, found: Meaning) -> types.Location:
        start, end = found.source.place(found.span[0]), found.source.place(found.span[1])
        lines = [f"{line}\n" for line in found.source.text.split("\n")]
        return types.Location(uri_of(found.source.name), self._range(start, end, lines))

    def _diagnostic(self, each: Diagnostic, lines: Sequence[str]) -> types.Diagnostic:
        return types.Diagnostic(
            range=self._range(Place(each.line, each.column), Place(each.end_line, each.end_column), lines),
            message=f"{each.message}\n{each.hint}" if each.hint else each.message,
            severity=_SEVERITIES[each.severity],
            code=each.code,
            source="afl",
        )

    def _range(self, start: Place, end: Place, lines: Sequence[str]) -> types.Range:
        codec = self.workspace.position_codec
        return types.Range(
            codec.position_to_client_units(lines, types.Position(start.line - 1, start.column - 1)),
            codec.position_to_client_units(lines, types.Position(end.line - 1, end.column - 1)),
        )


def make_server(version: str) -> AflServer:
    server = AflServer(version)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def changed(server: AflServer, params: Any) -> None:
        server.check_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(server: AflServer, params: types.DidCloseTextDocumentParams) -> None:
        server.programs.forget(name_of(params.text_document.uri))
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
        server.check_all()

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(server: AflServer, params: types.DefinitionParams) -> types.Location | None:
        found = server.meaning(params.text_document.uri, params.position)
        return server.location(found) if found is not None else None

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(server: AflServer, params: types.HoverParams) -> types.Hover | None:
        found = server.meaning(params.text_document.uri, params.position)
        if found is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found.text))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", "$"]))
    def completion(server: AflServer, params: types.CompletionParams) -> types.CompletionList:
        text, offset = server.offset(params.text_document.uri, params.position)
        program = server.programs.last(text.name)
        choices = choices_at(program, text.text, offset) if program is not None else []
        return types.CompletionList(is_incomplete=False, items=[_item(each) for each in choices])

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(server: AflServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        document = server.workspace.get_text_document(params.text_document.uri)
        formatted = format_source(SourceFile(document.uri, document.source))
        if formatted.text is None or formatted.text == document.source:
            return None
        whole = types.Range(types.Position(0, 0), types.Position(len(document.lines) + 1, 0))
        return [types.TextEdit(whole, formatted.text)]

    return server


def name_of(uri: str) -> str:
    parsed = urlparse(uri)
    return unquote(parsed.path) if parsed.scheme == "file" else uri


def uri_of(name: str) -> str:
    return Path(name).as_uri() if name.startswith("/") else name


def _item(each: Choice) -> types.CompletionItem:
    return types.CompletionItem(label=each.text, kind=_KINDS[each.kind], detail=each.detail or None)
