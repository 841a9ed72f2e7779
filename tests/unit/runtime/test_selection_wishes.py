"""Required and preferred ids, pins, skills, missing inputs and "none fits" (decisions D27, D29)."""

from pathlib import Path

import pytest

from compozy.model.agent import Agent, SkillsPolicy
from compozy.model.capability import Capability
from compozy.model.errors import InvalidRequest
from compozy.runtime.selection import AgentSelector, Wishes
from compozy.runtime.selection_skills import enabled_skills


def agent(name: str, *capabilities: Capability, path: str = "", disabled: tuple[str, ...] = ()) -> Agent:
    return Agent(
        name=name,
        prompt="p",
        provider="",
        origin="global",
        definition_digest="d",
        capabilities=capabilities,
        path=path,
        skills=SkillsPolicy(disabled=disabled),
    )


REVIEW = Capability(
    id="review-code",
    summary="Review a change",
    outcome="Findings",
    version="1.2",
    context_needed=("the diff",),
    digest="sha256:aa",
)
WRITE = Capability(id="write-notes", summary="Write release notes", outcome="Notes")
POOL = (agent("reviewer", REVIEW), agent("writer", WRITE), agent("both", WRITE, REVIEW))


def test_every_required_id_must_match() -> None:
    found = AgentSelector(POOL).select("do something", "general", Wishes(("review-code", "write-notes")))
    assert found.fits and found.agent == "both"
    assert {row.name: row.reason for row in found.rejected} == {
        "reviewer": "lacks write-notes",
        "writer": "lacks review-code",
    }


def test_a_required_id_that_nobody_has_leaves_nobody_and_not_the_default() -> None:
    found = AgentSelector(POOL).select("write release notes", "general", Wishes(("sing",)))
    assert not found.fits and found.agent == "" and "sing" in found.reason


@pytest.mark.parametrize(
    ("pin", "lack"),
    [
        ("1.2", ""),
        ("sha256:aa", ""),
        ("2.0", "has review-code as 1.2, not 2.0"),
        ("sha256:bb", "has review-code as sha256:aa, not sha256:bb"),
    ],
)
def test_a_pin_must_match_the_version_or_the_digest(pin: str, lack: str) -> None:
    found = AgentSelector(POOL[:1]).select("review", "general", Wishes((f"review-code@{pin}",)))
    assert found.fits is not bool(lack)
    assert [row.reason for row in found.rejected] == ([lack] if lack else [])


def test_preferred_ids_rank_before_words_among_those_that_fit() -> None:
    plain = AgentSelector(POOL).select("write release notes", "general")
    assert plain.agent in ("both", "writer")
    found = AgentSelector(POOL).select("write release notes", "general", Wishes((), ("review-code",)))
    assert found.agent == "both" and found.candidates[0].preferred == ("review-code",)
    assert "preferred review-code" in found.reason


def test_what_the_best_capability_needs_to_know_is_told() -> None:
    best = AgentSelector(POOL[:2]).select("review my change", "general").candidates[0]
    assert (best.name, best.capability, best.missing_inputs) == ("reviewer", "review-code", ("the diff",))


def test_none_fits_names_the_default_and_why_each_agent_was_rejected() -> None:
    found = AgentSelector(POOL).select("sail to Malta", "general")
    assert not found.fits and found.agent == "general" and found.candidates == ()
    assert {row.name for row in found.rejected} == {"reviewer", "writer", "both"}


def test_enabled_skills_count_like_capabilities_and_disabled_ones_do_not(tmp_path: Path) -> None:
    folder = tmp_path / "ann" / "skills" / "group" / "sql"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: sql\n---\nText\n")
    shared = tmp_path / "shared" / "tidy"
    shared.mkdir(parents=True)
    (shared / "SKILL.md").write_text("---\nname: tidy\n---\nText\n")
    pool = (
        agent("ann", path=str(tmp_path / "ann" / "AGENT.md")),
        agent("bob", path=str(tmp_path / "bob" / "AGENT.md"), disabled=("tidy",)),
    )
    skills = enabled_skills(pool, [tmp_path / "shared", tmp_path / "absent"])
    assert skills == {"ann": frozenset(("sql", "tidy")), "bob": frozenset()}
    found = AgentSelector(pool, skills).select("x", "general", Wishes(("sql",)))
    assert found.agent == "ann" and found.reason == "it has every required capability"


@pytest.mark.parametrize("given", ["", "two words", "a,b", "x" * 300])
def test_an_id_that_can_be_none_is_refused(given: str) -> None:
    with pytest.raises(InvalidRequest, match="no capability id"):
        AgentSelector(POOL).select("x", "general", Wishes((given,)))
