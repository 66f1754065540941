"""The special forms, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plait.scripts.ale.flat import Task
from plait.scripts.ale.forms import ListForm
from plait.scripts.ale.nodes import Node

from . import binding, branching, lambdas, looping, threading, trying

if TYPE_CHECKING:
    from plait.scripts.ale.compiler import Compiler

Special = Callable[["Compiler", ListForm], Task[Node]]

FORMS: dict[str, Special] = {
    **branching.FORMS,
    **binding.FORMS,
    **lambdas.FORMS,
    **threading.FORMS,
    **looping.FORMS,
    **trying.FORMS,
}
