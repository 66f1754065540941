"""Catalogs of any size: islands of steps in layers, each step fed by some of the layer above it.

One island has a given number of steps upstream of its goal; the others are of no use to it and should cost it nothing.
"""

from __future__ import annotations

from plait.dialects.goals.catalogs.catalog import Catalog, StepRegistered
from plait.dialects.goals.steps.builder import catalog_step
from plait.dialects.goals.steps.step import Step

WIDTH = 10
FED_BY = 3
ISLAND = 200


def made(id: str, needs: list[str], gives: list[str]) -> Step:
    building = catalog_step(id).python("handler")
    for name in needs:
        building = building.required(name, str)
    for name in gives:
        building = building.output(name, str)
    return building.build()


def island(name: str, steps: int) -> list[Step]:
    """So many steps, and a goal `<name>-goal` that needs the last layer: all are upstream of it."""
    found = [made(f"{name}-{at}", _above(name, at), [f"{name}.{at}"]) for at in range(steps)]
    rim = [f"{name}.{at}" for at in range(max(steps - WIDTH, 0), steps)]
    return [*found, made(f"{name}-goal", rim, [f"{name}.done"])]


def _above(name: str, at: int) -> list[str]:
    layer, place = divmod(at, WIDTH)
    if layer == 0:
        return []
    return [f"{name}.{(layer - 1) * WIDTH + (place + shift) % WIDTH}" for shift in range(FED_BY)]


def filled(steps: int, asked: int) -> Catalog:
    """A catalog of so many steps; the island `asked` has so many upstream of its goal."""
    catalog = Catalog(StepRegistered(each) for each in island("asked", asked))
    number = 0
    while len(catalog.steps) < steps:
        for each in island(f"other{number}", min(ISLAND, steps - len(catalog.steps) - 1)):
            catalog.apply(StepRegistered(each))
        number += 1
    return catalog


def waist(steps: int) -> tuple[Catalog, Step]:
    """A step with half of the catalog above it and half below: the worst case of the check for circles."""
    half = steps // 2
    above = [made(f"above-{at}", [f"u.{at - 1}"] if at else [], [f"u.{at}"]) for at in range(half)]
    below = [made(f"below-{at}", [f"d.{at}"], [f"d.{at + 1}"]) for at in range(steps - half)]
    return Catalog(StepRegistered(each) for each in (*above, *below)), made("waist", [f"u.{half - 1}"], ["d.0"])
