"""agent_list, agent_info, agent_select, agent_create: which agents there are, which fits, a new one (contract §6.2).

What an agent creates here has no command, servers, hooks or permissions of its own: those are for a person to write.
"""

from typing import Annotated, Literal

from msgspec import Meta

from compozy.model.agent import Agent
from compozy.model.definition import AgentDefinition
from compozy.runtime.authoring import Authoring
from compozy.runtime.fleet import Fleet
from compozy.runtime.selection import Wishes
from compozy.runtime.tools.native.kit import CATALOG, WORKSPACE, Actor, Arguments, NativeTool, native
from compozy.runtime.tools.native.places import Places

_PLACE = Annotated[str, Meta(description="A workspace by id, name or path; the session's own when left out.")]
_Ids = Annotated[tuple[str, ...], Meta(description="Capability ids.")]


class AgentList(Arguments, frozen=True, kw_only=True):
    workspace: _PLACE = ""


class AgentInfo(Arguments, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, description="The agent's name.")]
    workspace: _PLACE = ""


class AgentSelect(Arguments, frozen=True, kw_only=True):
    task: Annotated[str, Meta(min_length=1, description="What should be done, in a sentence.")]
    require: _Ids = ()
    prefer: _Ids = ()
    workspace: _PLACE = ""


class AgentCreate(Arguments, frozen=True, kw_only=True):
    scope: Literal["global", "workspace"]
    name: Annotated[str, Meta(min_length=1, description="Lower case, digits, - and _.")]
    prompt: Annotated[str, Meta(min_length=1, description="The agent's instructions.")]
    provider: str = ""
    model: str = ""
    reasoning_effort: str = ""
    tools: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ()
    deny_tools: tuple[str, ...] = ()
    category_path: tuple[str, ...] = ()
    workspace: _PLACE = ""


class AgentTools:
    """The tools about agents."""

    def __init__(self, fleet: Fleet, authoring: Authoring, places: Places) -> None:
        self._fleet = fleet
        self._authoring = authoring
        self._places = places

    def tools(self) -> tuple[NativeTool, ...]:
        """Return them."""
        return (
            native(
                "agent_list",
                AgentList,
                self._list,
                "List the agents in force in a workspace with what they declare they can do.",
                title="List agents",
                toolsets=(CATALOG, WORKSPACE),
                hints=("fleet", "who can"),
            ),
            native(
                "agent_info",
                AgentInfo,
                self._info,
                "Show one agent with its full capability records and their digests.",
                title="Show an agent",
                toolsets=(CATALOG, WORKSPACE),
                hints=("capabilities", "digests"),
            ),
            native(
                "agent_select",
                AgentSelect,
                self._select,
                "Choose the agent for a task by declared capabilities and enabled skills, with the reasons.",
                title="Choose an agent",
                toolsets=(CATALOG, WORKSPACE),
                hints=("route", "capability", "delegate", "which agent fits"),
            ),
            native(
                "agent_create",
                AgentCreate,
                self._create,
                "Write a new agent definition (AGENT.md) in a workspace or the home.",
                title="Create an agent",
                toolsets=(WORKSPACE,),
                risk="mutating",
                hints=("define", "new agent"),
            ),
        )

    async def _list(self, actor: Actor, given: AgentList) -> object:
        found = await self._fleet.visible(await self._places.find(actor, given.workspace))
        return {"agents": [_row(agent) for agent in found.agents if agent.definition_digest]}

    async def _info(self, actor: Actor, given: AgentInfo) -> object:
        agent = await self._fleet.get(given.name, await self._places.find(actor, given.workspace))
        return {
            "agent": {
                **_row(agent),
                "permissions": agent.permissions,
                "capabilities": agent.capabilities,
                "capabilities_digest": agent.capabilities_digest,
                "diagnostics": [item.message for item in agent.diagnostics],
            }
        }

    async def _select(self, actor: Actor, given: AgentSelect) -> object:
        workspace = await self._places.find(actor, given.workspace)
        return await self._fleet.select(given.task, workspace, Wishes(given.require, given.prefer))

    async def _create(self, actor: Actor, given: AgentCreate) -> object:
        definition = AgentDefinition(
            name=given.name,
            prompt=given.prompt,
            provider=given.provider,
            model=given.model,
            reasoning_effort=given.reasoning_effort,
            tools=given.tools,
            toolsets=given.toolsets,
            deny_tools=given.deny_tools,
            category_path=given.category_path,
        )
        workspace = await self._places.find(actor, given.workspace)
        return {"agent": _row(await self._authoring.create(definition, given.scope, workspace))}


def _row(agent: Agent) -> dict[str, object]:
    """Return what another agent needs to know: not the whole prompt, and nothing of servers."""
    runtime = agent.effective_runtime
    return {
        "name": agent.name,
        "origin": agent.origin,
        "category_path": list(agent.category_path),
        "provider": runtime.provider if runtime else agent.provider,
        "model": runtime.model if runtime else agent.model,
        "capabilities": [{"id": item.id, "summary": item.summary} for item in agent.capabilities],
        "definition_digest": agent.definition_digest,
    }
