"""Names: which are allowed, how a version is asked for, and what was probably meant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plait.definitions.names import check_name, check_tag, check_version
from plait.definitions.nearest import did_you_mean, nearest, some_of
from plait.definitions.reference import DefinitionRef, parse
from plait.kernel.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("order", DefinitionRef("order")),
        ("order@v1.2", DefinitionRef("order", "v1.2")),
        ("shop.tax.Order@prod", DefinitionRef("shop.tax.Order", "prod")),
        ("order@", DefinitionRef("order")),
        ("order@a@b", DefinitionRef("order", "a@b")),
        ("", DefinitionRef("")),
    ],
)
def test_a_reference_is_a_name_and_perhaps_a_version(text: str, found: DefinitionRef) -> None:
    assert parse(text) == found
    assert parse(str(found)) == found


GOOD: dict[Callable[[object], str], list[str]] = {
    check_name: ["order", "shop.tax.Order", "0b2f-1", "_x"],
    check_version: ["1", "v1.2", "2026-01-01+a"],
    check_tag: ["prod", "release candidate", "é"],
}
BAD: dict[Callable[[object], str], list[object]] = {
    check_name: ["", "a b", "a@b", "a/b", ".a", "x" * 129, None, 5, "é"],
    check_version: ["", "a@b", "a/b", "-1", "x" * 101, None, 1],
    check_tag: ["", "a@b", "a/b"],
}


@pytest.mark.parametrize("noun", ["name", "version", "tag"])
def test_names_are_checked_when_something_is_saved(noun: str) -> None:
    check = {"name": check_name, "version": check_version, "tag": check_tag}[noun]
    assert [check(each) for each in GOOD[check]] == GOOD[check]
    for each in BAD[check]:
        with pytest.raises(InvalidInput) as caught:
            check(each)
        assert caught.value.code == f"definitions.bad_{noun}"


@pytest.mark.parametrize("tag", ["x" * 101, "a\0b", "\ud800", None, 5])
def test_a_tag_that_no_store_could_hold_is_refused(tag: object) -> None:
    with pytest.raises(InvalidInput):
        check_tag(tag)


def test_the_most_similar_name_is_found_among_thousands() -> None:
    names = [f"workflow_{number}" for number in range(20_000)] + ["order"]
    assert nearest("ordr", names) == "order"
    assert nearest("zzz", ["order"]) is None
    assert nearest("", []) is None


def test_a_fix_names_what_was_meant_or_what_else_to_do() -> None:
    assert did_you_mean("ordr", ["order"], "load it") == "did you mean `order`?"
    assert did_you_mean("zzz", ["order"], "load it") == "load it"


def test_a_list_of_names_stays_short() -> None:
    assert some_of([]) == "none"
    assert some_of(["b", "a"]) == "a, b"
    assert some_of([f"n{number:02}" for number in range(22)]).endswith("n19 and 2 more")
