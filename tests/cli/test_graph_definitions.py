"""Graphs on the command line: checked, planned, run, saved and tagged."""

import json

from tests.cli.support import Desk, both_ways
from tests.server.test_graph_definitions import ORDERS


def write(desk: Desk, name: str = "orders.json", **more: object) -> None:
    (desk.folder / name).write_text(json.dumps({"name": "orders", **ORDERS, **more}))


BROKEN = {"nodes": [{"id": "A", "type": "tsk", "depends_on": []}]}


@both_ways
def test_everything_that_is_wrong_with_a_graph_is_told_with_its_place(desk: Desk):
    write(desk)
    (desk.folder / "broken.json").write_text(json.dumps(BROKEN))
    ran = desk.plait("check", "orders.json", "broken.json")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "broken.json: /nodes/0/depends_on: error node `A`: unknown field `depends_on`; did you mean `dependencies`? "
        "[graph.bad_shape]",
        "broken.json: /nodes/0/type: error unknown node type `tsk`; known: agent, decision, function, http, human, "
        "migration, run, task, tool, transform, wait [graph.unknown_type]",
        "2 graphs, 2 errors",
    ]
    assert desk.plait("check", "orders.json").out == "1 graph right\n"
    found = desk.plait("check", "broken.json", "--json")
    assert (found.code, found.json["fits"]) == (1, False)
    assert found.json["errors"][0]["pointer"] == "/nodes/0/depends_on"


@both_ways
def test_the_plan_of_a_graph_is_its_compiled_form(desk: Desk):
    write(desk)
    ran = desk.plait("plan", "orders.json")
    assert ran.code == 0
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["starts", "at", "total"] in lines
    assert ["reply", "transform", "total", "ends", "a", "path"] in lines
    found = desk.plait("plan", "orders.json", "--input", '{"amount": 1}', "--json").json
    assert (found["valid"], found["plan"]["entry_nodes"], found["input"]) == (True, ["total"], {"amount": 1})


def test_a_graph_is_checked_and_planned_without_a_database_and_none_is_made(desk: Desk):
    write(desk)
    missing = "sqlite:///nowhere.db"
    assert desk.plait("check", "orders.json", "--db", missing).code == 0
    assert desk.plait("plan", "orders.json", "--db", missing).code == 0
    assert not (desk.folder / "nowhere.db").exists()


@both_ways
def test_a_graph_is_saved_started_by_its_name_and_taken_back(desk: Desk):
    write(desk)
    assert desk.plait("save", "orders", "orders.json").out == "saved orders@v1.0\n"
    write(desk, "next.json", output={"all": "$nodes.reply.total"})
    saved = desk.plait("save", "orders", "next.json", "--expected", "v1.0", "--json")
    assert saved.json == {"name": "orders", "version": "v1.1", "warnings": []}
    assert json.loads(desk.plait("run", "orders", '{"amount": 3}').out) == {"all": 3}
    assert desk.plait("tag", "orders", "main", "--undo", "--json").json == {"main": "v1.0"}
    assert json.loads(desk.plait("run", "orders", '{"amount": 3}').out) == {"reply": {"total": 3}}
    assert desk.plait("tag", "orders", "prod", "v1.1", "--json").json == {"main": "v1.0", "prod": "v1.1"}
    assert desk.plait("tag", "orders").out.splitlines()[1:] == ["main  v1.0   ", "prod  v1.1   "]
    assert desk.plait("tag", "orders", "main", "--redo", "--json").json["main"] == "v1.1"
    assert desk.plait("tag", "orders", "prod", "--remove", "--json").json == {"main": "v1.1"}
    refused = desk.plait("save", "orders", "orders.json", "--expected", "v1.0")
    assert refused.code == 2
    assert "`orders@main` is not at version v1.0: it is at v1.1" in refused.err


@both_ways
def test_a_deleted_definition_is_not_started_and_saving_brings_it_back(desk: Desk):
    write(desk)
    desk.plait("save", "orders", "orders.json")
    assert desk.plait("definitions", "--delete", "orders").out.startswith("deleted orders")
    assert desk.plait("run", "orders", '{"amount": 3}').code == 2
    assert "orders" not in desk.plait("definitions").out
    missing = desk.plait("definitions", "--delete", "orders")
    assert (missing.code, "Traceback" in missing.err) == (2, False)
    assert desk.plait("save", "orders", "orders.json").out == "saved orders@v1.0\n"
    assert json.loads(desk.plait("run", "orders", '{"amount": 3}').out) == {"reply": {"total": 3}}
    assert desk.plait("tag", "orders", "--json").json == {"main": "v1.0"}


def test_a_graph_in_a_file_is_run(desk: Desk):
    write(desk)
    assert json.loads(desk.plait("run", "orders.json", '{"amount": 7}').out) == {"reply": {"total": 7}}


def test_what_is_no_definition_is_not_saved(desk: Desk):
    (desk.folder / "other.json").write_text('{"a": 1}')
    ran = desk.plait("save", "orders", "other.json")
    assert ran.code == 2
    assert ran.err.startswith("error: other.json holds no definition. To fix: name a JSON file that holds a definition")
    assert desk.plait("tag", "orders", "--undo").code == 2


@both_ways
def test_the_policy_of_a_namespace_is_set_and_shown(desk: Desk):
    (desk.folder / "none.json").write_text("{}")
    assert desk.plait("policy", "set", "none.json").code == 0
    assert desk.plait("policy").out == "no policy: graphs may do what they allow themselves\n"
    (desk.folder / "policy.json").write_text('{"start_rate": "by_agents", "max_fanout": 3}')
    assert desk.plait("policy", "set", "policy.json").out.startswith("policy set")
    assert desk.plait("policy", "show", "--json").json == {"max_fanout": 3, "start_rate": "by_agents"}
    (desk.folder / "bad.json").write_text('{"max_fanout": 0}')
    ran = desk.plait("policy", "set", "bad.json")
    assert ran.code == 2
    assert "graph.bad_policy" in ran.err or "http.bad_body" in ran.err
