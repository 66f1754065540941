"""A migration node: the only way for a run to change the version of its definition."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo, PlaitError

from .decision_builder import DecisionBuilder, error
from .events import RunMigrated
from .failure import fail
from .settle import consume, emit
from .state import Execution
from .topologies import Topologies
from .topology import Topology


class Migrated(msgspec.Struct, frozen=True):
    """The result of the migration task."""

    definition: Raw
    payload: Raw


_migrated = msgspec.json.Decoder(Migrated)


def migrated(builder: DecisionBuilder, execution: Execution, found: Raw, topologies: Topologies, attempt: int) -> None:
    new, config = _migrated.decode(found), builder.plan(execution).ir.config
    try:
        topology = topologies.of(new.definition)
    except PlaitError as problem:
        fail(builder, execution, error("migration_conflict", f"the new version: {problem.text}"), attempt)
        return
    resume = str(config.get("resume_at") or "")
    conflict = _conflict(builder, execution, topology, resume)
    if conflict is not None:
        fail(builder, execution, conflict, attempt)
        return
    targets = (resume,) if resume else topology.ir.nodes[execution.node].edges
    before = builder.run.state.wf_version
    consume(builder, execution, new.payload, attempt)
    builder.record(RunMigrated(execution.node, before, topology.ir.version, new.definition, list(targets)))
    plan = topology.nodes.get(execution.node) or topology.nodes[targets[0]]
    emit(builder, plan, execution.id, execution.id, targets, "migration", execution.hop, execution.loops)


def _conflict(builder: DecisionBuilder, execution: Execution, new: Topology, resume: str) -> ErrorInfo | None:
    state, config = builder.run.state, builder.plan(execution).ir.config
    if state.wf_version != config["from_version"]:
        what = f"the run is at version {state.wf_version}, not {config['from_version']}"
        return error("migration_conflict", what)
    if resume and resume not in new.nodes:
        return error("migration_conflict", f"version {new.ir.version} has no node `{resume}` to resume at")
    if not resume and execution.node not in new.nodes:
        what = f"version {new.ir.version} has no node `{execution.node}`, and there is no resume_at"
        return error("migration_conflict", what)
    live = {token.node for token in state.tokens.values() if token.id not in execution.tokens}
    for node in sorted(live | {approval.node for approval in state.approvals.values()}):
        found = new.nodes.get(node)
        if found is None or found.ir.type != builder.run.plan.nodes[node].ir.type:
            what = f"a token is at `{node}`, which version {new.ir.version} does not have with that type"
            return error("migration_conflict", what)
    return None
