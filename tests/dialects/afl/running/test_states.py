"""The tables of section 3.2: every transition is exercised by some run, illegal ones are refused."""

import itertools

import pytest

from plait.dialects.afl.running import states
from plait.dialects.afl.running.states import TABLE_OF, TABLES, IllegalTransition, TableName, check_move, passed
from tests.dialects.afl.player import Player

EVERYTHING = """
namespace all {
    schema Address { city: String }
    event facet Ask(x: Long) => (n: Long)
    event facet Fail(x: Long) => (n: Long)
    facet Seen(by: String) => (n: Long) andThen { a = Ask(x = 7) yield Seen(n = a.n) }
    facet Scripted(x: Long) => (n: Long) script { result["n"] = params["x"] + 1 }
    workflow All(items: [Long]) => (n: Long, why: String) andThen {
        home = Address(city = "Bonn")
        s = Scripted(x = 1)
        m = Ask(x = 2) with Seen(by = "me")
        f = Fail(x = 3) catch { c = Ask(x = 4) yield All(why = f.error) }
        yield All(n = m.n)
    } andThen foreach i in $.items { e = Ask(x = i) }
    andThen when { case true => { w = Ask(x = 5) } case _ => { } }
    andThen script { result["scripted"] = 1 }
}
"""


def played() -> Player:
    player = Player(EVERYTHING).start(items=[1, 2])
    while player.tasks:
        path = next(iter(player.open))
        if path == "f":
            player.fail(path, "broken")
        else:
            player.finish(path, {"n": 1, "scripted": 1})
    return player


def exercised(player: Player) -> set[tuple[str, str, str]]:
    """Table, from, to: all states that steps went through."""
    tables: dict[str, TableName] = {
        each["step"]["id"]: TABLE_OF[each["step"]["object_type"]] for each in player.of("afl.step.created")
    }
    found: set[tuple[str, str, str]] = set()
    caught: dict[str, str] = {each["step_id"]: each["state"] for each in player.of("afl.step.caught")}
    for event in player.of("afl.step.moved"):
        table, at = tables[event["step_id"]], event["source"]
        if event["to"] not in passed(table, at, event["to"]) or at in caught.values():
            found.add((table, at, states.CATCH_BEGIN)) if event["step_id"] in caught else None
            at = states.CATCH_BEGIN if event["step_id"] in caught else at
        for state in passed(table, at, event["to"]):
            found.add((table, at, state))
            at = state
    return found


def test_a_program_with_everything_ends_as_it_should():
    player = played()
    assert player.status == "completed", player.error
    assert player.output == {"n": 1, "why": "broken", "scripted": 1}


def test_every_transition_of_every_table_is_exercised():
    found = exercised(played())
    wanted = {(table, *pair) for table, following in TABLES.items() for pair in following.items()}
    assert wanted - found == set()


@pytest.mark.parametrize("table", TABLES)
def test_a_transition_that_is_in_no_table_is_refused(table: states.TableName):
    every = {state for following in TABLES.values() for pair in following.items() for state in pair}
    legal = set(TABLES[table].items())
    for pair in itertools.product(every | states.RESERVED | {states.ERROR}, repeat=2):
        current, wanted = pair
        allowed = pair in legal or wanted == states.ERROR or (wanted == states.CATCH_BEGIN and table == "STEP")
        if allowed and current not in states.TERMINAL:
            check_move(table, current, wanted)
        else:
            with pytest.raises(IllegalTransition):
                check_move(table, current, wanted)


def test_terminal_states_lead_nowhere():
    for table, state in itertools.product(TABLES, states.TERMINAL):
        assert state not in TABLES[table]
        with pytest.raises(IllegalTransition):
            check_move(table, state, states.ERROR)


def test_every_table_ends_as_complete():
    for table in TABLES:
        assert passed(table, states.CREATED, states.COMPLETE)[-1] == states.COMPLETE
