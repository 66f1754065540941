"""Definitions: what `@workflow` and `@step` turn a function into."""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType
from typing import Any, Generic, ParamSpec, TypeGuard, TypeVar, Unpack, cast, overload

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.bundle import Reference
from plait.kernel.errors import InvalidInput
from plait.kernel.retry import Retry

from .errors import WorkflowCodeError
from .hints import hint, return_type, unreadable, without_partials
from .options import DEFAULT_TIMEOUT, Options, Sec, StepOptions
from .result_check import check_result

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

NAME = "code"
"""The name of the dialect."""
_EMPTY = inspect.Parameter.empty
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")


def checked_text(what: str, value: object) -> str:
    try:
        return values.text(what, value)
    except InvalidInput as error:
        raise WorkflowCodeError("BAD_OPTION", error.what, fix=error.fix, why=error.why) from None


class StepCodec(msgspec.Struct, frozen=True):
    """Decoders for the arguments and the result of a step."""

    returns: Any
    result: msgspec.json.Decoder[Any] | None
    """None if the result type, unknown when the step was marked, can't be decoded."""
    all_given: msgspec.json.Decoder[tuple[Any, ...]] | None
    """Decodes all parameters in order, the form of most calls; None if their types can't be decoded together."""


class Step(Generic[P, T_co]):
    """A named step: its arguments are recorded, so it can run again without the workflow's code."""

    def __init__(self, fn: Callable[P, T_co], name: str | None, given: StepOptions) -> None:
        self.fn = fn
        self.name = name or fn.__qualname__
        self.ref = f"{fn.__module__}:{fn.__qualname__}"
        self.given = given
        self.threaded = not is_async(fn)
        self.known_codec: StepCodec | None = None
        _wrap(self, fn)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Calls the function directly, outside a workflow: handy in tests."""
        return self.fn(*args, **kwargs)

    def codec(self) -> StepCodec:
        """Built on first use: annotations may name what is defined later."""
        found = self.known_codec
        if found is None:
            returns = return_type(self.fn)
            found = self.known_codec = StepCodec(returns, _decoder(returns), self._all_given())
        return found

    @property
    def returns(self) -> Any:
        return self.codec().returns

    @functools.cached_property
    def parameters(self) -> Any:
        """The type of the arguments as one JSON array."""
        found = list(inspect.signature(self.fn).parameters.values())
        if any(p.kind is p.VAR_POSITIONAL for p in found):
            return list[Any]
        return [hint(self.fn, p.name) for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]

    @functools.cached_property
    def _decoders(self) -> list[msgspec.json.Decoder[Any]] | None:
        """Decoders of the parameters by name; None if the function takes any number of them."""
        types = self.parameters
        return [values.decoder(type) for type in cast("list[Any]", types)] if isinstance(types, list) else None

    def _all_given(self) -> msgspec.json.Decoder[tuple[Any, ...]] | None:
        types = self.parameters
        return _decoder(tuple[*types]) if isinstance(types, list) else None

    def arguments(self, args: Raw) -> Sequence[Any] | dict[str, Any]:
        """Copies of the arguments, decoded to the types of the parameters: in order, or by name."""
        all_given = (self.known_codec or self.codec()).all_given
        if all_given is not None:
            try:
                return all_given.decode(args)
            except msgspec.ValidationError:
                pass  # some are missing or don't fit; reported below
        decoders = self._decoders
        if bytes(args).startswith(b"{"):
            named = _named.decode(args)
            return {name: values.decode(raw, hint(self.fn, name)) for name, raw in named.items()}
        if decoders is None:
            return values.decode(args)
        return [decoder.decode(raw) for decoder, raw in zip(decoders, _raws.decode(args), strict=False)]

    def call_remote(self, arguments: Raw) -> Any:
        """Calls the step in another process, with the recorded arguments."""
        fn: Callable[..., Any] = self.fn
        given = self.arguments(arguments)
        return fn(**given) if isinstance(given, dict) else fn(*given)

    def remote_output(self, result: Any) -> Any:
        check_result(f"step `{self.name}`", self.returns, result, values.encode(result))
        return result

    def keywords(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Decodes JSON values by name to the types of the parameters."""
        return {name: self._typed(name, value) for name, value in given.items()}

    def _typed(self, name: str, value: Any) -> Any:
        wanted = hint(self.fn, name)
        if wanted is Any:
            return value
        try:
            return values.decode(values.plain(value), wanted)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            what = f"`{name}` does not fit step `{self.name}`"
            raise InvalidInput("step.bad_argument", what, why=str(error)) from None


