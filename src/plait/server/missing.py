"""Things that are not there. A foreign id gets the same words as one that never was."""

from __future__ import annotations

import re

from plait.kernel.errors import NotFound

from .routes import Noun

_USABLE = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,2000}")
_RUN = re.compile(r"[^/\x00-\x1f\x7f\ud800-\udfff]{1,200}")

_WORDS: dict[Noun, tuple[str, str, str]] = {
    "run": ("kernel.no_run", "there is no run {}", "`plait runs` lists them"),
    "definition": ("definitions.unknown", "there is no definition `{}`", "GET /api/v1/definitions lists them"),
    "step": ("goals.step_not_found", "step '{}' is not in the catalog", "register it first"),
    "approval": ("kernel.no_approval", "nothing is asked under {}", ""),
    "dead_letter": ("kernel.no_dead_letter", "there is no dead letter {}", "`plait dlq` lists them"),
    "key": ("auth.no_such_key", "there is no key {}", "GET /api/v1/keys lists them"),
    "link": ("auth.bad_link", "this link is not one of ours", "copy it as a whole, or ask for a new one"),
    "hook": ("auth.bad_link", "this link is not one of ours", "copy it as a whole, or ask for a new one"),
}


def usable(noun: Noun, id: str) -> bool:
    """Whether something can have this id at all."""
    return (_RUN if noun == "run" else _USABLE).fullmatch(id) is not None


def missing(noun: Noun, id: str) -> NotFound:
    code, what, fix = _WORDS[noun]
    return NotFound(code, what.format(id[:200]), why="it is unknown or decided" if noun == "approval" else "", fix=fix)
