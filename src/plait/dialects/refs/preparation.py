"""Prepares a definition as written: replaces `use` by the saved definition, and checks the code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from plait.definitions.flaws import InvalidDefinition, Note
from plait.kernel.definitions import Description

from .definition.compile import INVALID, Compiled
from .definition.plan import Plan
from .names import NAME
from .running.plans import Plans

if TYPE_CHECKING:
    from plait.scripts.languages import Languages

FindVersion = Callable[[str, str], Awaitable[Description | None]]
"""Finds a saved definition by `name@version-or-tag` and namespace."""

_JAVASCRIPT: Final = "javascript"
_NAMES: Final = ("input",)
_DEEPEST: Final = 8
"""The most levels of saved definitions that use another one."""
_OWN: Final = ("presets", "start_at_epoch_ms", "title", "description", "id", "servers")
"""Fields allowed beside `use`."""
_CHECKED: Final = 4_096


class HasLanguages(Protocol):
    """Has the script languages, and creates them on demand."""

    @property
    def languages(self) -> Languages: ...


@dataclass(frozen=True, slots=True)
class Prepared:
    compiled: Compiled
    name: str = ""
    """The name of the saved definition that it uses."""
    version: str | None = None


class Preparation:
    def __init__(self, plans: Plans, find: FindVersion | None, scripts: HasLanguages | None) -> None:
        self._plans = plans
        self._find = find
        self._scripts = scripts
        self._sound: set[str] = set()
        """Code that has passed the check."""

    async def prepare(self, definition: Mapping[str, Any], namespace: str, *, starting: bool = False) -> Prepared:
        """Raises with all flaws."""
        written, saved = await self._used(definition, namespace)
        compiled = await self._plans.prepared(written, starting=starting)
        await self._check_code(compiled.plan)
        return Prepared(compiled) if saved is None else Prepared(compiled, saved.name, saved.version)

    # -- saved definitions ---------------------------------------------------------------------------------------

    async def _used(
        self, definition: Mapping[str, Any], namespace: str, depth: int = 0
    ) -> tuple[Mapping[str, Any], Description | None]:
        use = definition.get("use")
        if use is None or not isinstance(use, str):
            return definition, None
        if definition.get("steps"):
            raise _refused("/use", "A workflow has `steps` or `use`, not both. Remove one.", "bad_shape")
        if other := [key for key in definition if key not in (*_OWN, "use")]:
            raise _refused(f"/{other[0]}", f"`{other[0]}` can't stand beside `use`. Remove it.", "bad_shape")
        saved = None if self._find is None else await self._find(use, namespace)
        if saved is None or saved.dialect != NAME or depth >= _DEEPEST:
            raise _refused("/use", f'There is no saved workflow "{use:.80}". Save it first.', "unknown_workflow")
        body, _ = await self._used(cast("dict[str, Any]", saved.body or {}), namespace, depth + 1)
        own = {key: definition[key] for key in _OWN if definition.get(key) is not None}
        presets: dict[str, Any] = {**(body.get("presets") or {}), **(own.get("presets") or {})}
        return {**body, **own, **({"presets": presets} if presets else {})}, saved

    # -- code ----------------------------------------------------------------------------------------------------

    async def _check_code(self, plan: Plan) -> None:
        from plait.scripts.errors import CompileError
        from plait.scripts.languages import is_language

        if self._scripts is None or not is_language(_JAVASCRIPT):
            return
        notes: list[Note] = []
        for pointer, step, code in _codes(plan):
            if code in self._sound:
                continue
            try:
                await self._scripts.languages.check(_JAVASCRIPT, code, _NAMES)
            except CompileError as error:
                line = f" line {error.line}" if error.line else ""
                notes.append(Note(pointer, f'Step "{step}"{line}: {error.message}', error.fix, "code_syntax"))
            else:
                if len(self._sound) >= _CHECKED:
                    self._sound.clear()
                self._sound.add(code)
        if notes:
            raise InvalidDefinition(INVALID, notes)


def _codes(plan: Plan) -> list[tuple[str, str, str]]:
    """Every code text, with its place and its step."""
    found: list[tuple[str, str, str]] = []
    for step in plan.order:
        at = f"/steps/{step.position}"
        found.append((f"{at}/action/code", step.name, step.action.code))
        found.append((f"{at}/action/transformCode", step.name, step.action.transform))
        if step.compensator is not None:
            found.append((f"{at}/compensate/action/code", step.name, step.compensator.action.code))
    return [each for each in found if each[2]]


def _refused(pointer: str, what: str, code: str) -> InvalidDefinition:
    return InvalidDefinition(INVALID, [Note(pointer, what, "", code)])
