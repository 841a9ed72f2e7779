"""Trust before execution: what a workspace brings runs only after a person trusted it as it is (decisions D15; P42).

Definitions of the home are trusted. What lies in a workspace is looked at when a session is created, and what the
session was allowed to use again before each start of its agent. Reading a workspace never runs anything of it.
"""

import hashlib
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compozy.config.builtin_providers import canonical_provider
from compozy.config.config import Config
from compozy.config.home import Home
from compozy.config.load import load_config, workspace_config_file
from compozy.config.mcp.layers import workspace_mcp_file
from compozy.config.toml_source import TomlSource, read_toml
from compozy.config.trust_grants import TrustGrants, text_digest
from compozy.config.workspace_rules import workspace_needs
from compozy.documents.agents import LoadedAgent
from compozy.documents.text import trim
from compozy.model.agent import Origin
from compozy.model.definition import AgentDefinition
from compozy.model.errors import Conflict
from compozy.model.mcp import ResolvedServer
from compozy.model.trust import TrustItem, TrustMark, TrustReport
from compozy.model.workspace import Workspace
from compozy.runtime.trust_evidence import (
    agent_items,
    command_lines,
    config_items,
    extension_root,
    mcp_file_items,
    program_digest,
    program_items,
    skill_items,
    started_lines,
    words_of,
)

# An error answer is for reading; `trust show` lists everything.
_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class TrustedUse:
    """What a session may use: the files to look at again, and whether permissions stay capped."""

    marks: tuple[TrustMark, ...] = ()
    is_capped: bool = False


class Trust:
    """What was trusted in one home. Methods read files: call them from a thread."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.grants = TrustGrants(home)

    # --- looking

    def brings(self, loaded: LoadedAgent, origin: Origin) -> bool:
        """Whether a definition counts as the workspace's: the home's own stays the person's wherever it is found."""
        return origin == "workspace" and not Path(loaded.path).is_relative_to(self.home.agents)

    def items(
        self,
        agents: Iterable[tuple[LoadedAgent, Origin]],
        workspace: Workspace,
        config: Config,
        *,
        provider: str = "",
        servers: Sequence[ResolvedServer] | None = None,
    ) -> tuple[TrustItem, ...]:
        """Return what these agents would need in a workspace, each with whether it is trusted.

        `provider` limits the workspace's own settings to what a session with that provider uses, `servers` the MCP
        servers that are required to those that the session is given.
        """
        root = Path(workspace.root_dir)
        found: list[TrustItem] = []
        lines: list[Sequence[str]] = []
        roots = [workspace.root_dir, *workspace.add_dirs]
        disabled: set[str] = set(config.skills.disabled_skills)
        for loaded, origin in agents:
            if self.brings(loaded, origin):
                found += agent_items(loaded, config.permissions.mode)
                lines += command_lines(loaded.definition)
                roots += filter(None, [extension_root(Path(loaded.path))])
                found += skill_items(Path(loaded.path).parent / "skills", loaded.definition.skills_disabled)
        if config.skills.enabled:
            found += skill_items(root / ".compozy" / "skills", tuple(disabled))
        found += self._config_items(root, config, provider, lines)
        if workspace_config_file(root).absolute() != self.home.config_file.absolute():
            brought, started = mcp_file_items(workspace_mcp_file(root))
            found += brought
            lines += started_lines(started)
        found += program_items(lines, tuple(dict.fromkeys(roots)))
        has = self.grants.has
        return tuple(
            msgspec.structs.replace(
                item,
                trusted=has(item.path, item.digest),
                required=item.required and (servers is None or is_needed(item, servers)),
            )
            for item in found
        )

    def _config_items(
        self, root: Path, config: Config, provider: str, lines: list[Sequence[str]]
    ) -> Iterable[TrustItem]:
        path = root / ".compozy" / "config.toml"
        if path.absolute() == self.home.config_file.absolute():
            return ()
        source = read_toml(path)
        if source is None:
            return ()
        home = load_home_permissions(self.home, config)
        needs = tuple(workspace_needs(source, home.permissions))
        lines += (words_of(need.value) for need in needs)
        return config_items(needs, str(path), text_digest(source.text), provider)

    def report(
        self, agents: Iterable[tuple[LoadedAgent, Origin]], workspace: Workspace, config: Config, *, agent: str = ""
    ) -> TrustReport:
        """Return everything these agents would need, for a person to look at."""
        items = self.items(agents, workspace, config) if config.trust.mode != "off" else ()
        digest = items_digest(items)
        is_trusted = all(item.trusted for item in items)
        return TrustReport(
            workspace_id=workspace.id,
            root_dir=workspace.root_dir,
            mode=config.trust.mode,
            trusted=is_trusted,
            digest=digest,
            items=items,
            agent=agent,
            suggested_command="" if is_trusted else grant_command(workspace.root_dir, agent, digest),
        )

    # --- deciding

    def require(
        self,
        loaded: LoadedAgent,
        origin: Origin,
        workspace: Workspace,
        config: Config,
        servers: Sequence[ResolvedServer],
    ) -> TrustedUse:
        """Refuse a session that would use what nobody trusted; `servers` are what the merge of all places gives.

        Raises:
            Conflict: code `trust_required`, with what would run, where that stands, and the command that trusts it.
        """
        if config.trust.mode == "off":
            return TrustedUse()
        definition = loaded.definition
        provider = session_provider(definition, config)
        items = self.items([(loaded, origin)], workspace, config, provider=provider, servers=servers)
        missing = [item for item in items if item.required and not item.trusted]
        if missing:
            # The person trusts everything of this agent at once, so that no second question follows.
            everything = self.items([(loaded, origin)], workspace, config)
            raise trust_required(definition.name, workspace, missing, items_digest(everything))
        marks = (
            TrustMark(path=item.path, digest=item.digest, is_program=item.kind == "program")
            for item in items
            if item.required
        )
        capped = any(item.kind == "permissions" and not item.trusted for item in items)
        return TrustedUse(marks=tuple(dict.fromkeys(marks)), is_capped=capped and self.brings(loaded, origin))

    def look_again(self, marks: Sequence[TrustMark], root: str, agent: str) -> None:
        """Refuse the start of an agent whose session used what is no longer trusted, or a program that changed.

        Raises:
            Conflict: code `trust_required`.
        """
        for mark in marks:
            digest = _digest_now(mark.path) if mark.is_program else mark.digest
            if self.grants.has(mark.path, digest):
                continue
            what = "the program changed since it was trusted" if digest != mark.digest else "trust was taken back"
            raise Conflict(
                f"agent {agent!r} cannot start: {what}: {mark.path!r}; look at it and run "
                f"`{grant_command(root, agent)}`, or start a new session",
                code="trust_required",
                category="trust",
                evidence={"agent": agent, "workspace": root, "path": mark.path, "digest": digest},
                hint=grant_command(root, agent),
            )

    # --- changing

    def grant(self, report: TrustReport, expected_digest: str = "") -> None:
        """Trust every item of a report, if it still is what the person saw.

        Raises:
            Conflict: the workspace changed since `expected_digest` was shown.
            TrustError: the record cannot be written.
        """
        if expected_digest and expected_digest != report.digest:
            raise Conflict(
                f"the workspace {report.root_dir!r} changed since it was shown: look again and grant "
                "what is there now",
                code="trust_changed",
                category="trust",
                evidence={"expected_digest": expected_digest, "digest": report.digest},
                hint="compozy trust show" + _options(report.root_dir, report.agent),
            )
        self.grants.add((item.path, item.digest) for item in report.items)

    def revoke(self, report: TrustReport) -> int:
        """Take trust back in the files of a report, and of all below the workspace when it is about no one agent.

        Returns:
            How many grants there were.
        """
        root = report.root_dir.rstrip("/") + "/"
        paths = {item.path for item in report.items}
        return self.grants.remove(lambda path: path in paths or (not report.agent and path.startswith(root)))

    def trusts_file(self) -> Callable[[TomlSource], bool]:
        """Return the question `load_config` asks about a workspace's settings."""
        return lambda source: self.grants.has(str(source.path), text_digest(source.text))


