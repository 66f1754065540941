"""The special forms, by name."""

from __future__ import annotations

from plait.scripts.ale.compiler import Special

from . import binding, branching, lambdas, looping, threading, trying

FORMS: dict[str, Special] = {
    **branching.FORMS,
    **binding.FORMS,
    **lambdas.FORMS,
    **threading.FORMS,
    **looping.FORMS,
    **trying.FORMS,
}
