"""The field trees of the authored formats, shared by decoding, schemas and documentation (formats §4, §9.3).

Says which fields exist and what they hold; the rules about their content live with each topic.
"""

from enum import Enum

import msgspec

from compozy.model.definition import PERMISSION_MODES, REASONING_EFFORTS


class Kind(Enum):
    """What a field holds; the value is what a message calls it."""

    TEXT = "a string"
    TEXTS = "a list of strings"
    TEXT_MAP = "a mapping of strings"
    FLAG = "true or false"
    WHOLE = "a whole number"
    DURATION = 'a duration such as "90s"'
    TABLE = "a mapping"
    TABLES = "a list of mappings"
    TABLE_MAP = "a mapping of mappings"


class Field(msgspec.Struct, frozen=True):
    """One field: its name, what it holds, what it means; `table` for nested ones, `choices` for closed sets."""

    name: str
    kind: Kind
    doc: str
    table: "Table | None" = None
    choices: tuple[str, ...] = ()


class Table(msgspec.Struct, frozen=True):
    """A set of fields. `hints` says for well-known foreign keys what to do instead."""

    name: str
    fields: dict[str, Field]
    hints: dict[str, str] = {}
    required: tuple[str, ...] = ()


def _table(name: str, *fields: Field, hints: dict[str, str] | None = None, required: tuple[str, ...] = ()) -> Table:
    return Table(name, {field.name: field for field in fields}, hints or {}, required)


T, L, M = Kind.TEXT, Kind.TEXTS, Kind.TEXT_MAP

