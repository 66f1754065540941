"""Every code of the validator: where it points, what it says, and how severe it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import plait.dialects.afl.language
from tests.dialects.afl.language.programs import body, found, in_shop, marked, program

E, W = "error", "warning"

CASES = [
    (E, "DUPLICATE_NAME", in_shop("facet ¶Value(x: Long)"), "Duplicate facet name 'Value' (first at line 4)"),
    (W, "DUPLICATE_NAME", in_shop("/** again */ facet ¶Value(input: Long, output: Long)"), "Duplicate facet name"),
    (E, "DUPLICATE_STEP_NAME", body("a = Value()\n¶a = Value()"), "Duplicate step name 'a' (first at line 9)"),
    (E, "DUPLICATE_PARAM", in_shop("facet F(sku: String, ¶sku: Long)"), "Parameter 'sku' twice"),
    (E, "DUPLICATE_ARG", body("a = Value(input = 1, ¶input = 2)"), "Argument 'input' twice"),
    (E, "REF_INVALID_INPUT", body("a = Value(input = ¶$.sum)"), "Invalid input reference '$.sum'; have: total"),
    (
        W,
        "REF_INVALID_INPUT",
        in_shop('workflow W() script "x = 1" andThen { a = Value(input = ¶$.sum) }'),
        "Invalid input reference '$.sum'",
    ),
    (W, "REF_INVALID_INPUT", in_shop("workflow W() andThen foreach x in ¶$.sums { }"), "'$.sums'"),
    (
        E,
        "REF_UNDEFINED_STEP",
        body("pay = Value()\nb = Value(input = ¶pya.input)"),
        "undefined step 'pya'; have: pay, b",
    ),
    (E, "REF_CYCLE", body("¶a = Value(input = b.input)\nb = Value(input = a.input)"), "circle: a → b → a"),
    (E, "REF_CYCLE", body("¶a = Value(input = a.input)"), "Steps wait in a circle: a → a"),
    (
        E,
        "REF_CYCLE",
        body("¶a = Value() andThen { x = Value(input = b.input) }\nb = Value(input = a.input)"),
        "Steps wait in a circle: a → x → b → a",
    ),
    (
        E,
        "REF_INVALID_STEP_ATTRIBUTE",
        body('p = Pay(sku = "x")\nb = Value(input = p.¶cost)'),
        "for step 'p'; have: sku",
    ),
    (W, "REF_INVALID_STEP_ATTRIBUTE", body("p = Value()\nb = Value(input = p.¶cost)"), "Invalid attribute 'cost'"),
    (
        E,
        "REF_INVALID_STEP_ATTRIBUTE",
        body('p = Pay(sku = "")\nb = Note(text = p.¶error)'),
        "Invalid attribute 'error'",
    ),
    (
        W,
        "REF_INVALID_STEP_ATTRIBUTE",
        body('p = Pay(sku = "x")\nb = Note(text = p.to.¶street)'),
        "'street' is no field of shop.Address",
    ),
    (
        E,
        "REF_CROSS_BLOCK_STEP",
        in_shop("workflow W() andThen { a = Value() } andThen { b = Value(input = ¶a.input) }"),
        "Cross-block step reference: 'a'",
    ),
    (
        W,
        "REF_NESTED_STEP",
        body("a = Value() andThen { inner = Value() }\nb = Value(input = ¶inner.input)"),
        "'inner' is a step inside the body of 'a'",
    ),
    (
        W,
        "REF_NOT_IMPORTED",
        in_shop("") + "namespace other { facet F() andThen { a = ¶Value() } }",
        "'Value' found in shop",
    ),
    (E, "REF_UNKNOWN_FACET", body("a = ¶Pya()"), "Unknown facet 'Pya'"),
    (E, "REF_UNKNOWN_SCHEMA", in_shop("facet F(a: ¶Adress)"), "Unknown schema 'Adress'"),
    (E, "REF_UNKNOWN_TYPE", in_shop("facet F(a: [¶Strin])"), "Unknown type 'Strin'"),
    (
        E,
        "REF_AMBIGUOUS_FACET",
        "namespace a { facet F() } namespace b { facet F() }namespace c { use a use b facet G() andThen { s = ¶F() } }",
        "Ambiguous facet reference 'F'",
    ),
    (
        E,
        "REF_AMBIGUOUS_SCHEMA",
        "namespace a { schema F { x: Long } } namespace b { schema F { x: Long } } namespace c { facet G(x: ¶F) }",
        "Ambiguous schema reference 'F'",
    ),
    (E, "USE_UNKNOWN_NAMESPACE", "namespace a { use ¶shop.tax }", "Namespace 'shop.tax' does not exist"),
    (E, "YIELD_INVALID_TARGET", body("yield ¶Pay(id = 1)"), "Invalid yield target 'Pay'"),
    (E, "YIELD_DUPLICATE_TARGET", body("yield W(out = 1)\nyield ¶W(out = 2)"), "Duplicate yield target 'W'"),
    (
        E,
        "YIELD_TARGET_AMBIGUOUS",
        in_shop('facet F() with Audit() as one with Audit() as two andThen { yield ¶Audit(trace = "") }'),
        "Mixin 'Audit' has several aliases",
    ),
    (E, "YIELD_UNKNOWN_FIELD", body("yield W(¶qty = 1)"), "'qty' is not a return of W; have: out"),
    (E, "CALL_UNKNOWN_ARG", body('a = Pay(sku = "x", ¶quantity = 1)'), "'quantity' is not a parameter of Pay"),
    (E, "CALL_MISSING_ARG", body("a = ¶Pay(qty = 1)"), "Pay needs 'sku'"),
    (W, "CALL_RECURSIVE", in_shop("workflow W() andThen { a = ¶W() }"), "'shop.W' calls itself"),
    (
        E,
        "SCHEMA_UNKNOWN_FIELD",
        body('a = Address(¶zipp = "1")'),
        "Unknown field 'zipp' for schema 'Address'; have: city, zip",
    ),
    (E, "SCHEMA_INSTANTIATION_NO_MIXINS", body("a = Address() ¶with Audit()"), "Schema 'Address' takes no mixins"),
    (W, "SCHEMA_AT_TOP_LEVEL", "schema ¶S { a: Long }", "Schema 'S' is at the top level"),
    (W, "WORKFLOW_AT_TOP_LEVEL", "workflow ¶W()", "Workflow 'W' is at the top level"),
    (E, "TYPE_ARITHMETIC_STRING", body('a = Value(input = 1 + ¶"x")'), "'+' with String operand"),
    (E, "TYPE_ARITHMETIC_BOOLEAN", body("a = Value(input = ¶true * 2)"), "'*' with Boolean operand"),
    (E, "TYPE_ARITHMETIC_SCHEMA", body("s = Address()\na = Value(input = ¶s - 1)"), "'-' with shop.Address operand"),
    (E, "TYPE_NEGATE_STRING", body('a = Value(input = -¶"x")'), "'-' with String operand"),
    (E, "TYPE_NEGATE_BOOLEAN", body("a = Value(input = -¶true)"), "'-' with Boolean operand"),
    (E, "TYPE_NEGATE_SCHEMA", body("s = Address()\na = Value(input = -¶s)"), "'-' with shop.Address operand"),
    (E, "TYPE_NOT_OPERAND_REQUIRED", body("sys.assert(!¶$.total)"), "'!' needs Boolean, got Long"),
    (E, "TYPE_BOOLEAN_OPERAND_REQUIRED", body('sys.assert(true && ¶"x")'), "'&&' needs Boolean, got String"),
    (E, "TYPE_ORDERED_COMPARISON_BOOLEAN", body("sys.assert(¶true < 1)"), "'<' with Boolean operand"),
    (E, "TYPE_ORDERED_COMPARISON_SCHEMA", body("sys.assert(1 >= ¶#{a: 1})"), "'>=' with a map operand"),
    (E, "TYPE_CONTAINMENT_OPERAND", body("sys.assert(1 not in ¶$.total)"), "'not in' needs a list, a map or a String"),
    (E, "TYPE_STRING_MATCH_OPERAND", body('sys.assert("a" startsWith ¶1)'), "'startsWith' needs String, got Long"),
    (W, "TYPE_ARGUMENT", body("a = Pay(sku = ¶5)"), "'sku' is String, got Long"),
    (
        W,
        "STEP_REF_FACET_MISMATCH",
        in_shop("facet Uses(v: Value) workflow W() andThen { a = Audit() b = Uses(v = ¶a) }"),
        "'v' takes a step of Value, got one of Audit",
    ),
    (E, "WHEN_MISSING_DEFAULT", in_shop("workflow W() andThen ¶when { case true => { } }"), "has no default"),
    (
        E,
        "WHEN_DEFAULT_NOT_LAST",
        in_shop("workflow W() andThen when { ¶case _ => { } case true => { } }"),
        "The default is not the last case",
    ),
    (
        E,
        "WHEN_MULTIPLE_DEFAULTS",
        in_shop("workflow W() andThen when { case _ => { } ¶case _ => { } }"),
        "several defaults",
    ),
    (E, "WHEN_NO_CASES", in_shop("workflow W() andThen { } catch ¶when { }"), "This 'when' has no cases"),
    (
        E,
        "WHEN_CONDITION_NOT_BOOLEAN",
        in_shop("workflow W() andThen when { case ¶1 => { } case _ => { } }"),
        "A case needs Boolean, got Long",
    ),
    (
        E,
        "IMPLICIT_UNKNOWN_PARAM",
        in_shop('implicit mail = Pay(¶cc = "ops")'),
        "Implicit 'mail' sets 'cc', not a parameter of Pay",
    ),
    (E, "MIXIN_ALIAS_NAME_CONFLICT", body("a = Value() with Audit() as ¶input"), "Mixin alias 'input' is already"),
    (
        E,
        "PROMPT_MISSING_TEMPLATE",
        in_shop('event facet Ask(q: String) ¶prompt { system "be brief" }'),
        "This prompt has no template",
    ),
    (
        E,
        "PROMPT_INVALID_PLACEHOLDER",
        in_shop('event facet Ask(text: String) prompt { ¶template "{{x}} {text.a} {topic}" }'),
        "'{topic}' is not a parameter; have: text",
    ),
    (W, "PROMPT_NOT_EVENT", in_shop('facet Ask(q: String) ¶prompt { template "{q}" }'), "Only event facets"),
    (E, "SCRIPT_EMPTY", in_shop("facet F() ¶script { \n }"), "This script is empty"),
    (E, "SCRIPT_UNSUPPORTED_LANGUAGE", in_shop('facet F() script ¶ruby "x"'), "Scripts in 'ruby' are not supported"),
    (E, "DEFAULT_NOT_CONSTANT", in_shop("facet F(a: Long = ¶step.x)"), "A default cannot read the step 'step'"),
    (E, "SYS_ASSERT_NOT_BOOLEAN", body("sys.assert(¶1)"), "sys.assert needs Boolean, got Long"),
    (E, "PARSE_ERROR", "namespace a { ¶123 }", "Unexpected '123'"),
    (E, "LIMIT_EXCEEDED", in_shop(f"facet F(a: Long = {'(' * 201}¶1{')' * 201})"), "deeper than 200 levels"),
]


@pytest.mark.parametrize(
    ("severity", "code", "text", "message"), CASES, ids=[f"{code}-{severity}" for severity, code, _, _ in CASES]
)
def test_a_rule_says_what_is_wrong_and_where(severity: str, code: str, text: str, message: str) -> None:
    clean, place = marked(text)
    [diagnostic] = found(clean, code)
    assert message in diagnostic.message
    assert (diagnostic.severity, (diagnostic.line, diagnostic.column)) == (severity, place)
    assert diagnostic.hint or code == "PARSE_ERROR"


def test_every_code_of_the_language_has_a_case() -> None:
    folder = Path(plait.dialects.afl.language.__file__).parent
    text = "\n".join(each.read_text() for each in folder.rglob("*.py"))
    kinds = "DUPLICATE REF USE YIELD CALL SCHEMA WORKFLOW TYPE STEP WHEN IMPLICIT MIXIN PROMPT SCRIPT DEFAULT SYS LIMIT"
    prefixes = f"{kinds} PARSE".replace(" ", "|")
    named = set(re.findall(rf'"((?:{prefixes})_[A-Z_]+[A-Z])"', text))
    made = {code for _, code, _, _ in CASES}
    assert {code for code in named if not any(each.startswith(f"{code}_") for each in made)} <= made


@pytest.mark.parametrize(
    "text",
    [
        body("a = Value(input = b.input)\nb = Value(input = 1)\nyield W(out = a.input)"),
        body("a = Value() catch { n = Note(text = a.error ++ $.error_type) }"),
        body('p = Pay(sku = "x") with Timeout(hours = 1) with Retry(max_attempts = 3)\nn = Note(text = p.to.city)'),
        in_shop("workflow W(xs: [Address]) andThen foreach x in $.xs { n = Note(text = x.city ++ $.x.zip) }"),
        in_shop(
            "workflow W() andThen { a = Value() } andThen when "
            "{ case a.input == 1 => { b = Value(input = a.input) } case _ => { } }"
        ),
        in_shop('implicit mail = Pay(sku = "x") workflow W() andThen { a = Pay() }'),
        body('a = Pay(sku = "x") andThen { n = Note(text = $.sku ++ $.id ++ a.id) yield W(out = 1) }'),
        in_shop('facet F() with Audit(level = 1) as log andThen { yield log(trace = "x") }'),
        in_shop("facet F(a: Long, b: Long = $.a + 1) => (c: Long = $.b)"),
        body("v = Value(input = null)\nw = Value(input = ($.total / 2 > 1) == true)", returns="out: Json"),
    ],
)
def test_a_good_program_has_no_errors(text: str) -> None:
    assert [each.text for each in program(text).diagnostics if each.severity == "error"] == []


def test_under_strict_a_warning_is_an_error() -> None:
    from plait.dialects.afl.language.program import read_program
    from plait.dialects.afl.language.source_file import SourceFile

    strict = read_program([SourceFile("a.afl", "workflow W()")], strict=True)
    assert [(each.severity, each.code) for each in strict.diagnostics] == [("error", "WORKFLOW_AT_TOP_LEVEL")]


def test_no_more_than_a_hundred_are_shown_and_the_rest_is_counted() -> None:
    shown = program(in_shop("\n".join(f"facet F{n}(a: Nope{n}x)" for n in range(150)))).diagnostics
    assert len(shown) == 100
    assert shown[-1].code == "LIMIT_EXCEEDED"
    assert shown[-1].message == "51 more diagnostics are left out: the limit is 100"


def test_blocks_nested_too_deep_are_refused() -> None:
    text = "s = Value() andThen {" * 64 + "}" * 64
    [diagnostic] = found(body(text), "LIMIT_EXCEEDED")
    assert "Blocks are nested deeper than 64 levels" in diagnostic.message
    assert not found(body("s = Value() andThen {" * 63 + "}" * 63), "LIMIT_EXCEEDED")


def test_names_are_found_in_other_files_and_reopened_namespaces() -> None:
    read = program(
        "namespace a { use b facet F() andThen { s = G() t = H() } }",
        more="namespace a { facet H() }",
        other="namespace b { facet G() }",
    )
    assert read.diagnostics == ()


def test_an_exact_name_comes_before_the_own_namespace_and_that_before_used_ones() -> None:
    text = """
    namespace a { facet F(one: Long) }
    namespace b { use a facet F(two: Long) facet G() andThen { s = F(two = 1) t = a.F(one = 1) } }
    """
    assert program(text).diagnostics == ()
