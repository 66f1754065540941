"""Declares steps in Python: fluently, or from the signature of a function.

    lookup = (
        catalog_step("lookup-customer", "Look up a customer")
        .required("email", str)
        .output("customer_id", str)
        .sync("https://crm.example.com/lookup", timeout=5)
        .build()
    )

    @python_step
    def charge(customer_id: str, amount: float, currency: str = "EUR") -> Charge: ...

A builder is a value: each call gives a new one, so a half-made step can be shared. `build` goes through the same
door as steps from outside, with the same errors. Durations are seconds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, overload

import msgspec
from msgspec import Raw

from plait.clusters.names import ClusterName, check_function
from plait.kernel import values
from plait.kernel.queue_options import as_defined
from plait.kernel.run_queues import ChildQueueing

from .attribute import Attribute, Collect, Detail, Kind, Language, Role, Script, attribute
from .attribute import Mapping as Renaming
from .read_attribute import KINDS
from .reading import read_step
from .signature import Input, Meta, arguments_of, attributes_of, hints_of, kind_of, millis, outputs_of
from .step import BackoffType, Method, Scope, Step, clean

__all__ = ["Input", "Meta", "PythonStep", "StepBuilder", "catalog_step", "python_step"]

P = ParamSpec("P")
R = TypeVar("R")

_NOTHING: Any = object()


def catalog_step(id: str, name: str = "") -> StepBuilder:
    """Starts the declaration of a step; without a name its id is its name."""
    return StepBuilder({"id": id, "name": name or id})


class StepBuilder:
    """The declaration of a step so far."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._built: Step | None = None

    def build(self) -> Step:
        """The step, checked like one from outside."""
        if self._built is None:  # every engine that is given it asks for it
            self._built = read_step(dict(self._data))
        return self._built

    def required(
        self,
        name: str,
        type: Any = Any,
        *,
        for_each: bool = False,
        collect: Collect = "first",
        match: tuple[Language, str] | None = None,
        inner: str = "",
        script: tuple[Language, str] | None = None,
    ) -> StepBuilder:
        """A required input. `inner` is its name in the step, `script` maps its value."""
        mapping = _renaming(inner, script)
        detail = Detail(for_each=for_each, collect=collect, match=_script(match), mapping=mapping)
        return self._attribute(name, "required", type, detail)

    def optional(
        self,
        name: str,
        type: Any = Any,
        *,
        default: Any = _NOTHING,
        for_each: bool = False,
        collect: Collect = "first",
        deadline: float = 0,
        inner: str = "",
        script: tuple[Language, str] | None = None,
    ) -> StepBuilder:
        """An optional input; `deadline` is how long to wait for it, -1 for as long as it may come."""
        detail = Detail(
            default=None if default is _NOTHING else _json(default),
            for_each=for_each,
            collect=collect,
            deadline=millis(deadline),
            mapping=_renaming(inner, script),
        )
        return self._attribute(name, "optional", type, detail)

    def output(
        self, name: str, type: Any = Any, *, inner: str = "", script: tuple[Language, str] | None = None
    ) -> StepBuilder:
        """An output; `inner` is its name in the step."""
        return self._attribute(name, "output", type, Detail(mapping=_renaming(inner, script)))

    def const(self, name: str, value: Any, type: Any = Any) -> StepBuilder:
        """An input with a constant value."""
        return self._attribute(name, "const", type, Detail(value=_json(value)))

    def meta(self, name: str, key: str) -> StepBuilder:
        """An input that is a fact about the run: `flow_id`, `step_id`, …, or one of its labels."""
        return self._attribute(name, "meta", Any, Detail(key=key))

    def sync(
        self,
        endpoint: str,
        *,
        method: Method = "POST",
        timeout: float = 0,
        health_check: str = "",
        compensate: str = "",
    ) -> StepBuilder:
        """An HTTP call that returns the outputs."""
        http = {"endpoint": endpoint, "method": method, "timeout": millis(timeout)}
        return self._with(type="sync", http={**http, "health_check": health_check, "compensate": compensate})

    def webhook(
        self,
        endpoint: str,
        *,
        method: Method = "POST",
        timeout: float = 0,
        callback_timeout: float = 0,
        health_check: str = "",
        compensate: str = "",
        recall: bool = True,
    ) -> StepBuilder:
        """An HTTP call that answers later, by calling the webhook that it is given: type `async`."""
        http = {"endpoint": endpoint, "method": method, "timeout": millis(timeout), "health_check": health_check}
        more = {"callback_timeout": millis(callback_timeout), "compensate": compensate, "recall": recall}
        return self._with(type="async", http=http | more)

    def script(self, language: Language, text: str) -> StepBuilder:
        """A script that runs in the engine: its inputs are names, its result the outputs."""
        return self._with(type="script", script={"language": language, "script": text})

    def ale(self, text: str) -> StepBuilder:
        """A script in Ale."""
        return self.script("ale", text)

    def lua(self, text: str) -> StepBuilder:
        """A script in Lua."""
        return self.script("lua", text)

    def javascript(self, text: str) -> StepBuilder:
        """A script in JavaScript or TypeScript: its default export gets the inputs as one object."""
        return self.script("javascript", text)

    def tool(self, name: str, *, servers: tuple[str, ...] = (), timeout: float = 0) -> StepBuilder:
        """A tool of an MCP server: the inputs are its arguments."""
        config = {"name": name, "servers": list(servers), "timeout": millis(timeout)}
        return self._with(type="tool", tool=config)

    def agent(self, model: str, prompt: str, **settings: Any) -> StepBuilder:
        """A language model with tools: the inputs are its payload, its answer the outputs."""
        return self._with(type="agent", agent={"model": model, "prompt": prompt, **settings})

    def pipeline(self, steps: Sequence[Mapping[str, Any]], *, data: str = "") -> StepBuilder:
        """Data steps: they process the input `data`, or the only one, into the output. Joins name inputs."""
        return self._with(type="pipeline", pipeline={"steps": list(steps), "data": data})

    def flow(self, *goals: str, **queueing: Unpack[ChildQueueing]) -> StepBuilder:
        """A child run that reaches these goals; with `queue=`, it first waits there for a slot."""
        return self._with(type="flow", flow={"goals": list(goals), **as_defined(queueing)})

    def python(self, handler: str, *, queue: str = "", timeout: float = 0, compensate: str = "") -> StepBuilder:
        """A function registered under that name; without a queue it runs in the engine's process."""
        config = {"handler": handler, "queue": queue, "timeout": millis(timeout), "compensate": compensate}
        return self._with(type="python", python=config)

    def run(self, dialect: str, definition: Any, **queueing: Unpack[ChildQueueing]) -> StepBuilder:
        """A child run of any dialect; with `queue=`, it first waits there for a slot."""
        return self._with(type="run", run={"dialect": dialect, "definition": definition, **as_defined(queueing)})

    def when(self, language: Language, text: str, *, scope: Scope = "both") -> StepBuilder:
        """Runs the step only if this predicate holds; otherwise the step is skipped."""
        return self._with(predicate={"language": language, "script": text, "scope": scope})

    def retries(
        self,
        max_retries: int = 0,
        *,
        first: float = 0,
        cap: float = 0,
        backoff: BackoffType = "exponential",
        statuses: tuple[int, ...] = (),
    ) -> StepBuilder:
        """The number of retries and their backoff; 0 is the engine's default, -1 retries forever."""
        told = {"max_retries": max_retries, "init_backoff": millis(first), "max_backoff": millis(cap)}
        return self._work(**told, backoff_type=backoff, retry_statuses=list(statuses))

    def no_retries(self) -> StepBuilder:
        """Limits the step to one attempt."""
        return self._work(retry="never", max_retries=0)

    def parallel(self, items: int) -> StepBuilder:
        """The number of items of a fan-out in flight at once."""
        return self._work(parallelism=items)

    def memoizable(self) -> StepBuilder:
        """Equal inputs give equal outputs, so results may be cached."""
        return self._with(memoizable=True)

    def labels(self, **labels: str) -> StepBuilder:
        """Labels by which people find steps."""
        return self._with(labels={**self._data.get("labels", {}), **labels})

    def _attribute(self, name: str, role: Role, type: Any, detail: Detail) -> StepBuilder:
        made = attribute(role, _kind(type), detail)
        return self.attributes({name: made})

    def attributes(self, attributes: Mapping[str, Attribute]) -> StepBuilder:
        """Adds ready-made attributes."""
        return self._with(attributes={**self._data.get("attributes", {}), **msgspec.to_builtins(dict(attributes))})

    def _work(self, **told: Any) -> StepBuilder:
        return self._with(work_config={**self._data.get("work_config", {}), **told})

    def _with(self, **told: Any) -> StepBuilder:
        return StepBuilder({**self._data, **told})