def _decoder(type: Any) -> msgspec.json.Decoder[Any] | None:
    try:
        return values.decoder(type)
    except TypeError:
        return None


def _wrap(definition: Step[..., Any] | Workflow[..., Any], fn: Callable[..., Any]) -> None:
    """Makes a definition look like its function. Its `__dict__` is replaced by a copy, because lookups in the one that
    `update_wrapper` has read are slower."""
    functools.update_wrapper(definition, fn)
    definition.__dict__ = dict(definition.__dict__)


def is_step(fn: object) -> TypeGuard[Step[..., Any]]:
    return isinstance(fn, Step)


_raws = msgspec.json.Decoder(list[Raw])
_named = msgspec.json.Decoder(dict[str, Raw])


def label_of(name: str, version: str | None) -> str:
    """The definition's name as people write it, with the version if any."""
    return name if version is None else f"{name}@{version}"


class Workflow(Generic[P, T_co]):
    """A definition of the `code` dialect."""

    def __init__(self, fn: Callable[P, T_co], name: str | None, version: str | None, options: Options) -> None:
        self.fn = fn
        self.name = getattr(fn, "__name__", type(fn).__name__) if name is None else name
        self.version = version
        self.options = options
        self.takes_input = _check_signature(fn, self.name)
        self.where = f"{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}"
        self.hash = _code_hash(fn.__code__)
        self.needs_input = self.takes_input and list(inspect.signature(fn).parameters.values())[1].default is _EMPTY
        must_be_readable(fn, "workflow", [*list(inspect.signature(fn).parameters)[1:], "return"])
        _wrap(self, fn)
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(
                "CODE_BAD_NAME", f"workflow name {self.name!r}", fix="use letters, digits, `_`, `.`, `-`; at most 128"
            )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        return self.fn(*args, **kwargs)

    def reference(self) -> Reference:
        """How JSON refers to this definition."""
        return Reference(NAME, self.label, self.name)

    @property
    def label(self) -> str:
        return label_of(self.name, self.version)

    @functools.cached_property
    def input_type(self) -> Any:
        if not self.takes_input:
            return Any
        return hint(self.fn, list(inspect.signature(self.fn).parameters)[1])

    def arguments(self, input: Raw) -> tuple[Any, ...]:
        """The arguments of the function after `ctx`: the input decoded to its type, or nothing."""
        if not self.takes_input or (not self.needs_input and bytes(input) == b"null"):
            return ()
        return (self._input.decode(input),)

    @functools.cached_property
    def _input(self) -> msgspec.json.Decoder[Any]:
        return values.decoder(self.input_type)

    @functools.cached_property
    def returns(self) -> Any:
        return return_type(self.fn)


def is_workflow(definition: object) -> TypeGuard[Workflow[..., Any]]:
    return isinstance(definition, Workflow)


@overload
def workflow(fn: Callable[P, T], /) -> Workflow[P, T]: ...
@overload
def workflow(
    *, name: str | None = None, version: str | None = None, retry: Retry = ..., timeout: Sec | None = ...
) -> Callable[[Callable[P, T]], Workflow[P, T]]: ...
def workflow(
    fn: Callable[P, T] | None = None,
    *,
    name: str | None = None,
    version: str | None = None,
    retry: Retry | None = None,
    timeout: Sec | None = DEFAULT_TIMEOUT,
) -> Any:
    """Marks an `async def f(ctx)` or `f(ctx, input)` as a workflow.

    `retry` and `timeout` are defaults for its steps. Give `version` to load several versions side by side.
    """
    given: StepOptions = {"timeout": timeout}
    if retry is not None:
        given["retry"] = retry
    options = Options().under(given)

    def mark(fn: Callable[P, T]) -> Workflow[P, T]:
        return Workflow(fn, name, version, options)

    return mark if fn is None else mark(fn)


@overload
def step(fn: Callable[P, T], /) -> Step[P, T]: ...
@overload
def step(*, name: str | None = None, **options: Unpack[StepOptions]) -> Callable[[Callable[P, T]], Step[P, T]]: ...
def step(fn: Callable[P, T] | None = None, *, name: str | None = None, **options: Unpack[StepOptions]) -> Any:
    """Marks a function, async or plain, as a named step. Its arguments are recorded with the run."""
    checked = Options().under(options)  # reports a wrong option where it is written

    def mark(fn: Callable[P, T]) -> Step[P, T]:
        _must_be_a_function(fn)
        must_be_readable(fn, "@step", [*inspect.signature(fn).parameters, "return"])
        made = Step(fn, name, options)
        if checked.queue is not None:
            must_be_found(made, made.name, f"go to the queue `{checked.queue}`", "a worker")
        if checked.isolate:
            must_be_found(made, made.name, "have isolate=True", "a process of its own")
        if checked.on is not None:
            must_be_found(made, made.name, f"run on {checked.on}", "the cluster")
        return made

    return mark if fn is None else mark(fn)


