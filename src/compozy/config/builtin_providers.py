"""The built-in provider rows: how each known agent program is started (contract §2.3, decisions D24).

A table and nothing else. Merging with config.toml is in `providers.py`, finding programs in `detection.py`.
Model rows are metadata for display and for the default effort, never an allow list.
"""

import shlex
import sys

from compozy.config.openai_compatible import ROW as OPENAI_COMPATIBLE_ROW
from compozy.model.provider import CredentialSlot, CuratedModel, Provider

OFFLINE = "offline"

# Spellings that mean another row; resolved before anything is merged.
ALIASES: dict[str, str] = {
    "claude-code": "claude",
    "kimi": "moonshot",
    "grok": "xai",
    "x.ai": "xai",
    "glm": "zai",
    "z.ai": "zai",
    "qwen": "qwen-code",
    "vercel": "vercel-ai-gateway",
    "ai-gateway": "vercel-ai-gateway",
    "open-code": "opencode",
}

# The one exception to "no model aliases": what is written to claude's ACP option (contract §2.3, decisions D17).
CLAUDE_OPTION_VALUES: dict[str, str] = {
    "claude-sonnet-5": "sonnet",
    "claude-opus-4-8": "opus[1m]",
    "claude-haiku-4-5-20251001": "haiku",
}

_CODEX_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")
_CLAUDE_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_PI = "npx -y pi-acp@latest"


def _codex(name: str, cost_in: float, cost_out: float, *, featured: bool = False) -> CuratedModel:
    return CuratedModel(
        id=name,
        context_window=1_050_000,
        max_output_tokens=128_000,
        supports_reasoning=True,
        reasoning_efforts=_CODEX_EFFORTS,
        default_reasoning_effort="medium",
        cost_input_per_million=cost_in,
        cost_output_per_million=cost_out,
        featured=featured,
    )


def _claude(name: str, cost_in: float, cost_out: float, *, featured: bool = False) -> CuratedModel:
    return CuratedModel(
        id=name,
        context_window=1_000_000,
        max_output_tokens=128_000,
        supports_reasoning=True,
        reasoning_efforts=_CLAUDE_EFFORTS,
        default_reasoning_effort="high",
        cost_input_per_million=cost_in,
        cost_output_per_million=cost_out,
        featured=featured,
    )


_CODEX_MODELS = (
    _codex("gpt-5.6-sol", 5, 30, featured=True),
    _codex("gpt-5.6-terra", 2.5, 15),
    _codex("gpt-5.6-luna", 1, 6),
)
_CLAUDE_MODELS = (
    _claude("claude-fable-5", 10, 50, featured=True),
    _claude("claude-opus-4-8", 5, 25),
    _claude("claude-sonnet-5", 3, 15),
    CuratedModel(
        id="claude-haiku-4-5-20251001",
        context_window=200_000,
        max_output_tokens=64_000,
        cost_input_per_million=1,
        cost_output_per_million=5,
    ),
)


def _native(
    name: str,
    display: str,
    command: str,
    *,
    model: str = "",
    login: str = "",
    curated: tuple[CuratedModel, ...] = (),
    session_mcp: bool = True,
) -> Provider:
    """A program that brings its own login."""
    return Provider(
        id=name,
        display_name=display,
        command=command,
        default_model=model,
        curated=curated or ((CuratedModel(id=model),) if model else ()),
        reasoning_apply="acp_option" if name in ("claude", "codex") else "none",
        auth_login_command=login,
        session_mcp=session_mcp,
        builtin=True,
    )


def _pi(name: str, display: str, runtime_provider: str, model: str, target_env: str) -> Provider:
    """A model service reached through Pi, with its key bound to one variable."""
    return Provider(
        id=name,
        display_name=display,
        command=_PI,
        harness="pi_acp",
        runtime_provider=runtime_provider,
        auth_mode="bound_secret",
        default_model=model,
        curated=(CuratedModel(id=model),),
        credential_slots=(
            CredentialSlot(name="api_key", target_env=target_env, secret_ref=f"env:{target_env}", kind="api_key"),
        ),
        builtin=True,
    )


