"""Tags: names that people move from one version to another, with undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from plait.kernel.errors import Conflict, NotFound, Stale

from .changes import Change, TagMoved, TagRemoved
from .index import History, Index
from .nearest import did_you_mean, some_of

Decide = Callable[[Index], list[Change]]


def move(name: str, tag: str, target: str, expected: str | None) -> Decide:
    def decide(index: Index) -> list[Change]:
        now = index.history(name).tags.get(tag)
        check_expected(name, tag, now, expected)
        return [TagMoved(name, tag, target)] if now != target else []

    return decide


def step(name: str, tag: str, way: Literal["undo", "redo"], expected: str | None) -> Decide:
    """Moves a tag back to where it was before its last move, or forward to where it was before the last undo."""

    def decide(index: Index) -> list[Change]:
        history = index.history(name)
        _check_there(name, tag, history)
        check_expected(name, tag, history.tags.get(tag), expected)
        waiting = (history.undo if way == "undo" else history.redo).get(tag)
        if not waiting:
            raise Conflict(
                f"definitions.nothing_to_{way}",
                f"there is no move of `{name}@{tag}` to {way}",
                why="it was never moved" if way == "undo" else "nothing was undone since its last move",
            )
        return [TagMoved(name, tag, waiting[-1], way)]

    return decide


def remove(name: str, tag: str) -> Decide:
    def decide(index: Index) -> list[Change]:
        _check_there(name, tag, index.history(name))
        return [TagRemoved(name, tag)]

    return decide


def check_expected(name: str, tag: str, now: str | None, expected: str | None) -> None:
    """Refuses if the tag is not on `expected`, the version that the caller saw; None: any."""
    if expected is not None and now != expected:
        raise Stale(
            "definitions.tag_moved",
            f"`{name}@{tag}` is not at version {expected}",
            why=f"it is at {now}" if now is not None else "there is no such tag",
            fix="look again, and move it from where it is",
        )


def _check_there(name: str, tag: str, history: History) -> None:
    if tag not in history.tags:
        raise NotFound(
            "definitions.no_tag",
            f"`{name}` has no tag `{tag}`",
            why=f"its tags: {some_of(history.tags)}",
            fix=did_you_mean(tag, history.tags, "`plait definitions` lists them"),
        )
