"""`engine.node_types`: the types of a namespace beside the built-in ones.

Each namespace has a stream of registrations, which every process folds. Within one version a schema may be widened and
never narrowed: saved definitions and live runs rely on it.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec

from plait.conditions import schema
from plait.definitions.nearest import did_you_mean
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, InvalidInput, NotFound
from plait.kernel.events import Event
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, check_namespace
from plait.kernel.records import Records
from plait.kernel.streams import Follower, Stream

from .builtin_types import BUILT_IN, BUILT_IN_TYPES
from .node_types import ALIASES, NodeType, NodeTypes
from .texts import Texts
from .type_compatibility import narrowed

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_VERSION = re.compile(r"v[1-9][0-9]{0,5}")
_KIND = "node_types"
_SCHEMAS = ("config_schema", "input_schema", "output_schema")


class TypeRegistered(Event, frozen=True, tag="type.registered"):
    node_type: NodeType


_decoder = msgspec.json.Decoder(TypeRegistered)


class _Shelf:
    """The state of one namespace in this process."""

    def __init__(self, stream: Stream) -> None:
        self.types: dict[tuple[str, int], NodeType] = {}
        self.follower = Follower(stream, _decoder, self._fold)
        self.writing = asyncio.Lock()
        self._seen: NodeTypes | None = None

    def now(self) -> NodeTypes:
        """Returns the same object until something changes, so that callers need not compile again."""
        if self._seen is None:
            self._seen = BUILT_IN_TYPES.with_types(self.types[key] for key in sorted(self.types))
        return self._seen

    def _fold(self, event: TypeRegistered, at: Millis) -> None:
        self.types[event.node_type.key] = event.node_type
        self._seen = None


class TypeRegistry:
    def __init__(self, records: Records, clock: Clock, texts: Texts) -> None:
        self._records = records
        self._clock = clock
        self._texts = texts
        self._shelves: dict[str, _Shelf] = {}

    async def of(self, namespace: str = DEFAULT_NAMESPACE) -> NodeTypes:
        """The current types of a namespace."""
        shelf = self._shelf(namespace)
        await shelf.follower.refresh()
        return (
            BUILT_IN_TYPES.with_types(shelf.types[key] for key in sorted(shelf.types))
            if shelf.types
            else BUILT_IN_TYPES
        )

    async def list(self, namespace: str = DEFAULT_NAMESPACE) -> list[NodeType]:
        return (await self.of(namespace)).all()

    async def get(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> NodeType:
        """Looks up a type: `x` is the newest version, `x@v1` a given one."""
        types = await self.of(namespace)
        found = types.get(name)
        if found is None:
            fix = did_you_mean(name, types.names(), "`GET /api/v1/node-types` lists them")
            raise NotFound("graph.type_not_found", f"there is no node type `{name}`", fix=fix)
        return found

    async def register(self, node_type: NodeType | dict[str, Any], namespace: str = DEFAULT_NAMESPACE) -> NodeType:
        """Registers a type, or widens a version of one; durable when this returns. The same again changes nothing."""
        shelf = self._shelf(check_namespace(namespace))
        found = await self._with_schemas(_read(node_type), namespace)
        _check(found)
        async with shelf.writing:
            while True:
                await shelf.follower.refresh()
                known = shelf.types.get(found.key)
                if known == found:
                    return found
                if known is not None:
                    _check_widened(known, found)
                if await shelf.follower.append([TypeRegistered(found)]):
                    return found

    async def _with_schemas(self, node_type: NodeType, namespace: str) -> NodeType:
        """Stores the schemas with the type, so that it needs nothing else."""
        refs = {name: getattr(node_type, f"{name}_ref") for name in _SCHEMAS if getattr(node_type, f"{name}_ref")}
        texts = await self._texts.load(frozenset(refs.values()), namespace) if refs else {}
        for name, ref in refs.items():
            if ref not in texts:
                raise InvalidInput("graph.bad_type", f"{name}_ref {ref} is not stored", fix="upload it")
            node_type = _read({**msgspec.to_builtins(node_type), name: values.parse(texts[ref])})
        return node_type

    def _shelf(self, namespace: str) -> _Shelf:
        found = self._shelves.get(namespace)
        if found is None:
            found = self._shelves[namespace] = _Shelf(Stream(self._records, _KIND, namespace, self._clock))
        return found


def _read(given: NodeType | dict[str, Any]) -> NodeType:
    if isinstance(given, NodeType):
        return given
    try:
        return msgspec.convert(values.decode(values.encode(given)), NodeType)
    except msgspec.ValidationError as error:
        raise InvalidInput(
            "graph.bad_type", "this is no node type", why=str(error), fix="see the guide of graphs"
        ) from None


def _check(found: NodeType) -> None:
    if not _NAME.fullmatch(found.type_name):
        fix = "use 1 to 64 letters, digits, `_`, `.` or `-`, the first a letter"
        raise InvalidInput("graph.bad_type", f"type name `{found.type_name[:80]}` is not usable", fix=fix)
    if not _VERSION.fullmatch(found.version):
        raise InvalidInput("graph.bad_type", f"version `{found.version[:80]}` is not usable", fix="use v1, v2, …")
    if found.type_name in BUILT_IN or found.type_name in ALIASES:
        raise Conflict("graph.type_exists", f"the type `{found.type_name}` is built in", fix="use another name")
    for name in _SCHEMAS:
        written = getattr(found, name)
        if written is not None:
            schema.compiled(values.encode(written))  # refuses an invalid schema


def _check_widened(known: NodeType, found: NodeType) -> None:
    taken = [
        *narrowed(known.config_schema, found.config_schema),
        *narrowed(known.input_schema, found.input_schema, "input"),
    ]
    if taken:
        raise Conflict(
            "graph.type_breaking",
            f"`{found.type_name}@{found.version}` would take less than before",
            why="; ".join(taken),
            fix="register it as a new version",
        )
