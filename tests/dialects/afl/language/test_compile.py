"""The compiled form: its shape, its ids, and that it is judged like source when it comes back."""

from __future__ import annotations

import copy
import uuid
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.afl.language.compile import Compiled, Refused, compile_document, compile_source
from plait.dialects.afl.language.source_file import SourceFile
from tests.dialects.afl.language.programs import body, in_shop

SOURCE = in_shop(
    """
    implicit mail = Note(text = "hi")
    /** Checks out.
     * @param total in cents */
    workflow Checkout(total: Long = 1, list: [Address]) => (id: String) with Audit(level = 1) as log andThen {
        pay = Pay(sku = "x" ++ $.total, qty = -[1, 2][0]) with Timeout(hours = 1) andThen {
            inner = Note(text = pay.id ++ later.input) with Audit()
        } catch {
            yield Checkout(id = pay.error)
        }
        later = Value(input = $.total + 1)
        sys.log(a = later.input)
        sys.assert(later.input > 0 && !(later.input in [7]))
        yield Checkout(id = pay.id)
        yield log(trace = #{a: null}.a)
    } andThen foreach one in $.list {
        note = Note(text = one.city)
    } andThen when {
        case later.input == 2 => { more = Note() }
        case _ => { }
    } andThen script { result["x"] = 1 }
    event facet Ask(q: String) => (a: String) prompt { template "{q}" model "m" }
"""
)


def compiled(text: str, **options: Any) -> dict[str, Any]:
    found = compile_source([SourceFile("a.afl", text)], **options)
    assert isinstance(found, Compiled), found.diagnostics
    return found.program


def declared(program: dict[str, Any], name: str) -> dict[str, Any]:
    [namespace] = program["declarations"]
    return next(each for each in namespace["declarations"] if each["name"] == name)


