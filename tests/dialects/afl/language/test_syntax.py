"""What the parser takes, what it refuses, and what it says then."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.afl.language.diagnostic import Diagnostics
from plait.dialects.afl.language.parser import Parsed, parse
from plait.dialects.afl.language.program import read_program
from plait.dialects.afl.language.source_file import SourceFile, SourceText
from plait.dialects.afl.language.tree import Binary, Concat, Constant, Facet, Group, Namespace, Step, Unary
from tests.dialects.afl.language.programs import in_shop, marked, program
from tests.support.effort import examples


def read(text: str) -> tuple[Parsed, Diagnostics]:
    diagnostics = Diagnostics()
    return parse(SourceText(SourceFile("a.afl", text)), diagnostics), diagnostics


def expression(text: str) -> object:
    parsed, diagnostics = read(f"facet F(a: Json = {text})")
    assert diagnostics.found == []
    [facet] = parsed.tree.members
    assert isinstance(facet, Facet)
    return facet.parameters[0].default


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("facet F() andThen { yield F() ¶s = F() }", "Unexpected 's'", "steps come before the yields"),
        ("facet F() with U ¶andThen { }", "Unexpected 'andThen'", "a mixin has parentheses: with U()"),
        ("facet F() => ¶o: Long", "Unexpected 'o', expected '('", "returns stand in parentheses"),
        ("facet F() andThen { s = F(¶1) }", "Unexpected '1'", "arguments have names"),
        ("facet F() andThen { s = F(x¶) }", "Unexpected ')', expected '='", "arguments have names"),
        ("event ¶X(a: Long)", "Unexpected 'X', expected 'facet'", "write 'event facet X'"),
        ("facet F(a: String = ¶'x')", 'Unexpected "\'"', "strings have double quotes"),
        ("facet F(a: Long,¶) ", "Unexpected ')'", "remove the comma before it"),
        ("facet F() andThen { s = F(a = [1,¶]) }", "Unexpected ']'", "remove the comma before it"),
        ("namespace a ¶{ facet F()", "This '{' is never closed", "add '}'"),
        ("facet F() }¶", "", ""),
        ("facet F(a: Long = 1 < 2 ¶< 3)", "Unexpected '<' after another comparison", "join comparisons with '&&'"),
        ("facet F(a: Long = ¶99999999999999999999)", "This integer has more than 64 bits", "as a Double"),
        ("facet F(a: Double = ¶1.0e999)", "This number is too large", ""),
        ('facet F(a: String = ¶"x)', "This string has no end", "close it"),
        ("facet F() ¶/* x", "This comment has no end", "close it"),
        ("facet F() script ¶{ x = {", "This script has no end", "close it"),
        ("facet F(a: Long = ¶# 1)", "Unexpected '#'", "a map starts with '#{'"),
        ("facet ¶Ä()", "Unexpected 'Ä'", "names have letters of ASCII"),
        ("facet F() andThen { ¶true = F() }", "'true' cannot name a step", "rename it"),
        ("facet F() andThen { sys.¶print(a = 1) }", "Unexpected 'sys.print'", ""),
        ('facet F() prompt { ¶text "x" }', "Unexpected 'text', expected system, template or model", ""),
        ("facet F(a ¶= 1)", "Unexpected '=', expected ':'", "parameters have types"),
        (r'facet F(a: String = ¶"\ud800")', "half of a surrogate pair", "write both halves"),
        ("facet F() ¶\0", "Unexpected NUL character", "remove it"),
    ],
)
def test_a_syntax_error_says_what_was_meant(text: str, message: str, hint: str) -> None:
    clean, place = marked(text)
    _, diagnostics = read(clean)
    if not message:
        [only] = diagnostics.found
        assert "nothing is open that it could close" in only.hint
        return
    [only] = diagnostics.found
    assert (only.code, message in only.message, hint in only.hint) == ("PARSE_ERROR", True, True), only
    if not clean.endswith("\0"):
        assert (only.line, only.column) == place


def test_reading_goes_on_at_the_next_declaration() -> None:
    text = """
    namespace a {
        facet One( andThen { s = F(a = 1 }
        facet Two(a: Long)
        workflow Three() andThen { s = Two(1) }
    }
    namespace b { schema S { x } facet Four() }
    """
    parsed, diagnostics = read(text)
    assert [each.line for each in diagnostics.found] == [3, 5, 7]
    names = [m.name.text for n in parsed.tree.members if isinstance(n, Namespace) for m in n.members]
    assert names == ["Two", "Four"]


def test_a_missing_brace_of_a_namespace_keeps_what_it_holds() -> None:
    parsed, diagnostics = read("namespace a {\nfacet One()\nnamespace b {\nfacet Two()\n}\n")
    assert len(diagnostics.found) == 1
    names = [(n.name.text, [m.name.text for m in n.members]) for n in parsed.tree.members if isinstance(n, Namespace)]
    assert names == [("a", ["One"]), ("b", ["Two"])]


def test_what_follows_from_a_syntax_error_is_not_said() -> None:
    read_ = program("namespace a {\nfacet One(\nfacet Two() andThen { s = One() }\n}")
    assert [each.code for each in read_.diagnostics] == ["PARSE_ERROR"]


def test_keywords_are_names_where_no_keyword_can_stand() -> None:
    words = "namespace use uses event facet workflow schema implicit with as andThen foreach in when case script catch"
    steps = "\n".join(f"{word} = Value(input = 1)" for word in (words + " prompt yield sys not contains").split())
    refs = "\n".join(f"r{at} = Value(input = {word}.input)" for at, word in enumerate(words.split()))
    text = in_shop(f"workflow W(in: Long, with: Long) andThen {{\n{steps}\n{refs}\nyield W()\n}}")
    assert [each.text for each in program(text).diagnostics] == []


def test_words_that_follow_a_dot_are_names() -> None:
    assert (
        program(
            in_shop("facet in(yield: Long) facet F() andThen { s = shop.in(yield = 1) t = Value(input = s.yield) }")
        ).diagnostics
        == ()
    )


def test_line_ends_are_white_space_and_a_bom_is_skipped() -> None:
    text = "\ufeffnamespace a\r\n{\r\nfacet F()\r\nwith G()\r\nandThen\r\n{ }\r\ncatch { }\r\nfacet G() }"
    assert program(text).diagnostics == ()


def test_an_empty_file_is_a_program() -> None:
    for text in ("", "  \n", "// nothing\n", "/* nothing */"):
        assert program(text).diagnostics == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r'"a\n\t\"\\\/\b\f\r"', 'a\n\t"\\/\b\f\r'),
        (r'"\x41\u00e4\ud83d\ude00"', "Aä😀"),
        (r'"\d\q"', r"\d\q"),
        ('"two\nlines"', "two\nlines"),
        ("1.50", 1.5),
        ("1.5e-3", 0.0015),
        ("007", 7),
        ("null", None),
    ],
)
def test_literals_mean_what_they_say(written: str, meant: object) -> None:
    found = expression(written)
    assert isinstance(found, Constant)
    assert found.value == meant


def test_operators_bind_as_they_should() -> None:
    found = expression("-1 + 2 * 3 ++ 4 == 5 && !true || (1 - 2 - 3)")
    assert isinstance(found, Binary)
    assert found.operator == "||"
    assert isinstance(found.right, Group)
    assert isinstance(found.left, Binary)
    comparison = found.left.left
    assert isinstance(comparison, Binary)
    assert comparison.operator == "=="
    assert isinstance(comparison.left, Concat)
    plus = comparison.left.operands[0]
    assert isinstance(plus, Binary)
    assert (plus.operator, type(plus.left)) == ("+", Unary)
    inner = found.right.inner
    assert isinstance(inner, Binary)
    assert isinstance(inner.left, Binary)


def test_a_doc_comment_describes_what_it_stands_before() -> None:
    parsed, _ = read(
        "/** Sends.\n * @param to whom\n *   and when\n * @return id its id\n */\nfacet F() // no\n"
        "/** aside */ implicit i = F()"
    )
    facet = parsed.tree.members[0]
    assert isinstance(facet, Facet)
    assert facet.doc is not None
    assert facet.doc.description == "Sends."
    assert facet.doc.parameters == (("to", "whom\n  and when"),)
    assert facet.doc.returns == (("id", "its id"),)


def test_a_raw_script_ends_at_its_own_brace() -> None:
    code = 'd = {"a": "}"}  # }\nt = """\n}}} \\""" \n"""\ns = \'}\'\nresult["x"] = f"{d}"'
    lines = "\n".join(f"        {line}" if line else "" for line in code.split("\n"))
    parsed, diagnostics = read(f"facet F() script python {{\n{lines}\n    }}\nfacet G()")
    assert diagnostics.found == []
    first = parsed.tree.members[0]
    assert isinstance(first, Facet)
    assert first.script is not None
    assert first.script.code == code
    assert len(parsed.tree.members) == 2


