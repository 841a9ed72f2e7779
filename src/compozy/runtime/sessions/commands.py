"""The command of a session's agent: stored without secrets, whole again when the agent starts (SECURITY.md; P39).

A secret that somebody wrote into a `command` stays in the file that says it, as the literals of MCP servers do
(`mcp.py`). Only the agent program is told it.
"""

from pathlib import Path

from compozy.config.config import Config
from compozy.config.redaction import Redactor
from compozy.documents.agents import load_agent
from compozy.model.command_secrets import command_secrets, masked_command
from compozy.model.errors import CompozyError, Unprocessable
from compozy.model.provider import Provider
from compozy.model.secret_patterns import MASK
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.trust_evidence import definition_digest
from compozy.store.interface import SessionRecord


def stored_command(command: str, redactor: Redactor) -> str:
    """Return a command as it may be stored; its secrets are masked wherever they turn up from now on."""
    for secret in command_secrets(command, redactor.text):
        redactor.register(secret)
    return masked_command(command, redactor.text)


def whole_command(deps: Deps, record: SessionRecord, provider: Provider, config: Config) -> str:
    """Return the command with what its file says. Reads that file: call it from a thread.

    Raises:
        Unprocessable: no trusted file says this command any more.
    """
    stored = record.command
    if MASK not in stored:
        return stored
    for authored in (_agents_command(deps, record, config), provider.command):
        if authored and stored_command(authored, deps.redactor) == stored:
            return authored
    raise Unprocessable(
        f"the command of agent {record.session.agent_name!r} holds a secret that is kept in its file only, and "
        f"{record.definition_path or f'the settings of provider {provider.id}'} does not say that command any more, "
        "or is not trusted as it is now: restore it, or start a new session",
        code="command_secret_unresolved",
        category="provider",
        evidence={"agent": record.session.agent_name, "provider": provider.id, "path": record.definition_path},
    )


def _agents_command(deps: Deps, record: SessionRecord, config: Config) -> str:
    if not record.definition_path:
        return ""
    path = Path(record.definition_path)
    try:
        loaded = load_agent(path)
    except CompozyError:
        return ""
    is_safe = config.trust.mode == "off" or not deps.trust.brings(loaded, "workspace")
    if is_safe or deps.trust.grants.has(str(path), definition_digest(loaded.definition)):
        return loaded.definition.command.strip()
    return ""