class PythonStep(Generic[P, R]):
    """A function and its step; calling it calls the function."""

    def __init__(
        self,
        fn: Callable[P, R],
        definition: Step,
        undo: Callable[..., Any] | None = None,
        on: ClusterName | None = None,
    ) -> None:
        self.fn = fn
        self.definition = definition
        self.undo = undo
        """Its compensator, if that is a function and not the name of one."""
        self._hints = hints_of(fn)
        self.__doc__ = fn.__doc__
        self.__name__ = fn.__name__
        self.cluster = None if on is None else (on, check_function(on, f"{fn.__module__}:{fn.__qualname__}"))
        """The cluster it runs on, and its name there."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.fn(*args, **kwargs)

    def arguments(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs by inner name, decoded to the types of the parameters."""
        return arguments_of(self._hints, inputs)

    def call_remote(self, arguments: Raw) -> Any:
        """Calls the function in another process."""
        fn: Callable[..., Any] = self.fn
        return fn(**self.arguments(values.decode(arguments)))

    def remote_output(self, result: Any) -> dict[str, Any]:
        return self.outputs(result)

    def outputs(self, result: object) -> dict[str, Any]:
        """The function's return value as named outputs."""
        return outputs_of(self._hints.get("return", Any), result)


Configure = Callable[[StepBuilder], StepBuilder]