def test_each_with_of_a_yield_is_one_more_yield() -> None:
    parsed, _ = read("facet F() andThen { s = F() yield F(a = 1) with G(b = 2) }")
    facet = parsed.tree.members[0]
    assert isinstance(facet, Facet)
    block = facet.bodies[0].body
    assert [each.call.target.text for each in block.yields] == ["F", "G"]  # type: ignore[union-attr]
    assert isinstance(block.statements[0], Step)  # type: ignore[union-attr]


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(content: bytes) -> None:
    read_program([SourceFile("a.afl", content.decode("utf-8", "surrogateescape"))])


PIECES = [
    *[
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "#{",
        ",",
        ";",
        ":",
        ".",
        "=",
        "=>",
        "$",
        "!",
        "+",
        "-",
        "*",
        "/",
        "%",
        "||",
        "&&",
        "==",
        "<",
        "++",
        '"',
        "'",
        "//",
        "/*",
        "*/",
        "/**",
        "script",
        "{",
        "prompt",
    ],
    *[
        "namespace",
        "use",
        "event",
        "facet",
        "workflow",
        "schema",
        "implicit",
        "with",
        "as",
        "andThen",
        "foreach",
        "in",
        "when",
        "case",
        "catch",
        "yield",
        "sys",
    ],
    *[
        "not",
        "contains",
        "true",
        "null",
        "F",
        "a",
        "b.c",
        "1",
        "2.5",
        '"x"',
        "Long",
        "String",
        "$.a",
        "_",
        "\n",
        "\t",
        "\x00",
        "é",
        "😀",
        "�",
        "script{",
        "",
    ],
]


