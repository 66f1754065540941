"""The table of roles, cell by cell."""

from itertools import pairwise
from typing import get_args

import pytest

from plait.api.caller import Caller, RequiredRole, Role
from plait.errors import PlaitError
from plait.server.dispatch import namespace_of

MAY: dict[Role, set[RequiredRole]] = {
    "viewer": {"public", "any", "viewer"},
    "operator": {"public", "any", "viewer", "operator"},
    "editor": {"public", "any", "viewer", "operator", "editor"},
    "approver": {"public", "any", "viewer", "approver"},
    "worker": {"public", "any", "worker"},
    "agent": {"public", "agent"},
    "admin": {"public", "any", "viewer", "operator", "editor", "approver", "worker", "agent", "admin"},
}


def forbidden(role: Role) -> str:
    """The code of a refusal: agents have one of their own."""
    return "AFL_FORBIDDEN" if role == "agent" else "auth.forbidden"


NEEDS: tuple[RequiredRole, ...] = ("public", "any", *get_args(Role))


@pytest.mark.parametrize("role", get_args(Role))
def test_a_role_may_do_what_the_table_says_and_nothing_else(role: Role):
    caller = Caller("x", role, "team-a", "key")
    assert {needs for needs in NEEDS if caller.may(needs)} == MAY[role]


def test_each_of_viewer_operator_editor_admin_may_more_than_the_one_before():
    for less, more in pairwise(("viewer", "operator", "editor", "admin")):
        assert MAY[less] < MAY[more]


def test_a_caller_of_one_namespace_works_in_that_one_only():
    caller = Caller("x", "admin", "team-a", "key")
    assert namespace_of(caller, None) == "team-a"
    assert namespace_of(caller, "team-a") == "team-a"
    for other in ("team-b", "default", "*", "", "no-such", "TEAM-A"):
        with pytest.raises(PlaitError) as refused:
            namespace_of(caller, other)
        assert (refused.value.status, refused.value.code) == (403, "auth.wrong_namespace")


def test_a_caller_of_all_namespaces_works_in_the_one_he_states():
    caller = Caller("x", "viewer", "*", "key")
    assert namespace_of(caller, None) == "default"
    assert namespace_of(caller, "team-b") == "team-b"
