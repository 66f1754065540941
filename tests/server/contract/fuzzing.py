"""An operation of the OpenAPI document as a property: what schemathesis makes of it is sent to a live server.

Its cases are made when they are asked for: `schema.parametrize()` would make those of all operations in each process
that collects tests. Only the test imports this module, when it runs: schemathesis takes long to import.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test

from plait.server.openapi import document
from tests.server.route_table import ROUTES
from tests.support.effort import examples

from .world import World

EXAMPLES = examples(12)
SLOW_MACHINES = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@cache
def described() -> Any:
    schema = schemathesis.openapi.from_dict(document(ROUTES))
    schema.config.generation.update(with_security_parameters=False, allow_x00=False)  # the test sends a key
    # What fits the document may still not fit the workflow (422), be a link that was used before (410), or expect
    # another version than there is now (412).
    schema.config.checks.positive_data_acceptance.expected_statuses += ["410", "412", "422"]
    # An id or a filter may be of any length, and what is wrong in a body may be that it is too long.
    schema.config.checks.negative_data_rejection.expected_statuses += ["413", "431"]
    load_all_checks()
    return schema


def check(method: str, path: str, url: str, headers: dict[str, str], world: World, session: requests.Session) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=SLOW_MACHINES,
    )
    def holds(case: schemathesis.Case) -> None:
        aim(case, world)
        case.call_and_validate(base_url=url, headers=headers, session=session)

    schema = described()
    build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=holds,
        given_kwargs={},
        feedback=FeedbackSources(),
    )()


def aim(case: schemathesis.Case, world: World) -> None:
    """Two times out of three at something that is there: random ids never are."""
    if isinstance(case.body, dict) and "wait_ms" in case.body and is_positive(case, ParameterLocation.BODY):
        case.body["wait_ms"] = 0  # the test does not wait for tasks
    draw = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode())
    if draw % 3 and is_positive(case, ParameterLocation.PATH):
        known = world.ids(case.operation.path, draw)
        case.path_parameters = {name: known.get(name, value) for name, value in case.path_parameters.items()}
        if is_positive(case, ParameterLocation.QUERY) and "namespace" in case.query:
            case.query["namespace"] = world.namespace


def is_positive(case: schemathesis.Case, part: ParameterLocation) -> bool:
    found = case.meta.components.get(part) if case.meta is not None else None
    return found is not None and found.mode == schemathesis.GenerationMode.POSITIVE
