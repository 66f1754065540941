"""`plait check` of steps: each by itself, its scripts, then all of them together with their catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rich.text import Text

from plait.cli import exits, words
from plait.cli.connect import connect
from plait.cli.options import Where
from plait.cli.output import say
from plait.cli.session import is_missing
from plait.dialects.goals.catalogs.catalog import Catalog, StepRegistered
from plait.dialects.goals.catalogs.registering import Draft
from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.steps.scripts import check_scripts
from plait.dialects.goals.steps.step import Step
from plait.kernel.errors import PlaitError
from plait.scripts.languages import Languages

from .catalogs import catalog_of, put
from .step_files import Written, Wrong

Verdict = Literal["new", "changed", "same"]


@dataclass(slots=True)
class CheckedSteps:
    verdicts: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    """By id: what registering would do, or did."""
    wrongs: list[Wrong] = field(default_factory=list[Wrong])
    alone: bool = False
    """Whether there was no catalog to check them against."""
    registered: bool = False

    @property
    def exit(self) -> int:
        return exits.FAILED if self.wrongs else exits.OK

    def say(self) -> None:
        _say(self)

    def document(self) -> dict[str, Any]:
        return {
            "steps": self.verdicts,
            "errors": [asdict(wrong) for wrong in self.wrongs],
            "registered": self.registered,
        }


async def check_in(written: Sequence[Written], where: Where | None, *, register: bool, update: bool) -> CheckedSteps:
    """Checks against the catalog of `where`; registers the steps if that is asked for and nothing is wrong. A database
    that does not exist counts as an empty catalog, and is created when steps are registered."""
    if where is None or (not register and is_missing(where.url)):
        result, _ = await check_steps(written, [], update=True)
        result.alone = True
        return result
    async with connect(where, create=register) as session:
        catalog = catalog_of(session)
        result, steps = await check_steps(written, await catalog.list(), update=update or not register)
        if register and not result.wrongs:
            await put(catalog, steps, update=update)
            result.registered = True
        return result


async def check_steps(
    written: Sequence[Written], known: Sequence[Step], *, update: bool
) -> tuple[CheckedSteps, list[Step]]:
    """What is wrong, and the valid steps. `update` allows changes of existing ones."""
    result = CheckedSteps()
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


async def _read(written: Sequence[Written], result: CheckedSteps) -> list[tuple[Written, Step]]:
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


# -- output ------------------------------------------------------------------------------------------------------------


def _say(result: CheckedSteps) -> None:
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
