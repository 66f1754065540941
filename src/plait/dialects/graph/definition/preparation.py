"""Prepares a definition to be started or saved: checks it with the node types of its namespace, and pins them to it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from plait.definitions.flaws import InvalidDefinition
from plait.kernel import values
from plait.kernel.json_text import LONG

from .builtin_types import BUILT_IN, BUILT_IN_TYPES
from .compile import INVALID, compile_graph, references_of
from .ir import Compiled
from .namespace_policy import NO_POLICY, NamespacePolicies, NamespacePolicy
from .node_types import NodeType, NodeTypes
from .pins import Pins, pinned
from .texts import Texts
from .transforms import TYPE as TRANSFORM
from .transforms import Compiler, script_flaw
from .type_registry import TypeRegistry

P = ParamSpec("P")
R = TypeVar("R")

_KEPT = 256


@dataclass(frozen=True, slots=True)
class Prepared:
    definition: dict[str, Any]
    """The definition with its pins."""
    compiled: Compiled


class Preparation:
    def __init__(
        self,
        types: TypeRegistry | None = None,
        texts: Texts | None = None,
        policies: NamespacePolicies | None = None,
        compiler: Callable[[], Compiler] | None = None,
    ) -> None:
        """The defaults mean: only built-in types, nothing stored, everything allowed, and scripts compiled when they
        run."""
        self._compiler = compiler
        self._types = types
        self._texts = texts
        self._policies = policies
        self._recent: OrderedDict[tuple[str, bytes], tuple[NodeTypes, NamespacePolicy, Prepared]] = OrderedDict()
        """Recent results by namespace and text of the definition, with the types and the policy that they depend on."""

    async def prepare(self, definition: Mapping[str, Any], namespace: str) -> Prepared:
        """Raises with all flaws."""
        types = BUILT_IN_TYPES if self._types is None else await self._types.of(namespace)
        policy = NO_POLICY if self._policies is None else await self._policies.get(namespace)
        key = namespace, bytes(values.encode(definition))
        known = self._recent.get(key)
        if known is not None and known[0] is types and known[1] == policy:
            self._recent.move_to_end(key)
            return known[2]
        work = asyncio.to_thread if len(key[1]) > LONG else _at_once
        references = await work(references_of, definition)
        blobs = await self._texts.load(references, namespace) if references and self._texts is not None else {}
        texts = {ref: text.encode() for ref, text in blobs.items()}
        compiled = await work(compile_graph, definition, types=types, blobs=texts)
        await self._check_scripts(compiled)
        found = Prepared(pinned(definition, Pins(_used(compiled), blobs, policy)), compiled)
        if not references:  # references may be uploaded later, or exist in another namespace only
            self._keep(key, types, policy, found)
        return found

    async def _check_scripts(self, compiled: Compiled) -> None:
        if self._compiler is None:
            return
        scripts = [node for node in compiled.ir.nodes.values() if node.type == TRANSFORM and "script" in node.config]
        found = [await script_flaw(node.id, f"/nodes/{node.id}", node.config, self._compiler()) for node in scripts]
        if flaws := [each for each in found if each is not None]:
            raise InvalidDefinition(INVALID, flaws)

    def _keep(self, key: tuple[str, bytes], types: NodeTypes, policy: NamespacePolicy, found: Prepared) -> None:
        self._recent[key] = types, policy, found
        if len(self._recent) > _KEPT:
            self._recent.popitem(last=False)


async def _at_once(function: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
    """Calls the function directly: a thread would cost more than a short definition."""
    return function(*args, **options)


def _used(compiled: Compiled) -> list[NodeType]:
    """The types in use that are not built in; the highest version last, so that `x` keeps its meaning."""
    found = {each.key: each for each in compiled.node_types.values() if each.type_name not in BUILT_IN}
    return [found[key] for key in sorted(found)]
