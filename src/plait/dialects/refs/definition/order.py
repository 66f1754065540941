"""The order in which steps can be settled."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def settling_order(needs: Mapping[str, Collection[str]]) -> list[str]:
    """Each step after what it needs. Steps on a cycle, and those that depend on one, are left out."""
    open_needs = {name: len(each) for name, each in needs.items()}
    dependents: dict[str, list[str]] = {name: [] for name in needs}
    for name, each in needs.items():
        for need in each:
            dependents[need].append(name)
    found = [name for name, count in open_needs.items() if not count]
    for name in found:  # grows during the iteration
        for other in dependents[name]:
            open_needs[other] -= 1
            if not open_needs[other]:
                found.append(other)
    return found
