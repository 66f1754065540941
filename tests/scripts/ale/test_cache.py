"""Compiled scripts are kept, the recently used ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from plait.scripts import ale
from plait.scripts.ale import AleError
from plait.scripts.ale.cache import Cache


def test_a_text_is_compiled_once():
    assert ale.compile("(+ a 1)", ["a"]) is ale.compile("(+ a 1)", ("a",))


def test_the_same_text_with_other_parameters_is_another_script():
    cache = Cache()
    assert cache.get("1", ["a"]) is not cache.get("1", ["b"])
    assert cache.get("1", ["a", "b"]) is not cache.get("1", ["b", "a"])


def test_the_script_not_used_for_the_longest_time_is_dropped():
    cache = Cache(max_scripts=2)
    first, second = cache.get("1"), cache.get("2")
    assert cache.get("1") is first
    cache.get("3")
    assert len(cache) == 2
    assert cache.get("1") is first
    assert cache.get("2") is not second


def test_long_texts_push_out_others():
    cache = Cache(max_text=100)
    for number in range(20):
        cache.get(f"{number}" + " " * 28)
    assert len(cache) == 3


def test_a_text_that_cannot_be_compiled_is_not_kept():
    cache = Cache()
    for _ in range(2):
        with pytest.raises(AleError):
            cache.get("(")
    assert len(cache) == 0


def test_threads_share_the_cache():
    cache = Cache(max_scripts=8)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: cache.get(f"(+ {n % 16} x)", ["x"]).call({"x": 1}), range(400)))
    assert results == [n % 16 + 1 for n in range(400)]
    assert len(cache) == 8
