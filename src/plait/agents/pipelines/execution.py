"""Runs the steps of a pipeline, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol, assert_never, cast

from plait.definitions.flaws import Note
from plait.kernel import values
from plait.kernel.errors import PlaitError

from . import dates, extraction, grouping, joining, requests, tables
from .errors import InvalidPipeline, PipelineError, StepError
from .limits import MOST_BYTES, MOST_ROWS, SECONDS
from .steps import (
    NAMES,
    GroupBy,
    HttpRequest,
    Join,
    JqTransform,
    ParseDate,
    RegexExtract,
    Step,
    TableFilter,
    TableSelect,
    TableSort,
    TopK,
)

_ON_LOOP: Final = 100
"""Rows that are processed on the event loop, without a thread."""


class Jq(Protocol):
    async def check(self, query: str) -> None: ...

    async def run(self, query: str, data: Any) -> list[Any]: ...


Load = Callable[[str], Awaitable[Any]]
"""Loads a stored table by its reference. Raises `StepError`."""


async def no_references(reference: str) -> Any:
    raise StepError(f"`{reference[:200]}` can't be read here: there is no run whose values it could name")


class Execution:
    """Executes pipelines with the I/O that they need; one serves many."""

    def __init__(
        self,
        send: requests.Send,
        jq: Jq,
        load: Load = no_references,
        auth_profiles: requests.Profiles | None = None,
    ) -> None:
        self._send = send
        self._jq = jq
        self._load = load
        self._auth_profiles = auth_profiles or {}

    async def run(self, steps: Sequence[Step], data: Any) -> Any:
        """Returns the output of the last step. Raises `InvalidPipeline` before anything runs, or `PipelineError`."""
        await self.check(steps)
        fits = False
        number, deadline = 0, asyncio.get_running_loop().time() + SECONDS
        for number, step in enumerate(steps, 1):
            try:
                async with asyncio.timeout_at(deadline):
                    data = await self._step(step, data)
                    if not (fits and isinstance(step, _CHOOSING)):
                        await _in_thread_if_long(partial(_check_size, data), data)
                    fits = True
            except TimeoutError:
                error = StepError(f"the pipeline ran longer than {SECONDS:g} s")
                raise PipelineError(number, NAMES[type(step)], error) from None
            except StepError as error:
                raise PipelineError(number, NAMES[type(step)], error) from error
        return data

    async def check(self, steps: Sequence[Step], pointer: str = "") -> None:
        """Checks what the reader can't: that queries are valid jq, and that profiles exist."""
        notes: list[Note] = []
        for at, step in enumerate(steps):
            if isinstance(step, JqTransform):
                try:
                    await self._jq.check(step.query)
                except PlaitError as error:
                    what = f"step {at + 1} (jq_transform): query: {error.what}"
                    notes.append(Note(f"{pointer}/{at}/query", what, error.fix))
            if isinstance(step, HttpRequest) and step.auth_profile not in (None, *self._auth_profiles):
                what = f"step {at + 1} (http_request): there is no auth profile `{step.auth_profile}`"
                notes.append(Note(f"{pointer}/{at}/auth_profile", what, "name one that the operator has set up"))
        if notes:
            raise InvalidPipeline(notes)

    async def _step(self, step: Step, data: Any) -> Any:
        match step:
            case HttpRequest():
                return await requests.fetch(step, self._send, self._auth_profiles)
            case JqTransform():
                return await self._query(step, data)
            case Join():
                left, right = await self._table(step.left, data), await self._table(step.right, data)
                return await asyncio.to_thread(joining.join, step, left, right, MOST_ROWS)
            case _:
                return await _in_thread_if_long(lambda: _pure(step, data), data)

    async def _query(self, step: JqTransform, data: Any) -> Any:
        try:
            found = await self._jq.run(step.query, data)
        except PlaitError as error:
            raise StepError(error.what, retryable=bool(getattr(error, "retryable", False))) from None
        return found[0] if len(found) == 1 else found

    async def _table(self, given: str | list[Any] | None, data: Any) -> Any:
        if given is None:
            return data
        return await self._load(given) if isinstance(given, str) else given


_CHOOSING: Final = (TableSort, TableFilter, TopK)
"""Steps that return some of their input rows: if the input is within the limits, so is the output."""
Pure = TableSort | TableFilter | TableSelect | TopK | GroupBy | RegexExtract | ParseDate


def _pure(step: Pure, data: Any) -> Any:
    match step:
        case TableSort():
            return tables.sort(step, data)
        case TableFilter():
            return tables.filter(step, data)
        case TableSelect():
            return tables.select(step, data)
        case TopK():
            return tables.top(step, data)
        case GroupBy():
            return grouping.group(step, data)
        case RegexExtract():
            return extraction.extract(step, data)
        case ParseDate():
            return dates.parse(step, data)
        case _:
            assert_never(step)


async def _in_thread_if_long(work: Callable[[], Any], data: Any) -> Any:
    """Processes tables in a thread, so that the event loop stays free; for a few rows that is not worth it."""
    if isinstance(data, list) and len(cast("list[Any]", data)) <= _ON_LOOP:
        return work()
    return await asyncio.to_thread(work)


def _check_size(data: Any) -> None:
    if isinstance(data, list) and len(cast("list[Any]", data)) > MOST_ROWS:
        raise StepError(f"it gives {len(cast('list[Any]', data)):,} rows, {MOST_ROWS:,} are allowed")
    size = len(values.plain(data))
    if size > MOST_BYTES:
        raise StepError(f"it gives {size:,} bytes, {MOST_BYTES:,} are allowed")
