"""The checks of AGENT.md in their fixed order, and the definition they leave (formats §4.1, §4.2).

Works on decoded fields; knows nothing of YAML, TOML or places.
"""

from collections.abc import Iterable, Mapping

from compozy.documents.decoding import rows_in, text_in, texts_in
from compozy.documents.hooks import Hook, convert, hook_problems
from compozy.documents.limits import MAX_PROBLEMS
from compozy.documents.names import name_problem
from compozy.documents.problems import Fix, Path, Problem, Span
from compozy.documents.servers import server_from, server_problems
from compozy.documents.text import nearest, shown, trim
from compozy.documents.tool_ids import tool_problem, toolset_problem
from compozy.model.command_secrets import command_secrets
from compozy.model.definition import PERMISSION_MODES, REASONING_EFFORTS, AgentDefinition


def check_agent_fields(
    fields: Mapping[str, object], failed: set[Path], prompt: str, prompt_span: Span
) -> tuple[AgentDefinition, list[Problem]]:
    """Normalise and check decoded fields; `failed` are paths already reported, which are not judged again."""
    name = trim(text_in(fields, "name"))
    hooks, problems = _convert_hooks(fields, name)
    usable_name = ("name",) not in failed
    name_found = name_problem(name) if usable_name else None
    if name_found is not None and name_found.code == "name-required":
        problems.append(name_found)
    if not prompt:
        problems.append(Problem(code="prompt-required", message="agent prompt is required", span=prompt_span))
    if name_found is not None and name_found.code != "name-required":
        problems.append(name_found)
    effort, permissions = trim(text_in(fields, "reasoning_effort")), trim(text_in(fields, "permissions"))
    problems += _choice(effort, REASONING_EFFORTS, "reasoning_effort", "reasoning-effort-invalid")
    problems += _choice(permissions, PERMISSION_MODES, "permissions", "permissions-invalid")
    tools, found = _ids(fields, "tools", failed)
    problems += found
    toolsets, found = _ids(fields, "toolsets", failed)
    problems += found
    deny_tools, found = _ids(fields, "deny_tools", failed)
    problems += found
    category_path = tuple(trim(part) for part in texts_in(fields, "category_path"))
    problems += _category_problems(category_path, failed)
    problems += _command_problems(trim(text_in(fields, "command")))
    servers = tuple(server_from(row) for row in rows_in(fields, "mcp_servers"))
    for i, server in enumerate(servers):
        if len(problems) > MAX_PROBLEMS:
            break
        path: Path = ("mcp_servers", i)
        problems += without_failed(server_problems(server, path, f"agent.mcp_servers[{i}]"), failed)
    for hook in hooks:
        if len(problems) > MAX_PROBLEMS:
            break
        problems += without_failed(hook_problems(hook, failed), failed)
    definition = AgentDefinition(
        name=name,
        prompt=prompt,
        provider=trim(text_in(fields, "provider")),
        command=trim(text_in(fields, "command")),
        model=trim(text_in(fields, "model")),
        reasoning_effort=effort,
        tools=tools,
        toolsets=toolsets,
        deny_tools=deny_tools,
        permissions=permissions,
        skills_disabled=_skills(fields),
        category_path=category_path,
        mcp_servers=servers,
        hooks=tuple(hook.record for hook in hooks),
    )
    return definition, problems


def _convert_hooks(fields: Mapping[str, object], name: str) -> tuple[list[Hook], list[Problem]]:
    hooks: list[Hook] = []
    problems: list[Problem] = []
    for i, row in enumerate(rows_in(fields, "hooks")):
        hook, found = convert(row, ("hooks", i), f"agent.hooks[{i}]", name)
        hooks.append(hook)
        problems += found
    return hooks, problems


def without_failed(problems: Iterable[Problem], failed: set[Path]) -> list[Problem]:
    """Leave out what only repeats that a value could not be read."""
    if not failed:
        return list(problems)
    return [problem for problem in problems if problem.path not in failed]


def _skills(fields: Mapping[str, object]) -> tuple[str, ...]:
    skills = fields.get("skills")
    if not isinstance(skills, dict):
        return ()
    return tuple(dict.fromkeys(text for text in map(trim, texts_in(skills, "disabled")) if text))


def _command_problems(command: str) -> list[Problem]:
    """Warn of a secret written into the command; the message does not repeat it."""
    if not command_secrets(command):
        return []
    message = (
        "agent.command holds what looks like a secret: give it to the program in a variable, with a credential slot "
        'of the provider (`[[providers.NAME.credential_slots]]` with `secret_ref = "vault:…"`), or in a file it reads'
    )
    return [Problem(code="command-secret-like", message=message, path=("command",))]


def _choice(value: str, choices: tuple[str, ...], name: str, code: str) -> list[Problem]:
    if not value or value in choices:
        return []
    close = nearest(value, choices)
    message = f"agent.{name} must be one of {', '.join(choices)}, found {shown(value)}"
    fix = Fix(title=f"write {close}", kind="set_value", text=close) if close else None
    return [Problem(code=code, message=message, path=(name,), suggestion=close, fix=fix)]


def _ids(fields: Mapping[str, object], name: str, failed: set[Path]) -> tuple[tuple[str, ...], list[Problem]]:
    """Trim, drop later duplicates, check each; indexes count what is left, places what was written."""
    entries: dict[str, int] = {}
    for i, text in enumerate(texts_in(fields, name)):
        if (name, i) not in failed:
            entries.setdefault(trim(text), i)
    check = toolset_problem if name == "toolsets" else tool_problem
    problems = []
    for index, (entry, authored) in enumerate(entries.items()):
        found = check(entry, (name, authored), f"agent.{name}[{index}]")
        if found is not None:
            problems.append(found)
        if len(problems) > MAX_PROBLEMS:
            break
    return tuple(entries), problems


def _category_problems(parts: tuple[str, ...], failed: set[Path]) -> list[Problem]:
    problems = []
    for i, part in enumerate(parts):
        reason = ""
        if not part:
            reason = "is a blank segment"
        elif part in (".", ".."):
            reason = f"must not be {shown(part)}"
        elif "/" in part or "\\" in part:
            reason = f"must not hold a slash: {shown(part)}; write each level as its own entry"
        if reason and ("category_path", i) not in failed:
            message = f"agent.category_path[{i}] {reason}"
            problems.append(Problem(code="category-path-invalid", message=message, path=("category_path", i)))
    return problems
