"""`plait check` of steps: each by itself, its scripts, then all of them together with the catalog they belong in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rich.text import Text

from plait.dialects.goals.catalogs.catalog import Catalog, StepRegistered
from plait.dialects.goals.catalogs.registering import Draft
from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.steps.scripts import check_scripts
from plait.dialects.goals.steps.step import Step
from plait.kernel.errors import PlaitError
from plait.scripts.languages import Languages

from . import words
from .connect import connect
from .options import Where
from .output import say
from .session import is_server, sqlite_file
from .step_files import Written, Wrong

Verdict = Literal["new", "changed", "same"]


@dataclass(slots=True)
class StepsResult:
    verdicts: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    """By id: what registering would do, or did."""
    wrongs: list[Wrong] = field(default_factory=list[Wrong])
    alone: bool = False
    """There was no catalog to check them against."""
    registered: bool = False


async def check_in(written: Sequence[Written], where: Where | None, *, register: bool, update: bool) -> StepsResult:
    """Against the catalog of `where`; registers them if that is asked for and nothing is wrong. A database that is not
    there is as good as an empty catalog, and made when steps are registered."""
    if where is None or (not register and is_missing(where)):
        result, _ = await check_steps(written, [], update=True)
        result.alone = True
        return result
    async with connect(where, create=register) as session:
        result, steps = await check_steps(written, await session.catalog.list(), update=update or not register)
        if register and not result.wrongs:
            await session.put(steps, update=update)
            result.registered = True
        return result


def is_missing(where: Where) -> bool:
    path = None if is_server(where.url) else sqlite_file(where.url)
    return path is not None and not path.exists()


async def check_steps(
    written: Sequence[Written], known: Sequence[Step], *, update: bool
) -> tuple[StepsResult, list[Step]]:
    """What is wrong, and the steps that are right. `update`: those that are there may be changed."""
    result = StepsResult()
    read = await _read(written, result)
    draft = Draft(Catalog(StepRegistered(step) for step in known))
    steps: list[Step] = []
    for each, step in read:
        try:
            before = len(draft.events)
            was_there = step.id in draft.catalog.steps
            (draft.upsert if update else draft.register)(step)
            result.verdicts[step.id] = "same" if len(draft.events) == before else "changed" if was_there else "new"
            steps.append(step)
        except GoalsError as error:
            result.wrongs += each.wrongs(error)
    return result, steps


async def _read(written: Sequence[Written], result: StepsResult) -> list[tuple[Written, Step]]:
    found: dict[str, tuple[Written, Step]] = {}
    languages = Languages()
    try:
        for each in written:
            try:
                step = each.read()
                await check_scripts(step, languages)
            except PlaitError as error:
                result.wrongs += each.wrongs(error)
                continue
            if step.id in found:
                first = found[step.id][0]
                what = f"step '{step.id}' is also in {first.file} at {first.pointer or 'its top'}; keep one"
                result.wrongs.append(Wrong(each.file, each.pointer, "cli.step_twice", what))
            else:
                found[step.id] = each, step
    finally:
        await languages.close()
    return list(found.values())


# -- saying it ---------------------------------------------------------------------------------------------------------


def say_steps(result: StepsResult) -> None:
    for wrong in result.wrongs:
        place = f"{wrong.file}: {wrong.pointer}: " if wrong.pointer else f"{wrong.file}: "
        text = Text.assemble((place, "bold"), ("error ", "red"), wrong.message)
        say(text.append(f" [{wrong.code}]", "bright_black"))
    counts = Counter(result.verdicts.values())
    found = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("new", "changed", "same") if counts[verdict])
    alone = "checked by itself" if len(result.verdicts) == 1 else "checked by themselves"
    done = "registered" if result.registered else alone if result.alone else "right"
    parts = [f"{words.counted(len(result.verdicts), 'step')} {done}" + (f" ({found})" if found else "")]
    if result.wrongs:
        parts.append(f"{words.counted(len(result.wrongs), 'error')}: nothing was registered")
    say(", ".join(parts))


def steps_document(result: StepsResult) -> dict[str, Any]:
    return {
        "steps": result.verdicts,
        "errors": [asdict(wrong) for wrong in result.wrongs],
        "registered": result.registered,
    }
