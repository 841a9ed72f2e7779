"""SOUL.md: who an agent is, read strictly so that nothing in it changes what the agent may do (formats §14)."""

import hashlib
import json

from compozy.documents.companion_fields import SOUL
from compozy.documents.companions import Companion, decode_fields, heading_problems, size_problems, take_apart
from compozy.documents.decoding import text_in, texts_in
from compozy.documents.problems import has_errors
from compozy.documents.text import trim
from compozy.model.diagnostic import Diagnostic
from compozy.model.record import Record

# Header and body each; the established default.
MAX_SOUL_BYTES = 32_768
_AGENT = "it belongs into AGENT.md"
_SCHEDULE = "waking belongs into HEARTBEAT.md"
# What other files own: in SOUL.md neither a field nor a section.
OWNED_ELSEWHERE = {
    **dict.fromkeys(
        (
            "name", "provider", "command", "model", "reasoning_effort", "permissions", "tools", "toolsets",
            "deny_tools", "category_path", "skills", "hooks", "mcp_servers",
        ),
        _AGENT,
    ),
    "mcp": "servers belong into mcp.json",
    "capabilities": "capabilities belong into capabilities.toml",
    **dict.fromkeys(("schedule", "heartbeat", "min_interval", "active_hours", "quiet_windows"), _SCHEDULE),
    **dict.fromkeys(("env", "secret_env", "secrets"), "environment values belong to servers and hooks in AGENT.md"),
}  # fmt: skip
_LISTS = ("tone", "principles", "constraints", "collaboration", "memory_policy", "tags")
# Escaped beyond JSON's own rules, as for capability digests (formats §10).
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


class Soul(Record, frozen=True, kw_only=True):
    """A persona. Lists are None when the field is absent, which the digest tells from empty."""

    body: str
    digest: str
    version: str = ""
    role: str = ""
    tone: tuple[str, ...] | None = None
    principles: tuple[str, ...] | None = None
    constraints: tuple[str, ...] | None = None
    collaboration: tuple[str, ...] | None = None
    memory_policy: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None


def read_soul(data: bytes, path: str = "SOUL.md") -> tuple[Soul | None, tuple[Diagnostic, ...]]:
    """Read a SOUL.md; the persona is None when a diagnostic is an error."""
    found = take_apart(data, path, malformed="malformed_frontmatter", header_required=False, known=SOUL.fields)
    fields = decode_fields(
        found,
        SOUL,
        unknown="unsupported_field",
        mismatch="invalid_field_type",
        forbidden=OWNED_ELSEWHERE,
        forbidden_code="forbidden_field",
    )
    found.problems += size_problems(found, MAX_SOUL_BYTES, header="oversized_frontmatter", body="oversized_body")
    found.problems += heading_problems(found, OWNED_ELSEWHERE, "reserved_section")
    diagnostics = found.diagnostics()
    return (None if has_errors(diagnostics) else _soul(found, fields)), diagnostics


def _soul(found: Companion, fields: dict[str, object]) -> Soul:
    lists: dict[str, tuple[str, ...] | None] = {
        name: tuple(text for text in map(trim, texts_in(fields, name)) if text) if name in fields else None
        for name in _LISTS
    }
    version, role = trim(text_in(fields, "version")), trim(text_in(fields, "role"))
    record: dict[str, object] = {"Version": version, "Role": role}
    for name in _LISTS:
        items = lists[name]
        record["".join(part.capitalize() for part in name.split("_"))] = list(items) if items is not None else None
    encoded = json.dumps(record, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)
    digest = hashlib.sha256(f"compozy.soul.v1\n{encoded}\n{found.body}".encode("utf-8", "surrogatepass")).hexdigest()
    return Soul(body=found.body, digest=f"sha256:{digest}", version=version, role=role, **lists)