def _must_be_a_function(fn: Any) -> None:
    """Refuses methods: their object is not recorded, and no other process could find it."""
    name: str = getattr(fn, "__qualname__", type(fn).__qualname__)
    if type(fn) is classmethod or _is_method(fn):
        raise _bad_step(
            name,
            "it is a method: the object it is called on would not be recorded with its arguments",
            "mark a function outside the class, or give the method as it is: ctx.step(name, shop.charge, ...)",
        )
    if not callable(fn) or not hasattr(fn, "__qualname__"):
        raise _bad_step(name, "it has no name to be recorded by", "mark a function that calls it")
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise _bad_step(name, "it is a generator, and a step has one result", "return a list instead of yielding")


def _is_method(fn: Callable[..., Any]) -> bool:
    inside = getattr(fn, "__qualname__", "").rpartition(".")[0]
    if not inside or inside.endswith("<locals>"):
        return False
    return next(iter(inspect.signature(fn).parameters), "") in ("self", "cls")


def _bad_step(name: str, why: str, fix: str) -> WorkflowCodeError:
    return WorkflowCodeError("BAD_SIGNATURE", f"`{name}` can't be a @step", why=why, fix=fix)


def must_be_readable(fn: Callable[..., Any], kind: str, names: Iterable[str]) -> None:
    """Refuses, at definition time, types that no value could be decoded to."""
    if (why := unreadable(fn, names)) is not None:
        raise WorkflowCodeError(
            "BAD_SIGNATURE",
            f"`{fn.__qualname__}` can't be a {kind}",
            why=why,
            fix="use dataclasses with a field that tells them apart, like `kind: Literal['card']`; or no annotation",
        )


def must_be_found(fn: Callable[..., Any], path: str, what: str, who: str) -> None:
    """Refuses a function that no other process could find by name."""
    if is_step(fn) and "<" not in fn.ref:
        return
    why = "it is defined inside another function" if is_step(fn) else "it is not a @step"
    raise WorkflowCodeError(
        "BAD_OPTION",
        f"`{path}` can't {what}",
        why=f"{why}, so {who} could not find it by its name",
        fix=f"make it a @step at the top level of a module that {who} can load",
    )


def is_async(fn: Callable[..., Any]) -> bool:
    fn = without_partials(fn)
    if is_step(fn):
        return not fn.threaded
    call = getattr(fn, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(call)


def _check_signature(fn: Callable[..., Any], name: str) -> bool:
    if not inspect.iscoroutinefunction(fn):
        raise _bad_signature(name, "it is not `async def`")
    if _is_method(fn):
        raise _bad_signature(name, "it is a method: the object it is called on would not be there after a restart")
    if not inspect.isfunction(fn):
        raise _bad_signature(name, "it is no function")
    found = [p for p in inspect.signature(fn).parameters.values() if p.default is p.empty]
    every = list(inspect.signature(fn).parameters.values())
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in every):
        raise _bad_signature(name, "it takes more than `ctx` and one input")
    if not every or len(found) > 2 or len(every) > 2:
        raise _bad_signature(name, "it takes no `ctx`" if not every else "it takes more than one input")
    return len(every) == 2


def _bad_signature(name: str, why: str) -> InvalidInput:
    return InvalidInput(
        "CODE_BAD_SIGNATURE", f"`{name}` can't be a workflow", why=why, fix=f"use `async def {name}(ctx, input)`"
    )


def _code_hash(code: CodeType) -> str:
    """A hash that changes with the function's own code; line numbers don't count."""
    digest = hashlib.sha256()

    def add(code: CodeType) -> None:
        digest.update(code.co_code)
        digest.update(repr(code.co_names).encode())
        for const in code.co_consts:
            if isinstance(const, CodeType):
                add(const)
            else:
                digest.update(_repr(const).encode())

    add(code)
    return digest.hexdigest()[:16]


def _repr(const: object) -> str:
    """A `repr` that is the same in every process: `x in {"a", "b"}` has a set as its constant, whose order changes with
    the hashes of strings."""
    match const:
        case frozenset():
            return f"frozenset({sorted(map(_repr, cast('frozenset[object]', const)))})"
        case tuple():
            parts = [*map(_repr, cast("tuple[object, ...]", const))]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"  # as `repr` writes it
        case _:
            return repr(const)
