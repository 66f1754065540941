"""JSONPath: RFC 9535, the comparison at the top, errors with their place, and limits that hold."""

import time
from itertools import count
from typing import Any

import pytest

from plait.conditions import jsonpath
from plait.conditions.jsonpath import JsonPathBudget, JsonPathSyntaxError, JsonPathTimeout, evaluation

STORE = {
    "store": {
        "book": [
            {"category": "reference", "author": "Rees", "title": "Century", "price": 8.95},
            {"category": "fiction", "author": "Waugh", "title": "Sword", "price": 12.99},
            {"category": "fiction", "author": "Melville", "title": "Moby", "isbn": "0-553", "price": 8.99},
            {"category": "fiction", "author": "Tolkien", "title": "Rings", "isbn": "0-395", "price": 22.99},
        ],
        "bicycle": {"color": "red", "price": 399},
    }
}


def find(query: str, document: Any) -> list[Any]:
    return jsonpath.compile(query).find(document)


def holds(query: str, document: Any) -> bool:
    return jsonpath.compile(query).holds(document)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("$.store.book[*].author", ["Rees", "Waugh", "Melville", "Tolkien"]),
        ("$..author", ["Rees", "Waugh", "Melville", "Tolkien"]),
        ("$.store..price", [8.95, 12.99, 8.99, 22.99, 399]),
        ("$..book[2].author", ["Melville"]),
        ("$..book[2].publisher", []),
        ("$..book[-1].title", ["Rings"]),
        ("$..book[0,1].title", ["Century", "Sword"]),
        ("$..book[:2].title", ["Century", "Sword"]),
        ("$..book[?@.isbn].title", ["Moby", "Rings"]),
        ("$..book[?@.price < 10].title", ["Century", "Moby"]),
        ("$..book[?@.price < 10 && @.category == 'fiction'].title", ["Moby"]),
        ("$..book[?!@.isbn].title", ["Century", "Sword"]),
        ("$..book[?@.price > $.store.bicycle.price]", []),
        ("$..book[?match(@.author, '[A-S].*')].author", ["Rees", "Melville"]),
        ("$..book[?search(@.title, 'in')].title", ["Rings"]),
        ("$..book[?length(@.title) == 4].title", ["Moby"]),
        ("$.store[?count(@.*) == 2].color", ["red"]),
        ("$..book[?value(@..isbn) == '0-395'].title", ["Rings"]),
        ("$['store']['bicycle']", [{"color": "red", "price": 399}]),
        ("  $.store.bicycle.color\n", ["red"]),
    ],
)
def test_it_finds_what_the_rfc_says(query: str, found: list[Any]) -> None:
    assert find(query, STORE) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("$[1:5:2]", [1, 3]),
        ("$[5:1:-2]", [5, 3]),
        ("$[::-1]", [6, 5, 4, 3, 2, 1, 0]),
        ("$[-3:]", [4, 5, 6]),
        ("$[::0]", []),
        ("$[7]", []),
        ("$[-8]", []),
        ("$[0, 0]", [0, 0]),
    ],
)
def test_slices_and_indexes(query: str, found: list[int]) -> None:
    assert find(query, list(range(7))) == found


@pytest.mark.parametrize(
    ("query", "document", "truth"),
    [
        ('$.state == "open"', {"state": "open"}, True),
        ('$.state == "open"', {"state": "shut"}, False),
        ('$.state != "open"', {}, True),
        ("$.n > 100", {"n": 100}, False),
        ("$.n >= 100", {"n": 100}, True),
        ("100 <= $.n", {"n": 100.5}, True),
        ("$.n < 'b'", {"n": "a"}, True),
        ("$.n > 1", {"n": "2"}, False),
        ("$.n > 0", {"n": True}, False),
        ("$.a == $.b", {"a": {"x": [1]}, "b": {"x": [1.0]}}, True),
        ("$.a == $.b", {"a": [1], "b": [True]}, False),
        ("$.a == $.b", {}, True),
        ("$.a == null", {"a": None}, True),
        ("$.a == null", {}, False),
        ("$.big == 9007199254740993", {"big": 9007199254740992}, False),
        ("$.n == 1e2", {"n": 100}, True),
        ("length($.items) > 1 && $.open == true", {"items": [1, 2], "open": True}, True),
        ("!$.gone || $.n == 1", {"n": 2}, True),
        ("match($.id, 'a-[0-9]+')", {"id": "a-17"}, True),
        ("$ == 5", 5, True),
    ],
)
def test_a_comparison_about_the_document(query: str, document: Any, truth: bool) -> None:
    compiled = jsonpath.compile(query)
    assert compiled.compares
    assert compiled.holds(document) is truth
    assert compiled.find(document) == [truth]


def test_a_path_holds_if_it_matches_anything_null_too() -> None:
    assert holds("$.a", {"a": None})
    assert not holds("$.a", {"b": 1})
    assert not holds("$[?@ > 3]", [1, 2])


