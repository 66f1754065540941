"""Names during compilation: the slot and frame that each one refers to.

The compiler processes a text once, so binding a name pushes a meaning on top of the previous one, and the end of its
scope pops it again. A lookup is then one step, however many scopes there are.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from .core import CORE
from .errors import AleCompileError
from .forms import Form, Name
from .kinds import Value

FIRST_SLOT = 2
"""Before the slots, a frame holds its meter and the enclosing frame."""
SPECIAL = frozenset(
    [
        "quote",
        "if",
        "cond",
        "case",
        "when",
        "when-not",
        "unless",
        "if-let",
        "when-let",
        "and",
        "or",
        "!and",
        "!or",
        "begin",
        "let",
        "let*",
        "let-rec",
        "lambda",
        "λ",
        "lambda-rec",
        "label",
        "thunk",
        "define",
        "->",
        "->>",
        "some->",
        "some->>",
        "cond->",
        "cond->>",
        "let->",
        "for",
        "for-each",
        "try",
        ":",
    ]
)


_PREFIX = "ale/"


class Binding(NamedTuple):
    """The meaning of a local name."""

    level: int
    """The number of procedures around the one whose frame holds it."""
    slot: int
    early: bool
    """Whether it may be used before it has a value: in its own definition."""


class Local(NamedTuple):
    """A name as seen from its use: how many frames out, and the slot."""

    out: int
    slot: int
    early: bool


class Core(NamedTuple):
    """A core name."""

    value: Value


class Environment:
    """The names that are known at one point of the text."""

    def __init__(self) -> None:
        self._names: dict[str, list[Binding]] = {}
        self._sizes: list[int] = []
        self._made_up = 0

    @contextmanager
    def frame(self) -> Generator[None]:
        """Everything bound within gets a slot in a new frame."""
        self._sizes.append(FIRST_SLOT)
        yield
        self._sizes.pop()

    @property
    def size(self) -> int:
        """The length of the innermost procedure's frame, as far as is known."""
        return self._sizes[-1]

    def slot(self) -> int:
        """A slot of the innermost frame, for a value without a name."""
        self._sizes[-1] += 1
        return self._sizes[-1] - 1

    def bind(self, name: str, *, early: bool = False) -> int:
        slot = self.slot()
        self._names.setdefault(name, []).append(Binding(len(self._sizes), slot, early))
        return slot

    def unbind(self, name: str) -> None:
        self._names[name].pop()

    def make_up(self) -> str:
        """A name that no text can contain, for a value that a form needs twice."""
        self._made_up += 1
        return f" {self._made_up}"

    def resolve(self, name: Name) -> Local | Core:
        text = name.text
        bindings = self._names.get(text)
        if bindings:
            binding = bindings[-1]
            return Local(len(self._sizes) - binding.level, binding.slot, binding.early)
        core = text.removeprefix(_PREFIX)
        if core in SPECIAL:
            raise AleCompileError("reserved_name", f"special form used as a value: {text}", name.place)
        if core not in CORE:
            raise AleCompileError("unknown_name", f"unknown name: {text}", name.place)
        return Core(CORE[core])


def special(form: Form) -> str | None:
    """The special form that a head names, if any."""
    if not isinstance(form, Name):
        return None
    text = form.text.removeprefix(_PREFIX)
    return text if text in SPECIAL else None


def bindable(form: Form) -> str:
    """The text of a form that is about to become a local name."""
    if not isinstance(form, Name):
        raise AleCompileError("bad_form", "a name is expected here", form.place)
    if form.text in SPECIAL:
        raise AleCompileError("reserved_name", f"special form can't be bound: {form.text}", form.place)
    if form.text != "/" and "/" in form.text:
        raise AleCompileError("bad_name", f"name can't be bound: {form.text}", form.place)
    return form.text
