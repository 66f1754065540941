"""Does the rounds: for each work, for each round, every subject once, each on an empty store.

Taking turns inside a round spreads what the machine does meanwhile over all subjects alike.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

from bench.catalog import Subject
from bench.environments import interpreter
from bench.postgres import Databases
from bench.process import Report, SubjectError, SubjectProcess
from bench.results import Results
from bench.sizes import Sizes, sizes_for
from bench.subjects.script import Order, Phase
from bench.unavailable import UnavailableError
from bench.works import WORKS, Measures, Work

DATA = Path(__file__).parent / ".data"
"""On the disk of the checkout: a temporary folder may be memory, where waiting for the disk costs nothing."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    works: tuple[str, ...]
    subjects: tuple[Subject, ...]
    rounds: int | None
    """None: three, but one for the long works of a quick bench."""
    quick: bool

    def rounds_of(self, work: Work) -> int:
        return self.rounds or (1 if self.quick and work.long else 3)

    @property
    def timeout(self) -> float:
        """Seconds a process may take before it counts as failed."""
        return 120.0 if self.quick else 900.0


async def run(plan: Plan, databases: Databases | None, progress: Progress) -> Results:
    results = Results(quick=plan.quick)
    pythons = _interpreters(plan, databases, results, progress)
    for work in (WORKS[name] for name in plan.works):
        rounds = plan.rounds_of(work)
        for turn in range(rounds):
            for subject in plan.subjects:
                if work.name in subject.works and subject.name in pythons:
                    progress(f"{work.name} · round {turn + 1} of {rounds} · {subject.name}")
                    await _measure(plan, work, subject, pythons[subject.name], databases, results)
    return results


def _interpreters(plan: Plan, databases: Databases | None, results: Results, progress: Progress) -> dict[str, str]:
    """The Python of each subject that can take part; the others are noted as left out."""
    pythons: dict[str, str] = {}
    for subject in plan.subjects:
        if subject.place == "server" and databases is None:
            continue
        progress(f"environment of {subject.name}")
        try:
            pythons[subject.name] = interpreter(subject.environment)
        except UnavailableError as error:
            results.leave_out(subject.name, str(error))
    return pythons


async def _measure(
    plan: Plan, work: Work, subject: Subject, python: str, databases: Databases | None, results: Results
) -> None:
    sizes = sizes_for(subject.levels, subject.runs, quick=plan.quick, peer=subject.kind == "peer")
    cell = _Cell(work, subject, python, sizes, plan.timeout)
    try:
        async with _empty_store(subject, databases) as target, cell.log():
            measures = await cell.measure(target)
    except SubjectError as error:
        results.fail(work.name, subject.name, str(error))
    else:
        results.add(work.name, subject.name, cell.version, measures)


@contextlib.asynccontextmanager
async def _empty_store(subject: Subject, databases: Databases | None) -> AsyncGenerator[str, None]:
    DATA.mkdir(exist_ok=True)
    if subject.place == "server":
        assert databases is not None
        async with databases.fresh() as url:
            yield url
        return
    with tempfile.TemporaryDirectory(dir=DATA, ignore_cleanup_errors=True) as folder:
        if subject.place == "folder":
            yield folder
        else:
            normal = "?synchronous=NORMAL" if subject.store == "sqlite-normal" else ""
            yield f"sqlite:///{folder}/bench.db{normal}"


class _Cell:
    """One subject doing one work once."""

    def __init__(self, work: Work, subject: Subject, python: str, sizes: Sizes, timeout: float) -> None:
        self.version = ""
        self._work = work
        self._subject = subject
        self._python = python
        self._sizes = sizes
        self._timeout = timeout

    @contextlib.asynccontextmanager
    async def log(self) -> AsyncGenerator[None, None]:
        with tempfile.NamedTemporaryFile(dir=DATA, suffix=".log") as self._log:
            yield

    async def measure(self, target: str) -> Measures:
        match self._work.name:
            case "W4":
                return await self._crash(target)
            case "W6":
                # Crash first: the other part leaves runs behind that are no part of what is reopened.
                opened = (await self._crash(target))["seconds_after_open"]
                growing = await self._phase("measure", target)
                return {
                    "open_s": opened,
                    "open_us_per_step": opened / self._sizes.history * 1e6,
                    **growing.measures,
                }
            case _:
                return (await self._phase("measure", target)).measures

    async def _crash(self, target: str) -> Measures:
        await self._phase("hold", target)
        resumed = await self._phase("resume", target)
        return {"seconds": resumed.seconds, **resumed.measures}

    async def _phase(self, phase: Phase, target: str) -> Report:
        order = Order(self._work.name, phase, target, self._sizes)
        process = await SubjectProcess.start(self._python, self._subject.module, order, self._log)
        try:
            report = await process.report(self._timeout)
        finally:
            await process.kill()
        self.version = report.version
        return report
