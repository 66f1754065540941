"""Every code an error of Ale can have, with the place it names."""

import re
from pathlib import Path

import pytest

import plait.scripts.ale
from plait.kernel.errors import InvalidInput
from plait.scripts.ale import (
    AleCompileError,
    AleError,
    AleLimitError,
    AleRuntimeError,
    AleSyntaxError,
    Limits,
    Script,
)

SMALL = Limits(steps=20_000, seconds=50, depth=100, elements=1000, memory=1_000_000, result=500)
LOOP = "(define (f) (f)) (f)"

READING = [
    ("syntax", "(+ 1\n  (2", 2, 3),
    ("syntax", '"abc', 1, 1),
    ("bad_number", "(+ 1\n   12ab)", 2, 4),
    ("number_too_large", "9" * 2000, 1, 1),
    ("odd_object", " {:a}", 1, 2),
    ("not_yet", "(a `b)", 1, 4),
    ("nesting_limit", "(" * 501, 1, 501),
    ("script_too_large", "1 " * 40_000, 0, 0),
]
COMPILING = [
    ("empty", " ; nothing", 1, 1),
    ("unknown_name", "(+ 1\n   amout)", 2, 4),
    ("reserved_name", "(map if [])", 1, 6),
    ("name_bound", "(let ([x 1]\n      [x 2]) x)", 2, 8),
    ("bad_name", "(let [a/b 1] 2)", 1, 7),
    ("bad_form", "(cond\n 1)", 2, 2),
    ("unreachable_case", "(lambda [(a) 1]\n [(b) 2])", 2, 2),
]
RUNNING = [
    ("kind", '(+ 1\n  (* 2 "a"))', 2, 3),
    ("kind", "((lambda (x)\n   (inc x)) :a)", 2, 4),
    ("arity", "(not)", 1, 1),
    ("divide_by_zero", "(if #t\n (/ 1 0))", 2, 2),
    ("out_of_bounds", "(nth [] 1)", 1, 1),
    ("bad_slice", "([1] 5)", 1, 1),
    ("key_not_found", "(get {} 1)", 1, 1),
    ("odd_object", "(object 1)", 1, 1),
    ("no_case", "(case 1)", 1, 1),
    ("no_value_yet", "(define x x)", 1, 11),
    ("bad_range", "(range 0 1 0)", 1, 1),
    ("bad_partition", "(partition 0 [])", 1, 1),
    ("raised", '(reduce (lambda (a b)\n  (raise "no")) [1 2])', 2, 3),
    ("kind", "(seq->list\n (map! inc (map :a [1])))", 2, 2),
    ("not_json", "map", 0, 0),
]
LIMITS = [
    ("step_limit", LOOP, 1, 13),
    ("depth_limit", "(define (f) (inc (f))) (f)", 1, 18),
    ("value_too_large", "(seq->list (range 1001))", 1, 1),
    ("number_too_large", "(define (f n) (f (* n n))) (f 7)", 1, 18),
    ("memory_limit", "(define v (seq->vector (range 900))) (define (f l) (f (cons (cons 1 v) l))) (f null)", 1, 61),
    ("result_too_large", '(define (f s) (if (> (length s) 500) s (f (str s s)))) (f "abc")', 0, 0),
]


@pytest.mark.parametrize(("code", "text", "line", "column"), READING)
def test_a_text_that_cannot_be_read_says_where(code: str, text: str, line: int, column: int):
    check(AleSyntaxError, code, text, line, column)


@pytest.mark.parametrize(("code", "text", "line", "column"), COMPILING)
def test_a_text_without_meaning_says_where(code: str, text: str, line: int, column: int):
    check(AleCompileError, code, text, line, column)


@pytest.mark.parametrize(("code", "text", "line", "column"), RUNNING)
def test_a_script_that_fails_says_where(code: str, text: str, line: int, column: int):
    check(AleRuntimeError, code, text, line, column)


@pytest.mark.parametrize(("code", "text", "line", "column"), LIMITS)
def test_a_script_that_takes_too_much_says_where(code: str, text: str, line: int, column: int):
    check(AleLimitError, code, text, line, column)


def check(kind: type[AleError], code: str, text: str, line: int, column: int) -> None:
    with pytest.raises(kind) as caught:
        Script(text, limits=SMALL).call()
    assert (caught.value.code, caught.value.line, caught.value.column) == (f"ale.{code}", line, column)


@pytest.mark.parametrize(
    "name", ["a b", "if", "12", ":key", "a(b", "", "x/y", "#t", "'a", ".", "a\n", "; a", '"a"', ",a"]
)
def test_a_parameter_that_no_text_could_name_is_refused(name: str):
    with pytest.raises(AleCompileError, match="can't be a parameter") as caught:
        Script("1", [name])
    assert caught.value.code == "ale.bad_parameter"


def test_a_parameter_given_twice_is_refused():
    with pytest.raises(AleCompileError, match="name already bound: a"):
        Script("1", ["a", "b", "a"])


def test_time_is_limited_too():
    with pytest.raises(AleLimitError, match="time limit exceeded") as caught:
        Script(LOOP, limits=Limits(seconds=0.05)).call()
    assert caught.value.code == "ale.time_limit"


@pytest.mark.parametrize(("code", "text", "line", "column"), [case for case in LIMITS if case[0] != "result_too_large"])
def test_no_script_can_catch_a_limit(code: str, text: str, line: int, column: int):
    *definitions, call = re.findall(r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\))*\)", text)
    with pytest.raises(AleLimitError) as caught:
        Script(f"{' '.join(definitions)} (try {call} (catch [e string?] 1) (finally 2))", limits=SMALL).call()
    assert caught.value.code == f"ale.{code}"


def test_an_error_says_what_where_and_how_to_fix_it():
    with pytest.raises(InvalidInput) as caught:
        Script("(> amout 1)", ["amount"])
    assert str(caught.value) == (
        "unknown name: amout: line 1, column 4."
        " To fix: use a parameter, a local or a core function; check the spelling [ale.unknown_name]"
    )


def test_a_very_long_message_is_shortened_for_people_and_whole_for_the_script():
    text = '(define (f s) (if (> (length s) 5000) s (f (str s s)))) (define long (f "abc"))'
    with pytest.raises(AleRuntimeError) as caught:
        Script(f"{text} (raise long)").call()
    assert len(caught.value.what) < 1100
    assert Script(f"{text} (try (raise long) (catch [e string?] (eq e long)))").call() is True


def test_every_code_in_the_source_is_tested_here():
    source = "".join(path.read_text() for path in Path(plait.scripts.ale.__file__).parent.rglob("*.py"))
    raised = set(re.findall(r'Ale(?:Syntax|Compile|Runtime|Limit)Error\(\s*"(\w+)"', source))
    tested = {case[0] for cases in (READING, COMPILING, RUNNING, LIMITS) for case in cases}
    assert raised - tested == {"bad_parameter", "time_limit"}, "which have tests of their own above"
