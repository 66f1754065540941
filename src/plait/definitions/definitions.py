"""`engine.definitions`: what can be started, in which versions, and under which tags.

A version comes from one of three places. Code is *loaded* by this process: its dialect describes it. Code that some
process has loaded is *remembered*, so that its text can be read and compared long after it is gone. A definition
written as JSON or as source text is *saved* in a namespace. A tag is a name that people move from one version to
another.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Literal

from plait.api.definition import Definition, Version
from plait.kernel import values
from plait.kernel.bundle import Bundle
from plait.kernel.clock import Clock
from plait.kernel.definitions import Description
from plait.kernel.errors import InvalidInput, NotFound, PlaitError, Stale
from plait.kernel.ids import DEFAULT_NAMESPACE, check_namespace
from plait.kernel.json_text import LONG
from plait.kernel.records import Records

from .changes import saved
from .deleting import delete
from .hashing import content_hash
from .index import Entry, History, Index, current
from .json_diff import Operation, diff
from .library import CODE, Library, Texts
from .names import check_name, check_tag, check_version
from .nearest import did_you_mean, some_of
from .numbering import MAIN
from .offers import check_one_owner, check_own, with_contents, withdrawn
from .overview import Loaded, Overview
from .patching import patched
from .reference import DefinitionRef, parse
from .saved import Saved
from .saving import Request, Saving, other_dialect
from .tags import check_expected, move, remove, step
from .uploads import Uploads
from .versions import Known, choose


class Definitions:
    def __init__(self, bundles: Mapping[str, Bundle], records: Records, clock: Clock) -> None:
        self._bundles = bundles
        self._clock = clock
        self._library = Library(records, clock)
        self.uploads = Uploads(records, clock)
        """Texts that definitions refer to by content hash."""

    async def remember(self) -> None:
        """Stores descriptions of the code that is loaded now, for the time when it no longer is."""
        loaded = [description for found in self._loaded().values() for description in found]

        def new(index: Index) -> Texts:
            found = [each for each in loaded if not index.has(each)]
            return found, [saved(each) for each in found]

        await self._library.save(CODE, new)

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
        breaking: bool = False,
        expected: str | None = None,
    ) -> Saved:
        """Saves a definition that its dialect can read, as JSON or as source text; durable when this returns. The
        version is `label`, or else the next number. Saving the same again changes nothing. With `expected`, only if
        that is the version that the plain name means."""
        check_namespace(namespace)
        self._check_new(dialect, check_name(name), body, source)
        values.text("the source", source, max_length=values.MAX_BYTES)
        text = values.encode(body)
        plain = values.decode(text)  # as readers will get it
        if not isinstance(plain, dict | None):
            raise InvalidInput("definitions.bad_content", f"`{name}` is not a JSON object", fix="send an object")
        if len(bytes(text)) > LONG:  # it would block the event loop
            digest = await asyncio.to_thread(content_hash, plain, source)
        else:
            digest = content_hash(plain, source)
        draft = Description(
            dialect=dialect,
            name=name,
            version="",
            hash=digest,
            doc=doc,
            source=source,
            body=plain,
            input_schema=input_schema,
            output_schema=output_schema,
        )
        return await self._save(draft, namespace, label=label, breaking=breaking, expected=expected)

    async def patch(
        self,
        name: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        description: str = "",
        breaking: bool = False,
        expected: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
    ) -> Saved:
        """Applies operations (RFC 6902; `/nodes/<id>` stands for a node) to the version that the plain name means, and
        saves the result as the next version: the next minor number, or the next major one if `breaking`. Existing
        runs continue unchanged. With `expected`, only if that is the version that the plain name means."""
        while True:
            base = await self._current(name, namespace)
            check_expected(name, MAIN, base.version, expected)
            draft = patched(base, operations, description)
            try:
                return await self._save(draft, namespace, breaking=breaking, expected=base.version)
            except Stale:
                if expected is not None:
                    raise

    async def diff(self, name: str, old: str, new: str, namespace: str = DEFAULT_NAMESPACE) -> list[Operation]:
        """Returns the operations that turn one version into another."""
        before, after = [(await self.version(name, each, namespace))[0] for each in (old, new)]
        return diff(before.content(), after.content())

    async def revision(self, namespace: str = DEFAULT_NAMESPACE) -> int:
        """Returns a number that grows with each change of the saved definitions there, by any process."""
        return await self._library.revision(namespace)

    async def list(
        self,
        dialect: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Definition]:
        """Lists definitions by name: those past the name `after`, at most `limit` of them."""
        overview = await self._overview(namespace)
        names = (name for name in overview.names() if after is None or name > after)
        found = (overview.definition(name) for name in names)
        return [*islice((each for each in found if dialect is None or each.dialect == dialect), limit)]

    async def get(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        return (await self._overview(namespace)).definition(name)

    async def version(self, name: str, version: str, namespace: str = DEFAULT_NAMESPACE) -> tuple[Description, Version]:
        """Returns one version by its label, its hash or a tag: its description, and when it was first seen. A version
        that was deleted can be read as well, because runs may have started from it."""
        known = (await self._overview(namespace)).version(name, version, deleted=True)
        text = known.description or await self._library.document(known.namespace, name, known.entry)
        return text, known.version()

    async def find(self, reference: str, namespace: str = DEFAULT_NAMESPACE) -> Description | None:
        """Finds what is saved as `name` (the version of its tag `main`, or else its newest), or as `name@` and a
        version, a tag or the beginning of a hash. None if nothing with that name is saved in the namespace; a dialect
        may still have it loaded."""
        name, at = parse(reference)
        saved = await self._library.index(namespace)
        history = saved.history(name)
        if not history.versions:
            return None
        entry = current(history) if at is None else _saved_entry(name, at, history)
        if entry is None and at is None:
            raise withdrawn(name, history)
        if entry is None:
            raise Overview(namespace, self._loaded(), saved, Index(), self._clock.now()).no_version(name, at or "")
        return await self._library.document(namespace, name, entry)

    async def pinned(self, label: str, namespace: str, dialect: str = "") -> tuple[Description | None, str]:
        """Resolves `name@` and a tag, a version or a hash: to a saved definition, if there is one (of `dialect`, if
        given), otherwise to the label of the loaded version."""
        name, at = parse(label)
        history = (await self._library.index(namespace)).history(name)
        entry = None if at is None else _saved_entry(name, at, history)
        if entry is None or dialect not in ("", entry.dialect):
            return None, self._loaded_label(label, history)
        return await self._library.document(namespace, name, entry), label

    async def resolve(self, label: str, namespace: str = DEFAULT_NAMESPACE) -> str:
        """Resolves `name@tag` to `name@version`; returns anything else unchanged."""
        name, at = parse(label)
        return label if at is None else self._loaded_label(label, (await self._library.index(namespace)).history(name))

    async def unknown(self, label: str, namespace: str, refusal: PlaitError) -> PlaitError:
        """Adds to a dialect's refusal of an unknown name what else the caller may have meant."""
        index = await self._library.index(namespace)
        check_one_owner(parse(label).name, index)
        saved = sorted(index.names())
        if not saved:
            return refusal
        why = f"{refusal.why}; saved: {some_of(saved)}" if refusal.why else f"saved: {some_of(saved)}"
        fix = did_you_mean(label, [*self._loaded(), *saved], refusal.fix)
        return NotFound(refusal.code, refusal.what, why=why, fix=fix)

    async def delete(self, name: str, namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None) -> None:
        """Deletes what is saved as `name`, and its tags: it is not listed and can't be started any more; durable when
        this returns. Existing runs continue with their version. Saving the name again restores it. With `expected`,
        only if that is the version that the plain name means."""
        overview = await self._own(name, namespace)
        overview.versions(name)
        await self._library.change(namespace, delete(name, expected))

    # -- tags ----------------------------------------------------------------------------------------------------

    async def tag(
        self, name: str, tag: str, version: str, namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None
    ) -> Definition:
        """Sets or moves a tag to a version. With `expected`, only if the tag is on that version now."""
        check_tag(tag)
        overview = await self._own(name, check_namespace(namespace))
        target = overview.version(name, version).entry.version

        await self._library.change(namespace, move(name, tag, target, expected))
        return overview.definition(name)

    async def untag(self, name: str, tag: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        overview = await self._own(name, namespace)
        overview.versions(name)
        await self._library.change(namespace, remove(name, tag))
        return overview.definition(name)

    async def undo(
        self, name: str, tag: str = MAIN, namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None
    ) -> Definition:
        """Moves a tag back to where it was before its last move."""
        return await self._step(name, tag, "undo", namespace, expected)

    async def redo(
        self, name: str, tag: str = MAIN, namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None
    ) -> Definition:
        """Moves a tag forward again to where it was before the last undo."""
        return await self._step(name, tag, "redo", namespace, expected)

    async def tags(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> dict[str, str]:
        """Returns the tags of a name with their versions."""
        return dict((await self.get(name, namespace)).tags)

    # -- details -------------------------------------------------------------------------------------------------

    async def _save(
        self,
        draft: Description,
        namespace: str,
        *,
        label: str | None = None,
        breaking: bool = False,
        expected: str | None = None,
    ) -> Saved:
        bundle = self._bundle(draft.dialect)
        warnings = await bundle.check_definition(draft.content(), namespace)
        draft = await with_contents(bundle, draft, namespace)
        saving = Saving(
            Request(
                draft=draft,
                label=None if label is None else check_version(label),
                numbering=bundle.numbering,
                breaking=breaking,
                expected=expected,
            )
        )
        index = await self._library.save(namespace, saving.decide)
        return Saved(Known(saving.entry(index), namespace, None).version(), saving.new, tuple(warnings))

    async def _current(self, name: str, namespace: str) -> Description:
        check_own(name, await self._library.index(namespace))
        found = await self.find(name, namespace)
        if found is None:
            (await self._overview(namespace)).versions(name)  # raises if the name is unknown; code is fine
            raise InvalidInput(
                "definitions.not_patchable", f"`{name}` is code, which has no JSON to patch", fix="change the code"
            )
        return found

    async def _step(
        self, name: str, tag: str, way: Literal["undo", "redo"], namespace: str, expected: str | None
    ) -> Definition:
        overview = await self._own(name, namespace)
        overview.versions(name)
        await self._library.change(namespace, step(name, tag, way, expected))
        return overview.definition(name)

    def _loaded_label(self, label: str, history: History) -> str:
        """Returns the label as its dialect knows it."""
        name, at = parse(label)
        version = None if at is None else history.tags.get(at)
        if version is None:
            return label
        unlabelled = any(version == each.version == each.hash for each in self._loaded().get(name, ()))
        return name if unlabelled else str(DefinitionRef(name, version))

    async def _own(self, name: str, namespace: str) -> Overview:
        """Returns the overview for changing a name; refuses a name that only another definition has."""
        overview = await self._overview(namespace)
        check_own(name, overview.saved)
        return overview

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
    """Finds a saved version by a tag, a label or a hash."""
    saved = [Known(entry, "", None) for entry in history.versions]
    known = choose(name, saved, history.tags.get(at, at))
    return None if known is None else known.entry
