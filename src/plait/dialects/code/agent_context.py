"""The part of `ctx` that lets language models work."""

from __future__ import annotations

from typing import Any, TypeVar, Unpack, cast, overload

from .agents import AgentOp, AgentOptions
from .caller_context import CallerContext
from .op import Op

T = TypeVar("T")


class AgentContext(CallerContext):
    """Agents, as operations of a run."""

    __slots__ = ()

    @overload
    def agent(
        self,
        name: str,
        prompt: str,
        payload: Any = None,
        *,
        model: str,
        returns: type[T],
        **options: Unpack[AgentOptions],
    ) -> Op[T]: ...
    @overload
    def agent(
        self, name: str, prompt: str, payload: Any = None, *, model: str, **options: Unpack[AgentOptions]
    ) -> Op[Any]: ...
    def agent(
        self, name: str, prompt: str, payload: Any = None, *, model: str, returns: Any = Any, **options: Any
    ) -> Op[Any]:
        """Lets a language model of the engine work on the payload, with `tools`; each of its turns is recorded, and
        none is paid for twice. The result is its output, of the type `returns` if that is given."""
        return AgentOp(self._scope, name, prompt, payload, model, returns, cast("AgentOptions", options))
