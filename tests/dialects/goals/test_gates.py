"""Gates in planning: what a step with a `match` demands before, while and after the match is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec import Raw

from plait.dialects.goals.catalogs.catalog import Catalog
from plait.dialects.goals.planning.gates import Gates, gates_to_judge, judge
from plait.dialects.goals.planning.plan import Plan
from plait.dialects.goals.planning.planner import plan, steps_met
from plait.dialects.goals.steps.attribute import Collect
from plait.dialects.goals.steps.builder import StepBuilder
from plait.scripts.errors import ScriptError
from plait.scripts.languages import Language
from tests.dialects.goals.declaring import catalog_of, made


def gated(id: str, needs: str, gives: str, *, match: str, collect: Collect = "first") -> StepBuilder:
    """A step that runs only if `ntype` is what it matches."""
    return made(id, needs, gives).required("ntype", collect=collect, match=("ale", match))


class Equality:
    """In place of a language: a script is the text that its candidate has to be."""

    async def holds(self, language: Language, script: str, names: Sequence[str], document: Raw, seed: str) -> bool:
        if script == "broken":
            raise ScriptError("no such word", retryable=False)
        return bytes(document) == b'{"value":"%s"}' % script.encode()


async def planned(catalog: Catalog, goals: Sequence[str], init: Mapping[str, Any]) -> Plan:
    names = frozenset(init)
    candidates = {name: value if isinstance(value, list) else [value] for name, value in init.items()}
    found = gates_to_judge(catalog, steps_met(catalog, goals, names), names)
    return plan(catalog, goals, init, await judge(found, candidates, catalog, Equality()))


ROUTES = catalog_of(
    gated("email", "address", "sent", match="email"),
    gated("postal", "street", "posted", match="postal"),
    made("look-up", "name", "street"),
)


async def test_a_goal_whose_gate_init_closes_is_skipped_and_not_demanded():
    found = await planned(ROUTES, ["email", "postal"], {"ntype": "email", "address": "a@b"})
    assert found.required == []
    assert list(found.steps) == ["email", "postal"]
    assert found.closed == {"postal": ["ntype"]}
    assert found.warnings == ["step 'postal' is skipped: init has a value of 'ntype' that its match refuses"]


async def test_a_goal_whose_gate_init_opens_demands_all_its_inputs():
    found = await planned(ROUTES, ["email", "postal"], {"ntype": "postal", "address": "a@b"})
    assert found.required == ["name"]
    assert list(found.steps) == ["email", "look-up", "postal"]
    assert found.closed == {"email": ["ntype"]}


async def test_what_only_a_closed_step_needed_is_pruned_and_providers_of_the_gate_stay():
    catalog = catalog_of(
        gated("postal", "street", "posted", match="postal", collect="all"),
        made("look-up", "", "street"),
        made("guess", "", "ntype"),
    )
    found = await planned(catalog, ["postal"], {"ntype": "email"})
    assert list(found.steps) == ["guess", "postal"]


async def test_until_a_gate_is_decided_its_step_demands_only_the_gate():
    catalog = catalog_of(gated("postal", "street town", "posted", match="postal"), made("look-up", "", "street"))
    assert plan(catalog, ["postal"], []).required == ["ntype"]
    behind = catalog_of(
        gated("postal", "street town", "posted", match="postal"),
        made("look-up", "", "street"),
        made("ask", "", "ntype"),
    )
    found = plan(behind, ["postal"], [])
    assert (found.required, found.closed) == ([], {})
    assert list(found.steps) == ["ask", "look-up", "postal"], "they run once the gate is open"


async def test_a_provider_behind_an_undecided_gate_counts_as_able_and_what_it_can_not_have_is_excluded():
    catalog = catalog_of(
        gated("postal", "street", "posted", match="postal"),
        made("look-up", "lost", "street"),
        made("ask", "", "ntype"),
        made("after", "posted"),
    )
    found = plan(catalog, ["after"], [])
    assert (found.required, found.excluded.missing) == ([], {"look-up": ["lost"]})
    assert list(found.steps) == ["after", "ask", "postal"]


async def test_a_closed_provider_is_no_reason_to_leave_out_what_another_one_lacks():
    catalog = catalog_of(
        gated("email", "", "sent", match="email"), made("fax", "number", "sent"), made("after", "sent")
    )
    assert (await planned(catalog, ["after"], {"ntype": "fax"})).required == ["number"]
    assert (await planned(catalog, ["after"], {"ntype": "email"})).required == []


async def test_a_run_whose_only_provider_is_closed_can_be_started():
    """It fails at once, and says why; no name in init would help but the one that is closed."""
    found = await planned(
        catalog_of(gated("email", "", "sent", match="email"), made("after", "sent")), ["after"], {"ntype": "fax"}
    )
    assert (found.required, list(found.steps), found.closed) == ([], ["after", "email"], {"email": ["ntype"]})


@pytest.mark.parametrize("beside", [False, True], ids=["init alone", "beside a provider"])
@pytest.mark.parametrize(
    ("collect", "values", "alone", "with_a_provider"),
    [
        ("first", ["email"], "open", "open"),
        ("first", ["fax"], "closed", "closed"),
        ("first", ["fax", "email"], "open", "open"),
        ("last", ["fax"], "closed", ""),
        ("last", ["email"], "open", ""),
        ("some", ["fax", "email"], "open", ""),
        ("all", ["email", "fax"], "closed", "closed"),
        ("all", ["email"], "open", ""),
        ("none", ["email"], "closed", "closed"),
        ("none", ["fax"], "open", ""),
    ],
)
async def test_what_the_values_of_init_decide(
    collect: Collect, values: list[str], alone: str, with_a_provider: str, beside: bool
):
    email = gated("email", "address", "sent", match="email", collect=collect)
    catalog = catalog_of(email, made("guess", "", "ntype")) if beside else catalog_of(email)
    names = frozenset(["ntype"])
    found = gates_to_judge(catalog, steps_met(catalog, ["email"], names), names)
    expected = {
        "open": Gates(open=frozenset(["email"])),
        "closed": Gates(closed=frozenset([("email", "ntype")])),
        "": Gates(),
    }[with_a_provider if beside else alone]
    assert await judge(found, {"ntype": values}, catalog, Equality()) == expected


async def test_a_gate_of_which_only_one_input_is_given_is_open_only_when_both_are():
    two = gated("two", "", "x", match="email").required("tier", match=("ale", "gold"))
    catalog = catalog_of(two, made("ask", "", "tier"))
    names = frozenset(["ntype"])
    found = gates_to_judge(catalog, ["two"], names)
    assert await judge(found, {"ntype": ["email"]}, catalog, Equality()) == Gates()
    assert await judge(found, {"ntype": ["fax"]}, catalog, Equality()) == Gates(closed=frozenset([("two", "ntype")]))


async def test_a_script_that_fails_decides_nothing():
    catalog = catalog_of(gated("email", "address", "sent", match="broken"))
    found = await planned(catalog, ["email"], {"ntype": "email"})
    assert (found.required, found.closed) == ([], {})


def test_none_with_a_match_is_not_blocked_by_any_value():
    catalog = catalog_of(gated("email", "", "sent", match="fax", collect="none"))
    found = plan(catalog, ["email"], ["ntype"])
    assert (list(found.steps), found.excluded.blocked) == (["email"], {})
