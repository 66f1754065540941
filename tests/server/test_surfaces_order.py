"""Dialects are listed as they are registered, whichever was asked for first."""

from plait import Engine
from plait.server.surfaces import surfaces_of


def test_the_order_of_dialects_does_not_depend_on_which_was_loaded_first():
    engine = Engine("memory:")
    assert engine.bundle("refs").name == "refs"
    assert list(engine.bundles) == ["code", "goals", "graph", "refs", "afl"]
    assert [surface.dialect for surface in surfaces_of(engine)] == ["goals", "graph", "refs", "afl"]