def is_needed(item: TrustItem, servers: Sequence[ResolvedServer]) -> bool:
    """Whether a session that is given these servers uses the item; other things than servers it always does."""
    is_settings = item.kind == "config" and item.name == "mcp_servers"
    if item.kind != "mcp_server" and not is_settings:
        return True
    return any(
        source.path == item.path and source.standing != "replaced"
        for server in servers
        if server.state in ("in_force", "untrusted") and (is_settings or trim(item.name) == server.server.name)
        for source in server.sources
        if not is_settings or source.place == "config.toml"
    )


def session_provider(definition: AgentDefinition, config: Config) -> str:
    """Return the provider a session of the definition would use, "" when nothing names one."""
    return canonical_provider(definition.provider.strip() or config.defaults.provider)


def load_home_permissions(home: Home, config: Config) -> Config:
    """Return the home's own configuration when `config` is that of a workspace, whose mode may be wider."""
    return load_config(home) if len(config.sources) > 1 else config


def items_digest(items: Iterable[TrustItem]) -> str:
    """Return what stands for exactly these items: 128 bits are enough to find them again."""
    lines = sorted({f"{item.kind}\0{item.name}\0{item.path}\0{item.digest}" for item in items})
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def trust_required(agent: str, workspace: Workspace, missing: Sequence[TrustItem], digest: str) -> Conflict:
    """Return the refusal with its evidence and the command that ends it."""
    first = "; ".join(f"{item.kind} {item.name!r} would run {item.runs!r} ({item.path})" for item in missing[:3])
    more = f"; {len(missing) - 3} more" if len(missing) > 3 else ""
    hint = grant_command(workspace.root_dir, agent, digest)
    return Conflict(
        f"agent {agent!r} needs what its workspace brings and nobody trusted yet: {first}{more}. Look at it, then "
        f"trust it as it is now with `{hint}`",
        code="trust_required",
        category="trust",
        evidence={
            "agent": agent,
            "workspace": workspace.root_dir,
            "digest": digest,
            "items": [msgspec.to_builtins(item) for item in missing[:_SHOWN]],
            "count": len(missing),
        },
        hint=hint,
    )


def grant_command(root: str, agent: str, digest: str = "") -> str:
    """Return the command that trusts what is there now, without asking."""
    where = _options(root, agent)
    return f"compozy trust grant{where} --digest {digest}" if digest else f"compozy trust grant{where} --yes"


def _options(root: str, agent: str) -> str:
    named = f" --agent {shlex.quote(agent)}" if agent else ""
    return f" --workspace {shlex.quote(root)}{named}"


def _digest_now(path: str) -> str:
    try:
        return program_digest(path)
    except OSError:
        return ""
