"""`plait catalog`: the steps that goals are planned with."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from plait.cli import words
from plait.cli.connect import connect
from plait.cli.options import DEFAULT_DB, Json, Key, Namespace, Place, Where, group, read_pairs
from plait.cli.output import emit, facts, say, table
from plait.cli.session import do
from plait.dialects.goals.catalogs.cluster import StepHealth
from plait.dialects.goals.catalogs.registering import Removal
from plait.dialects.goals.steps.attribute import Attribute
from plait.dialects.goals.steps.step import Step, emitted

from .catalogs import catalog_of

catalog = group()

StepArgument = Annotated[str, typer.Argument(metavar="STEP", help="The step's id.", show_default=False)]
Labels = Annotated[list[str] | None, typer.Option("--label", metavar="KEY=VALUE", help="Filter by label; repeatable.")]
_HEALTH = {"healthy": "green", "unhealthy": "red", "unknown": "bright_black"}


@catalog.callback(invoke_without_command=True)
def default(
    ctx: typer.Context,
    label: Labels = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """The steps that goals are planned with. Without a command: list."""
    if ctx.invoked_subcommand is None:
        _list(label, Where(db, key, namespace), json=json)


@catalog.command("list")
def list_(
    label: Labels = None, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """List them by id, with their inputs and outputs."""
    _list(label, Where(db, key, namespace), json=json)


def _list(label: list[str] | None, where: Where, *, json: bool) -> None:
    steps, health = do(_steps(where, read_pairs(label or [], "--label")))
    if json:
        emit([emitted(step) for step in steps])
    elif steps:
        rows = [
            (
                step.id,
                step.type,
                ", ".join(_input(name, each) for name, each in step.inputs() if each.role in ("required", "optional")),
                ", ".join(name for name, _ in step.outputs()),
                _health_text(health.get(step.id)),
            )
            for step in steps
        ]
        table(("STEP", "TYPE", "NEEDS", "GIVES", "HEALTH"), rows, fold=("NEEDS", "GIVES", "STEP"))
    else:
        say("no such steps" if label else "no steps; `plait check steps.json --register` adds some")


@catalog.command()
def show(
    step: StepArgument, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Show one, with the steps that its inputs come from and its outputs go to."""
    found, health, links = do(_step(step, Where(db, key, namespace)))
    if json:
        emit(emitted(found))
        return
    facts(
        [
            ("step", found.id),
            ("name", found.name),
            ("type", found.type),
            ("does", _does(found)),
            ("when", found.predicate.script if found.predicate is not None else None),
            ("undone by", found.compensate or None),
            ("retries", _retries(found)),
            ("labels", ", ".join(f"{name}={value}" for name, value in found.labels.items()) or None),
            ("health", Text.assemble(_health_text(health), f"  {health.error}" if health and health.error else "")),
        ]
    )
    rows = [
        (attribute.role, name, attribute.type, _detail(attribute), links.get(name, ""))
        for name, attribute in found.attributes.items()
    ]
    if rows:
        say()
        table(("ROLE", "NAME", "TYPE", "", "FROM / TO"), sorted(rows), fold=("", "FROM / TO", "NAME"))


@catalog.command("rm")
def remove(
    step: StepArgument, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Remove a step. Runs under way keep the version that they were planned with."""
    found = do(_remove(step, Where(db, key, namespace)))
    if json:
        emit({"removed": step, "orphans": found.orphans, "flows": found.flows})
        return
    say(f"step {step}: removed")
    for name, consumers in found.orphans.items():
        say(f"  no step provides `{name}` for {', '.join(consumers)} any more: runs must have it in their input")
    if found.flows:
        say(f"  {', '.join(found.flows)} can't be planned any more: it is their goal")


# -- queries -----------------------------------------------------------------------------------------------------------


async def _steps(where: Where, labels: dict[str, str]) -> tuple[list[Step], dict[str, StepHealth]]:
    async with connect(where) as session:
        found = catalog_of(session)
        return await found.list(labels), (await found.health()).health


async def _step(step_id: str, where: Where) -> tuple[Step, StepHealth | None, dict[str, str]]:
    async with connect(where) as session:
        found = catalog_of(session)
        step = await found.get(step_id)
        ties = await found.attributes()
        links = {
            name: ", ".join(ties[name].consumers if attribute.role == "output" else ties[name].providers)
            for name, attribute in step.attributes.items()
            if name in ties
        }
        return step, (await found.health()).health.get(step_id), links


async def _remove(step_id: str, where: Where) -> Removal:
    async with connect(where) as session:
        return await catalog_of(session).unregister(step_id)


# -- output ------------------------------------------------------------------------------------------------------------


def _input(name: str, attribute: Attribute) -> str:
    mark = "?" if attribute.role == "optional" else "[each]" if attribute.detail.for_each else ""
    return f"{name}{mark}"


def _does(step: Step) -> str:
    match step:
        case Step(http=http) if http is not None:
            return f"{http.method} {http.endpoint}"
        case Step(script=script) if script is not None:
            return words.one_line(script.script)
        case Step(flow=flow) if flow is not None:
            return f"reaches {', '.join(flow.goals)} in a run of its own"
        case Step(python=python) if python is not None:
            return f"calls `{python.handler}`" + (f" on queue `{python.queue}`" if python.queue else "")
        case Step(run=run) if run is not None:
            return f"runs {words.value(run.definition, 60)} ({run.dialect})"
        case _:
            raise AssertionError(step)


def _retries(step: Step) -> str:
    work = step.work_config
    if work.retry == "never":
        return "never"
    count = "without end" if work.max_retries < 0 else f"up to {work.max_retries}"
    waits = f"{words.duration(work.init_backoff)} to {words.duration(work.max_backoff)}"
    return f"{count}, {work.backoff_type}, {waits}"


def _detail(attribute: Attribute) -> str:
    detail = attribute.detail
    found = [
        f"default {detail.default}" if detail.default is not None else "",
        f"is {detail.value}" if detail.value is not None else "",
        f"the run's {detail.key}" if detail.key else "",
        "one by one" if detail.for_each else "",
        f"collect {detail.collect}" if detail.collect != "first" else "",
        "only what matches" if detail.match is not None else "",
        f"as {detail.mapping.name}" if detail.mapping is not None and detail.mapping.name else "",
        "waits" if detail.deadline < 0 else f"waits {words.duration(detail.deadline)}" if detail.deadline else "",
    ]
    return ", ".join(filter(None, found))


def _health_text(health: StepHealth | None) -> Text:
    status: Any = health.status if health is not None else "unknown"
    return Text(status, _HEALTH[status])
