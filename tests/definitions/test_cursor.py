"""One reading names every flaw, each with its place."""

from __future__ import annotations

from typing import Any

import pytest

from plait.definitions.cursor import Cursor
from plait.definitions.flaws import InvalidDefinition, Note
from plait.kernel.errors import Flaw


def test_what_is_right_is_read_and_what_is_absent_gives_its_default() -> None:
    cursor = Cursor(
        {"name": "a", "retries": 3.0, "on": True, "kind": "b", "tags": ["x"], "labels": {"k": "v"}, "off": None}
    )
    assert (cursor.text("name"), cursor.number("retries"), cursor.flag("on")) == ("a", 3, True)
    assert (cursor.text("none"), cursor.number("none", 7), cursor.flag("off", default=True)) == ("", 7, True)
    assert (cursor.choice("kind", ("a", "b")), cursor.choice("none", ("a", "b"))) == ("b", "a")
    assert (cursor.names("tags"), cursor.texts("labels"), cursor.child("none")) == (["x"], {"k": "v"}, None)
    assert cursor.notes == []


def test_every_wrong_field_is_noted_and_gives_its_default() -> None:
    cursor = Cursor({"name": 1, "retries": True, "on": "yes", "kind": "c", "tags": "x", "part": [], "one": 1.5})
    assert (cursor.text("name"), cursor.number("retries"), cursor.flag("on")) == ("", 0, False)
    assert (cursor.choice("kind", ("a", "b")), cursor.names("tags"), cursor.child("part")) == ("a", [], None)
    assert (cursor.number("one"), cursor.text("id", required=True)) == (0, "")
    assert [(note.pointer, note.message) for note in cursor.notes] == [
        ("/name", "'name' is a number; use a string"),
        ("/retries", "'retries' is a boolean; use a whole number"),
        ("/on", "'on' is a string; use true or false"),
        ("/kind", "'kind' is 'c'; use 'a' or 'b'"),
        ("/tags", "'tags' is a string; use a list"),
        ("/part", "'part' is a list; use an object"),
        ("/one", "'one' is a number; use a whole number"),
        ("/id", "'id' is missing; add it"),
    ]


def test_parts_have_pointers_from_the_top_of_the_document() -> None:
    cursor = Cursor({"nodes": [{"id": "a"}, 5, {"id": 7}], "a/b": {"c~d": 1}, "names": ["x", None]})
    nodes = cursor.objects("nodes")
    assert [node.text("id") for node in nodes] == ["a", ""]
    inner = cursor.child("a/b")
    assert inner is not None
    assert inner.text("c~d") == ""
    assert cursor.names("names") == ["x"]
    assert [note.pointer for note in cursor.notes] == ["/nodes/1", "/nodes/2/id", "/a~1b/c~0d", "/names/1"]


@pytest.mark.parametrize(
    ("field", "fix"),
    [
        ("depends_on", "did you mean 'dependencies'? known: dependencies, id"),
        ("colour", "remove it; known: dependencies, id"),
    ],
)
def test_an_unknown_field_is_noted_with_what_was_probably_meant(field: str, fix: str) -> None:
    cursor = Cursor({field: []})
    cursor.only(("id", "dependencies"))
    assert cursor.notes == [Note(f"/{field}", f"unknown field '{field}'", fix)]


def test_a_refusal_names_the_first_flaw_and_has_them_all() -> None:
    cursor = Cursor({"nodes": [{}]})
    cursor.note("nodes", "cycle: A -> B -> A", "put a loop on B", "graph.cycle")
    cursor.objects("nodes")[0].text("id", required=True)
    error = InvalidDefinition("graph.invalid", cursor.notes)
    assert str(error) == "cycle: A -> B -> A. To fix: put a loop on B (and 1 more) [graph.invalid]"
    assert list(error.flaws) == [
        Flaw("graph.cycle", "/nodes", "cycle: A -> B -> A; put a loop on B"),
        Flaw("graph.invalid", "/nodes/0/id", "'id' is missing; add it"),
    ]


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, True, 1.5, ("a",)])
def test_no_value_stops_the_reading(value: Any) -> None:
    cursor = Cursor({"f": value})
    reads = (cursor.text, cursor.number, cursor.flag, cursor.child, cursor.items, cursor.objects, cursor.names)
    for read in (*reads, cursor.texts, cursor.has):
        read("f")
    assert cursor.choice("f", ("a",)) == "a"
