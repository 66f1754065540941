"""JSONPath (RFC 9535), and its comparison form that `goals` allows at the top level: `$.amount > 100`.

    query = jsonpath.compile("$.orders[?@.total > 100].id")
    query.find({"orders": [{"id": 1, "total": 120}]})          # [1]
    jsonpath.compile('$.state == "open"').holds(document)       # True or False

A text goes through `reading` (python-jsonpath parses and checks its types), `lowering` (functions of our own) and
`evaluation`, which counts its steps: the limit of a query does not depend on the machine. Regular expressions are
matched in linear time.
"""

from __future__ import annotations

from functools import lru_cache

from plait.extras import extra

from .errors import JsonPathBudget, JsonPathError, JsonPathSyntaxError, JsonPathTimeout

with extra("scripts", "JSONPath"):
    from .query import MAX_STEPS, Query
    from .reading import MAX_TEXT

__all__ = [
    "MAX_STEPS",
    "MAX_TEXT",
    "JsonPathBudget",
    "JsonPathError",
    "JsonPathSyntaxError",
    "JsonPathTimeout",
    "Query",
    "compile",
]


@lru_cache(1024)
def compile(text: str) -> Query:
    """Returns a query, from the cache if it was used before. Raises a `JsonPathSyntaxError` if it is invalid."""
    return Query(text)
