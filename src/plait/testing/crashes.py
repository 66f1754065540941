"""`survives_every_crash`: does a workflow give the same answer wherever its process dies?

It runs once undisturbed, then once more for every commit it makes and every moment of that commit (before it, inside
it, after it but before anyone knows), with parked runs kept in memory and without. Each time the engine dies there and
another takes over. Children are checked as closely as the run itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from plait.agents.model import Model
from plait.kernel import values
from plait.kernel.bundle import Startable
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Ids, Millis, RunId
from plait.kernel.limits import Limits
from plait.kernel.loader import recorded
from plait.kernel.store import Write
from plait.kernel.view import RunStatus
from plait.stores.memory import MemoryStore, Moment

from .effects import Effect, Effects
from .history import History
from .sim.simulator import Sim, SimRun, SimulatedCrash, is_workflow

Script = Callable[[Sim, SimRun], Awaitable[object]]
"""What happens to the run from outside: messages, time, cancels. The script runs to its end first, and time passes only
as it says; then idle time is skipped until the run ends. Its calls are retried after a crash."""

_CACHES = (1000, 0)
MOMENTS: tuple[Moment, ...] = get_args(Moment)


class CrashFailure(AssertionError):
    """A crash changed what the workflow does, or what is recorded about it."""


@dataclass(frozen=True, slots=True)
class Report:
    """The trials of `survives_every_crash`."""

    definition: str
    status: RunStatus
    output: Any
    commits: int
    """Commits of the undisturbed run."""
    crashes: int
    """How many times an engine was killed, each time in a run of its own."""

    def __str__(self) -> str:
        return f"`{self.definition}` {self.status} alike after each of {self.crashes} crashes ({self.commits} commits)"


async def survives_every_crash(
    definition: Startable,
    input: Any = None,
    script: Script | None = None,
    *,
    definitions: Sequence[object] = (),
    limits: Limits | None = None,
    effects: Effects | None = None,
    models: Callable[[], Mapping[str, Model]] | None = None,
    moments: Sequence[Moment] = MOMENTS,
    caches: Sequence[int] = _CACHES,
) -> Report:
    """Crashes a run before, inside and after each of its commits, with `code_cache` on and off, and asserts that
    output, history, messages and children are as if nothing had happened. `definitions` are others that it needs, and
    the steps that goals are planned with; `models` creates the agents' models, anew for each trial. What its steps note
    in `effects` must be the same, with the same keys. Fewer `moments` or `caches` take less time."""
    trial = _Trial(definition, input, script, definitions, limits, effects, models)
    expected = await trial.undisturbed(caches[0])
    crashes = 0
    for cache in caches:
        commits = (await trial.undisturbed(cache)).commits if cache != caches[0] else expected.commits
        for number in range(1, commits + 1):
            for moment in moments:
                crashes += await trial.with_crash(_Where(number, moment, cache), expected)
    output = None if expected.output is None else values.decode(expected.output)
    return Report(_label(definition), expected.status, output, expected.commits, crashes)


@dataclass(frozen=True, slots=True)
class _Where:
    commit: int
    moment: Moment
    cache: int

    def __str__(self) -> str:
        return f"a crash {self.moment} commit {self.commit} with code_cache={self.cache}"


@dataclass(frozen=True, slots=True)
class _Ending:
    status: RunStatus
    output: bytes | None
    error: ErrorInfo | None
    history: History
    family: Mapping[RunId, History]
    """Histories of all runs, including its own."""
    effects: Sequence[Effect]
    commits: int

    @property
    def seen(self) -> tuple[object, ...]:
        """Everything a caller can observe."""
        error = self.error
        return (
            self.status,
            self.output,
            None if error is None else (error.code, error.kind, error.type, error.message),
            {id: history.outcome for id, history in self.family.items()},
            sorted(self.effects),
        )


class _Trial:
    def __init__(
        self,
        definition: Startable,
        input: Any,
        script: Script | None,
        definitions: Sequence[object],
        limits: Limits | None,
        effects: Effects | None,
        models: Callable[[], Mapping[str, Model]] | None,
    ) -> None:
        self._definition = definition
        self._input = input
        self._script = script
        own = [definition] if is_workflow(definition) else []
        self._definitions = [*own, *(other for other in definitions if other is not definition)]
        self._limits = limits
        self._effects = effects or Effects()
        self._models: Callable[[], Mapping[str, Model]] = models or dict[str, Model]

    async def undisturbed(self, cache: int) -> _Ending:
        commits = _Commits(None)
        ending = await self._run(commits, cache)
        _check(ending, "the undisturbed run")
        return ending

    async def with_crash(self, where: _Where, expected: _Ending) -> bool:
        commits = _Commits(where)
        try:
            ending = await self._run(commits, where.cache)
        except Exception as error:
            raise CrashFailure(f"{where}: {error}") from error
        _check(ending, str(where))
        if ending.seen != expected.seen:
            raise CrashFailure(
                f"{where} changed how `{_label(self._definition)}` ends:\n"
                f"  undisturbed: {expected.seen}\n  after the crash: {ending.seen}\n{ending.history}"
            )
        return commits.crashed

    async def _run(self, commits: _Commits, cache: int) -> _Ending:
        store = MemoryStore(faults=commits)
        sim = Sim(
            self._definitions,
            seed=0,
            code_cache=cache,
            limits=self._limits,
            store=store,
            ids=_OneSeed(0),
            models=self._models(),
        )
        self._effects.begin(sim)
        await sim.open()
        try:
            run = await sim.start(self._definition, self._input, id="run")
            if self._script is not None:
                await self._script(sim, run)
            await sim.skip_until(run.ended)
            await sim.settle()  # its children may end after it
            row = await run.row()
            store.faults = None
            family = {each.id: History(await recorded(store, each.id)) for each in await sim.engine.runs()}
            history = await run.history()
        finally:
            store.faults = None
            await sim.close()
            await store.dispose()
        blocked = row.blocked
        if blocked is not None:
            raise CrashFailure(f"the run is blocked: {blocked.message}\n{history}")
        outputs = history.of("run.completed")
        output = values.plain(outputs[-1].get("output")) if row.status == "completed" else None
        return _Ending(row.status, output, row.error, history, family, self._effects.all, commits.count)


def _label(definition: Startable) -> str:
    return definition.reference().label


class _Commits:
    """Counts commits, and crashes at a given one."""

    def __init__(self, where: _Where | None) -> None:
        self._where = where
        self.count = 0
        self.crashed = False

    def __call__(self, moment: Moment, writes: Sequence[Write]) -> None:
        if moment == "before":
            self.count += 1
        where = self._where
        if where is not None and not self.crashed and (self.count, moment) == (where.commit, where.moment):
            self.crashed = True
            raise SimulatedCrash(str(where))


class _OneSeed(Ids):
    """Every run draws the same seed, however often its start was tried: a seed lost in a crash must not show."""

    def seed(self) -> int:
        return 1

    def fraction(self) -> float:
        return 0.0

    def run_id(self, now: Millis) -> str:
        return f"run-{super().run_id(now)}"


def _check(ending: _Ending, where: str) -> None:
    for id, history in ending.family.items():
        try:
            history.assert_recorded_once()
            history.assert_fits_its_code()
            history.assert_not_early()
        except AssertionError as error:
            raise CrashFailure(f"{where}: run {id}: {error}") from error