@pytest.mark.parametrize(
    ("query", "message", "line", "column"),
    [
        ("", "the query is empty", 1, 1),
        ("$.", "it ends early", 1, 3),
        ("$.amount >=", "it ends early", 1, 12),
        ("$.a[", "it ends early", 1, 5),
        ("$.a = 1", "unexpected token '='", 1, 5),
        ("$.a\n  && 3", "literals", 2, 3),
        ("\n\n  $.a[?@.b = 1]", "unexpected token '='", 3, 12),
        ("amount > 3", "unexpected 'amount'", 1, 1),
        ("@.a == 1", "use `$`", 1, 1),
        ("$.a <> 1", "<> is no comparison", 1, 1),
        ("$.a == 1][0", "neither a path nor a comparison", 1, 1),
        ("$.a == 1, ?$.b == 2", "neither a path nor a comparison", 1, 1),
        ("$.a == 01", "01 is no number", 1, 1),
        ("$[?@.a == 1 == 2]", "can't be compared", 1, 1),
        ("$[?@.* == 1]", "not comparable", 1, 8),
        ("$[?length(@.a)]", "must be compared", 1, 3),
        ("$[?nope(@.a)]", "function 'nope' is not defined", 1, 4),
        ("match($.a, '(')", "the pattern '(' is none", 1, 1),
        ("match($.a, '(?i)a')", "is none", 1, 1),
        ("$.a | $.b", "unexpected token '|'", 1, 5),
        ("$[1e2]", "1e2", 1, 1),
        ("[" * 40, "nested deeper", 1, 1),
        ("$" + ".a" * 3000, "4,096 are allowed", 0, 0),
    ],
)
def test_what_is_no_query_is_refused_with_its_place(query: str, message: str, line: int, column: int) -> None:
    with pytest.raises(JsonPathSyntaxError) as caught:
        jsonpath.compile(query)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


def test_it_tells_which_names_of_the_document_it_wants() -> None:
    query = jsonpath.compile("$.orders[?@.total > $.limit] ")
    assert query.names == ("orders", "limit")
    assert jsonpath.compile("$..total").names == ()
    assert jsonpath.compile("$['a', 'b'] ").names == ("a", "b")


def test_a_query_that_takes_too_many_steps_is_stopped() -> None:
    document = {"rows": [[index] * 50 for index in range(200)]}
    query = jsonpath.compile("$..[?count(@..*) > 3]..*")
    with pytest.raises(JsonPathBudget):
        query.find(document, steps=10_000)
    assert query.find(document, steps=1_000_000)


def test_comparing_large_values_counts_too() -> None:
    document = {"a": list(range(1000)), "b": list(range(1000))}
    with pytest.raises(JsonPathBudget):
        jsonpath.compile("$.a == $.b").holds(document, steps=500)


def test_a_query_has_only_so_much_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count(0, 2)  # each look at the clock comes two seconds after the one before
    monkeypatch.setattr(evaluation, "monotonic", lambda: next(ticks))
    document = {"rows": [[index] * 50 for index in range(200)]}
    with pytest.raises(JsonPathTimeout) as caught:
        jsonpath.compile("$..[?count(@..*) > 3]..*").find(document, steps=1_000_000)
    assert (caught.value.code, caught.value.message) == ("condition.time_limit", "the query takes longer than 5 s")
    assert next(ticks) < 10  # it was looked at often enough


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("$[?search(@, $[0])]", ["(a|b){1,900}"] * 300),
        ("$[?@ == $[0]]", ["x" * 1_000_000] * 300),
        ("$[?@ <= $[0]]", ["x" * 1_000_000] * 300),
        (
            "$[?@ == $[0]]",
            [{str(key): 0 for key in range(1_000)} | {"x": 1}] + [{str(k): 0 for k in range(1_001)}] * 300,
        ),
    ],
)
def test_what_takes_long_counts_as_many_steps(query: str, document: Any) -> None:
    with pytest.raises(JsonPathBudget):
        jsonpath.compile(query).find(document, steps=100_000)


def test_deep_documents_are_no_problem() -> None:
    document: Any = 1
    for _ in range(120):
        document = {"a": document}
    assert find("$..a", document)[-1] == 1


def test_no_pattern_hangs() -> None:
    began = time.process_time()
    assert not holds("search($.a, '(a+)+b')", {"a": "a" * 5000})
    assert not holds("match($.a, $.p)", {"a": "a" * 26, "p": "(a?){26}(a){27}"})
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("a.c", "abc", True),
        ("a.c", "a\nc", False),
        ("[0-9]{3}", "123", True),
        ("[^0-9]+", "12", False),
        ("a$", "a$", True),
        ("^a", "^a", True),
        (r"a\.c", "abc", False),
        (r"\p{Lu}+", "ÄÖ", True),
        ("a|b", "b", True),
    ],
)
def test_patterns_are_those_of_rfc_9485(pattern: str, text: str, fits: bool) -> None:
    assert holds("match($.text, $.pattern)", {"text": text, "pattern": pattern}) is fits


def test_a_pattern_from_the_document_that_is_none_does_not_match() -> None:
    assert not holds("match($.text, $.pattern)", {"text": "a", "pattern": r"\d("})
    assert not holds("match($.text, $.pattern)", {"text": "a", "pattern": 5})
    assert not holds("search($.text, $.pattern)", {"text": "a", "pattern": "a" * 2000})
