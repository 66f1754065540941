"""`engine.definitions`: what can be started, in which versions, and under which tags.

A version comes from one of three places. Code is *loaded* by this process: its dialect describes it. Code that some
process had loaded once is *remembered*, so that its text can be read and compared long after it is gone. What is
written as JSON or as source text is *saved* in a namespace. A tag is a name that people move from one version to
another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from plait.api.definition import Definition, Version
from plait.kernel import values
from plait.kernel.bundle import Bundle
from plait.kernel.clock import Clock
from plait.kernel.definitions import Description
from plait.kernel.errors import Conflict, InvalidInput, NotFound, PlaitError
from plait.kernel.ids import DEFAULT_NAMESPACE, check_namespace
from plait.kernel.records import Records

from .changes import Change, TagMoved, TagRemoved
from .hashing import content_hash
from .index import Entry, History, Index
from .library import CODE, Library
from .names import check_name, check_tag, check_version
from .nearest import did_you_mean, some_of
from .overview import Loaded, Overview
from .reference import DefinitionRef, parse
from .saved import Saved
from .saving import Saving, other_dialect
from .versions import Known, choose


class StaleTag(Conflict):
    """Somebody moved the tag since the caller looked."""

    status = 412


class Definitions:
    def __init__(self, bundles: Mapping[str, Bundle], records: Records, clock: Clock) -> None:
        self._bundles = bundles
        self._clock = clock
        self._library = Library(records, clock)

    async def remember(self) -> None:
        """Keeps what is loaded now, for the time when it is not."""
        loaded = [description for found in self._loaded().values() for description in found]
        await self._library.save(CODE, lambda index: [each for each in loaded if not index.has(each)])

    async def save(
        self,
        dialect: str,
        name: str,
        body: Any = None,
        *,
        source: str = "",
        label: str | None = None,
        doc: str = "",
        input_schema: Any = None,
        output_schema: Any = None,
        namespace: str = DEFAULT_NAMESPACE,
    ) -> Saved:
        """Keeps a definition that its dialect can read, as JSON or as source text; durable when this returns. The
        version is `label`, or else the next number. To save the same again changes nothing."""
        check_namespace(namespace)
        self._check_new(dialect, check_name(name), body, source)
        values.text("the source", source, max_length=values.MAX_BYTES)
        plain = values.decode(values.encode(body))  # as it will be read
        if not isinstance(plain, dict | None):
            raise InvalidInput("definitions.bad_content", f"`{name}` is not a JSON object", fix="send an object")
        self._bundle(dialect).read({"source": source} if plain is None else cast("dict[str, Any]", plain))
        draft = Description(
            dialect=dialect,
            name=name,
            version="",
            hash=content_hash(plain, source),
            doc=doc,
            source=source,
            body=plain,
            input_schema=input_schema,
            output_schema=output_schema,
        )
        saving = Saving(draft, None if label is None else check_version(label))
        index = await self._library.save(namespace, saving.decide)
        return Saved(Known(saving.entry(index), namespace, None).version(), saving.new)

    async def list(
        self,
        dialect: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Definition]:
        """By name; those past the name `after`, at most `limit` of them."""
        overview = await self._overview(namespace)
        names = (name for name in overview.names() if after is None or name > after)
        found = (overview.definition(name) for name in names)
        return [*islice((each for each in found if dialect is None or each.dialect == dialect), limit)]

    async def get(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        return (await self._overview(namespace)).definition(name)

    async def version(self, name: str, version: str, namespace: str = DEFAULT_NAMESPACE) -> tuple[Description, Version]:
        """One version by its label, its hash or a tag: what it is, and when it was first seen."""
        known = (await self._overview(namespace)).version(name, version)
        text = known.description or await self._library.document(known.namespace, name, known.entry)
        return text, known.version()

    async def find(self, reference: str, namespace: str = DEFAULT_NAMESPACE) -> Description | None:
        """What is saved as `name`, its newest version, or as `name@` and a version, a tag or the beginning of a hash.
        None if nothing of that name is saved in the namespace; a dialect may have it loaded."""
        name, at = parse(reference)
        saved = await self._library.index(namespace)
        history = saved.history(name)
        if not history.versions:
            return None
        entry = history.versions[-1] if at is None else _saved_entry(name, at, history)
        if entry is None:
            raise Overview(namespace, self._loaded(), saved, Index(), self._clock.now()).no_version(name, at or "")
        return await self._library.document(namespace, name, entry)

    async def pinned(self, label: str, namespace: str, dialect: str = "") -> tuple[Description | None, str]:
        """What `name@` and a tag, a version or a hash leads to: a saved definition, if there is one (of `dialect`, if
        it is said); and else the loaded version, whose tag is resolved."""
        name, at = parse(label)
        history = (await self._library.index(namespace)).history(name)
        entry = None if at is None else _saved_entry(name, at, history)
        if entry is None or dialect not in ("", entry.dialect):
            return None, self._loaded_label(label, history)
        return await self._library.document(namespace, name, entry), label

    async def resolve(self, label: str, namespace: str = DEFAULT_NAMESPACE) -> str:
        """`name@tag` as `name@version`; anything else as it is."""
        name, at = parse(label)
        return label if at is None else self._loaded_label(label, (await self._library.index(namespace)).history(name))

    async def unknown(self, label: str, namespace: str, refusal: PlaitError) -> PlaitError:
        """The refusal of a dialect that has no such name, with what else is there to be meant."""
        saved = sorted((await self._library.index(namespace)).names())
        if not saved:
            return refusal
        why = f"{refusal.why}; saved: {some_of(saved)}" if refusal.why else f"saved: {some_of(saved)}"
        fix = did_you_mean(label, [*self._loaded(), *saved], refusal.fix)
        return NotFound(refusal.code, refusal.what, why=why, fix=fix)

    # -- tags ----------------------------------------------------------------------------------------------------

    async def tag(
        self, name: str, tag: str, version: str, namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None
    ) -> Definition:
        """Puts a tag on a version, or moves it there. With `expected`, only if that is the version it is on."""
        check_tag(tag)
        overview = await self._overview(check_namespace(namespace))
        target = overview.version(name, version).entry.version

        def move(index: Index) -> list[Change]:
            now = index.history(name).tags.get(tag)
            if expected is not None and now != expected:
                raise _stale(name, tag, now, expected)
            return [TagMoved(name, tag, target)] if now != target else []

        await self._library.change(namespace, move)
        return overview.definition(name)

    async def untag(self, name: str, tag: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        overview = await self._overview(namespace)
        overview.versions(name)

        def remove(index: Index) -> list[Change]:
            tags = index.history(name).tags
            if tag not in tags:
                raise NotFound(
                    "definitions.no_tag",
                    f"`{name}` has no tag `{tag}`",
                    why=f"its tags: {some_of(tags)}",
                    fix=did_you_mean(tag, tags, "`plait definitions` lists them"),
                )
            return [TagRemoved(name, tag)]

        await self._library.change(namespace, remove)
        return overview.definition(name)

    # -- details -------------------------------------------------------------------------------------------------

    def _loaded_label(self, label: str, history: History) -> str:
        """As its dialect knows it."""
        name, at = parse(label)
        version = None if at is None else history.tags.get(at)
        if version is None:
            return label
        unlabelled = any(version == each.version == each.hash for each in self._loaded().get(name, ()))
        return name if unlabelled else str(DefinitionRef(name, version))

    async def _overview(self, namespace: str) -> Overview:
        saved, remembered = await self._library.index(namespace), await self._library.index(CODE)
        return Overview(namespace, self._loaded(), saved, remembered, self._clock.now())

    def _loaded(self) -> Loaded:
        found: dict[str, list[Description]] = defaultdict(list)
        for dialect in self._bundles.values():
            for description in dialect.describe():
                found[description.name].append(description)
        return found

    def _bundle(self, dialect: str) -> Bundle:
        try:
            return self._bundles[dialect]
        except KeyError:
            known = list(self._bundles)
            raise InvalidInput(
                "kernel.no_dialect",
                f"this engine has no dialect `{dialect}`",
                why=f"it has {some_of(known)}",
                fix=did_you_mean(dialect, known, "use one of them"),
            ) from None

    def _check_new(self, dialect: str, name: str, body: Any, source: str) -> None:
        self._bundle(dialect)
        if (body is None) == (source == ""):
            raise InvalidInput(
                "definitions.bad_content", f"`{name}` needs either JSON or source text", fix="give one of them"
            )
        for each in self._loaded().get(name, ()):
            if each.dialect != dialect:
                raise other_dialect(name, each.dialect)


def _saved_entry(name: str, at: str, history: History) -> Entry | None:
    """By a tag, a label or a hash."""
    saved = [Known(entry, "", None) for entry in history.versions]
    known = choose(name, saved, history.tags.get(at, at))
    return None if known is None else known.entry


def _stale(name: str, tag: str, now: str | None, expected: str) -> StaleTag:
    return StaleTag(
        "definitions.tag_moved",
        f"`{name}@{tag}` is not at version {expected}",
        why=f"it is at {now}" if now is not None else "there is no such tag",
        fix="look again, and move it from where it is",
    )