MCP_AUTH = _table(
    "auth",
    Field("registration", T, "how the client is registered", choices=("auto", "pre_registered")),
    Field("issuer_url", T, "the issuer, with pre_registered only"),
    Field("client_id", T, "the client id, with pre_registered only"),
    Field("client_secret_ref", T, "env:NAME or vault:mcp/..., with pre_registered only"),
    Field("scopes", L, "scopes to ask for"),
)
_STDIO_OR_HTTP = (
    Field("transport", T, "stdio or http; follows from command or url when left out", choices=("stdio", "http")),
    Field("command", T, "the program of a stdio server"),
    Field("args", L, "its arguments"),
    Field("env", M, "literal environment values"),
    Field("secret_env", M, "environment values by reference: env:NAME or vault:mcp/..."),
    Field("url", T, "the address of an http server"),
)
_CATALOG = (
    Field("catalog_entry", T, "the catalog entry the server came from"),
    Field("catalog_version", T, "its version"),
)
MCP_SERVER = _table(
    "mcp_servers",
    Field("name", T, "the server's name"),
    *_STDIO_OR_HTTP,
    Field("headers", M, "literal HTTP headers"),
    Field("secret_headers", M, "HTTP headers by reference"),
    Field("auth", Kind.TABLE, "how to sign in to an http server", MCP_AUTH),
    *_CATALOG,
    hints={"type": "use `transport`", "cwd": "a working directory cannot be set", "description": "write a comment"},
    required=("name",),
)
MCP_JSON_SERVER = _table(
    "server",
    *_STDIO_OR_HTTP,
    Field("auth", Kind.TABLE, "how to sign in to an http server", MCP_AUTH),
    *_CATALOG,
    hints={
        "type": "use `transport`",
        "headers": "use `auth`, or declare the server in AGENT.md, where `headers` exists",
        "secret_headers": "use `auth`, or declare the server in AGENT.md, where `secret_headers` exists",
        "name": "the member's name is the server's name",
        "cwd": "a working directory cannot be set",
        "description": "leave it out",
    },
)
HOOK_EXECUTOR_FIELDS = (
    Field("command", T, "the program the hook runs"),
    Field("args", L, "its arguments"),
    Field("env", M, "literal environment values"),
    Field("secret_env", M, "environment values by reference: env:NAME or vault:hooks/..."),
)
HOOK_EXECUTOR = _table(
    "executor",
    Field("kind", T, "what runs the hook", choices=("subprocess", "native", "wasm")),
    *HOOK_EXECUTOR_FIELDS,
)
MATCHER_TEXT_FIELDS = [
    "agent_name",
    "agent_type",
    "workspace_id",
    "workspace_root",
    "session_type",
    "sandbox_id",
    "sandbox_backend",
    "sandbox_profile",
    "sync_direction",
    "input_class",
    "acp_event_type",
    "turn_id",
    "tool_id",
    "tool_name",
    "tool_read_only",
    "decision_class",
    "message_role",
    "message_delta_type",
    "channel",
    "surface",
    "kind",
    "direction",
    "work_state",
    "compaction_reason",
    "compaction_strategy",
    "task_id",
    "run_id",
    "workflow_id",
    "participation_channel",
    "coordinator_session_id",
    "parent_session_id",
    "root_session_id",
    "child_session_id",
    "spawn_role",
    "release_reason",
]
HOOK_MATCHER = _table(
    "matcher",
    *(
        Field(name, Kind.FLAG if name == "tool_read_only" else T, f"matches the event's {name.replace('_', ' ')}")
        for name in MATCHER_TEXT_FIELDS
    ),
    hints={"autonomy": "write the task fields directly below `matcher`", "tool_namespace": "use `tool_id`"},
)
HOOK = _table(
    "hooks",
    Field("name", T, "the hook's name"),
    Field("event", T, "the event it waits for"),
    Field("mode", T, "sync or async (the default)", choices=("sync", "async")),
    Field("enabled", Kind.FLAG, "false switches the hook off"),
    Field("required", Kind.FLAG, "a failing sync hook stops the action"),
    Field("priority", Kind.WHOLE, "order among hooks of one event"),
    Field("timeout", Kind.DURATION, "how long the hook may take"),
    Field("matcher", Kind.TABLE, "narrows the events down", HOOK_MATCHER),
    *HOOK_EXECUTOR_FIELDS,
    Field("metadata", M, "free notes"),
    Field("executor", Kind.TABLE, "what runs the hook", HOOK_EXECUTOR),
    required=("name", "event"),
)
SKILLS = _table("skills", Field("disabled", L, "skills this agent does not get"))
AGENT = _table(
    "agent",
    Field("name", T, "the agent's name"),
    Field("provider", T, "which provider runs it"),
    Field("command", T, "the program to start instead of the provider's"),
    Field("model", T, "the model to ask for"),
    Field("reasoning_effort", T, "how much the model thinks", choices=REASONING_EFFORTS),
    Field("permissions", T, "what it may do without asking", choices=PERMISSION_MODES),
    Field("tools", L, "tools it may use; a trailing * stands for the rest of a name"),
    Field("toolsets", L, "sets of tools it may use"),
    Field("deny_tools", L, "tools it may not use"),
    Field("category_path", L, "where it is listed"),
    Field("skills", Kind.TABLE, "skill settings", SKILLS),
    Field("mcp_servers", Kind.TABLES, "MCP servers it uses", MCP_SERVER),
    Field("hooks", Kind.TABLES, "programs for its events; checked, not run in this version", HOOK),
    hints={
        "description": "put it into the prompt below the header, or into a capability's summary",
        "prompt": "write the prompt below the closing fence",
        "capabilities": "declare capabilities in capabilities.toml beside AGENT.md",
        "categories": "use `category_path`, a list",
        "title": "put a free title into the prompt",
        "disabled_skills": "use `skills: {disabled: [...]}`",
    },
    required=("name",),
)


def names_in(table: Table) -> frozenset[str]:
    """Every field name of a table and the tables below it."""
    names = set(table.fields)
    for field in table.fields.values():
        if field.table is not None:
            names |= names_in(field.table)
    return frozenset(names)


# They tell a key that slipped out of its column from running text.
AGENT_NAMES = names_in(AGENT)
CAPABILITY = _table(
    "capability",
    Field("id", T, "the capability's id"),
    Field("summary", T, "one line: what it does"),
    Field("outcome", T, "what is there when it is done"),
    Field("version", T, "its version"),
    Field("context_needed", L, "what it needs to know"),
    Field("artifacts_expected", L, "what it leaves behind"),
    Field("execution_outline", L, "the steps it takes"),
    Field("constraints", L, "what it never does"),
    Field("examples", L, "tasks it suits"),
    Field("requirements", L, "capabilities it builds on"),
    hints={"digest": "the digest is computed, not written", "description": "use `summary`", "name": "use `id`"},
    required=("id", "summary", "outcome"),
)
CAPABILITY_CATALOG = _table("catalog", Field("capabilities", Kind.TABLES, "the capabilities, in order", CAPABILITY))
MCP_JSON = _table(
    "mcp.json",
    Field("mcpServers", Kind.TABLE_MAP, "servers by name", MCP_JSON_SERVER),
    Field("mcp_servers", Kind.TABLE_MAP, "servers by name; replaces same names above", MCP_JSON_SERVER),
)
