"""Which providers' programs are on this machine (decisions D21). Looks at PATH only; starts nothing.

A provider whose command runs through ``npx`` would download its bridge, so it counts as found only when the vendor's
own program is installed too.
"""

from collections.abc import Iterable, Mapping

from compozy.config.builtin_providers import OFFLINE
from compozy.config.commands import find_executable, split_command
from compozy.model.provider import Provider

# The vendor's program behind each bridge that npx fetches.
VENDOR_PROGRAMS: dict[str, str] = {
    "claude": "claude",
    "codex": "codex",
    "opencode": "opencode",
    "cline": "cline",
    "qoder": "qodercli",
    "qwen-code": "qwen",
    "pi": "pi",
}

# How each vendor's program comes onto a machine, where that is one command.
INSTALL_COMMANDS: dict[str, str] = {
    "claude": "npm install -g @anthropic-ai/claude-code",
    "codex": "npm install -g @openai/codex",
    "gemini": "npm install -g @google/gemini-cli",
    "opencode": "npm install -g opencode-ai",
    "copilot": "npm install -g @github/copilot",
    "cline": "npm install -g cline",
    "qoder": "npm install -g @qoder-ai/qodercli",
    "qwen-code": "npm install -g @qwen-code/qwen-code",
    "kimi-cli": "uv tool install kimi-cli",
    "hermes": "uv tool install 'hermes-agent[acp]'",
    "openhands": "uv tool install openhands",
    "pi": "npm install -g --ignore-scripts @earendil-works/pi-coding-agent",
}


def missing_program(provider: Provider, environ: Mapping[str, str] | None = None) -> str:
    """Return the program that keeps the provider from being started, "" when it is there."""
    program = split_command(provider.command)[0]
    return "" if find_executable(program, environ) else program


def is_installed(provider: Provider, environ: Mapping[str, str] | None = None) -> bool:
    """Whether the provider can be expected to work: its program is here, and behind npx the vendor's program too."""
    if missing_program(provider, environ):
        return False
    if split_command(provider.command)[0] != "npx":
        return True
    vendor = VENDOR_PROGRAMS.get(provider.id)
    return vendor is not None and find_executable(vendor, environ) is not None


def first_installed(providers: Iterable[Provider], environ: Mapping[str, str] | None = None) -> str:
    """Return the id of the first provider found on the machine, in table order, else ``offline``."""
    for provider in providers:
        if provider.id != OFFLINE and is_installed(provider, environ):
            return provider.id
    return OFFLINE
