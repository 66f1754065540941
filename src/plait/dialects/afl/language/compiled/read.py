"""Turns a compiled program back into a syntax tree, so that the rules for source apply to it, too.

What the compiler had derived (ids, `resolved`, `dependencies` and the like) is not trusted, but derived again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.dialects.afl.language.diagnostic import Diagnostics
from plait.dialects.afl.language.limits import LIMIT_EXCEEDED
from plait.dialects.afl.language.parser import Parsed
from plait.dialects.afl.language.source_file import RecordedPlaces
from plait.dialects.afl.language.syntax_error import PARSE_ERROR
from plait.dialects.afl.language.tree import Doc, Facet, FacetKind, File, Implicit, Namespace, Schema, Use

from .document import Malformed, Part
from .read_blocks import and_thens, call, catch, mixins, prompt, script
from .read_expressions import name, parameters

_KINDS: Mapping[str, FacetKind] = {"FacetDecl": "facet", "EventFacetDecl": "event", "WorkflowDecl": "workflow"}


def read_compiled(document: Any, diagnostics: Diagnostics, source: str = "compiled") -> list[Parsed]:
    """The syntax trees of the program's files; anything invalid is noted."""
    files: dict[str, tuple[RecordedPlaces, list[Any]]] = {}
    try:
        program = Part(document, "", RecordedPlaces(source))
        program.expect("Program")
        for each in program.parts("declarations"):
            where = each.source_name() or source
            places, members = files.setdefault(where, (RecordedPlaces(where), []))
            members.append(_member(each.in_file(places)))
    except Malformed as error:
        diagnostics.error(RecordedPlaces(source), (0, 0), PARSE_ERROR, error.message, error.hint)
        return []
    except RecursionError:  # far beyond what the language allows, whatever it consists of
        diagnostics.error(RecordedPlaces(source), (0, 0), LIMIT_EXCEEDED, "The document is nested too deep")
        return []
    return [Parsed(places, File(0, 0, tuple(members)), ()) for places, members in files.values()]


def _member(part: Part) -> Namespace | Facet | Schema | Implicit:
    return _namespace(part) if part.type == "Namespace" else _declaration(part)


def _namespace(part: Part) -> Namespace:
    start, end = part.span()
    uses = [Use(start, start, name(each, start)) for each in part.strings("uses")]
    members = (*uses, *(_declaration(each) for each in part.parts("declarations")))
    return Namespace(start, end, part.name("name", qualified=True), members, _doc(part))


def _declaration(part: Part) -> Facet | Schema | Implicit:
    start, end = part.span()
    match part.type:
        case "SchemaDecl":
            return Schema(start, end, part.name("name"), parameters(part.parts("fields")), _doc(part))
        case "ImplicitDecl":
            return Implicit(start, end, part.name("name"), call(part.part("call")))
        case type if type in _KINDS:
            return _facet(part, _KINDS[type])
        case _:
            raise part.wrong("a declaration")


def _facet(part: Part, kind: FacetKind) -> Facet:
    start, end = part.span()
    bodies = part.listed("body")
    is_prompt = len(bodies) == 1 and bodies[0].type == "PromptBlock"
    pre = part.optional("pre_script")
    return Facet(
        start,
        end,
        kind,
        part.name("name"),
        parameters(part.parts("params")),
        parameters(part.parts("returns")),
        mixins(part),
        script(pre) if pre is not None else None,
        prompt(bodies[0]) if is_prompt else None,
        () if is_prompt else and_thens(bodies),
        catch(part),
        _doc(part),
    )


def _doc(part: Part) -> Doc | None:
    doc = part.optional("doc")
    if doc is None:
        return None
    return Doc(0, 0, doc.text("description", ""), _described(doc, "params"), _described(doc, "returns"))


def _described(doc: Part, field: str) -> tuple[tuple[str, str], ...]:
    return tuple((each.text("name"), each.text("description", "")) for each in doc.parts(field))
