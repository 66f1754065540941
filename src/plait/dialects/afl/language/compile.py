"""From source to the compiled form, or to what is wrong with it.

    match compile_source([SourceFile("shop.afl", text)]):
        case Compiled(program=program): ...         # JSON, as a dict
        case Refused(diagnostics=diagnostics): ...  # at least one error

The compiled form is the only truth about a program's structure (a run keeps the one it started with):

    {"type": "Program", "versions": {…}, "declarations": [Namespace | FacetDecl | EventFacetDecl | WorkflowDecl | …]}

Beside what the language says of it, these members are there so that a machine need not look names up:

`resolved` of a CallExpr or MixinCall
    The qualified name of what is called; of a built-in mixin its own name.
`implicits` of a CallExpr or MixinCall
    Arguments that implicits give, `[{name, value}]`, each name once: the strongest implicit has won.
`binding` of a StepRef
    What `path[0]` is: `{kind, statement?}`, where `statement` is the `id` of a StepStmt. The kind is `foreach` (a
    variable, without a statement), `step` (of the same block), `owner` (the step whose body this is), `outer` (of an
    enclosing block), `sibling` (of an earlier block, seen from a `when`) or `nested` (in the body of `owner`, a step
    of this block).
`dependencies` of an AndThenBlock, WhenCase or CatchClause
    By id of a statement of the block, the ids of the StepStmts that must be complete before it. For the source of a
    foreach and the conditions of a when, the key is `foreach` or `when`.
`capture` of a YieldStmt
    Where it goes: `{level, mixin?, alias?}`. Level 0 is the owner of the block (a step, or what runs the declaration),
    1 the owner of the block that this one stands in, and so on; with `mixin` it is a mixin of that owner.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from .compiled.emit import emit_program
from .compiled.emitter import EmitOptions
from .compiled.read import read_compiled
from .diagnostic import Diagnostic, Diagnostics
from .program import Program, check_program, read_program
from .source_file import SourceFile

STEP_SCHEMA_VERSION = "1.0"
RUNTIME_VERSION = "1.0.0"


class Compiled(msgspec.Struct, frozen=True):
    program: dict[str, Any]
    hash: str
    """The hash of the program's content."""
    diagnostics: tuple[Diagnostic, ...]
    """Warnings only."""


class Refused(msgspec.Struct, frozen=True):
    diagnostics: tuple[Diagnostic, ...]


def compile_source(
    sources: Sequence[SourceFile],
    *,
    version: str = "1.0",
    strict: bool = False,
    locations: bool = True,
    provenance: bool = False,
) -> Compiled | Refused:
    """`version` becomes the workflow version. With `strict`, warnings are errors, too."""
    program = read_program(sources, strict=strict)
    return compile_program(program, version=version, locations=locations, provenance=provenance)


def compile_document(
    document: Any, *, version: str | None = None, strict: bool = False, locations: bool = True
) -> Compiled | Refused:
    """A program that was sent in compiled form: checked like source, with its derived members derived again. `version`
    of None keeps the one it has."""
    diagnostics = Diagnostics()
    files = read_compiled(document, diagnostics)
    program = check_program(files, diagnostics, strict=strict)
    return compile_program(program, version=version or _version(document), locations=locations)


def _version(document: Any) -> str:
    versions = cast("dict[str, Any]", document).get("versions") if isinstance(document, dict) else None
    found = cast("dict[str, Any]", versions).get("workflow_version") if isinstance(versions, dict) else None
    return found if isinstance(found, str) else "1.0"


def compile_program(
    program: Program, *, version: str = "1.0", locations: bool = True, provenance: bool = False
) -> Compiled | Refused:
    if not program.valid:
        return Refused(program.diagnostics)
    several = sum(bool(each.tree.members) for each in program.files) > 1
    options = EmitOptions(locations, several, provenance)
    document: dict[str, Any] = {
        "type": "Program",
        "versions": {
            "workflow_version": version,
            "step_schema_version": STEP_SCHEMA_VERSION,
            "runtime_version": RUNTIME_VERSION,
        },
        "declarations": emit_program(program, options),
    }
    return Compiled(document, program_hash(document), program.diagnostics)


def program_hash(document: dict[str, Any]) -> str:
    """A hash of the content, independent of the order of keys. Not the canonical form of other definitions: that takes
    seconds for a large program, and nobody types a compiled program by hand."""
    return hashlib.sha256(msgspec.json.encode(document, order="sorted")).hexdigest()
