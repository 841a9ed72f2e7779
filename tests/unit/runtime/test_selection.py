"""Choosing an agent by declared capabilities: deterministic, with reasons, and honest when nobody fits."""

from compozy.model.agent import Agent, AgentDiagnostic
from compozy.model.capability import Capability
from compozy.runtime.selection import rank, select


def _agent(name: str, *capabilities: tuple[str, str, str], prompt: str = "p", broken: bool = False) -> Agent:
    return Agent(
        name=name,
        prompt=prompt,
        provider="",
        origin="global",
        definition_digest="",
        capabilities=tuple(Capability(id=i, summary=s, outcome=o) for i, s, o in capabilities),
        diagnostics=(AgentDiagnostic(path="p", error_kind="k", message="m"),) if broken else (),
    )


POOL = (
    _agent("general"),
    _agent("migrator", ("fix-migrations", "Repair failing database migrations", "A passing migration test suite")),
    _agent("writer", ("write-release-notes", "Write release notes from commits", "Release notes in plain words")),
    _agent("tester", ("find-flaky-tests", "Find and explain flaky tests", "A list of flaky tests with causes")),
)


def test_the_agent_that_declares_the_task_is_chosen_and_says_why() -> None:
    chosen = select("Please write the release notes for 2.0", POOL, "general")
    assert chosen.agent == "writer"
    assert "releas" in chosen.reason and "not" in chosen.reason
    assert chosen.candidates[0].score > 0.3


def test_word_forms_count_as_the_same_word() -> None:
    assert select("the migration fails, repair it", POOL, "general").agent == "migrator"
    assert select("which test is flaky?", POOL, "general").agent == "tester"


def test_when_nobody_fits_the_default_is_taken_and_that_is_said() -> None:
    chosen = select("bake a cake", POOL, "general")
    assert chosen.agent == "general" and chosen.candidates == ()
    assert chosen.reason.startswith("none of 4 visible agents")


def test_order_of_agents_does_not_matter_and_ties_go_by_name() -> None:
    task = "write notes about flaky migration tests"
    assert rank(task, POOL) == rank(task, tuple(reversed(POOL)))
    twins = (_agent("b", ("x", "sort mail", "o")), _agent("a", ("x", "sort mail", "o")))
    assert [candidate.name for candidate in rank("sort mail", twins)] == ["a", "b"]


def test_prompts_and_broken_definitions_are_not_considered() -> None:
    pool = (_agent("a", prompt="bake a cake"), _agent("b", ("bake", "bake a cake", "o"), broken=True))
    assert rank("bake a cake", pool) == ()


def test_scores_stay_between_nothing_and_one() -> None:
    scores = [candidate.score for candidate in rank("write release notes write release notes", POOL)]
    assert scores and all(0 < score <= 1 for score in scores)