def nodes(value: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if isinstance(value, dict):
        if "type" in value and isinstance(value["type"], str) and "id" in value:
            found.append(value)
        for each in value.values():
            found += nodes(each)
    elif isinstance(value, list):
        for each in value:
            found += nodes(each)
    return found


def test_the_same_source_gives_the_same_bytes() -> None:
    first, second = (msgspec.json.encode(compiled(SOURCE)) for _ in range(2))
    assert first == second


def test_every_node_has_an_id_of_its_own_and_a_place() -> None:
    program = compiled(SOURCE)
    ids = [each["id"] for each in nodes(program["declarations"])]
    assert len(ids) == len(set(ids)) > 80
    assert all(uuid.UUID(each).version == 5 for each in ids)
    assert all("location" in each for each in nodes(program["declarations"]))
    step = declared(program, "Checkout")["body"][0]["steps"][0]
    line = (
        SOURCE.split("\n").index(
            '        pay = Pay(sku = "x" ++ $.total, qty = -[1, 2][0]) with Timeout(hours = 1) andThen {'
        )
        + 1
    )
    assert step["location"] == {"line": line, "column": 9, "endLine": line + 4, "endColumn": 10}


def test_the_shape_is_that_of_the_language() -> None:
    workflow = declared(compiled(SOURCE, locations=False), "Checkout")
    assert workflow["type"] == "WorkflowDecl"
    assert workflow["doc"] == {
        "description": "Checks out.",
        "params": [{"name": "total", "description": "in cents"}],
    }
    assert [each["name"] for each in workflow["params"]] == ["total", "list"]
    assert workflow["params"][1]["type"]["elementType"] == "shop.Address"
    assert (workflow["mixins"][0]["resolved"], workflow["mixins"][0]["alias"]) == ("shop.Audit", "log")
    plain, each, when, script = workflow["body"]
    assert [step["type"] for step in plain["steps"]] == ["StepStmt", "StepStmt", "SysStmt", "SysStmt"]
    assert plain["steps"][0]["call"]["resolved"] == "shop.Pay"
    assert plain["steps"][0]["call"]["mixins"][0]["resolved"] == "Timeout"
    assert len(plain["yields"]) == 2
    assert each["foreach"]["variable"] == "one"
    assert [case.get("default") for case in when["when"]["cases"]] == [None, True]
    assert script["script"]["code"] == 'result["x"] = 1 '
    prompt = declared(compiled(SOURCE), "Ask")["body"]
    assert (prompt["type"], prompt["template"], prompt["model"]) == ("PromptBlock", "{q}", "m")
    assert "body" not in declared(compiled(SOURCE), "Value")


def test_dependencies_name_the_steps_to_wait_for() -> None:
    workflow = declared(compiled(SOURCE), "Checkout")
    plain, _, when, _ = workflow["body"]
    pay, later, log, check = plain["steps"]
    inner_block = pay["body"]
    inner = inner_block["steps"][0]
    assert inner_block["dependencies"] == {inner["id"]: [later["id"]]}
    first, second = plain["yields"]
    assert plain["dependencies"] == {log["id"]: [later["id"]], check["id"]: [later["id"]], first["id"]: [pay["id"]]}
    assert second["capture"] == {"level": 0, "mixin": "shop.Audit", "alias": "log"}
    assert first["capture"] == {"level": 0}
    assert pay["catch"]["yield"]["capture"] == {"level": 1}
    assert when["dependencies"] == {"when": [later["id"]]}


def test_references_say_what_they_are() -> None:
    program = compiled(SOURCE)
    plain, each, when, _ = declared(program, "Checkout")["body"]
    pay, later = plain["steps"][:2]
    kinds = {
        ".".join(node["path"]): (node["binding"]["kind"], node["binding"].get("statement"))
        for node in nodes([plain, each, when["when"]["cases"][0]["condition"]])
        if node["type"] == "StepRef" and node["path"] != ["later", "input"]
    }
    assert kinds["one.city"] == ("foreach", None)
    assert kinds["pay.error"] == ("owner", pay["id"])
    [sibling] = [node for node in nodes(when) if node["type"] == "StepRef"]
    assert sibling["binding"] == {"kind": "sibling", "statement": later["id"]}


def test_implicits_stand_with_the_calls_they_are_for() -> None:
    more = declared(compiled(SOURCE), "Checkout")["body"][2]["when"]["cases"][0]["steps"][0]
    [argument] = more["call"]["implicits"]
    assert (argument["name"], argument["value"]["value"]) == ("text", "hi")


def test_the_later_implicit_wins_and_the_own_namespace_comes_first() -> None:
    text = """
    namespace base { event facet N(a: Long, b: Long, c: Long)
    implicit x = N(a = 1, b = 1, c = 1) implicit y = N(b = 2, c = 2) }
    namespace own { use base implicit z = N(c = 3) facet F() andThen { s = N() } }
    """
    found = compile_source([SourceFile("a.afl", text)])
    assert isinstance(found, Compiled)
    call = found.program["declarations"][1]["declarations"][1]["body"]["steps"][0]["call"]
    assert {each["name"]: each["value"]["value"] for each in call["implicits"]} == {"a": 1, "b": 2, "c": 3}


def test_several_files_are_named_in_places_and_provenance_on_request() -> None:
    files = [SourceFile("a.afl", "namespace a { facet F() }"), SourceFile("b.afl", "namespace b { facet G() }")]
    found = compile_source(files, provenance=True)
    assert isinstance(found, Compiled)
    place = found.program["declarations"][1]["location"]
    assert place["sourceId"] == "b.afl"
    assert place["provenance"] == {"file": "b.afl", "offset": 0, "length": 25}


def test_versions_stand_in_the_program() -> None:
    assert compiled(SOURCE, version="2.1")["versions"] == {
        "workflow_version": "2.1",
        "step_schema_version": "1.0",
        "runtime_version": "1.0.0",
    }


def test_what_came_compiled_compiles_to_the_same() -> None:
    program = compiled(SOURCE)
    again = compile_document(msgspec.json.decode(msgspec.json.encode(program)))
    assert isinstance(again, Compiled)
    assert again.program == program


def test_what_a_compiled_program_claims_about_itself_is_not_believed() -> None:
    program = compiled(SOURCE)
    altered = copy.deepcopy(program)
    for node in nodes(altered):
        node["id"] = "x"
        for field in ("resolved", "dependencies", "binding", "capture", "implicits"):
            node.pop(field, None)
    again = compile_document(altered)
    assert isinstance(again, Compiled)
    assert again.program == program


def test_a_compiled_program_is_judged_like_source() -> None:
    program = compiled(body("pay = Value(input = 1)\nyield W(out = pay.input)"))
    step = declared(program, "W")["body"]["steps"][0]
    step["call"]["target"] = "Vlaue"
    found = compile_document(program)
    assert isinstance(found, Refused)
    [error] = [each for each in found.diagnostics if each.severity == "error"]
    assert (error.code, error.line, error.column) == ("REF_UNKNOWN_FACET", 9, 7)


@pytest.mark.parametrize(
    "document",
    [None, 1, "x", [], {}, {"type": "Program", "declarations": {}}, {"type": "Program", "declarations": [1]}],
)
def test_what_is_no_compiled_program_is_refused(document: Any) -> None:
    found = compile_document(document)
    assert isinstance(found, Refused)
    assert found.diagnostics[0].code == "PARSE_ERROR"


@given(st.data())
def test_any_damage_to_a_compiled_program_is_survived(data: st.DataObject) -> None:
    program = copy.deepcopy(_PROGRAM)
    places = _places(program)
    junk = st.one_of(st.none(), st.integers(-5, 5), st.text(max_size=3), st.just([]), st.just({}), st.just([[]]))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places))
        holder[key] = data.draw(junk)
    found = compile_document(program)
    assert isinstance(found, Compiled | Refused)


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        found.append((value, key))
        found += _places(each)
    return found


_PROGRAM = compiled(SOURCE)


@pytest.mark.parametrize("what", ["expression", "block", "type"])
def test_a_document_that_is_nested_without_end_is_refused(what: str) -> None:
    nested: Any = {"type": "Int", "value": 1} if what == "expression" else "Json" if what == "type" else []
    for _ in range(5_000):
        match what:
            case "expression":
                nested = {"type": "UnaryExpr", "operator": "-", "operand": nested}
            case "type":
                nested = {"type": "ArrayType", "elementType": nested}
            case _:
                step = {"type": "StepStmt", "name": "s", "call": {"type": "CallExpr", "target": "F"}, "body": nested}
                nested = {"type": "AndThenBlock", "steps": [step]}
    facet: dict[str, Any] = {"type": "FacetDecl", "name": "F"}
    parameter = {"name": "a", "type": nested if what == "type" else "Json"}
    facet |= {"body": nested} if what == "block" else {"params": [parameter]}
    if what == "expression":
        parameter["default"] = nested
    found = compile_document({"type": "Program", "declarations": [facet]})
    assert isinstance(found, Refused)
    assert "nested too deep" in found.diagnostics[0].message
