"""`schema_validation`: whether `output` is valid under a JSON Schema."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from plait.conditions import schema, verdict
from plait.conditions.budget import Budget, OutOfSteps
from plait.conditions.facts import Facts
from plait.conditions.json_schema import Cost, OutsideReference
from plait.conditions.regex import BadPattern
from plait.conditions.source import Source
from plait.conditions.test import NOTHING
from plait.conditions.verdict import Verdict

_OUT_OF_STEPS: Final = "the schema takes too many steps on this output; check less of it, or avoid schemas in schemas"


class SchemaTest:
    reads = NOTHING

    def __init__(self, document: Any, invert: bool) -> None:
        self._cost = Cost(document)
        self._fits = schema.validator(document, linear=True).is_valid
        self._invert = invert

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        output = facts.output
        try:
            self._cost.take(budget, output)
        except OutOfSteps:
            return verdict.failed("budget", _OUT_OF_STEPS)
        return verdict.of(self._fits(output) is not self._invert)


def read(source: Source) -> SchemaTest | None:
    source.allow("schema", "schema_ref", "invert")
    invert = source.flag("invert")
    document = source.content("schema")
    if not isinstance(document, dict | bool):
        return None
    size = len(msgspec.json.encode(document))
    if size > schema.MAX_BYTES:
        what = f"condition has a schema of {size:,} bytes, limit {schema.MAX_BYTES:,}"
        source.refuse(what, at="schema", code="too_big")
        return None
    return _test(source, document, invert)


def _test(source: Source, document: Any, invert: bool) -> SchemaTest | None:
    try:
        return SchemaTest(document, invert)
    except OutsideReference as error:
        what = f"`$ref` {str(error)!r:.80} leads out of the schema"
        source.refuse(what, "put what it means into `$defs`: nothing is fetched", at="schema", code="syntax")
    except BadPattern as error:
        source.refuse(f"a pattern of the schema is no regular expression: {error}", at="schema", code="syntax")
    except ValueError as error:
        why = str(error).partition("\n")[0]
        source.refuse(f"this is not a JSON Schema: {why}", at="schema", code="syntax")
    return None
