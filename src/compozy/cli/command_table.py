"""Every command of `compozy` in one table: where it lives and the line `--help` shows for it (contract §4.1).

`--help` reads this table only, so that showing it imports no command module. To add a command, add a line here
and export a `click.Command` made with `compozy.cli.groups.command` under the named attribute.
This module knows nothing of click.
"""

from typing import NamedTuple


class GroupEntry(NamedTuple):
    """A group of commands: its path below `compozy`, the line that describes it, and the member it is short for."""

    path: str
    help: str
    default: str = ""


class CommandEntry(NamedTuple):
    """One command: its path below `compozy`, `module:attribute`, and its one-line help."""

    path: str
    target: str
    help: str


_COMMANDS = "compozy.cli.commands."

GROUPS: tuple[GroupEntry, ...] = (
    GroupEntry("agent", "List, inspect, check and change agent definitions."),
    GroupEntry("session", "Create, prompt, watch and stop sessions."),
    GroupEntry("session input", "Prompts that wait for a busy session."),
    GroupEntry("session attachments", "Files given to agents with prompts."),
    GroupEntry("session runtime", "Choose what a session runs with."),
    GroupEntry("session clarify", "Answer questions in words."),
    GroupEntry("attention", "See and answer what waits for you, in all sessions.", "list"),
    GroupEntry("permissions", "Understand what agents may do."),
    GroupEntry("workspace", "Register the folders agents work in."),
    GroupEntry("capability", "Show, export and verify single capabilities."),
    GroupEntry("extension", "Add agents that come in a folder of their own."),
    GroupEntry("skill", "Check skills."),
    GroupEntry("roles", "See who does the daemon's own jobs."),
    GroupEntry("tool", "See, explain, call and allow the tools agents have."),
    GroupEntry("tool approvals", "Answers about tools that are remembered."),
    GroupEntry("toolsets", "Groups of tools."),
    GroupEntry("trust", "Decide what workspaces may run."),
    GroupEntry("mcp", "MCP servers that agents are given; serve MCP clients."),
    GroupEntry("mcp auth", "Logins at remote MCP servers."),
    GroupEntry("ocm", "Check, format, convert and publish Open Capability Manifests."),
    GroupEntry("vault", "Keep secrets encrypted, and use them by name."),
    GroupEntry("config", "Read and change settings, and see where each comes from."),
    GroupEntry("provider", "See which agent programs can be used, and set them up."),
    GroupEntry("provider models", "Models of providers."),
    GroupEntry("provider auth", "Whether a provider is signed in, and signing in."),
    GroupEntry("retention", "See and apply how long stopped sessions are kept."),
    GroupEntry("daemon", "Start and stop the background daemon."),
)

