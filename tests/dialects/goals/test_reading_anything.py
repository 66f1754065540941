"""Whatever is sent as a step, it is read or refused with an error of ours; what was read can be read again."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step, emitted
from plait.kernel.errors import PlaitError
from tests.dialects.goals.catalogs import long, many

pytestmark = long

WHOLE: dict[str, Any] = {
    "id": "x",
    "name": "X",
    "type": "sync",
    "http": {"endpoint": "http://localhost/{a}", "method": "PUT", "timeout": 5, "compensate": "http://localhost/{c}"},
    "predicate": {"language": "ale", "script": "a", "scope": "item"},
    "work_config": {"max_retries": 3, "backoff": 5, "max_backoff": 9, "retry_statuses": [429], "parallelism": 2},
    "labels": {"team": "pay"},
    "attributes": {
        "a": {"role": "required", "type": "array", "for_each": True, "match": {"language": "lua", "script": "1"}},
        "b": {"role": "optional", "optional": {"default": "[1]", "deadline": -1, "mapping": {"name": "c"}}},
        "d": {"role": "const", "value": "1"},
        "e": {"role": "meta", "key": "flow_id"},
        "f": {"role": "output", "mapping": {"script": {"language": "jpath", "script": "$.a"}}},
    },
}

words = ["", "x", "sync", "flow", "script", "ale", "optional", "output", "null", "never", "all", "array"]
leaves = st.none() | st.booleans() | st.integers(-2, 700) | st.floats(-2, 2) | st.sampled_from(words)
anything = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*words, "goals", "role"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from places(inner)


COUNT = len(list(places(WHOLE)))


@st.composite
def spoiled(draw: st.DrawFn) -> dict[str, Any]:
    """A whole step with some values replaced or removed."""
    found = copy.deepcopy(WHOLE)
    for at in draw(st.lists(st.integers(0, COUNT - 1), max_size=3)):
        known = list(places(found))
        holder, key = known[at % len(known)]
        if draw(st.booleans()):
            holder[key] = draw(anything)
        else:
            del holder[key]
    return found


def read_or_refused(data: Any, strict: bool) -> Step | None:
    try:
        return read_step(data, strict=strict)
    except PlaitError:
        return None


@many
@given(spoiled() | anything, st.booleans())
def test_a_step_is_read_or_refused_and_reads_again_as_itself(data: Any, strict: bool) -> None:
    before = copy.deepcopy(data)
    step = read_or_refused(data, strict)
    assert data == before
    if step is not None:
        assert read_step(emitted(step)) == step


def test_the_whole_step_is_read() -> None:
    assert read_step(WHOLE).type == "sync"