@pytest.mark.parametrize(
    "text", ["use b.c", "uses b.c facet F()", "namespace n { } use x", "facet F() ; use a\nfacet G()"]
)
def test_a_word_that_is_no_declaration_here_is_told_once_and_passed_over(text: str) -> None:
    found = read_program([SourceFile("a.afl", text)])
    assert [each.code for each in found.diagnostics].count("PARSE_ERROR") == 1


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_words_are_survived(words: list[str]) -> None:
    read_program([SourceFile("a.afl", " ".join(words))])


@pytest.mark.costly
def test_a_program_with_something_missing_is_survived() -> None:
    """Cut, and with parts left out, at random places."""
    text = in_shop(
        'workflow W(a: Long = 1) => (o: Long) with Audit(level = 1) as x andThen { s = Pay(sku = "a" ++ $.a) '
        "andThen foreach x in s.id { t = Value(input = x[0].y) } catch when { case true => { } case _ => { } } "
        'yield W(o = s.fee) } andThen script { result["a"] = {} }'
    )
    chance = random.Random(7)
    for _ in range(examples(300)):
        at, length = chance.randrange(len(text)), chance.randrange(12)
        read_program([SourceFile("a.afl", text[:at] + text[at + length :])])
        read_program([SourceFile("a.afl", text[:at])])


@pytest.mark.parametrize("opened", ["(", "[", "-", "!", "#{a: ", "x[", "(-", "1 + (", "a.", "[1, ", "+ "])
@pytest.mark.parametrize("times", [190, 250, 20_000])
def test_any_nesting_is_survived(opened: str, times: int) -> None:
    found = read_program([SourceFile("a.afl", f"facet F(a: Json = {opened * times}")])
    assert not found.valid


@pytest.mark.parametrize("text", ["s = F() andThen {", "s = F() andThen when { case true => {", "yield F() with "])
@pytest.mark.parametrize("times", [60, 100, 5_000])
def test_any_nesting_of_blocks_is_survived(text: str, times: int) -> None:
    assert not read_program([SourceFile("a.afl", f"facet F() andThen {{ {text * times}")]).valid


def test_an_expression_of_two_hundred_levels_is_checked_and_one_more_refused() -> None:
    def nested(levels: int) -> str:
        return in_shop(f"facet F(a: Json = {'(' * (levels - 1)}1{')' * (levels - 1)})")

    assert program(nested(200)).diagnostics == ()
    assert [each.code for each in program(nested(201)).diagnostics] == ["LIMIT_EXCEEDED"]
    chain = " + ".join(["1"] * 250)
    assert [each.code for each in program(f"facet F(a: Json = {chain})").diagnostics] == ["LIMIT_EXCEEDED"]
    text = " ++ ".join(['"a"'] * 900)
    assert program(f"facet F(a: Json = {text})").diagnostics == ()


def test_a_file_that_is_too_large_is_refused() -> None:
    [only] = program("//" + "x" * (2 * 1024 * 1024)).diagnostics
    assert (only.code, only.line) == ("LIMIT_EXCEEDED", 1)
