"""Errors of the `goals` dialect. Their texts are part of its contract: `message` is what every surface shows.

    GoalsError
    ├── StepInvalid          the shape of a step, with all its flaws
    ├── ScriptInvalid        a script that does not compile, with all of them
    ├── TypeConflict         a name has another type elsewhere in the catalog
    ├── Cycle                a step would depend on itself
    ├── NoGoals, BadRequest  what to reach, or what is given, can't be read
    ├── InputsMissing        the plan has gaps
    ├── ChildInputsMissing   a flow step can't feed its child
    ├── Unpriced             a budget in USD for a model whose price is not known
    ├── StepExists           409
    ├── RunExists            409
    ├── StepNotFound         404
    └── OverLimit            413

`status` is that of `/api/v1`; the compatible mount answers 400 where that says 422 (`mount_status`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.definitions.flaws import Note, escape, summary
from plait.kernel.errors import Flaw, PlaitError


class GoalsError(PlaitError):
    """Base of the errors with which the dialect refuses."""

    status = 422

    def __init__(self, code: str, what: str, fix: str, flaws: Sequence[Flaw] = ()) -> None:
        super().__init__(f"goals.{code}", what, fix=fix, flaws=flaws)

    @property
    def message(self) -> str:
        """The problem and its fix, in the words of the spec."""
        return f"{self.what}; {self.fix}"

    @property
    def mount_status(self) -> int:
        """The status under `/engine`, whose clients don't know 422."""
        return 400 if self.status == 422 else self.status

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class StepInvalid(GoalsError):
    """A step has the wrong shape. The text names the first flaw, `flaws` has them all."""

    def __init__(self, step_id: str, notes: Sequence[Note]) -> None:
        found = summary("goals.step_invalid", notes)
        super().__init__("step_invalid", f"step '{step_id}': {found.what}", found.fix, found.flaws)


class ScriptInvalid(GoalsError):
    """A script does not compile. The text names the first, `flaws` has them all."""

    def __init__(self, notes: Sequence[Note]) -> None:
        found = summary("goals.script_invalid", notes)
        super().__init__("script_invalid", found.what, found.fix, found.flaws)


class StepExists(GoalsError):
    status = 409

    def __init__(self, step_id: str, differences: Sequence[str]) -> None:
        super().__init__(
            "step_exists", f"step '{step_id}' exists and differs in {', '.join(differences)}", "use update"
        )


class StepNotFound(GoalsError):
    status = 404

    def __init__(self, step_id: str, nearest: str | None) -> None:
        fix = f"nearest: '{nearest}'" if nearest is not None else "register it first"
        super().__init__("step_not_found", f"step '{step_id}' is not in the catalog", fix)
        self.step_id = step_id


class TypeConflict(GoalsError):
    """Several names may conflict: the text names the first."""

    def __init__(self, conflicts: Sequence[tuple[str, str, str, str]]) -> None:
        """Each conflict is the name, its type elsewhere, the id of that step, and its type here."""
        texts = [f"'{name}' is {theirs} in '{step}', {ours} here" for name, theirs, step, ours in conflicts]
        fix = "rename or map it"
        flaws = [
            Flaw("goals.type_conflict", f"/attributes/{escape(name)}/type", f"{text}; {fix}")
            for (name, *_), text in zip(conflicts, texts, strict=True)
        ]
        super().__init__("type_conflict", texts[0], fix, flaws)


class Cycle(GoalsError):
    def __init__(self, path: Sequence[str]) -> None:
        super().__init__("cycle", f"circular dependency: {' -> '.join(path)}", "drop one input")
        self.path = tuple(path)


class NoGoals(GoalsError):
    def __init__(self) -> None:
        super().__init__("no_goals", "no goals", "name at least one goal step")

    @property
    def message(self) -> str:
        return self.fix


class BadRequest(GoalsError):
    """Goals that are not a list of ids, or an init that is not an object."""

    def __init__(self, pointer: str, what: str, fix: str) -> None:
        super().__init__("bad_request", what, fix, [Flaw("goals.bad_request", pointer, f"{what}; {fix}")])


class InputsMissing(GoalsError):
    def __init__(self, names: Sequence[str]) -> None:
        super().__init__("inputs_missing", f"required inputs not provided: [{', '.join(names)}]", "add them to init")
        self.names = tuple(names)


class ChildInputsMissing(GoalsError):
    def __init__(self, step_id: str, names: Sequence[str]) -> None:
        needs = ", ".join(f"'{name}'" for name in names)
        fix = "add it as an input" if len(names) == 1 else "add them as inputs"
        super().__init__("child_inputs_missing", f"flow step '{step_id}': child needs {needs}", fix)
        self.names = tuple(names)


class Unpriced(GoalsError):
    def __init__(self, step_id: str, what: str, fix: str) -> None:
        super().__init__("unpriced_model", f"step '{step_id}' {what}", fix)


class RunExists(GoalsError):
    status = 409

    def __init__(self, run_id: str, what: str = "goals") -> None:
        super().__init__("run_exists", f"run '{run_id}' exists with other {what}", "use a new id")


class OverLimit(GoalsError):
    """A limit of section 10 is exceeded."""

    status = 413

    def __init__(self, what: str, size: int, limit: int, unit: str, fix: str) -> None:
        super().__init__("too_large", f"{what} has {size:,} {unit}, the limit is {limit:,}", fix)
