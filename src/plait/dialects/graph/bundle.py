"""The `graph` dialect: tokens that travel through a graph of nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from plait.agents.models import Models
from plait.definitions.data_bundle import DataBundle
from plait.kernel import values
from plait.kernel.bundle import ForkPlan, Resolved
from plait.kernel.definitions import Numbering, Plan
from plait.kernel.errors import Conflict, NotFound
from plait.kernel.events import Recorded
from plait.kernel.machine import Machine, RunInfo
from plait.kernel.task import Executor

from .definition.compile import compile_graph
from .definition.ir import Ir
from .definition.ir_view import shown
from .definition.namespace_policy import NamespacePolicies
from .definition.preparation import Preparation
from .definition.texts import Texts
from .definition.transforms import Compiler
from .definition.type_registry import TypeRegistry
from .executors import HandlerExecutor
from .graph import NAME, Graph
from .handlers import Handler, Handlers
from .migrations import FindVersion, MigrationExecutor
from .names import check_names, left_to_workers
from .running.decision_builder import RunContext
from .running.events import GraphEvent
from .running.forking import fork, is_one
from .running.machine import GraphMachine
from .running.state import GraphStart
from .running.tasks import code_name
from .running.topologies import Topologies
from .running.topology import Topology


class GraphBundle(DataBundle[GraphMachine]):
    name = NAME
    events: Any = GraphEvent
    rewinds = False
    retries_compensated = False
    edits_agents = True
    edits_outputs = True
    hears_after_end = False
    numbering: Numbering = "minor"
    surface = "plait.dialects.graph.surface"

    def __init__(
        self,
        types: TypeRegistry | None = None,
        texts: Texts | None = None,
        definitions: Iterable[object] = (),
        find: FindVersion | None = None,
        max_payload: int = values.MAX_BYTES,
        policies: NamespacePolicies | None = None,
        compiler: Callable[[], Compiler] | None = None,
        models: Models | None = None,
    ) -> None:
        """`types`, `texts` and `policies` hold what namespaces have registered, uploaded and set; `find` looks up saved
        versions of definitions. Each may be left out where there is nothing of its kind."""
        self.node_types = types
        self.policies = policies
        self._preparation = Preparation(types, texts, policies, compiler)
        self.handlers = Handlers()
        self.topologies = Topologies(compile_graph)
        self.models = models or Models()
        self._declared: dict[str, Graph] = {}
        """Graphs that the program declares, by name."""
        self.executors: Sequence[Executor] = (
            HandlerExecutor(self.handlers),
            MigrationExecutor(self.handlers, self._preparation, find),
        )
        self._max_payload = max_payload
        for definition in definitions:
            self.declare(definition)

    # -- definitions ---------------------------------------------------------------------------------------------

    def declare(self, definition: object) -> bool:
        if isinstance(definition, Handler):
            self.handlers.add(cast("Handler[..., Any]", definition))
        elif isinstance(definition, Graph):
            self._declared[definition.label] = definition
        else:
            return False
        return True

    def accepts(self, definition: object) -> bool:
        return isinstance(definition, Graph)

    def read(self, definition: str | dict[str, Any]) -> Graph:
        """Reads a graph from JSON. A name refers to a graph of the program, or else to a saved one."""
        if isinstance(definition, str):
            if (declared := self._declared.get(definition)) is not None:
                return declared
            raise NotFound("graph.not_found", f"there is no graph `{definition}`", fix="save it first")
        return Graph(definition)

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        prepared = await self._preparation.prepare(definition, namespace)
        return [note.message for note in prepared.compiled.warnings]

    async def resolve(self, definition: object, input: object, namespace: str) -> Resolved:
        found = cast("Graph", definition)
        topology = await self._topology(found, namespace)
        self._check_names(topology)
        raw = values.encode(input, max_bytes=self._max_payload)
        ir = topology.ir
        return Resolved(
            found.label,
            ir.version,
            raw,
            self.start_of(topology),
            identity=ir.hash.encode(),
            pii_fields=tuple(ir.policy.pii_fields),
            rate=topology.compiled.policy.starts_per_minute(_agents(ir)),
        )

    def start_of(self, topology: Topology) -> GraphStart:
        """The graph's part of the run's first event."""
        ir = topology.ir
        return GraphStart(ir.version, ir.entry_nodes, len(ir.entry_nodes), topology.definition, ir.hash)

    async def plan(self, definition: object, input: object, namespace: str) -> Plan:
        found = cast("Graph", definition)
        topology = await self._topology(found, namespace)
        return Plan(
            dialect=self.name,
            definition=found.label,
            version=topology.ir.version,
            input=input,
            notes=[
                *(note.message for note in topology.compiled.warnings),
                *left_to_workers(topology, self.handlers),
            ],
            body=shown(topology.ir),
        )

    async def _topology(self, graph: Graph, namespace: str) -> Topology:
        """Compiles a definition as written, with the node types of its namespace."""
        if isinstance(graph.definition, str):
            graph = self.read(graph.definition)
        written = cast("Mapping[str, Any]", graph.definition)
        return self.topologies.made((await self._preparation.prepare(written, namespace)).definition)

    def task_code(self) -> Collection[str]:
        return [code_name(name) for name in self.handlers.names]

    # -- runs ----------------------------------------------------------------------------------------------------

    def machine(self, info: RunInfo) -> GraphMachine:
        return GraphMachine(RunContext(info, self.handlers), self.topologies)

    def inseparable(self, event: Recorded, following: Recorded) -> bool:
        return is_one(event, following)

    def fork(self, machine: Machine, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
        source = cast("GraphMachine", machine)
        return fork(source.run, source.context.info.run_id, at, edits, self.topologies, self._check_names)

    def _check_names(self, topology: Topology) -> None:
        check_names(topology, self.handlers, self.models)

    def rewind_point(self, machine: Machine, at: str | None) -> int:
        raise Conflict("graph.no_rewind", "a run of a graph can't be rewound", fix="fork it: fork(at=..., edits=...)")


def _agents(ir: Ir) -> int:
    return sum(node.type == "agent" for node in ir.nodes.values())
