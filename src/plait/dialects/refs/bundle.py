"""The `refs` dialect: steps wired by references."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.agents.models import Models
from plait.definitions.data_bundle import DataBundle
from plait.kernel import values
from plait.kernel.bundle import ForkPlan, Resolved, Retell, RunDraft
from plait.kernel.definitions import Numbering, Plan
from plait.kernel.errors import Conflict, Flaw, InvalidInput, NotFound
from plait.kernel.limits import Limits
from plait.kernel.machine import Machine, RunInfo
from plait.kernel.task import Executor

from .definition.compile import Compiled
from .definition.plan import Plan as RefsPlan
from .definition.plan_view import shown
from .names import NAME
from .offers import Offers, check_prices, not_offered
from .preparation import FindVersion, HasLanguages, Preparation, Prepared
from .recording.drafting import make_draft
from .recording.options import read_options
from .refs import Refs
from .running import call_feed, compat_feed
from .running.decision_builder import RunContext
from .running.events import RefsEvent
from .running.forking import fork
from .running.machine import RefsMachine
from .running.plans import Plans
from .running.recording_values import problems_with, recording_of
from .running.state import RefsStart


class RefsBundle(DataBundle[RefsMachine]):
    name = NAME
    events: Any = RefsEvent
    rewinds = False
    retries_compensated = True
    edits_agents = False
    edits_outputs = False
    hears_after_end = False
    numbering: Numbering = "count"
    surface = "plait.dialects.refs.surface"
    feeds: Mapping[str, Retell] = {compat_feed.FEED: compat_feed.compat, call_feed.FEED: call_feed.calls}

    def __init__(
        self,
        definitions: Iterable[object] = (),
        *,
        find: FindVersion | None = None,
        scripts: HasLanguages | None = None,
        offers: Offers | None = None,
        executors: Sequence[Executor] = (),
        limits: Limits | None = None,
        models: Models | None = None,
    ) -> None:
        """`find` looks up saved versions of definitions, `scripts` checks code, `offers` has what steps may call. Each
        may be left out where there is nothing of its kind."""
        self.plans = Plans()
        self.executors = executors
        self._preparation = Preparation(self.plans, find, scripts)
        self._limits = limits or Limits()
        self._offers = offers
        self._models = models or Models()
        self._working = False
        """Whether this process executes tasks: only then does it know which tools and functions exist."""
        self._declared: dict[str, Refs] = {}
        """Workflows that the program declares, by name."""
        for definition in definitions:
            self.declare(definition)

    # -- definitions ---------------------------------------------------------------------------------------------

    def declare(self, definition: object) -> bool:
        if not isinstance(definition, Refs):
            return False
        self._declared[definition.label] = definition
        return True

    def accepts(self, definition: object) -> bool:
        return isinstance(definition, Refs)

    def read(self, definition: str | dict[str, Any]) -> Refs:
        """Reads steps from JSON. A name refers to a workflow of the program, or else to a saved one."""
        if isinstance(definition, str):
            if (declared := self._declared.get(definition)) is not None:
                return declared
            raise NotFound("refs.not_found", f"there is no workflow `{definition}`", fix="save it first")
        return Refs(definition)

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        prepared = await self._preparation.prepare(definition, namespace)
        return await self._warnings(prepared.compiled)

    async def _warnings(self, compiled: Compiled) -> list[str]:
        missing = await not_offered(compiled.plan, self._offers) if self._working and self._offers is not None else []
        return [note.message for note in (*compiled.warnings, *missing)]

    async def resolve(self, definition: object, input: object, namespace: str) -> Resolved:
        found = cast("Refs", definition)
        prepared = await self._preparation.prepare(found.definition, namespace, starting=True)
        plan = prepared.compiled.plan
        check_prices(plan, self._models)
        raw = values.encode({} if input is None else input, max_bytes=self._limits.max_payload)
        check_input(plan, raw)
        return Resolved(
            prepared.name or found.label,
            prepared.version,
            raw,
            RefsStart(plan.definition, plan.hash),
            identity=bytes(plan.definition),
        )

    async def plan(self, definition: object, input: object, namespace: str) -> Plan:
        found = cast("Refs", definition)
        prepared = await self._preparation.prepare(found.definition, namespace)
        return plan_of(found, prepared, input, await self._warnings(prepared.compiled))

    # -- runs ----------------------------------------------------------------------------------------------------

    def machine(self, info: RunInfo) -> RefsMachine:
        return RefsMachine(RunContext(info, self._limits), self.plans)

    def fork(self, machine: Machine, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
        source = cast("RefsMachine", machine)
        return fork(source.run, source.context.info.run_id, at, edits, self.plans)

    async def draft(self, machine: Machine, options: Mapping[str, Any], namespace: str) -> RunDraft:
        """The template that a recording would become."""
        found = cast("RefsMachine", machine)
        if not found.started:
            fix = "start an engine: `plait serve`"
            raise Conflict("recording_not_started", "no engine has taken up the recording yet", fix=fix)
        recording = recording_of(found.run)
        # A long recording has thousands of values to compare: a thread keeps the event loop responsive
        draft = await asyncio.to_thread(make_draft, recording, read_options(options), problems_with)
        return RunDraft(
            NAME,
            draft.definition,
            msgspec.to_builtins(draft),
            [Flaw(each.code, each.pointer, each.message) for each in draft.errors],
            [each.message for each in draft.problems if each.severity == "warning"],
        )

    def rewind_point(self, machine: Machine, at: str | None) -> int:
        raise Conflict("no_rewind", "a run of steps can't be rewound", fix="fork it: fork(at=..., edits=...)")

    # -- life ----------------------------------------------------------------------------------------------------

    async def open(self, *, working: bool) -> None:
        self._working = working


def check_input(plan: RefsPlan, raw: Raw) -> None:
    misfit = "" if plan.input_schema is None else plan.input_schema.misfit(values.decode(raw))
    if misfit:
        what = f"Input validation failed: {misfit}"
        raise InvalidInput("invalid_input", what, flaws=[Flaw("invalid_input", "/input", what)])


def plan_of(definition: Refs, prepared: Prepared, input: object, notes: Sequence[str]) -> Plan:
    compiled: Compiled = prepared.compiled
    return Plan(
        dialect=NAME,
        definition=prepared.name or definition.label,
        version=prepared.version,
        input=input,
        notes=[*notes],
        body=shown(compiled),
        startable=bool(compiled.plan.steps) or compiled.plan.mode == "recording",
    )
