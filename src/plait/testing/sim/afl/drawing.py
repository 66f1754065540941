"""A random program, block by block: each reads the output of the one before, and one step reads the last.

Programs are drawn so that their outcome does not depend on timing: an event returns its own name and a digest of its
input, and failures depend only on the attempt number. A step that fails permanently is the last of its block, because a
block with a failed step begins no others. So a disturbed run must end like a calm one.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

BROKEN, GATE = "broken", "gate"
"""A step that fails until it is repaired, and one slow enough for the client to act meanwhile."""
WORK, DEED, REMOTE, UNCLAIMED = "sim.Work", "sim.Deed", "sim.Remote", "sim.Unclaimed"
"""Event facets: done by a function, done by one that can be compensated, done by agents, done by nobody."""
WHISPERED, SMALL, UNDO = "sim.Whisper", "sim.Small", "sim.Undo"
"""Done by a child run of `code`, done by a child run of `afl`, and the compensator of a deed."""
TRIES = 3

_EVENT = "(name: String, given: Json, item: Json = null) => (done: String, note: String)"
SMALL_SOURCE = f"""
namespace sim {{
    event facet Work{_EVENT}
    workflow SmallRun(name: String, given: Json, good: Boolean) => (done: String) andThen {{
        q = Work(name = $.name, given = $.given) with Timeout(hours = 240) andThen {{ sys.assert($.good) }}
        yield SmallRun(done = q.done)
    }}
}}
"""
"""The program of the child runs."""
_HEAD = f"""
namespace sim {{
    schema Pair {{ one: Json, two: Json }}
    facet Value(v: Json) => (done: Json, all: [Json])
    event facet Work{_EVENT}
    event facet Deed{_EVENT}
    event facet Remote{_EVENT}
    event facet Unclaimed{_EVENT}
    event facet Whisper(given: Json) => (done: String)
    event facet Small(name: String, given: Json, good: Boolean) => (done: String)
    facet Shout(text: Json) => (done: String) script {{ result["done"] = json.dumps(params["text"])[:30].upper() }}
    facet Cough(text: Json) => (done: String) script {{ result["done"] = params["nothing"] }}
    facet Inner(name: String, given: Json) => (done: String) andThen {{
        q = Work(name = $.name ++ "q", given = $.given)
        w = Work(name = $.name ++ "w", given = q.done)
        yield Inner(done = w.done)
    }}
    facet Mark(name: String) => (mark: String) andThen {{
        q = Work(name = $.name, given = null)
        yield Mark(mark = q.done)
    }}
"""
_RETURNS = "(last: Json, side: Json, all: [Json], way: Json, text: Json)"
_RETRIED = f"with Retry(max_attempts = {TRIES}, backoff_ms = 1000)"
_PATIENT = "with Timeout(hours = 240)"


@dataclass(frozen=True, slots=True)
class Luck:
    """How the work of a step turns out."""

    fails: int = 0
    """Failing attempts before the first success."""
    takes: float = 0.0
    undo_fails: int = 0
    unlucky: bool = False
    """The second item of a loop fails permanently."""
    says: bool = False
    """Reports part of the result before all of it."""
    dies: bool = False
    """The first agent that claims it dies."""


class Drawing:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0
        self.lucks: dict[str, Luck] = {}
        self._lines: list[str] = []
        self._last = ""
        self._sides: list[str] = []

    def source(self, ending: Literal["", "broken", "gate"]) -> str:
        chain = self._chain(3, ending)
        for side in self._random.sample([self._side, self._all, self._way, self._text], self._random.choice((0, 1, 2))):
            self._sides.append(side())
        bodies = "\n        ".join([chain, *self._sides])
        head = f"    workflow Main(route: String, items: [Json], none: [Json]) => {_RETURNS}"
        return f"{_HEAD}{head}\n        {bodies}\n}}\n"

    def _chain(self, most: int, ending: Literal["", "broken", "gate"] = "", field: str = "last") -> str:
        """Statements in random order: their references decide the order of execution."""
        self._lines = []
        self._last = self._work("$.route")
        blocks = [self._line, self._line, self._fan, self._choice, self._each, self._script, self._child]
        blocks += [self._hopeless, self._inner, self._mixin, self._remote, self._nested, self._pair, self._log]
        for _ in range(self._random.randint(1, most)):
            self._random.choice(blocks)()
        if ending:
            self._close(ending)
        lines = self._random.sample(self._lines, len(self._lines))
        inside = "\n            ".join([*lines, f"yield Main({field} = {self._last})"])
        return f"andThen {{\n            {inside}\n        }}"

    def _close(self, ending: Literal["broken", "gate"]) -> None:
        """Adds what the ending of the run needs, alone or inside another step."""
        name = BROKEN if ending == "broken" else GATE
        facet = "Work" if ending == "broken" else self._random.choice(("Work", "Unclaimed", "Small"))
        self.lucks[name] = Luck()
        good = ", good = true" if facet == "Small" else ""
        more = "" if facet == "Small" else f" {_PATIENT}"
        line = f'{name} = {facet}(name = "{name}", given = {self._last}{good}){more}'
        if ending == "gate" and facet != "Small" and self._random.random() < 0.3:
            self._lines.append(f"around = Value(v = 1) andThen {{ {line} yield Value(done = {name}.done) }}")
            self._last = "around.done"
        elif ending == "broken" and self._random.random() < 0.4:
            inside = f"{line} yield Value(all = [{name}.done])"
            self._lines.append(f"around = Value(v = 1) andThen foreach i in $.items {{ {inside} }}")
            self._last = "around.all"
        else:
            self._lines.append(line)
            self._last = f"{name}.done"

    # -- other bodies of the workflow ----------------------------------------------------------------------------

    def _side(self) -> str:
        return self._chain(1, field="side")

    def _all(self) -> str:
        name = self._name("each")
        self._draw_luck(name)
        items = self._random.choice(("items", "none"))
        return f"andThen foreach i in $.{items} {{ z = {self._call(name, 'null', 'i')} yield Main(all = [z.done]) }}"

    def _way(self) -> str:
        name = self._name("way")
        self._draw_luck(name)
        chosen = f"z = {self._call(name, '$.items')} yield Main(way = z.done)"
        case = f'case $.route == "{self._random.choice("ab")}" => {{ {chosen} }}'
        return f'andThen when {{ {case} case _ => {{ yield Main(way = "other") }} }}'

    def _text(self) -> str:
        return 'andThen script { result["text"] = params["route"] * 3 }'

    # -- blocks --------------------------------------------------------------------------------------------------

    def _line(self) -> None:
        self._last = self._work(self._last)

    def _fan(self) -> None:
        """Several steps in parallel, and one that reads them all."""
        ways = [self._work(self._last) for _ in range(self._random.randint(2, 3))]
        self._last = self._work(f"[{', '.join(ways)}]")

    def _choice(self) -> None:
        """Cases in the body of a step; the second is the default case."""
        inner, route = self._name("case"), self._random.choice("ab")
        self._draw_luck(inner)
        chosen = f"c = {self._call(inner, self._last)} yield Value(done = c.done)"
        default = 'case _ => { yield Value(done = "nothing") }'
        when = f'when {{ case $.route == "{route}" => {{ {chosen} }} {default} }}'
        self._value(f"andThen {when}")

    def _each(self) -> None:
        """One sub-block for each item; one of them may fail permanently, and be caught inside or outside."""
        name, items = self._name("item"), self._random.choice(("items", "none"))
        self._draw_luck(name)
        unlucky = self._random.choice(("", "", "inside", "outside"))
        caught = ' catch { yield Value(all = ["no luck"]) }' if unlucky == "inside" else ""
        if unlucky:
            self.lucks[name] = Luck(takes=self.lucks[name].takes, unlucky=True)
        gives = "" if caught else " yield Value(all = [w.done])"  # a caught step has no output to read
        call = self._call(name, self._last, "i", retried=not unlucky)
        body = f"andThen foreach i in $.{items} {{ w = {call}{caught}{gives} }} andThen {{ yield Value(done = 1) }}"
        after = ' catch { yield Value(all = ["so be it"]) }' if unlucky == "outside" else ""
        self._value(f"{body}{after}", "all" if items == "items" and unlucky != "outside" else "done")

    def _script(self) -> None:
        random, name = self._random, self._name("text")
        if random.random() < 0.3:
            self._lines.append(f'{name} = Cough(text = {self._last}) catch {{ yield Cough(done = "caught") }}')
        elif random.random() < 0.5:
            self._lines.append(f"{name} = Shout(text = {self._last})")
        else:
            code = 'result["done"] = len(json.dumps(params["v"]))'
            self._lines.append(f"{name} = Value(v = {self._last}) andThen script {{ {code} }}")
        self._last = f"{name}.done"

    def _child(self) -> None:
        name = self._name("child")
        self._draw_luck(name)
        if self._random.random() < 0.4:
            self._lines.append(f"{name} = Whisper(given = {self._last})")
        else:
            good = self._random.random() < 0.6
            caught = "" if good else " catch { }"
            call = f'Small(name = "{name}", given = {self._last}, good = {"true" if good else "false"})'
            self._lines.append(f"{name} = {call}{caught}")
            if not good:
                self._last = f"{name}.error_type"
                return
        self._last = f"{name}.done"

    def _hopeless(self) -> None:
        """A step that fails permanently and is caught; its catch block may have work of its own."""
        name, rescue = self._name("hopeless"), self._name("rescue")
        self._draw_luck(rescue)
        self.lucks[name] = Luck(fails=TRIES, takes=self._random.choice((0.0, 0.5)))
        inside = self._random.choice(("", f"r = {self._call(rescue, f'{name}.error_type')}"))
        if self._random.random() < 0.3:
            case = f'case $.error_type == "BadLuck" => {{ {inside} }} case _ => {{ }}'
            inside = f"when {{ {case} }}"
            self._lines.append(f"{name} = {self._call(name, self._last)} catch {inside}")
        else:
            self._lines.append(f"{name} = {self._call(name, self._last)} catch {{ {inside} }}")
        self._last = f"{name}.error_type"

    def _inner(self) -> None:
        name = self._name("inner")
        self._draw_luck(f"{name}q")
        self._draw_luck(f"{name}w")
        self._lines.append(f'{name} = Inner(name = "{name}", given = {self._last})')
        self._last = f"{name}.done"

    def _mixin(self) -> None:
        """A step whose mixin has work of its own, which is done first."""
        name, mixin = self._name("mixed"), self._name("mixin")
        self._draw_luck(name)
        self._draw_luck(mixin)
        alias, reads = self._random.choice(((" as mark", "mark"), ("", "done")))
        self._lines.append(f'{name} = {self._call(name, self._last)} with Mark(name = "{mixin}"){alias}')
        self._last = f"{name}.{reads}"

    def _remote(self) -> None:
        name = self._name("remote")
        self._draw_luck(name, agent=True)
        self._lines.append(f'{name} = Remote(name = "{name}", given = {self._last}) {_RETRIED}')
        self._last = f"{name}.done"

    def _nested(self) -> None:
        """A body that reads its own step, and a block beside it."""
        name, one, two = self._name("outer"), self._name("in"), self._name("in")
        for each in (name, one, two):
            self._draw_luck(each)
        inside = f"x = {self._call(one, f'{name}.done')} y = {self._call(two, 'x.done')}"
        log = " sys.log(seen = x.done)" if self._random.random() < 0.5 else ""
        self._lines.append(f"{name} = {self._call(name, self._last)} andThen {{ {inside}{log} }} andThen {{ }}")
        self._last = f"{name}.done"

    def _pair(self) -> None:
        name = self._name("pair")
        self._lines.append(f"{name} = Pair(one = {self._last}, two = $.route)")
        self._last = f"{name}.one"

    def _log(self) -> None:
        self._lines.append(f"sys.log(last = {self._last})")

    # -- steps ---------------------------------------------------------------------------------------------------

    def _work(self, given: str) -> str:
        name = self._name("step")
        self._draw_luck(name)
        self._lines.append(f"{name} = {self._call(name, given)}")
        return f"{name}.done"

    def _value(self, body: str, field: str = "done") -> None:
        name = self._name("value")
        self._lines.append(f"{name} = Value(v = {self._last}) {body}")
        self._last = f"{name}.{field}"

    def _call(self, name: str, given: str, item: str = "", *, retried: bool = True) -> str:
        facet = self._random.choice(("Work", "Work", "Deed"))
        more = f", item = {item}" if item else ""
        own = f" {_RETRIED}" if retried and self._random.random() < 0.2 else ""
        return f'{facet}(name = "{name}", given = {given}{more}){own}'

    def _draw_luck(self, name: str, *, agent: bool = False) -> None:
        random = self._random
        self.lucks[name] = Luck(
            fails=random.choice((0, 0, 0, 1)) if agent else random.choice((0, 0, 0, 1, 2)),
            takes=random.choice((0.0, 0.0, 0.5, 30.0)),
            undo_fails=random.choice((0, 0, 1)),
            says=not agent and random.random() < 0.2,
            dies=agent and random.random() < 0.2,
        )

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names}"
