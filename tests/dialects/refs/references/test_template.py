"""Which parts of a string are references."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.refs.references.heads import heads, places
from plait.dialects.refs.references.resolve import Scope, resolve
from plait.dialects.refs.references.template import Malformed, Ref, escaped, parse


@pytest.mark.parametrize(
    ("text", "head", "path"),
    [
        ("@input", "input", ()),
        ("@a.b", "a", ("b",)),
        ("@a.b.0.c", "a", ("b", "0", "c")),
        ("@a[0].b", "a", ("0", "b")),
        ("@get-user_1.full-name", "get-user_1", ("full-name",)),
        ("@{a.b}", "a", ("b",)),
        ('@{a["2fa"]}', "a", ("2fa",)),
        (r'@{a["say \"x\"]"].b}', "a", ('say "x"]', "b")),
        ("@{a[3]}", "a", ("3",)),
    ],
)
def test_a_whole_string_is_a_reference(text: str, head: str, path: tuple[str, ...]) -> None:
    found = parse(text).whole
    assert found == Ref(text, head, path, braced="{" in text)


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("Hello @input.name!", ["@input.name"]),
        ("@a-", ["@a"]),
        ("see @a.b. Then @c.", ["@a.b", "@c"]),
        ("@a.b-", ["@a.b"]),
        ("v@{input.n}", ["@{input.n}"]),
        ("@a[0]@b", ["@a[0]", "@b"]),
        ("@a[x]", ["@a"]),
        ("@a.2fa", ["@a"]),
        (" @a", ["@a"]),
        ("(@a,@b)", ["@a", "@b"]),
        ("@a..b", ["@a"]),
    ],
)
def test_references_within_text_end_where_no_name_goes_on(text: str, refs: list[str]) -> None:
    assert [ref.text for ref in parse(text).refs] == refs
    assert parse(text).whole is None


@pytest.mark.parametrize(
    "text", ["@@ -1,3 @@", "ann@input.com", "ann.lee_@input", "@", "@ a", "@1", "a @ b", "x@@", "été@input", "@.a"]
)
def test_text_stays_as_it_is(text: str) -> None:
    assert parse(text).parts == (text,)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("@@input.x", "@input.x"),
        ("@@@input.x", "@@input.x"),
        ("@@{input}", "@{input}"),
        ("ann@@input.com", "ann@input.com"),
        ("a @@b and @@ c", "a @b and @@ c"),
    ],
)
def test_an_escape_gives_one_mark_less(text: str, meant: str) -> None:
    assert parse(text).parts == (meant,)


@pytest.mark.parametrize("text", ["@{}", "@{a b}", "@{a", '@{a["x}', '@{a["\\x"]}'])
def test_braces_without_a_reference_are_told_apart(text: str) -> None:
    assert parse(text).parts[0] == Malformed(text)


@given(st.text(alphabet='@ab_1.-{}[]" é\\'))
def test_escaped_text_means_itself(text: str) -> None:
    value, unresolved, _ = resolve(escaped(text), Scope(outputs={"a": 1, "b": 2}))
    assert (value, unresolved) == (text, [])


@given(st.text(alphabet='@abc_1.-{}[]" é\\'))
def test_parts_put_together_are_the_text_but_for_escapes(text: str) -> None:
    joined = "".join(part if isinstance(part, str) else part.text for part in parse(text).parts)
    assert joined.replace("@", "") == text.replace("@", "")


def test_heads_are_those_of_steps_in_values_at_any_depth() -> None:
    value = {"@not": ["@a.x", {"k": "text @b @input.c @item"}], "mail": "x@y.z", "n": 1}
    assert heads(value) == {"a", "b"}


def test_places_have_pointers() -> None:
    found = list(places({"a/b": ["@x", "see @y"]}))
    assert [(each.pointer, each.token.text, each.whole) for each in found] == [
        ("/a~1b/0", "@x", True),
        ("/a~1b/1", "@y", False),
    ]
