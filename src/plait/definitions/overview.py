"""All definitions of a namespace at one moment: loaded, saved and remembered ones together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plait.api.definition import Definition
from plait.kernel.definitions import Description
from plait.kernel.errors import NotFound
from plait.kernel.ids import Millis

from .changes import About
from .index import History, Index, current
from .library import CODE
from .nearest import did_you_mean, some_of
from .numbering import MAIN
from .versions import Known, choose, merged

_SHOWN = 20
"""Maximum number of versions that an error names."""

Loaded = Mapping[str, Sequence[Description]]
"""Descriptions of loaded definitions by name, in the order of declaration."""


@dataclass(frozen=True, slots=True)
class Overview:
    namespace: str
    loaded: Loaded
    saved: Index
    remembered: Index
    now: Millis

    def names(self) -> list[str]:
        return sorted({*self.loaded, *self.saved.names(), *self.remembered.names()})

    def versions(self, name: str, *, deleted: bool = False) -> list[Known]:
        """Returns a name's versions, oldest first; with `deleted`, also those of a deleted definition."""
        kept = {**self._kept(name), self.namespace: self.saved.readable(name)} if deleted else self._kept(name)
        found = merged(self.loaded.get(name, ()), kept, self.now)
        if not found:
            raise self._unknown(name)
        return found

    def version(self, name: str, wanted: str | None, *, deleted: bool = False) -> Known:
        """Finds a version by a tag, a label or a hash; None for the one that the plain name means."""
        versions = self.versions(name, deleted=deleted)
        if wanted is None:
            return self._meant(name, versions)
        found = choose(name, versions, self.tags(name).get(wanted, wanted))
        if found is None:
            raise self.no_version(name, wanted)
        return found

    def tags(self, name: str) -> dict[str, str]:
        return self.saved.history(name).tags

    def definition(self, name: str) -> Definition:
        versions = self.versions(name)
        newest = self._meant(name, versions)
        about = self._about(name, newest)
        return Definition(
            name=name,
            dialect=newest.entry.dialect,
            version=newest.entry.version,
            loaded=newest.startable,
            doc=about.doc,
            input_schema=about.input_schema,
            output_schema=about.output_schema,
            owner=newest.entry.owner,
            offers=[each for each in newest.entry.offers if each != name] if not newest.entry.owner else [],
            saved="" if newest.entry.owner else self._saved(name),
            tags=dict(self.tags(name)),
            versions=[known.version() for known in reversed(versions)],
        )

    def _saved(self, name: str) -> str:
        found = current(self.saved.history(name))
        return "" if found is None else found.version

    def _meant(self, name: str, versions: Sequence[Known]) -> Known:
        """Returns the version that the plain name means: the newest; if it is saved, that of the tag `main`."""
        newest, main = _newest(versions), self.tags(name).get(MAIN)
        if main is None or newest.namespace == CODE:
            return newest
        return choose(name, versions, main) or newest

    def _kept(self, name: str) -> dict[str, History]:
        return {CODE: self.remembered.history(name), self.namespace: self.saved.history(name)}

    def _about(self, name: str, newest: Known) -> About:
        found = newest.description
        if found is not None:
            return About(found.doc, found.input_schema, found.output_schema)
        return self._kept(name)[newest.namespace].told()

    def _unknown(self, name: str) -> NotFound:
        names = self.names()
        return NotFound(
            "definitions.unknown",
            f"there is no definition `{name}`",
            why=f"known: {some_of(names)}",
            fix=did_you_mean(name, names, "save it, or load its code: plait serve MODULE"),
        )

    def no_version(self, name: str, wanted: str) -> NotFound:
        labels = list(dict.fromkeys(known.entry.version for known in reversed(self.versions(name, deleted=True))))
        return NotFound(
            "definitions.no_version",
            f"`{name}` has no version or tag `{wanted}`",
            why=f"its versions: {', '.join(labels[:_SHOWN])}; its tags: {some_of(self.tags(name))}",
            fix=did_you_mean(wanted, [*labels, *self.tags(name)], "`plait definitions` lists them"),
        )


def _newest(versions: Sequence[Known]) -> Known:
    """Returns the newest version that can be started here, or else the newest."""
    return next((known for known in reversed(versions) if known.startable), versions[-1])
