"""`engine.recordings`: tool calls recorded as steps, and turned into a workflow. A server's client offers the same."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

import msgspec

from plait.api.definition import SavedVersion
from plait.definitions.saved import Saved
from plait.kernel.bundle import Reference, RunDraft, Startable
from plait.kernel.errors import Conflict, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE

from .names import NAME
from .recording.draft import Draft
from .refs import Refs

T = TypeVar("T")

RECORDING: Final = "recording"
"""The label by which recordings are found."""


class RunHandle(Protocol):
    """`Handle` or `RemoteRun`."""

    @property
    def id(self) -> str: ...
    async def ask(self, name: str, body: Any = None, id: str | None = None, *, wait: float | None = None) -> Any: ...
    async def message(self, name: str, body: Any = None, id: str | None = None) -> str: ...


class Drafts(Protocol):
    async def make(
        self, run_id: str, options: Mapping[str, Any] | None = None, namespace: str = ..., *, dialect: str | None = None
    ) -> RunDraft: ...
    async def save(
        self,
        dialect: str,
        run_id: str,
        name: str,
        options: Mapping[str, Any] | None = None,
        namespace: str = ...,
        *,
        breaking: bool = False,
        expected: str | None = None,
    ) -> Saved | SavedVersion: ...


class Host(Protocol):
    """An engine, or the client of a server."""

    @property
    def drafts(self) -> Drafts: ...
    async def start(
        self,
        definition: str | Startable | Reference,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = ...,
        labels: dict[str, str] | None = None,
    ) -> RunHandle: ...
    async def get(self, run_id: str, namespace: str = ...) -> RunHandle: ...


class Called(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of a recorded call."""

    run: str
    step: str
    """The name by which references refer to it."""
    result: dict[str, Any] | None = None
    """The server's answer, unchanged; None if it could not be asked."""
    output: Any = None
    """The answer as plain JSON, which references to the step read."""
    error: dict[str, str] | None = None
    """`code` and `message`, if the server could not be asked."""

    @property
    def failed(self) -> bool:
        return self.error is not None or bool((self.result or {}).get("isError"))


class Recordings:
    """The recordings of one namespace; `of` returns those of another."""

    def __init__(self, host: Host, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._host = host
        self.namespace = namespace

    def of(self, namespace: str) -> Recordings:
        return Recordings(self._host, namespace)

    async def start(
        self,
        input: Mapping[str, Any] | None = None,
        servers: Sequence[str] | None = None,
        *,
        title: str = "",
        id: str | None = None,
    ) -> str:
        """Starts a recording, which waits for calls until it is stopped. `input` has values that calls may refer to as
        `@input`; `servers` are those whose tools may be called. Returns the run's id."""
        definition: dict[str, Any] = {"mode": "recording"}
        definition |= {"title": title} if title else {}
        definition |= {"servers": [*servers]} if servers is not None else {}
        labels = {RECORDING: "yes"}
        given = {**(input or {})}
        return (await self._host.start(Refs(definition), given, id=id, namespace=self.namespace, labels=labels)).id

    async def call(
        self,
        run: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        server: str = "",
        bare: str = "",
        session: str = "",
        read_only: bool | None = None,
    ) -> Called:
        """Calls a tool and records the call as a step. References in its arguments are resolved. The same `key` twice
        is one call, with one result. `server`, `bare` and `read_only` say whose tool it is, its name there, and whether
        it only reads, where that is known."""
        body = {"tool": tool, "arguments": {**(arguments or {})}, "server": server, "bare": bare, "session": session}
        asking = (await self._run(run)).ask("call", body | {"read_only": read_only}, key)
        return msgspec.convert(await self._open(run, asking), Called)

    async def cancel(self, run: str, key: str) -> None:
        """Cancels a call whose result is no longer wanted; its server is told."""
        await (await self._run(run)).message("cancel_call", {"call": key})

    async def preset(
        self,
        run: str,
        step: str,
        output: Any,
        *,
        tool: str = "",
        input: Mapping[str, Any] | None = None,
        replace: bool = False,
        wait: float | None = None,
    ) -> str:
        """Sets the result of a step without a call: of a new one, of one that failed, or with `replace` of any. The
        step `input` stands for the recording's input, into which the fields are merged. Returns the name of the step;
        raises TimeoutError if there is no answer within `wait` seconds; the request is durable by then."""
        body = {"stepName": step, "output": output, "toolName": tool, "input": {**(input or {})}, "replace": replace}
        return (await self._open(run, (await self._run(run)).ask("preset", body, wait=wait)))["stepName"]

    async def stop(self, run: str, output: Any = msgspec.UNSET, *, wait: float | None = None) -> Any:
        """Completes the recording, with an output that may have references; by default that of the last call that
        succeeded. Returns the output."""
        body = {} if output is msgspec.UNSET else {"output": output}
        return (await self._open(run, (await self._run(run)).ask("stop", body, wait=wait)))["output"]

    async def draft(self, run: str, **options: Any) -> Draft:
        """The draft of a template: its steps, suggestions and problems; see `DraftOptions`."""
        made = self._host.drafts.make(run, options, self.namespace, dialect=NAME)
        return msgspec.convert((await _found(run, made)).document, Draft)

    async def save(
        self, run: str, name: str, *, breaking: bool = False, expected: str | None = None, **options: Any
    ) -> Saved | SavedVersion:
        """Saves the recording as a template, to be started by its name; raises with all errors if the draft has any."""
        saving = self._host.drafts.save(NAME, run, name, options, self.namespace, breaking=breaking, expected=expected)
        return await _found(run, saving)

    async def _run(self, run: str) -> RunHandle:
        return await _found(run, self._host.get(run, self.namespace))

    async def _open(self, run: str, asking: Awaitable[T]) -> T:
        """Raises if the recording has ended: it then takes nothing more."""
        try:
            return await _found(run, asking)
        except Conflict as error:
            if error.code != "RUN_FINISHED":
                raise
            fix = f"reopen it with `plait retry {run}`, or start another"
            raise Conflict("recording_closed", f"recording {run} has ended", why=error.what, fix=fix) from None


async def _found(run: str, asking: Awaitable[T]) -> T:
    """Raises if the run is in another namespace, or is not a recording."""
    try:
        return await asking
    except NotFound as error:
        if error.code != "kernel.no_run":
            raise
        fix = "`plait runs` lists those of the namespace"
        raise NotFound("recording_not_found", f"there is no recording {run}", fix=fix) from None
