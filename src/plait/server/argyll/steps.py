"""Steps: register, update, remove and show them."""

from __future__ import annotations

from typing import Any, cast

from plait.definitions.flaws import Note
from plait.dialects.goals.errors import StepInvalid
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step, clean, emitted
from plait.kernel.errors import InvalidInput

from .ids import cleaned, cleaned_list
from .route import Ask, MountRoute, Said

_OURS = "plait:"
"""The prefix that stands for a URL in steps of types that Argyll does not have."""


def shown(step: Step) -> dict[str, Any]:
    """A step as Argyll's clients can read it."""
    found = emitted(step)
    if "work_config" in found:  # Argyll's Python client reads one name, its Go client the other
        found["work_config"] |= {"backoff": step.work_config.init_backoff}
    if step.python is None and step.run is None:
        return found
    found.pop("python", None)
    found.pop("run", None)
    return found | {"type": "sync", "http": {"endpoint": f"{_OURS}{step.id}"}, "plait_type": step.type}


def read(sent: dict[str, Any]) -> Step:
    """Reads a step; ignores unknown fields, which a newer client may send."""
    data = sent | {"id": cleaned(sent.get("id"), "id")}
    match sent.get("flow"):
        case {"goals": goals, **more}:
            data["flow"] = cast("dict[str, Any]", more) | {"goals": cleaned_list(goals, "flow.goals")}
        case _:
            pass
    match sent.get("http"):
        case {"endpoint": str(url)} | {"url": str(url)} if url.startswith(_OURS):
            what = f"'{url[:80]}' stands for a step that Plait runs itself"
            raise StepInvalid(data["id"], [Note("/http/endpoint", what, "use /api/v1 for it, or give a URL")])
        case _:
            return read_step(data, strict=False)


async def list_steps(ask: Ask) -> Said:
    found = await ask.engine.catalog.list()
    return Said({"steps": [shown(step) for step in found], "count": len(found)})


async def register(ask: Ask) -> Said:
    step = read(await ask.object())
    await ask.engine.catalog.register(step)
    return Said({"message": "Step registered", "step": shown(step)}, 201, step.id)


async def show(ask: Ask) -> Said:
    return Said(shown(await ask.engine.catalog.get(step_id_of(ask))))


async def update(ask: Ask) -> Said:
    step = read(await ask.object())
    if step.id != step_id_of(ask):
        what = f"the step's id is '{step.id}', but the path says '{ask.params['id']}'"
        raise InvalidInput("mount.bad_id", what, fix="use the same id in both")
    await ask.engine.catalog.update(step)
    return Said({"message": "Step updated", "step": shown(step)}, target=step.id)


async def unregister(ask: Ask) -> Said:
    step_id = step_id_of(ask)
    await ask.engine.catalog.unregister(step_id)
    return Said({"message": "Step unregistered"}, target=step_id)


def step_id_of(ask: Ask) -> str:
    """Returns the step id in the path, cleaned: a client uses the id it sent, which was cleaned at registration."""
    sent = ask.params["id"]
    return clean(sent) or sent


ROUTES = (
    MountRoute(method="GET", full_path="/engine/step", handler=list_steps),
    MountRoute(method="POST", full_path="/engine/step", handler=register, name="mount.register"),
    MountRoute(method="GET", full_path="/engine/step/{id}", handler=show),
    MountRoute(method="PUT", full_path="/engine/step/{id}", handler=update, name="mount.update"),
    MountRoute(method="DELETE", full_path="/engine/step/{id}", handler=unregister, name="mount.unregister"),
)
