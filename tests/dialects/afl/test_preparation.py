"""Programs that were compiled are kept."""

import pytest

from plait.dialects.afl import preparation
from plait.dialects.afl.preparation import prepare, prepared


def program(name: str) -> dict[str, str]:
    return {"source": f'namespace n {{ workflow {name}() => (done: String) andThen {{ yield {name}(done = "x") }} }}'}


async def test_a_program_in_use_is_not_compiled_again_when_many_others_come(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(preparation, "_KEPT", 3)
    used = prepare(program("Used")).program
    for number in range(10):
        prepare(program(f"Other{number}"))
        assert (await prepared(program("Used"))).program is used
    assert prepare(program("Other0")).program is prepare(program("Other0")).program
