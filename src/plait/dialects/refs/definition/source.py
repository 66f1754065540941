"""A definition as people write it: the JSON of section 1 of the spec, field by field.

These structures are the one description of the language: definitions are parsed by them with every flaw noted, and
the JSON Schema for editors is generated from them. An absent field has its default; so has a field that is `null`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from .limits import MAX_ATTEMPTS

OnError = Literal["fail", "continue"]
OnInterrupt = Literal["rerun", "fail"]
Mode = Literal["auto", "recording"]


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Any object of a definition."""


class ForEach(Part, frozen=True, kw_only=True):
    ref: str
    concurrency: Any = 1
    """A whole number from 1 to 100; checked by a rule of its own."""


class Config(Part, frozen=True, kw_only=True, rename="camel"):
    max_attempts: Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS)] = 1
    """The number of attempts, including the first."""
    backoff_ms: Annotated[int, Meta(ge=100, le=60_000)] = 1_000
    timeout_ms: Annotated[int, Meta(ge=100, le=86_400_000)] | None = None
    on_error: OnError | None = None
    """Defaults: a failed step fails the run, a failed iteration does not."""
    on_interrupt: OnInterrupt = "rerun"


class Compensator(Part, frozen=True, kw_only=True):
    action: dict[str, Any]
    input: Any = {}


class Step(Part, frozen=True, kw_only=True, rename="camel"):
    name: str
    action: dict[str, Any]
    """One kind of work; checked by a rule of its own."""
    input: Any = {}
    when: dict[str, Any] | None = None
    bail: bool | dict[str, Any] | None = None
    for_each: ForEach | None = None
    depends_on: list[str] = []
    config: Config = Config()
    description: str = ""
    output_schema: dict[str, Any] | bool | None = None
    compensate: Compensator | None = None


class Source(Part, frozen=True, kw_only=True):
    steps: list[Step] = []
    id: str | None = None
    title: str = ""
    description: str = ""
    input_schema: dict[str, Any] | bool | None = None
    servers: list[str] | None = None
    """Servers whose tools may be called; None: all that are configured."""
    mode: Mode = "auto"
    presets: dict[str, Any] = {}
    use: str | None = None
    start_at_epoch_ms: Annotated[int, Meta(ge=0)] | None = None
