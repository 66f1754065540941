"""`engine.definitions`: what can be started, in which versions, and under which tags.

A dialect tells what it has loaded now. What was loaded once is remembered, so that the text of an old version can be
read and compared long after its code is gone. A tag is a name that people move from one version to another.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from plait.kernel import values
from plait.kernel.bundle import Bundle
from plait.kernel.clock import Clock
from plait.kernel.definitions import Description
from plait.kernel.errors import InvalidInput, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis
from plait.kernel.records import Record, Records

_KIND, _TAG = "definition", "tag"
_EVERYWHERE = ""
"""Code is loaded by a process and belongs to no namespace."""
_PAGE = 500

_description = msgspec.json.Decoder(Description)
_version = msgspec.json.Decoder(str)


class Version(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    hash: str
    created_at: Millis
    loaded: bool


class Definition(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    dialect: str
    version: str
    """The newest one that is loaded, or else the newest."""
    loaded: bool
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None
    tags: dict[str, str]
    versions: list[Version]


class Definitions:
    def __init__(self, bundles: Mapping[str, Bundle], records: Records, clock: Clock) -> None:
        self._bundles = bundles
        self._records = records
        self._clock = clock

    async def remember(self) -> None:
        """Keeps what is loaded now, for the time when it is not."""
        known = {record.id for record in await self._remembered()}
        for found in self._loaded():
            if (id := _id(found)) not in known:
                record = Record(_KIND, _EVERYWHERE, id, values.encode(found), self._clock.now())
                await self._records.put(record, new=True)

    async def list(self, dialect: str | None = None, namespace: str = DEFAULT_NAMESPACE) -> list[Definition]:
        """By name."""
        tags = await self._tags(namespace)
        by_name = await self._by_name()
        found = [self._definition(name, versions, tags.get(name, {})) for name, versions in sorted(by_name.items())]
        return [definition for definition in found if dialect is None or definition.dialect == dialect]

    async def get(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        found = next((d for d in await self.list(namespace=namespace) if d.name == name), None)
        if found is None:
            raise await self._unknown(name)
        return found

    async def version(self, name: str, version: str, namespace: str = DEFAULT_NAMESPACE) -> tuple[Description, Version]:
        """One version by its label, its hash or a tag: what it is, and when it was first seen."""
        wanted = (await self._tags(namespace)).get(name, {}).get(version, version)
        versions = (await self._by_name()).get(name)
        if versions is None:
            raise await self._unknown(name)
        for description, facts in reversed(versions):
            if wanted in (facts.version, facts.hash):
                return description, facts
        labels = ", ".join(dict.fromkeys(facts.version for _, facts in versions))
        raise NotFound("definitions.no_version", f"`{name}` has no version {version}", why=f"it has {labels}")

    async def tag(self, name: str, tag: str, version: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        """Puts a tag on a version, or moves it there."""
        if not values.text("the tag", tag, max_length=100) or "@" in tag or "/" in tag:
            raise InvalidInput("definitions.bad_tag", f"tag {tag!r}", fix="use 1 to 100 characters without `@` and `/`")
        _, facts = await self.version(name, version, namespace)
        await self._records.put(
            Record(_TAG, namespace, f"{name}@{tag}", values.encode(facts.version), self._clock.now())
        )
        return await self.get(name, namespace)

    async def untag(self, name: str, tag: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        await self.get(name, namespace)
        if not await self._records.remove(_TAG, namespace, f"{name}@{tag}"):
            raise NotFound("definitions.no_tag", f"`{name}` has no tag {tag}")
        return await self.get(name, namespace)

    async def resolve(self, label: str, namespace: str = DEFAULT_NAMESPACE) -> str:
        """`name@tag` as `name@version`; anything else as it is."""
        name, at, tag = label.partition("@")
        record = await self._records.get(_TAG, namespace, f"{name}@{tag}") if at else None
        if record is None:
            return label
        version = _version.decode(record.body)
        unlabelled = next((d for d in self._loaded() if d.name == name and version == d.version == d.hash), None)
        return f"{name}@{version}" if unlabelled is None else name

    # -- details -------------------------------------------------------------------------------------------------

    def _loaded(self) -> list[Description]:
        return [description for bundle in self._bundles.values() for description in bundle.describe()]

    async def _remembered(self) -> list[Record]:
        found: list[Record] = []
        while True:
            after = found[-1].id if found else None
            page = await self._records.list(_KIND, _EVERYWHERE, after=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                return found

    async def _by_name(self) -> dict[str, Sequence[tuple[Description, Version]]]:
        """Every version that is known, oldest first."""
        loaded = {_id(description): description for description in self._loaded()}
        order = {id: place for place, id in enumerate(loaded)}
        seen = {record.id: record for record in await self._remembered()}
        found: dict[str, list[tuple[Description, Version]]] = defaultdict(list)
        for id in sorted(
            {**seen, **loaded}, key=lambda id: order.get(id, -1)
        ):  # of one age, the last declared is newest
            record = seen.get(id)
            description = loaded.get(id) or _description.decode(cast("Record", record).body)
            at = record.at if record is not None else self._clock.now()
            facts = Version(version=description.version, hash=description.hash, created_at=at, loaded=id in loaded)
            found[description.name].append((description, facts))
        return {name: sorted(versions, key=lambda pair: pair[1].created_at) for name, versions in found.items()}

    def _definition(
        self, name: str, versions: Sequence[tuple[Description, Version]], tags: dict[str, str]
    ) -> Definition:
        newest = next((pair for pair in reversed(versions) if pair[1].loaded), versions[-1])[0]
        return Definition(
            name=name,
            dialect=newest.dialect,
            version=newest.version,
            loaded=any(facts.loaded for _, facts in versions),
            doc=newest.doc,
            input_schema=newest.input_schema,
            output_schema=newest.output_schema,
            tags=tags,
            versions=[facts for _, facts in reversed(versions)],
        )

    async def _tags(self, namespace: str) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for record in await self._records.list(_TAG, namespace, limit=10_000):
            name, _, tag = record.id.partition("@")
            found[name][tag] = _version.decode(record.body)
        return found

    async def _unknown(self, name: str) -> NotFound:
        names = sorted(await self._by_name())
        near = difflib.get_close_matches(name, names, 1)
        return NotFound(
            "definitions.unknown",
            f"there is no definition `{name}`",
            why=f"known: {', '.join(names[:20]) or 'none'}",
            fix=f"did you mean `{near[0]}`?" if near else "load it: plait serve MODULE",
        )


def _id(description: Description) -> str:
    return f"{description.dialect}/{description.name}@{description.version}/{description.hash}"
