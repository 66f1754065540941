"""The tools of the language over HTTP: check, compile, format. They read only what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from plait.api import route
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Body, Scoped, Shape
from plait.dialects.afl.language.compile import Compiled, compile_document, compile_source
from plait.dialects.afl.language.compiled.read import read_compiled
from plait.dialects.afl.language.diagnostic import Diagnostic, Diagnostics, has_errors
from plait.dialects.afl.language.formatting.format import format_source
from plait.dialects.afl.language.program import check_program, read_program
from plait.dialects.afl.language.source_file import SourceFile
from plait.dialects.afl.preparation import refused
from plait.kernel.errors import InvalidInput

BAD = "AFL_DEFINITION"
COMPILE = "AFL_COMPILE"
_EXAMPLE = "namespace mail {\n    event facet Send(to: String) => (id: String)\n}\n"


class ProgramBody(Body, frozen=True, kw_only=True):
    """A program: exactly one of `source`, `sources` and `compiled`."""

    source: str | None = None
    sources: Sequence[SourceFile] | None = None
    compiled: dict[str, Any] | None = None
    strict: bool = False


class CompileBody(ProgramBody, frozen=True, kw_only=True):
    version: str = "1.0"
    locations: bool = True


class FormatBody(Body, frozen=True, kw_only=True):
    source: str


class CheckedProgram(Shape, frozen=True, kw_only=True):
    valid: bool
    diagnostics: Sequence[Diagnostic]


class CompiledProgram(Shape, frozen=True, kw_only=True):
    program: Any
    hash: str
    diagnostics: Sequence[Diagnostic] = ()
    """Warnings only."""


class FormattedSource(Shape, frozen=True, kw_only=True):
    source: str


Call = route.Call[object, Scoped, Any]


async def check(call: Call) -> Answer:
    body: ProgramBody = call.body
    found = await asyncio.to_thread(_checked, body)
    return Answer(CheckedProgram(valid=not has_errors(found), diagnostics=found))


async def compile_(call: Call) -> Answer:
    body: CompileBody = call.body
    found = await asyncio.to_thread(_compiled, body)
    return Answer(CompiledProgram(program=found.program, hash=found.hash, diagnostics=found.diagnostics))


async def format_(call: Call) -> Answer:
    body: FormatBody = call.body
    found = await asyncio.to_thread(format_source, SourceFile("source.afl", body.source))
    if found.text is None:
        raise refused(found.diagnostics)
    return Answer(FormattedSource(source=found.text))


def _checked(body: ProgramBody) -> Sequence[Diagnostic]:
    sources = _sources(body)
    if sources is not None:
        return read_program(sources, strict=body.strict).diagnostics
    diagnostics = Diagnostics()
    return check_program(read_compiled(body.compiled, diagnostics), diagnostics, strict=body.strict).diagnostics


def _compiled(body: CompileBody) -> Compiled:
    sources = _sources(body)
    if sources is not None:
        found = compile_source(sources, version=body.version, strict=body.strict, locations=body.locations)
    else:
        found = compile_document(body.compiled, version=body.version, strict=body.strict, locations=body.locations)
    if not isinstance(found, Compiled):
        raise refused(found.diagnostics)
    return found


def _sources(body: ProgramBody) -> Sequence[SourceFile] | None:
    """None if the program was sent compiled."""
    given = [each for each in (body.source, body.sources, body.compiled) if each is not None]
    if len(given) != 1:
        raise InvalidInput(
            BAD,
            "a program has exactly one of source, sources and compiled",
            why=f"{len(given)} were given",
            fix="send one of them",
        )
    if body.source is not None:
        return [SourceFile("source.afl", body.source)]
    return body.sources


_FAULT = Fault(422, COMPILE, "It does not compile; `errors` has every error with its place.")
_SHAPE = Fault(422, BAD, "Not exactly one of source, sources and compiled.")

ROUTES = (
    Route(
        method="POST",
        path="/afl/check",
        name="afl.check",
        role="viewer",
        summary="Check an AFL program: every error and warning with its place",
        handler=check,
        query=Scoped,
        body=ProgramBody,
        replies=(Reply(200, CheckedProgram, "What was found; nothing if it is good."),),
        faults=(_SHAPE,),
        audited=False,
        example={"source": _EXAMPLE},
    ),
    Route(
        method="POST",
        path="/afl/compile",
        name="afl.compile",
        role="viewer",
        summary="Compile an AFL program to JSON",
        handler=compile_,
        query=Scoped,
        body=CompileBody,
        replies=(Reply(200, CompiledProgram, "The program, and the warnings."),),
        faults=(_FAULT, _SHAPE),
        audited=False,
        example={"source": _EXAMPLE},
    ),
    Route(
        method="POST",
        path="/afl/format",
        name="afl.format",
        role="viewer",
        summary="Format AFL source, without changing the program",
        handler=format_,
        query=Scoped,
        body=FormatBody,
        replies=(Reply(200, FormattedSource, "The tidy text."),),
        faults=(_FAULT,),
        audited=False,
        example={"source": _EXAMPLE},
    ),
)