def _offline() -> Provider:
    return Provider(
        id=OFFLINE,
        display_name="Offline search agent (uses no model)",
        command=f"{shlex.quote(sys.executable)} -m compozy_offline_agent",
        auth_mode="none",
        builtin=True,
    )


def _rows() -> tuple[Provider, ...]:
    return (
        _native(
            "claude",
            "Claude Code",
            "npx -y @agentclientprotocol/claude-agent-acp@latest",
            model="claude-sonnet-5",
            login="claude auth login",
            curated=_CLAUDE_MODELS,
        ),
        _native(
            "codex",
            "Codex",
            "npx -y @agentclientprotocol/codex-acp@latest",
            model="gpt-5.6-sol",
            login="codex login",
            curated=_CODEX_MODELS,
        ),
        _native("gemini", "Gemini CLI", "gemini --acp", model="gemini-3.1-pro-preview"),
        _native("opencode", "OpenCode", "npx -y opencode-ai@latest acp", login="opencode auth login"),
        _native("copilot", "GitHub Copilot CLI", "copilot --acp --stdio"),
        _native("cursor", "Cursor Agent", "cursor-agent acp"),
        _native("kiro", "Kiro", "kiro-cli-chat acp"),
        _native("blackbox", "Blackbox", "blackbox --experimental-acp"),
        _native("cline", "Cline", "npx -y cline@latest --acp"),
        _native("goose", "Goose", "goose acp"),
        _native("hermes", "Hermes", "hermes acp"),
        _native("junie", "Junie", "junie --acp true"),
        _native("kimi-cli", "Kimi CLI", "kimi acp"),
        _native("openclaw", "OpenClaw", "openclaw acp", session_mcp=False),
        _native("openhands", "OpenHands", "openhands acp"),
        _native("qoder", "Qoder", "npx -y @qoder-ai/qodercli@latest --acp"),
        _native(
            "qwen-code",
            "Qwen Code",
            "npx -y @qwen-code/qwen-code@latest --acp --experimental-skills",
            model="qwen3.6-plus",
        ),
        Provider(
            id="pi",
            display_name="Pi",
            command=_PI,
            harness="pi_acp",
            runtime_provider="anthropic",
            default_model="claude-opus-4-7",
            curated=(CuratedModel(id="claude-opus-4-7"),),
            auth_login_command=f"{_PI} --terminal-login",
            builtin=True,
        ),
        _pi("openrouter", "OpenRouter", "openrouter", "openai/gpt-5.4", "OPENROUTER_API_KEY"),
        _pi("zai", "Z.ai", "zai", "glm-4.6", "ZAI_API_KEY"),
        _pi("moonshot", "Moonshot", "kimi-coding", "kimi-k2-thinking", "KIMI_API_KEY"),
        _pi(
            "vercel-ai-gateway",
            "Vercel AI Gateway",
            "vercel-ai-gateway",
            "anthropic/claude-opus-4-7",
            "AI_GATEWAY_API_KEY",
        ),
        _pi("xai", "xAI", "xai", "grok-4-fast-non-reasoning", "XAI_API_KEY"),
        _pi("minimax", "MiniMax", "minimax", "MiniMax-M2.1", "MINIMAX_API_KEY"),
        _pi("mistral", "Mistral", "mistral", "devstral-medium-latest", "MISTRAL_API_KEY"),
        _pi("groq", "Groq", "groq", "openai/gpt-oss-120b", "GROQ_API_KEY"),
        OPENAI_COMPATIBLE_ROW,
        _offline(),
    )


BUILTIN_PROVIDERS: dict[str, Provider] = {row.id: row for row in _rows()}


def canonical_provider(name: str) -> str:
    """Return the row a provider name means: trimmed, lower case, aliases resolved."""
    key = name.strip().lower()
    return ALIASES.get(key, key)
