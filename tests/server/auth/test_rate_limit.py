"""RateLimits: so many at once, so many a second, and never more memory than agreed."""

import pytest

from plait.server.auth.rate_limit import RateLimit, place_of
from plait.server.auth.ttl_cache import TtlCache

from .support import HandClock


class StandingClock(HandClock):
    """Moves only by hand."""

    def monotonic(self) -> float:
        return self.ahead


def test_a_burst_is_allowed_and_then_one_at_a_time():
    clock = StandingClock()
    allowance = RateLimit(clock, burst=3, per_second=2)
    assert [allowance.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    clock.forward(0.5)
    assert allowance.take("a") == 0
    assert allowance.take("a") > 0


def test_one_name_does_not_use_up_what_is_left_for_another():
    allowance = RateLimit(StandingClock(), burst=1, per_second=1)
    assert allowance.take("a") == 0
    assert allowance.take("a") > 0
    assert allowance.take("b") == 0


def test_the_bucket_never_holds_more_than_a_burst():
    clock = StandingClock()
    allowance = RateLimit(clock, burst=2, per_second=1)
    allowance.take("a")
    clock.forward(1000)
    assert [allowance.take("a") > 0 for _ in range(3)] == [False, False, True]


def test_a_million_names_take_bounded_memory():
    allowance = RateLimit(StandingClock(), burst=1, per_second=1, most=50)
    for number in range(1000):
        allowance.take(str(number))
    assert len(allowance) == 50


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("unix", "unix"),
        ("", ""),
    ],
)
def test_addresses_of_one_network_count_as_one_place(address: str, place: str):
    assert place_of(address) == place


def test_what_is_remembered_is_forgotten_by_time_and_by_number():
    clock = StandingClock()
    fresh = TtlCache[int](clock, seconds=2, most=3)
    for number in range(5):
        fresh.put(str(number), number)
    assert len(fresh) == 3
    assert [fresh.get(name) for name in "01234"] == [None, None, 2, 3, 4]
    clock.forward(2)
    assert fresh.get("4") is None
