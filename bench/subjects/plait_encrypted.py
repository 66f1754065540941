"""Plait with encryption at rest: the same workflows, beside those without it."""

from __future__ import annotations

from importlib import metadata

from bench.subjects.plait_engine import PlaitSubject
from bench.subjects.script import run_engine
from plait.codec.key_ring import LocalKeyRing, new_master_key


class EncryptedSubject(PlaitSubject):
    def __init__(self, target: str) -> None:
        super().__init__(target, encryption=LocalKeyRing.parse(new_master_key(), "the bench"))


if __name__ == "__main__":
    run_engine(metadata.version("plait"), EncryptedSubject)
