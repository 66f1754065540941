"""A workflow whose steps count in this process what they do: no crash of a database takes that back."""

from collections import Counter
from typing import Any

from plait import Context, step_info, workflow


class Ledger:
    def __init__(self) -> None:
        self._keys: Counter[tuple[str, str]] = Counter()

    def note(self) -> None:
        info = step_info()
        self._keys[f"{info.run_id}/{info.path}", info.idempotency_key] += 1

    @property
    def effects(self) -> int:
        return self._keys.total()

    @property
    def repeated(self) -> int:
        """Steps that ran again under the key that they had."""
        return self._keys.total() - len(self._keys)

    @property
    def steps(self) -> set[str]:
        """Those that ran; each under one key."""
        found = {path for path, _ in self._keys}
        assert len(found) == len(self._keys), "a step ran under two keys"
        return found


def counting(ledger: Ledger) -> Any:
    """Doubles a number, in two steps with a sleep between them."""

    async def count(number: int) -> int:
        ledger.note()
        return number

    @workflow(name="counting")
    async def counting(ctx: Context, number: int) -> int:
        first = await ctx.step("first", count, number)
        await ctx.sleep("nap", 0.05)
        return first + await ctx.step("second", count, number)

    return counting
