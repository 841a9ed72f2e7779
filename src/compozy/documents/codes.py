"""Every diagnostic code of the file formats: severity, standing cause, kind (formats §15, §12, decisions D5-D11).

docs/formats.md is generated from this list; a code that is not here cannot be reported.
"""

import msgspec

from compozy.model.diagnostic import Severity

DOCUMENT = "docs/formats.md"
# The kind an agent row carries (formats §12); everything else is `frontmatter.invalid`.
_DEFAULT_KIND = "frontmatter.invalid"


class Code(msgspec.Struct, frozen=True):
    """One code: what it means, and why that is a problem, in one sentence."""

    code: str
    title: str
    cause: str
    severity: Severity = Severity.ERROR
    kind: str = _DEFAULT_KIND


def _error(code: str, title: str, cause: str, kind: str = _DEFAULT_KIND) -> Code:
    return Code(code, title, cause, Severity.ERROR, kind)


def _warning(code: str, title: str, cause: str, kind: str = "") -> Code:
    return Code(code, title, cause, Severity.WARNING, kind)


CODES: tuple[Code, ...] = (
    # Reading files.
    _error("not-found", "file or folder missing", "the path does not exist"),
    _error("not-directory", "not a folder", "a folder is wanted at this path, and something else is there"),
    _error("not-regular-file", "not a file", "a file is wanted at this path, and something else is there"),
    _error("symlink-rejected", "symlink", "links are not followed: they would show files from elsewhere"),
    _error("path-component-invalid", "unusable file name", "the name cannot be used on every system"),
    _error("unreadable", "cannot be read", "the system refused to open or read it"),
    _error("file-too-large", "file too large", "an authored file may have 4 MiB"),
    _error("invalid-utf8", "not UTF-8", "authored files are UTF-8 text"),
    # Header and syntax.
    _error("frontmatter-bom", "byte-order mark", "the header must begin with the file's first character",
           "frontmatter.bom"),
    _error("frontmatter-missing", "no header", "the first line of AGENT.md must be exactly `---`",
           "frontmatter.missing"),
    _error("frontmatter-unterminated", "header not closed", "a line that is exactly `---` must close the header",
           "frontmatter.unterminated"),
    _error("frontmatter-invalid-key", "tab before a colon", "YAML keys and indentation must not hold tabs",
           "frontmatter.invalid_key"),
    _error("frontmatter-decode", "header does not parse", "the header is neither YAML nor TOML as written"),
    _error("toml-syntax", "TOML does not parse", "the text breaks a rule of TOML"),
    _error("json-syntax", "JSON does not parse", "the text breaks a rule of JSON"),
    _error("json-trailing", "more than one JSON value", "a JSON file holds one value"),
    _error("duplicate-key", "key given twice", "which of the two counts would be a guess"),
    _error("unknown-field", "unknown field", "only the documented fields are accepted"),
    _error("type-mismatch", "wrong type", "the field holds another kind of value"),
    _error("nesting-too-deep", "nested too deeply", "a file may nest 64 levels"),
    _error("too-many-aliases", "too many aliases", "a file may use 1,000 aliases and must stay small when expanded"),
    _error("list-too-long", "list too long", "a capability catalog may list 10,000 capabilities"),
    _error("too-many-problems", "list of problems cut", "the file has more problems than are worth listing"),
    # AGENT.md.
    _error("name-required", "name missing", "every agent has a name"),
    _error("name-invalid", "name not allowed", "the name is used in paths, tool names and commands"),
    _error("name-reserved", "name reserved", "the product uses this name itself", "agent.name_reserved"),
    _error("name-mismatch", "name and folder differ", "an agent loaded by name lies in the folder of that name"),
    _error("prompt-required", "prompt missing", "the text below the header is what the agent is told"),
    _error("reasoning-effort-invalid", "unknown effort", "the effort is one of a closed list"),
    _error("permissions-invalid", "unknown permission mode", "the mode is one of a closed list"),
    _error("tool-required", "blank tool", "a blank entry names no tool"),
    _error("tool-id-too-long", "tool id too long", "clients accept 64 bytes"),
    _error("tool-id-reserved", "reserved underscores", "underscores separate the parts of an id"),
    _error("tool-id-empty-segment", "empty part in a tool id", "both sides of `__` need a name"),
    _error("tool-id-format", "tool id not well formed", "parts are lower-case letters, digits and underscores"),
    _error("tool-id-separator", "no namespace in a tool id", "an id is namespace, `__`, name"),
    _error("tool-wildcard-invalid", "wildcard not allowed", "the only wildcard is one `*` at the end, after `_`"),
    _error("toolset-required", "blank toolset", "a blank entry names no toolset"),
    _error("toolset-id-format", "toolset id not well formed", "parts are lower-case letters, digits and underscores"),
    _error("toolset-id-separator", "no namespace in a toolset id", "an id is namespace, `__`, name"),
    _error("category-path-invalid", "category not allowed", "each entry is one level of the category"),
    # MCP servers.
    _error("mcp-name-required", "server name missing", "every server has a name"),
    _error("mcp-name-invalid", "server name not allowed", "the name becomes part of tool names and paths"),
    _error("mcp-duplicate-name", "server name given twice", "names are compared after trimming"),
    _error("mcp-transport-invalid", "unknown transport", "a server speaks stdio or http"),
    _error("mcp-auth-invalid", "auth not well formed", "the fields of auth depend on its registration"),
    _error("mcp-command-required", "command missing", "a stdio server is started by its command"),
    _error("mcp-url-required", "url missing", "an http server is reached at its url"),
    _error("mcp-url-invalid", "url not allowed", "a url is https without credentials, or http on this machine"),
    _error("mcp-field-not-allowed", "field of the other transport", "stdio and http servers have different fields"),
    _error("env-name-invalid", "environment name not allowed", "names are letters, digits and _"),
    _error("env-forbidden", "environment name refused", "the variable makes the program load foreign code"),
    _error("secret-ref-invalid", "not a secret reference", "secrets are named here and kept elsewhere"),
    _error("header-policy", "header not allowed", "some headers belong to the protocol or carry credentials"),
    # Hooks.
    _error("hook-name-required", "hook name missing", "every hook has a name"),
    _error("hook-event-invalid", "unknown event", "a hook waits for one of the documented events"),
    _error("hook-mode-invalid", "unknown mode", "a hook is sync or async"),
    _error("hook-required-async", "required but async", "nothing waits for an async hook"),
    _error("hook-sync-not-eligible", "sync not possible", "the event has already happened when hooks hear of it"),
    _error("hook-timeout-negative", "negative timeout", "a timeout is a positive duration"),
    _error("duration-invalid", "not a duration", "durations are numbers with units"),
    _error("hook-executor-required", "nothing to run", "a hook runs a command"),
    _error("hook-executor-kind", "unknown executor", "the executor is one of a closed list"),
    _error("hook-executor-native", "native executor", "only hooks built into the product are native"),
    _error("hook-executor-fields", "command with a wasm executor", "the fields belong to a subprocess"),
    _error("hook-executor-mixed", "two commands", "the command stands at the top level or below executor"),
    _error("hook-command-required", "command missing", "a subprocess hook runs a command"),
    _error("hook-matcher-agent", "matcher of another agent", "a hook in AGENT.md matches its own agent"),
    _error("hook-matcher-field", "matcher field of another event", "each event can be narrowed by some fields only"),
    _error("hook-matcher-pattern", "pattern not well formed", "the value uses * ? [ ] as a pattern"),
    _error("hook-priority-range", "priority out of range", "a priority has 32 bits"),
    # Capability catalogs.
    _error("catalog-mixed-layouts", "two catalog layouts", "a catalog is one file or one folder"),
    _error("catalog-multiple-files", "two catalog files", "a catalog is one file or one folder"),
    _error("catalog-mixed-formats", "two formats in one folder", "a catalog folder holds .toml or .json files"),
    _error("capability-id-required", "id missing", "every capability has an id"),
    _error("capability-summary-required", "summary missing", "every capability has a summary"),
    _error("capability-outcome-required", "outcome missing", "every capability says what is there when it is done"),
    _error("capability-basename-mismatch", "file name and id differ", "in a folder a file is named after its id"),
    _error("capability-version-blank", "blank version", "a version says something or is left out"),
    _error("capability-duplicate-id", "id given twice", "ids are compared after trimming"),
    _error("requirement-required", "blank requirement", "a blank entry names no capability"),
    _error("requirement-duplicate", "requirement given twice", "entries are compared after trimming"),
    # SOUL.md.
    _error("malformed_frontmatter", "SOUL.md header does not parse", "the header is not YAML between two fences"),
    _error("unsupported_field", "unknown field in SOUL.md", "only the documented fields are accepted"),
    _error("forbidden_field", "field of another file in SOUL.md", "a persona grants no rights"),
    _error("invalid_field_type", "wrong type in SOUL.md", "the field holds another kind of value"),
    _error("oversized_body", "SOUL.md text too long", "it is part of every prompt"),
    _error("oversized_frontmatter", "SOUL.md header too long", "it is part of every prompt"),
    _error("reserved_section", "section of another file in SOUL.md", "a persona grants no rights"),
    # HEARTBEAT.md.
    _error("heartbeat_malformed_frontmatter", "HEARTBEAT.md header does not parse",
           "the header is not YAML between two fences"),
    _error("heartbeat_unsupported_field", "unknown field in HEARTBEAT.md", "only the documented fields are accepted"),
    _error("heartbeat_forbidden_field", "field of another file in HEARTBEAT.md", "waking grants no rights"),
    _error("heartbeat_invalid_field_type", "wrong type in HEARTBEAT.md", "the field holds another kind of value"),
    _error("heartbeat_unsupported_version", "unknown version of HEARTBEAT.md", "there is version 1 only"),
    _error("heartbeat_invalid_duration", "not a duration", "durations are numbers with units"),
    _error("heartbeat_invalid_window", "window not well formed", "a window has an IANA time zone and two times"),
    _error("heartbeat_oversized_body", "HEARTBEAT.md text too long", "it is sent at every wake"),
    _error("heartbeat_oversized_frontmatter", "HEARTBEAT.md header too long", "it is read at every wake"),
    _error("heartbeat_reserved_section", "section of another file in HEARTBEAT.md", "waking grants no rights"),
    _error("heartbeat_reserved_directive", "setting of another file in HEARTBEAT.md",
           "a line that looks like a setting would be obeyed by nobody"),
    _warning("heartbeat_min_interval_clamped", "interval below five minutes",
             "waking more often costs money without anybody looking"),
    # SKILL.md.
    _error("skill-malformed-frontmatter", "SKILL.md header does not parse",
           "the header is not YAML between two fences"),
    _error("skill-name-required", "skill name missing", "a skill is known by its name"),
    _warning("skill-unknown-field", "unknown field in SKILL.md", "the field is ignored"),
    _warning("skill-server-skipped", "server of a skill skipped", "a server that is not well formed is left out"),
    Code("skill-long", "long skill", "it takes the place of everything else in a prompt", Severity.INFO, ""),
    # Digests.
    _error("definition-digest-failed", "no digest", "the canonical form of the definition cannot be read back"),
    # Warnings.
    _warning("env-secret-like", "secret in plain text", "the name suggests a secret, and the file shows its value"),
    _warning("command-secret-like", "secret in a command line",
             "the list of processes and every backup of the file show its value"),
    _warning("yaml-comment-in-value", "comment inside a value", "YAML drops what follows ` #` in an unquoted value"),
    _warning("prompt-nul", "NUL character in the prompt", "programs take it for the end of the text"),
    _warning("mcp-unknown-top-level", "ignored key", "mcp.json reads mcpServers and mcp_servers only"),
    _warning("mcp-two-collections", "two server maps", "one replaces servers of the other"),
    _warning("capability-summary-long", "long summary", "lists show the first 160 characters"),
    _warning("capability-summary-multiline", "summary of several lines", "lists show one line"),
    _warning("capability-id-style", "id is no slug", "plain ids can be typed, linked and published"),
    _warning("definition-no-digest", "no digest", "the definition loads, but updates of it cannot be checked",
             "definition_digest"),
    _warning("discovery-same-name", "name taken in this folder", "the first folder in name order wins",
             _DEFAULT_KIND),
    _warning("discovery-small-shadow", "small definition hides a larger one", "a stub may hide the real agent"),
)  # fmt: skip

_BY_CODE = {entry.code: entry for entry in CODES}


def entry(code: str) -> Code:
    """The entry of a code; every reported code has one."""
    return _BY_CODE[code]


def anchor(code: str) -> str:
    """Where the documentation explains a code."""
    return f"{DOCUMENT}#code-{code}"
