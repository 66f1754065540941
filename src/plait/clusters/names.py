"""The clusters that a step may name: `@step(on="dask")`."""

from __future__ import annotations

from typing import Final, Literal, TypeGuard, get_args

from plait.kernel.errors import InvalidInput

ClusterName = Literal["dask", "kubernetes", "ray"]

CLUSTERS: Final[tuple[ClusterName, ...]] = get_args(ClusterName)


def is_cluster(name: object) -> TypeGuard[ClusterName]:
    return name in CLUSTERS


def check_function(on: object, ref: str) -> str:
    """Returns the function's `module:name`. Refuses an unknown cluster, and a function no cluster could find."""
    if not is_cluster(on):
        raise InvalidInput("clusters.unknown", f"on={on!r}", fix=f"use one of {', '.join(CLUSTERS)}")
    if "<" in ref:
        raise InvalidInput(
            "clusters.not_importable",
            f"`{ref.rpartition(':')[2]}` can't run on {on}",
            why="it is defined inside another function, so a cluster could not find it by its name",
            fix="put it at the top level of a module that the cluster's workers can import",
        )
    return ref