@overload
def python_step(fn: Callable[P, R], /) -> PythonStep[P, R]: ...
@overload
def python_step(
    *,
    id: str = "",
    name: str = "",
    queue: str = "",
    timeout: float = 0,
    compensate: str | Callable[..., Any] = "",
    configure: Configure | None = None,
    on: ClusterName | None = None,
) -> Callable[[Callable[P, R]], PythonStep[P, R]]: ...
def python_step(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    id: str = "",
    name: str = "",
    queue: str = "",
    timeout: float = 0,
    compensate: str | Callable[..., Any] = "",
    configure: Configure | None = None,
    on: ClusterName | None = None,
) -> Any:
    """Makes a step of a function: its id is its name in kebab case, its name the first line of its docstring.

    `compensate` is the function that compensates it, or the name of a handler: it gets `input` and `output`.
    `configure` extends the declaration: `configure=lambda step: step.no_retries().labels(team="pay")`.
    `on` is a cluster that runs it.
    """

    def make(fn: Callable[..., Any]) -> PythonStep[..., Any]:
        chosen = id or clean(fn.__name__.replace("_", "-"))
        title = name or (inspect.getdoc(fn) or "").partition("\n")[0].rstrip(".") or chosen
        made = catalog_step(chosen, title).attributes(attributes_of(fn))
        undo = compensate if callable(compensate) else None
        undoing = f"{chosen}:undo" if callable(compensate) else compensate
        made = made.python(chosen, queue=queue, timeout=timeout, compensate=undoing)
        return PythonStep(fn, (configure(made) if configure is not None else made).build(), undo, on)

    return make if fn is None else make(fn)


def _kind(type: Any) -> Kind:
    """The attribute type of a Python type, or the name of one."""
    return type if isinstance(type, str) and type in KINDS else kind_of(type)


def _json(value: Any) -> str:
    return bytes(values.encode(value)).decode()


def _script(pair: tuple[Language, str] | None) -> Script | None:
    return Script(*pair) if pair is not None else None


def _renaming(inner: str, script: tuple[Language, str] | None) -> Renaming | None:
    return Renaming(inner, _script(script)) if inner or script is not None else None
