"""Why an agent was chosen is told in the words of the task."""

from compozy.model.agent import Agent
from compozy.model.capability import Capability
from compozy.runtime.selection import select


def agent(name: str, summary: str, *examples: str) -> Agent:
    capability = Capability(id=f"{name}-work", summary=summary, outcome="Done.", examples=examples)
    return Agent(
        name=name, prompt="p", provider="", origin="workspace", definition_digest="d", capabilities=(capability,)
    )


def test_the_reason_spells_words_as_the_task_does_and_names_the_place() -> None:
    scout = agent("scout", "Find code.", "Where is a payment retried?")
    chosen = select("Which lines retry failed payments?", [scout, agent("desk", "Read the mail.")], "general")
    assert chosen.agent == "scout"
    assert chosen.reason == "a capability's example mentions retry, payments"
