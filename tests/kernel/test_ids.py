"""Ids: unique in a store, printable, and on the same shard for ever."""

import uuid

import hypothesis
import pytest
from hypothesis import strategies as st

from plait.kernel.errors import InvalidInput
from plait.kernel.ids import SHARDS, Ids, Millis, RunId, caller_id, run_key, shard_of

NOW = Millis(1_700_000_000_000)


def test_a_run_of_the_default_namespace_keeps_the_callers_id():
    assert run_key("default", "order-1") == "order-1"


def test_runs_of_other_namespaces_carry_their_name():
    assert run_key("acme", "order-1") == "acme/order-1"


def test_the_callers_id_comes_back_without_the_namespace():
    assert caller_id(run_key("acme", "order-1")) == "order-1"
    assert caller_id(run_key("default", "order-1")) == "order-1"


names = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,62}", fullmatch=True)
ids = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="/"), min_size=1, max_size=200
)


@hypothesis.given(names, ids, names, ids)
def test_two_runs_share_a_key_only_if_they_are_one(ns_a: str, a: str, ns_b: str, b: str):
    assert (run_key(ns_a, a) == run_key(ns_b, b)) == ((ns_a, a) == (ns_b, b))


@pytest.mark.parametrize("bad", ["", "Acme", "-acme", "ac me", "a/b", "é", "a" * 64, "a\n", "..", "\0"])
def test_a_namespace_that_could_be_confused_is_refused(bad: str):
    with pytest.raises(InvalidInput) as caught:
        run_key(bad, "order-1")
    assert caught.value.code == "kernel.bad_namespace"


@pytest.mark.parametrize("bad", ["", "a/b", "a\nb", "a\0b", "a\x7fb", "\ud800", "a" * 201, "\t"])
def test_a_run_id_that_could_not_be_printed_is_refused(bad: str):
    with pytest.raises(InvalidInput) as caught:
        run_key("default", bad, new=True)
    assert caught.value.code == "kernel.bad_run_id"


def test_a_child_of_a_child_may_have_a_longer_id_than_a_caller_may_choose():
    assert run_key("default", "a" * 900) == "a" * 900
    with pytest.raises(InvalidInput):
        run_key("default", "a" * 4001)


@pytest.mark.parametrize("bad", [7, None, b"order", 1.5])
def test_a_run_id_that_is_no_text_is_refused_and_not_a_crash(bad: object):
    with pytest.raises(InvalidInput):
        run_key("default", bad)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput):
        run_key(bad, "order")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("good", ["a", "order 1", "ordre-é", "注文", "a" * 200, "#1?x=y", "😀"])
def test_any_printable_id_is_taken(good: str):
    assert caller_id(run_key("default", good)) == good


def test_shards_never_move():
    """Rows in people's databases carry these numbers."""
    assert [shard_of(RunId(name)) for name in ("run", "order-1", "acme/order-1", "注文")] == [0, 47, 49, 31]


@hypothesis.given(ids)
def test_every_run_has_one_of_the_shards(id: str):
    assert 0 <= shard_of(RunId(id)) < SHARDS


def test_runs_are_spread_over_all_shards():
    assert {shard_of(RunId(f"order-{number}")) for number in range(2_000)} == set(range(SHARDS))


def test_a_drawn_run_id_is_a_uuid_of_version_seven():
    found = uuid.UUID(Ids(seed=1).run_id(NOW))
    assert (found.version, found.variant) == (7, uuid.RFC_4122)
    assert found.int >> 80 == NOW


def test_drawn_run_ids_sort_by_time():
    ids = Ids(seed=1)
    drawn = [ids.run_id(Millis(NOW + ms)) for ms in range(500)]
    assert drawn == sorted(drawn)


def test_ten_thousand_ids_of_one_millisecond_are_all_different():
    ids = Ids()
    assert len({ids.run_id(NOW) for _ in range(10_000)}) == 10_000


def test_the_same_seed_draws_the_same_ids():
    assert Ids(seed=5).run_id(NOW) == Ids(seed=5).run_id(NOW)
    assert Ids(seed=5).key() != Ids(seed=6).key()
    assert Ids().key() != Ids().key()


def test_a_drawn_id_may_be_used_as_a_run_id():
    drawn = Ids(seed=1).run_id(NOW)
    assert run_key("default", drawn) == drawn


def test_draws_for_jitter_are_shares():
    ids = Ids(seed=1)
    assert all(0 <= ids.fraction() < 1 for _ in range(1_000))


def test_a_seed_survives_json_readers_that_use_floats():
    ids = Ids(seed=1)
    assert all(float(seed) == seed for seed in (ids.seed() for _ in range(1_000)))
