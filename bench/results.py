"""What was measured, and what follows from it: medians and ratios."""

from __future__ import annotations

import os
import platform
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from bench import interpreter
from bench.catalog import SUBJECTS, Kind, Subject, named
from bench.works import WORKS, Measure, Measures

UNSTEADY = 2.0
"""A raw limit that moves by more than this factor between rounds is worth a warning."""

_SUBJECTS = {subject.name: subject for subject in SUBJECTS}


@dataclass
class Results:
    quick: bool
    versions: dict[str, str] = field(default_factory=dict[str, str])
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])
    failures: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """By work and subject; one failed round is enough, since the median of the others would hide it."""
    _samples: dict[tuple[str, str], list[Measures]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], list[Measures]](list)
    )

    def add(self, work: str, subject: str, version: str, measures: Measures) -> None:
        self.versions[subject] = version
        self._samples[work, subject].append(measures)

    def fail(self, work: str, subject: str, reason: str) -> None:
        self.failures[work, subject] = reason

    def leave_out(self, subject: str, reason: str) -> None:
        self.left_out[subject] = reason

    def works(self) -> list[str]:
        present = {work for work, _ in (*self._samples, *self.failures)}
        return [work for work in WORKS if work in present]

    def subjects(self, work: str) -> list[Subject]:
        present = {subject for at, subject in (*self._samples, *self.failures) if at == work}
        return [subject for subject in SUBJECTS if subject.name in present]

    def medians(self, work: str, subject: str) -> Measures:
        """Empty when it was not measured, or failed."""
        samples = self._samples.get((work, subject))
        if not samples or (work, subject) in self.failures:
            return {}
        return {name: statistics.median([sample[name] for sample in samples]) for name in samples[0]}

    def rounds(self, work: str) -> int:
        """How many rounds the medians of a work are of."""
        return max((len(samples) for (at, _), samples in self._samples.items() if at == work), default=0)

    def value(self, work: str, subject: str, measure: str) -> float | None:
        return self.medians(work, subject).get(measure)

    def best_peer(self, work: str, measure: str) -> float | None:
        peers = (subject.name for subject in self.subjects(work) if subject.kind == "peer")
        values = [value for name in peers if (value := self.value(work, name, measure)) is not None]
        return WORKS[work].measure(measure).best(values) if values else None

    def plait_gain(self, work: str, subject: str, measure: Measure) -> float | None:
        """How many times better Plait is than the subject, on the store the subject is compared with."""
        return self._gain(work, "plait", subject, measure, inverse=False)

    def share_of_limit(self, work: str, subject: str, measure: Measure) -> float | None:
        """How much of the raw limit of its store the subject reaches; 1 is all of it."""
        return self._gain(work, "limit", subject, measure, inverse=True)

    def doubts(self) -> list[str]:
        """Where a bare database differed much from round to round: the machine was busy, and ratios say little."""
        limits = [key for key in self._samples if _SUBJECTS[key[1]].kind == "limit"]
        return [
            f"{work} {subject}: {measure.name} was between {min(values):.3g} and {max(values):.3g}"
            for work, subject in limits
            for measure in WORKS[work].headline
            if (values := [sample[measure.name] for sample in self._samples[work, subject] if measure.name in sample])
            and max(values) > UNSTEADY * min(values)
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            **{work: self._work_to_json(work) for work in self.works()},
            "ratios": {work: self._ratios_to_json(work) for work in self.works()},
            "meta": {
                "quick": self.quick,
                "rounds": {work: self.rounds(work) for work in self.works()},
                "cores": os.cpu_count(),
                "python": interpreter.facts(),
                "system": f"{platform.system()} {platform.machine()}",
                "versions": self.versions,
                "left_out": self.left_out,
                "doubts": self.doubts(),
                "notes": self.notes,
            },
        }

    def _work_to_json(self, work: str) -> dict[str, Any]:
        cells: dict[str, Any] = {}
        for subject in self.subjects(work):
            reason = self.failures.get((work, subject.name))
            cells[subject.name] = {"error": reason} if reason else _all_rounded(self.medians(work, subject.name))
        return cells

    def _ratios_to_json(self, work: str) -> dict[str, Any]:
        return {subject.name: self._ratios_of(work, subject.name) for subject in self.subjects(work)}

    def _ratios_of(self, work: str, subject: str) -> dict[str, Any]:
        ratios: dict[str, Any] = {}
        for measure in WORKS[work].headline:
            gain = self.plait_gain(work, subject, measure)
            share = self.share_of_limit(work, subject, measure)
            if gain is not None or share is not None:
                ratios[measure.name] = {"plait_times_better": _round(gain), "share_of_limit": _round(share)}
        return ratios

    def _gain(self, work: str, kind: Kind, subject: str, measure: Measure, *, inverse: bool) -> float | None:
        other = named(kind, _SUBJECTS[subject].store)
        if not measure.compared or other is None or other == subject:
            return None
        mine, theirs = self.value(work, subject, measure.name), self.value(work, other, measure.name)
        if mine is None or theirs is None:
            return None
        return measure.gain(mine, theirs) if inverse else measure.gain(theirs, mine)


def _all_rounded(measures: Measures) -> Measures:
    return {name: float(f"{value:.5g}") for name, value in measures.items()}


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
