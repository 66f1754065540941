"""Compiles a condition as written: reports all flaws at once."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Collection, Mapping
from typing import Any, Final, cast

import msgspec
from msgspec import Raw

from plait.extras import extra
from plait.kernel import values
from plait.kernel.errors import Flaw, PlaitError
from plait.kernel.values import Json

from .cache import Cache, Key
from .condition import Condition
from .facts import EMPTY, Place
from .findings import Findings, InvalidCondition, listed
from .references import Pinning, references
from .test import Read

_cache: Final = Cache()
_encoder: Final = msgspec.json.Encoder(order="sorted")


def compile(
    condition: Json,
    pointer: str = "",
    *,
    nodes: Collection[str] | None = None,
    blobs: Mapping[str, bytes] = EMPTY,
    place: Place = "node",
) -> Condition:
    """The compiled form, from the cache if it was used before. Raises an `InvalidCondition` that lists all flaws.

    `pointer` is the place of the condition, `nodes` are those that it may read, `blobs` the texts of its references.
    """
    findings = Findings()
    pinning = Pinning(blobs, findings)
    compiled = _compiled(pinning.pin(condition) if references(condition) else condition, place, findings)
    if place == "policy":
        nodes = ()
    if compiled is not None and nodes is not None:
        _check_nodes(compiled, nodes, findings)
    if compiled is None or findings.flaws:
        raise InvalidCondition([_placed(flaw, pointer, pinning.pinned) for flaw in findings.flaws])
    return compiled


def _compiled(condition: Json, place: Place, findings: Findings) -> Condition | None:
    """Pointers start at the condition, so one that is written in many places is compiled once."""
    try:
        text = _canonical(condition)
    except PlaitError as error:
        findings.add("bad_shape", "", error.text)
        return None
    key = _key(condition, text, place)
    return _cache.get(key) or _made(condition, text, key, findings)


def _made(condition: Json, text: bytes, key: Key, findings: Findings) -> Condition | None:
    with extra("scripts", "conditions"):
        from .reader import Reader  # with the first condition: programs without any start faster
    place, kind, _ = key
    reader = Reader(place, findings)
    test = reader.read(condition, "")
    if test is None or findings.flaws:
        return None
    nodes = frozenset(read.node for read in test.reads.nodes)
    made = Condition(kind, Raw(text), nodes, test.reads.every_node, reader.needs_task, test)
    _cache.keep(key, made)
    return made


def _canonical(condition: Json) -> bytes:
    values.encode(condition)  # raises unless it is JSON
    return _encoder.encode(condition)


def _key(condition: Json, text: bytes, place: Place) -> Key:
    kind = str(cast("dict[str, Any]", condition).get("type")) if isinstance(condition, dict) else "cel"
    return place, kind, hashlib.sha256(text).digest()


def _check_nodes(condition: Condition, nodes: Collection[str], findings: Findings) -> None:
    for read in condition.test.reads.nodes:
        if read.node not in nodes:
            _refuse_node(read, nodes, findings)


def _refuse_node(read: Read, nodes: Collection[str], findings: Findings) -> None:
    close = difflib.get_close_matches(read.node, list(nodes), n=1)
    fix = f"nearest: {close[0]}" if close else f"there are: {listed(sorted(nodes))}"
    findings.add("unknown_node", read.pointer, f"condition reads `{read.shown}`, no such node", fix)


def _placed(flaw: Flaw, pointer: str, pinned: Mapping[str, str]) -> Flaw:
    """Moves a flaw to the condition's place; a flaw in a referenced text is moved to its reference."""
    at = flaw.pointer
    for inside, written in pinned.items():
        if at == inside or at.startswith(f"{inside}/"):
            at = written
    return msgspec.structs.replace(flaw, pointer=f"{pointer}{at}")
