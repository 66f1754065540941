"""Prepares a definition as written: compiles and checks it, and finds its workflow."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final, cast

import msgspec
from msgspec import Raw

from plait.definitions.nearest import nearest
from plait.kernel import values
from plait.kernel.errors import Flaw, InvalidInput, NotFound

from .language.compile import Compiled, compile_document, compile_source, program_hash
from .language.diagnostic import Diagnostic
from .language.source_file import SourceFile
from .names import WORKFLOW_VERSION
from .program.parts import Declaration
from .program.program import Program, read_program

_FIELDS = ("source", "sources", "compiled", "workflow", "version", "strict")

_KEPT: Final = 256
_known: dict[bytes, Prepared] = {}
"""Programs compiled in this process, least recently used first: those are dropped first, so that one in use is not
compiled again, however many others come."""
_lock = Lock()
"""Programs are compiled in threads, too."""


@dataclass(frozen=True, slots=True)
class Prepared:
    compiled: Raw
    sources: tuple[SourceFile, ...]
    """None if it was sent compiled."""
    hash: str
    program: Program
    wanted: str
    version: str
    strict: bool
    warnings: Sequence[str]

    def chosen(self) -> Declaration | None:
        """The named workflow, or the only one; None if a name is needed to choose."""
        return self.workflow() if self.wanted or len(self.program.workflows) == 1 else None

    def workflow(self) -> Declaration:
        """The workflow of a qualified name, or a short one if it is unique; the only one, if no name is given."""
        known = self.program.workflows
        named = [name for name in known if self.wanted in (name, name.rpartition(".")[2])]
        exact = [name for name in named if name == self.wanted]
        found = exact or (named if self.wanted else known)
        if len(found) == 1:
            return self.program.declarations[found[0]]
        close = nearest(self.wanted, known) if self.wanted else None
        what = f"the program has {'several workflows' if known else 'no workflow'}"
        if self.wanted:
            what = f"there is no workflow `{self.wanted}`"
        if len(found) > 1 and self.wanted:
            what = f"`{self.wanted}` may be {' or '.join(found)}"
        fix = f"did you mean `{close}`?" if close else f"use one of {', '.join(known[:10])}" if known else "add one"
        raise NotFound("AFL_UNKNOWN_WORKFLOW", what, fix=fix)


async def prepared(definition: Mapping[str, Any]) -> Prepared:
    """Like `prepare`, but compiles new programs in a thread."""
    check_shape(definition)
    if _key(definition) in _known:
        return prepare(definition)
    return await asyncio.to_thread(prepare, definition)


def prepare(definition: Mapping[str, Any]) -> Prepared:
    """Raises with all errors."""
    check_shape(definition)
    key = _key(definition)
    with _lock:
        found = _known.pop(key, None)
        if found is not None:
            _known[key] = found
    if found is None:
        found = _made(definition)
        with _lock:
            if len(_known) >= _KEPT:
                del _known[next(iter(_known))]
            _known[key] = found
    return replace(found, wanted=str(definition.get("workflow") or ""))


def _key(definition: Mapping[str, Any]) -> bytes:
    """A key of all that the compiled form depends on."""
    said = {name: definition.get(name) for name in _FIELDS if name != "workflow"}
    return hashlib.blake2b(msgspec.json.encode(said), digest_size=16).digest()


def _made(definition: Mapping[str, Any]) -> Prepared:
    version = str(definition.get("version") or WORKFLOW_VERSION)
    strict = definition.get("strict") is True
    compiled, warnings = _compiled(definition, version, strict=strict)
    return Prepared(
        compiled=values.encode(compiled),
        sources=tuple(sources_of(definition)),
        hash=program_hash(compiled),
        program=read_program(compiled),
        wanted="",
        version=version,
        strict=strict,
        warnings=warnings,
    )


def _compiled(definition: Mapping[str, Any], version: str, *, strict: bool) -> tuple[dict[str, Any], Sequence[str]]:
    if definition.get("compiled") is not None:
        found = compile_document(definition["compiled"], version=version, strict=strict)
    else:
        found = compile_source(sources_of(definition), version=version, strict=strict)
    if isinstance(found, Compiled):
        return found.program, [str(each.message) for each in found.diagnostics]
    raise refused(found.diagnostics)


class DoesNotCompile(InvalidInput):
    """The program has errors; `diagnostics` has them, and the warnings."""

    diagnostics: Sequence[Diagnostic] = ()


def refused(diagnostics: Sequence[Diagnostic]) -> DoesNotCompile:
    errors = [each for each in diagnostics if each.severity == "error"]
    flaws = [
        Flaw(each.code, "/source", f"{each.file}:{each.line}:{each.column}: {each.message} ({each.hint})")
        for each in errors
    ]
    first = errors[0]
    where = f"{first.file}:{first.line}:{first.column}"
    count = "an error" if len(errors) == 1 else f"{len(errors)} errors"
    error = DoesNotCompile(
        "AFL_COMPILE", f"the program has {count}", why=f"{where}: {first.message}", fix=first.hint, flaws=flaws
    )
    error.diagnostics = diagnostics
    return error


def sources_of(definition: Mapping[str, Any]) -> list[SourceFile]:
    """None if it was sent compiled."""
    if definition.get("compiled") is not None:
        return []
    if definition.get("source") is not None:
        return [SourceFile("main.afl", str(definition["source"]))]
    return [SourceFile(str(each["name"]), str(each["text"])) for each in definition["sources"]]


def check_shape(definition: Mapping[str, Any]) -> None:
    given = [name for name in ("source", "sources", "compiled") if definition.get(name) is not None]
    unknown = [name for name in definition if name not in _FIELDS]
    problem = ""
    if unknown:
        problem = f"a definition has no field `{unknown[0][:80]}`"
    elif len(given) != 1:
        problem = "a definition has exactly one of source, sources and compiled"
    elif given == ["source"] and not isinstance(definition["source"], str):
        problem = "`source` is text"
    elif given == ["sources"] and not _are_sources(definition["sources"]):
        problem = "`sources` is a list of {name, text}"
    elif given == ["compiled"] and not isinstance(definition["compiled"], dict):
        problem = "`compiled` is an object"
    if problem:
        raise InvalidInput("AFL_DEFINITION", problem, fix=f"use {', '.join(_FIELDS)}")


def _are_sources(found: Any) -> bool:
    if not isinstance(found, list):
        return False
    return all(
        isinstance(each, Mapping)
        and isinstance(cast("Any", each).get("name"), str)
        and isinstance(cast("Any", each).get("text"), str)
        for each in cast("list[Any]", found)
    )
