"""The values of Ale, and the names of their kinds.

    null        None            integer     int             keyword     Keyword
    boolean     bool            ratio       Fraction        symbol      Symbol
    string      str             float       float           procedure   Procedure, Builtin

Collections are our own classes and immutable for scripts. A `Vector` shares its items with the vectors it was made
from, so taking its rest and appending are cheap; a `Lazy` fills in its cell once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from .limits import Lease, Meter

Value = Any
"""Any value of Ale. Kinds are checked at run time, so the static type is `Any`."""
Frame = list[Any]
"""The locals of a call: its meter, the enclosing frame, then the slots."""


class Keyword(NamedTuple):
    """`:name`. A tuple, since it is the usual key of an object, and tuples hash and compare fast."""

    name: str


class Symbol(NamedTuple):
    """A name as data, which only `quote` creates. The tag distinguishes it from a keyword."""

    name: str
    tag: str = "symbol"


class Pair:
    """`(head . tail)`, where the tail is not a list."""

    __slots__ = ("head", "tail")

    def __init__(self, head: Value, tail: Value) -> None:
        self.head = head
        self.tail = tail


class List:
    """A list of one or more elements; the empty list is null."""

    __slots__ = ("count", "head", "tail")

    def __init__(self, head: Value, tail: List | None) -> None:
        self.head = head
        self.tail = tail
        self.count: int = 1 if tail is None else tail.count + 1

    def __iter__(self) -> Iterator[Value]:
        rest: List | None = self
        while rest is not None:
            yield rest.head
            rest = rest.tail


class Vector:
    """A window on shared items. Items outside the window may be added; those inside never change."""

    __slots__ = ("items", "start", "stop")

    def __init__(self, items: tuple[Value, ...] | list[Value], start: int, stop: int) -> None:
        self.items = items
        self.start = start
        self.stop = stop

    def __len__(self) -> int:
        return self.stop - self.start

    def __iter__(self) -> Iterator[Value]:
        if type(self.items) is tuple and self.stop - self.start == len(self.items):
            return iter(self.items)
        return (self.items[index] for index in range(self.start, self.stop))

    def all(self) -> tuple[Value, ...]:
        if type(self.items) is tuple and self.stop - self.start == len(self.items):
            return self.items
        return tuple(self.items[self.start : self.stop])

    def slice(self, start: int, stop: int) -> Vector:
        return Vector(self.items, self.start + start, self.start + stop)

    def appended(self, item: Value) -> Vector:
        """Appends in place if nobody else has appended to these items yet, else to a copy."""
        items = self.items
        if type(items) is not list or self.stop != len(items):
            items = list(self.all())
            items.append(item)
            return Vector(items, 0, len(items))
        items.append(item)
        return Vector(items, self.start, self.stop + 1)


class Object:
    """Values by key, in insertion order. Keys are wrapped by `keys.as_key`."""

    __slots__ = ("_lease", "entries")

    def __init__(self, entries: dict[Value, Value], lease: Lease | None = None) -> None:
        self.entries = entries
        self._lease = lease


class Set:
    """Distinct values, in insertion order."""

    __slots__ = ("_lease", "entries")

    def __init__(self, entries: dict[Value, None], lease: Lease | None = None) -> None:
        self.entries = entries
        self._lease = lease


class Key:
    """A value that can't be a key of a Python dict itself, represented by a text: see `keys`."""

    __slots__ = ("text", "value")

    def __init__(self, text: str, value: Value) -> None:
        self.text = text
        self.value = value

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.text == other.text


class Lazy:
    """A sequence whose first element is computed on first access."""

    __slots__ = ("cell", "direct", "thunk")

    def __init__(self, thunk: Thunk | None, cell: Cell | None = None, *, direct: bool = False) -> None:
        self.thunk = thunk
        self.cell = cell
        """None: not computed yet. `()`: empty. Otherwise its first element and the rest."""
        self.direct = direct
        """Whether the thunk returns the cell at once, without the machine."""

    def known(self, meter: Meter) -> Cell | None:
        """The cell, if the machine is not needed to compute it."""
        if self.direct and self.cell is None and self.thunk is not None:
            self.cell = self.thunk(meter)
            self.thunk = None
        return self.cell


Cell = tuple[()] | tuple[Value, Lazy]


class Tail:
    """Returned by a core function to be replaced by another call."""

    __slots__ = ("args", "fn")

    def __init__(self, fn: Value, args: tuple[Value, ...]) -> None:
        self.fn = fn
        self.args = args


Request = tuple[Value, tuple[Value, ...]] | Lazy
"""A request of a core function to the machine: the value of a call, or the cell of a lazy sequence."""
Suspended = Generator[Request, Any, Any]
"""A core function that waits for the machine, so that calls of a script never nest on Python's own stack."""
Thunk = Callable[[Meter], Any]
"""Returns the cell of a lazy sequence, or a `Suspended` that will."""


class Builtin:
    """A core function. `run` takes the meter, then the arguments."""

    __slots__ = ("least", "most", "name", "run", "suspends")

    def __init__(
        self, name: str, least: int, most: int | None, run: Callable[..., Value], *, suspends: bool = False
    ) -> None:
        self.name = name
        self.least = least
        self.most = most
        self.run = run
        self.suspends = suspends
        """Whether it may return a `Suspended` or a `Tail` instead of a value."""


class Case(NamedTuple):
    """One way to call a procedure: the number of parameters, whether there is a rest parameter, and the body."""

    takes: int
    rest: bool
    code: Any
    blank: list[Value]
    """The initial values of the slots of its other locals."""


class Procedure:
    """A lambda together with the frame in which it was created."""

    __slots__ = ("cases", "frame", "name")

    def __init__(self, cases: tuple[Case, ...], frame: Frame, name: str) -> None:
        self.cases = cases
        self.frame = frame
        self.name = name


NUMBERS = frozenset({int, float, Fraction})
COUNTED = frozenset({type(None), List, Vector, str, Object, Set})
SEQUENCES = COUNTED | {Lazy}
INDEXED = frozenset({type(None), List, Vector, str})
MAPPED = frozenset({Object, Set})
PROCEDURES = frozenset({Procedure, Builtin})

_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    Fraction: "ratio",
    float: "float",
    str: "string",
    Keyword: "keyword",
    Symbol: "symbol",
    Pair: "pair",
    List: "list",
    Vector: "vector",
    Object: "object",
    Set: "set",
    Lazy: "lazy sequence",
    Procedure: "procedure",
    Builtin: "procedure",
}


def kind(value: Value) -> str:
    """The name of a value's kind, for messages."""
    return _NAMES[type(value)]


def of_key(key: Value) -> Value:
    """The original value of a key."""
    return key.value if type(key) is Key else key


def to_list(items: tuple[Value, ...] | list[Value], tail: List | None = None) -> List | None:
    result = tail
    for item in reversed(items):
        result = List(item, result)
    return result


def to_vector(items: tuple[Value, ...]) -> Vector:
    return Vector(items, 0, len(items))


def pair(head: Value, tail: Value) -> Value:
    """`(head . tail)`: a list if the tail is one."""
    return List(head, tail) if tail is None or type(tail) is List else Pair(head, tail)
