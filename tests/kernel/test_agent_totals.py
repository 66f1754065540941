"""What agents used in a run, as its row tells it."""

from plait.kernel.agent_totals import NO_AGENTS, AgentTotals
from plait.kernel.events import AgentFinished, AgentUsage, TaskJournaled
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.state import RunState

TOKEN = TaskToken("a")


def finished(cost: float | None) -> AgentFinished:
    return AgentFinished(TOKEN, "a", 1, "completed", "m", usage=AgentUsage(10, 5, 2), cost_usd=cost)


def test_one_cost_that_is_not_known_makes_the_whole_unknown():
    known = NO_AGENTS.finished(finished(0.5)).finished(finished(0.25))
    assert (known.tokens, known.cost_usd) == (30, 0.75)
    assert known.finished(finished(None)).finished(finished(1.0)).cost_usd is None


def test_a_run_knows_its_agents_from_the_first_entry_on_and_a_snapshot_keeps_them():
    state = RunState()
    assert state.agents is None
    state.evolve(TaskJournaled(TOKEN, 1, 0))
    state.evolve(TaskJournaled(TOKEN, 1, 1))
    assert state.agents == AgentTotals(1, 0, 0.0)
    state.evolve(finished(0.5))
    again = RunState()
    again.restore(state.dump(), 3, Millis(0))
    assert again.agents == AgentTotals(1, 15, 0.5)
