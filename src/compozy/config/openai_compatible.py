"""`openai-compatible`: any endpoint that speaks OpenAI's chat API, through a small agent from PyPI (decisions D24).

The agent is agentao: MIT, runs on compozy's own Python (3.11 or newer), needs no Node. It lies in an environment of
its own below the home (`provider_install.py`) and is told address, model and key by its environment; the key comes
from a credential slot, never from a command line. Further endpoints are providers with
``runtime_provider = "openai-compatible"``.
"""

import shlex
from pathlib import Path

from compozy.config.home import Home
from compozy.model.provider import CredentialSlot, ModelDiscovery, Provider

OPENAI_COMPATIBLE = "openai-compatible"
PACKAGE = "agentao[cli]"
VERSION = "0.5.17"
COMMAND = "agentao --acp"
_KEY = "OPENAI_API_KEY"
# The agent insists on a key, a local server does not; a slot's value takes its place.
_NO_KEY = "not-needed"
# What the agent puts before the model's name in its own list.
MODEL_PREFIX = "openai/"

ROW = Provider(
    id=OPENAI_COMPATIBLE,
    display_name="Any OpenAI-compatible endpoint",
    command=COMMAND,
    runtime_provider=OPENAI_COMPATIBLE,
    auth_mode="bound_secret",
    credential_slots=(
        CredentialSlot(name="api_key", target_env=_KEY, secret_ref=f"env:{_KEY}", kind="api_key", required=False),
    ),
    discovery=ModelDiscovery(enabled=True),
    builtin=True,
)


def is_openai_compatible(provider: Provider) -> bool:
    """Whether the provider is an endpoint behind the agent of this module."""
    return provider.runtime_provider == OPENAI_COMPATIBLE


def environment_folder(home: Home) -> Path:
    """Return where the agent's own environment lies; the version is part of it, so that an update is a new one."""
    return home.root / "providers" / OPENAI_COMPATIBLE / f"agentao-{VERSION}"


def program(home: Home) -> Path:
    """Return the agent's program, installed or not: a link, so that sessions find it after an update too."""
    return home.root / "providers" / OPENAI_COMPATIBLE / "bin" / "agentao"


def located(provider: Provider, home: Home) -> str:
    """Return the provider's command: the program of this home, unless config.toml names another."""
    return f"{shlex.quote(str(program(home)))} --acp" if provider.command == COMMAND else provider.command


def endpoint_environment(provider: Provider, model: str) -> dict[str, str]:
    """Return what tells the agent where to go; all of it is set, so that a `.env` of a workspace decides nothing."""
    return {
        "LLM_PROVIDER": "OPENAI",
        "OPENAI_BASE_URL": provider.base_url,
        "OPENAI_MODEL": model,
        _KEY: _NO_KEY,
    }


def missing_setting(provider: Provider, model: str) -> tuple[str, str]:
    """Return which setting the endpoint lacks and an example of it, ("", "") when nothing is missing."""
    if not is_openai_compatible(provider):
        return "", ""
    if not provider.base_url:
        return "base_url", "http://127.0.0.1:11434/v1"
    return ("", "") if model else ("models.default", "llama3.2")