COMMANDS: tuple[CommandEntry, ...] = (
    CommandEntry("run", _COMMANDS + "run:run", "Give a task to an agent and watch it work."),
    CommandEntry("select", _COMMANDS + "select:select", "Say which agent a task would go to, and why."),
    CommandEntry("fleet", _COMMANDS + "fleet:fleet", "See all sessions at a glance, or live."),
    CommandEntry("agent list", _COMMANDS + "agent_read:agent_list", "List the agents that are in force here."),
    CommandEntry("agent info", _COMMANDS + "agent_read:agent_info", "Show one agent as it would run."),
    CommandEntry("agent which", _COMMANDS + "agent_which:agent_which", "Show which file defines an agent here."),
    CommandEntry("agent why", _COMMANDS + "agent_which:agent_why", "Say why an agent is found here or not."),
    CommandEntry("agent create", _COMMANDS + "agent_write:agent_create", "Create an agent."),
    CommandEntry("agent update", _COMMANDS + "agent_write:agent_update", "Change an agent, if nobody else did."),
    CommandEntry("agent duplicate", _COMMANDS + "agent_write:agent_duplicate", "Copy an agent's whole folder."),
    CommandEntry("agent delete", _COMMANDS + "agent_write:agent_delete", "Delete an agent; it can be restored."),
    CommandEntry("agent history", _COMMANDS + "agent_history:agent_history", "List what an agent was before."),
    CommandEntry("agent restore", _COMMANDS + "agent_history:agent_restore", "Take a change or a deletion back."),
    CommandEntry("agent capabilities", _COMMANDS + "capability:agent_capabilities", "List what an agent can do."),
    CommandEntry("agent resolve", _COMMANDS + "agent_resolve:command", "Show where each value comes from."),
    CommandEntry("agent check", _COMMANDS + "agent_check:command", "Check agent files, and repair them."),
    CommandEntry("agent inspect", _COMMANDS + "agent_inspect:command", "Show what a definition on disk says."),
    CommandEntry("session new", _COMMANDS + "session_write:session_new", "Create a session."),
    CommandEntry("session prompt", _COMMANDS + "session_prompt:session_prompt", "Send a prompt and follow the turn."),
    CommandEntry("session list", _COMMANDS + "session_read:session_list", "List sessions."),
    CommandEntry("session events", _COMMANDS + "session_read:session_events", "Print what happened, or follow it."),
    CommandEntry("session status", _COMMANDS + "session_read:session_status", "Show one session."),
    CommandEntry("session approve", _COMMANDS + "session_write:session_approve", "Answer a permission question."),
    CommandEntry(
        "session interactions", _COMMANDS + "session_read:session_interactions", "List questions to people."
    ),
    CommandEntry(
        "session prompt-cancel", _COMMANDS + "session_write:session_prompt_cancel", "Cancel the running turn."
    ),
    CommandEntry("spawn", _COMMANDS + "spawn:spawn", "Start a child session from inside a session."),
    CommandEntry("session input list", _COMMANDS + "session_input:input_list", "List the prompts that wait."),
    CommandEntry("session input edit", _COMMANDS + "session_input:input_edit", "Give a waiting prompt another text."),
    CommandEntry("session input cancel", _COMMANDS + "session_input:input_cancel", "Withdraw a waiting prompt."),
    CommandEntry("session input steer", _COMMANDS + "session_input:input_steer", "Let one take over the turn."),
    CommandEntry(
        "session attachments upload", _COMMANDS + "session_attachments:attachments_upload", "Keep files for prompts."
    ),
    CommandEntry("session rewind", _COMMANDS + "session_rewind:session_rewind", "Go back to before a prompt."),
    CommandEntry("session clear", _COMMANDS + "session_rewind:session_clear", "Begin a conversation anew."),
    CommandEntry("session stop", _COMMANDS + "session_write:session_stop", "Stop a session; its history stays."),
    CommandEntry("session rename", _COMMANDS + "session_write:session_rename", "Rename a session."),
    CommandEntry("session remove", _COMMANDS + "session_write:session_remove", "Delete a session and its history."),
    CommandEntry("session wait", _COMMANDS + "session_looks:session_wait", "Wait until a session is done."),
    CommandEntry("session recap", _COMMANDS + "session_looks:session_recap", "Show where things stand."),
    CommandEntry("session usage", _COMMANDS + "session_looks:session_usage", "Show tokens and cost."),
    CommandEntry("session health", _COMMANDS + "session_looks:session_health", "Show how well its agent is."),
    CommandEntry("session inspect", _COMMANDS + "session_looks:session_inspect", "Show what explains oddities."),
    CommandEntry("session history", _COMMANDS + "session_looks:session_history", "Print events turn by turn."),
    CommandEntry("session commands", _COMMANDS + "session_looks:session_commands", "List slash commands."),
    CommandEntry("session resume", _COMMANDS + "session_changes:session_resume", "Hold a session for yourself."),
    CommandEntry("session archive", _COMMANDS + "session_changes:session_archive", "Put a stopped session away."),
    CommandEntry("session unarchive", _COMMANDS + "session_changes:session_unarchive", "Take it back."),
    CommandEntry("session repair", _COMMANDS + "session_changes:session_repair", "Close what a history leaves open."),
    CommandEntry("session runtime set", _COMMANDS + "session_changes:runtime_set", "Choose for the turns to come."),
    CommandEntry("session runtime clear", _COMMANDS + "session_changes:runtime_clear", "Go back to the definition."),
    CommandEntry("session clarify pending", _COMMANDS + "session_clarify:clarify_pending", "List such questions."),
    CommandEntry("session clarify answer", _COMMANDS + "session_clarify:clarify_answer", "Answer one."),
    CommandEntry("attention list", _COMMANDS + "attention:attention_list", "List what waits, oldest first."),
    CommandEntry("attention answer", _COMMANDS + "attention:attention_answer", "Answer one thing that waits."),
    CommandEntry(
        "permissions explain", _COMMANDS + "permissions:permissions_explain", "Say what would happen, and why."
    ),
    CommandEntry("workspace add", _COMMANDS + "workspace:workspace_add", "Register a folder."),
    CommandEntry("workspace list", _COMMANDS + "workspace:workspace_list", "List the registered workspaces."),
    CommandEntry("workspace info", _COMMANDS + "workspace:workspace_info", "Show one with agents and sessions."),
    CommandEntry("workspace edit", _COMMANDS + "workspace:workspace_edit", "Change a workspace."),
    CommandEntry("workspace remove", _COMMANDS + "workspace:workspace_remove", "Forget a workspace; files stay."),
    CommandEntry("extension add", _COMMANDS + "extension:extension_add", "Register an extension's folder."),
    CommandEntry("extension list", _COMMANDS + "extension:extension_list", "List extensions with their agents."),
    CommandEntry("extension enable", _COMMANDS + "extension:extension_enable", "Bring its agents into force."),
    CommandEntry("extension disable", _COMMANDS + "extension:extension_disable", "Take its agents out of force."),
    CommandEntry("extension remove", _COMMANDS + "extension:extension_remove", "Forget one; its folder stays."),
    CommandEntry("daemon start", _COMMANDS + "daemon:daemon_start", "Start the daemon and wait until it answers."),
    CommandEntry("daemon stop", _COMMANDS + "daemon:daemon_stop", "Stop the daemon."),
    CommandEntry("daemon processes", _COMMANDS + "daemon:daemon_processes", "List the processes of agents."),
    CommandEntry("status", _COMMANDS + "daemon:status", "Show the running daemon."),
    CommandEntry("doctor", _COMMANDS + "doctor:doctor", "Check this home and its daemon."),
    CommandEntry("backup", _COMMANDS + "backup:backup", "Write sessions, settings and agents to one file."),
    CommandEntry("restore", _COMMANDS + "backup:restore", "Put a backup in place."),
    CommandEntry("retention show", _COMMANDS + "retention:retention_show", "Show what is kept how long."),
    CommandEntry("retention run", _COMMANDS + "retention:retention_run", "Remove old sessions now."),
    CommandEntry("drain", _COMMANDS + "daemon:drain", "Accept no new work."),
    CommandEntry("undrain", _COMMANDS + "daemon:undrain", "Accept new work again."),
    CommandEntry("install", _COMMANDS + "install:install", "Choose the default provider, make the standard agent."),
    CommandEntry("provider list", _COMMANDS + "provider_read:provider_list", "List providers and what each needs."),
    CommandEntry("provider status", _COMMANDS + "provider_read:provider_status", "Show one provider."),
    CommandEntry("provider set", _COMMANDS + "provider_write:provider_set", "Change or add a provider."),
    CommandEntry("provider install", _COMMANDS + "provider_write:provider_install", "Fetch a provider's program."),
    CommandEntry("provider refresh", _COMMANDS + "provider_read:provider_refresh", "Ask providers for their models."),
    CommandEntry("provider models list", _COMMANDS + "provider_read:models_list", "List models."),
    CommandEntry(
        "provider models refresh", _COMMANDS + "provider_read:models_refresh", "Ask providers for their models."
    ),
    CommandEntry("provider auth status", _COMMANDS + "provider_read:auth_status", "Ask whether it can be used."),
    CommandEntry("provider auth login", _COMMANDS + "provider_write:auth_login", "Sign in, at a terminal."),
    CommandEntry("config show", _COMMANDS + "config_read:config_show", "Show every setting in force."),
    CommandEntry("config get", _COMMANDS + "config_read:config_get", "Print one setting."),
    CommandEntry("config set", _COMMANDS + "config_write:config_set", "Change one setting."),
    CommandEntry("config unset", _COMMANDS + "config_write:config_unset", "Remove one setting."),
    CommandEntry("config list", _COMMANDS + "config_read:config_list", "List what is set, and by which file."),
    CommandEntry("config explain", _COMMANDS + "config_read:config_explain", "Say where a setting comes from."),
    CommandEntry("config validate", _COMMANDS + "config_read:config_validate", "Check the settings files."),
    CommandEntry("config path", _COMMANDS + "config_read:config_path", "Print where the settings file lies."),
    CommandEntry("capability show", _COMMANDS + "capability:capability_show", "Show one capability in full."),
    CommandEntry("capability export", _COMMANDS + "capability:capability_export", "Print one as a document."),
    CommandEntry("capability verify", _COMMANDS + "capability:capability_verify", "Check such a document's digest."),
    CommandEntry("skill check", _COMMANDS + "skill_check:command", "Check skills, and repair them."),
    CommandEntry("roles list", _COMMANDS + "roles:roles_list", "List the daemon's own jobs."),
    CommandEntry("roles show", _COMMANDS + "roles:roles_show", "Show one with the source of each value."),
    CommandEntry("tool list", _COMMANDS + "tool_read:tool_list", "List the tools, and who may call them."),
    CommandEntry("tool search", _COMMANDS + "tool_read:tool_search", "Find tools by what they do."),
    CommandEntry("tool info", _COMMANDS + "tool_read:tool_info", "Show one tool with its input."),
    CommandEntry("tool explain", _COMMANDS + "tool_read:tool_explain", "Say why a tool may be called or not."),
    CommandEntry("tool invoke", _COMMANDS + "tool_call:tool_invoke", "Call a tool."),
    CommandEntry("tool approve", _COMMANDS + "tool_call:tool_approve", "Allow one call."),
    CommandEntry("tool artifact", _COMMANDS + "tool_call:tool_artifact", "Read a kept result."),
    CommandEntry("tool approvals list", _COMMANDS + "tool_approvals:approvals_list", "List remembered answers."),
    CommandEntry("tool approvals set", _COMMANDS + "tool_approvals:approvals_set", "Remember an answer."),
    CommandEntry("tool approvals revoke", _COMMANDS + "tool_approvals:approvals_revoke", "Forget an answer."),
    CommandEntry("tool mcp", _COMMANDS + "tool_mcp:tool_mcp", "The MCP server of a session's agent (internal)."),
    CommandEntry("toolsets list", _COMMANDS + "tool_read:toolsets_list", "List the groups of tools."),
    CommandEntry("toolsets info", _COMMANDS + "tool_read:toolsets_info", "Show one group."),
    CommandEntry("trust show", _COMMANDS + "trust:trust_show", "Show what a workspace would run."),
    CommandEntry("trust grant", _COMMANDS + "trust:trust_grant", "Trust it as it is now."),
    CommandEntry("trust revoke", _COMMANDS + "trust:trust_revoke", "Take trust back."),
    CommandEntry("mcp list", _COMMANDS + "mcp:mcp_list", "List the MCP servers that are given here."),
    CommandEntry("mcp serve", _COMMANDS + "mcp_serve:mcp_serve", "Offer agents and sessions to an MCP client."),
    CommandEntry("mcp explain", _COMMANDS + "mcp:mcp_explain", "Say which file won for each key."),
    CommandEntry("mcp status", _COMMANDS + "mcp_running:mcp_status", "Show the servers that run, and how they are."),
    CommandEntry("mcp auth login", _COMMANDS + "mcp_running:mcp_login", "Log in at a remote server."),
    CommandEntry("mcp auth logout", _COMMANDS + "mcp_running:mcp_logout", "Forget a login."),
    CommandEntry("mcp auth status", _COMMANDS + "mcp_running:mcp_auth_status", "Show logins at remote servers."),
    CommandEntry("ocm validate", _COMMANDS + "ocm_validate:command", "Check manifests."),
    CommandEntry("ocm lint", _COMMANDS + "ocm_lint:command", "Check manifests and give advice."),
    CommandEntry("ocm fmt", _COMMANDS + "ocm_fmt:command", "Write manifests in one form."),
    CommandEntry("ocm convert", _COMMANDS + "ocm_convert:command", "Convert manifests between YAML and JSON."),
    CommandEntry("ocm diff", _COMMANDS + "ocm_diff:command", "Compare two sets of manifests."),
    CommandEntry("ocm select", _COMMANDS + "ocm_select:command", "Choose a capability for a task."),
    CommandEntry("ocm call", _COMMANDS + "ocm_call:command", "Choose a capability and call its endpoint."),
    CommandEntry("ocm eval", _COMMANDS + "ocm_learning:evaluate", "Judge a catalogue by its own examples."),
    CommandEntry("ocm examples", _COMMANDS + "ocm_examples:command", "Choose examples from labelled tasks."),
    CommandEntry("ocm train", _COMMANDS + "ocm_learning:train", "Train a model on labelled tasks."),
    CommandEntry("ocm learn", _COMMANDS + "ocm_learning:learn", "Record outcomes and show the priors."),
    CommandEntry("ocm export", _COMMANDS + "ocm_bridge:export", "Make manifests of agents."),
    CommandEntry("ocm import", _COMMANDS + "ocm_bridge:import_", "Make manifests of cards, tools, skills, personas."),
    CommandEntry("ocm index", _COMMANDS + "ocm_publish:index", "Print the index of manifests."),
    CommandEntry("ocm publish", _COMMANDS + "ocm_publish:publish", "Write a folder for any web server."),
    CommandEntry("ocm verify", _COMMANDS + "ocm_publish:verify", "Check a published folder."),
    CommandEntry("ocm keygen", _COMMANDS + "ocm_publish:keygen", "Make a key to sign with."),
    CommandEntry("vault set", _COMMANDS + "vault:vault_set", "Keep a secret."),
    CommandEntry("vault list", _COMMANDS + "vault:vault_list", "List the names of the kept secrets."),
    CommandEntry("vault delete", _COMMANDS + "vault:vault_delete", "Forget a secret."),
    CommandEntry("schema", _COMMANDS + "schema:command", "Print the JSON Schema of a kind of file."),
    CommandEntry("completion", _COMMANDS + "completion:completion", "Print the completion script for a shell."),
)

# How `compozy --help` groups what stands directly below `compozy`.
SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Work", ("run", "select", "session", "attention", "fleet", "spawn")),
    ("Agents and what they can do", ("agent", "capability", "skill", "extension", "workspace", "ocm")),
    ("What agents may do and use", ("permissions", "trust", "tool", "toolsets", "mcp", "vault", "roles")),
    ("Set up", ("install", "provider", "config", "schema", "completion")),
    (
        "The daemon and its home",
        ("daemon", "status", "doctor", "backup", "restore", "retention", "drain", "undrain"),
    ),
)


def entries_below(path: str) -> tuple[GroupEntry | CommandEntry, ...]:
    """Return the groups and commands directly below the group with that path ("" is the root), in table order."""
    depth = len(path.split()) + 1
    prefix = f"{path} " if path else ""
    commands = [e for e in COMMANDS if e.path.startswith(prefix) and len(e.path.split()) == depth]
    groups = [e for e in GROUPS if e.path.startswith(prefix) and len(e.path.split()) == depth]
    return (*commands[:1], *groups, *commands[1:]) if not path else (*commands, *groups)
