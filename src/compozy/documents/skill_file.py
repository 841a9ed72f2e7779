"""SKILL.md: the header of a skill and what it brings along (contract §8).

Unknown top-level keys only warn, and a bad server only costs that server; an unknown condition or a bad hook is an
error. Which layer a skill lies in, whether it is active, and trust are decided elsewhere.
"""

from collections.abc import Mapping

import msgspec

from compozy.documents.companion_fields import SKILL, SKILL_FOREIGN, SKILL_WHEN
from compozy.documents.companions import Companion, take_apart
from compozy.documents.decoding import YAML, Decoder, dotted, text_in, texts_in
from compozy.documents.fields import HOOK, MCP_SERVER, Kind, Table
from compozy.documents.hooks import convert, hook_problems
from compozy.documents.problems import Fix, Path, Problem, has_errors
from compozy.documents.servers import server_from, server_problems
from compozy.documents.text import nearest, shown, trim
from compozy.model.definition import HookDeclaration, McpServer
from compozy.model.diagnostic import Diagnostic
from compozy.model.record import Record

# Longer skills crowd out everything else in a model's context (contract §8).
LONG_SKILL_CHARACTERS = 50_000
# The catalog block cuts descriptions here (contract §8).
SHOWN_DESCRIPTION = 200
_COMPOZY_KEYS = ("when", "mcp_servers", "hooks")


class SkillConditions(Record, frozen=True, kw_only=True):
    """When a skill is active: any platform, any environment, all tools, all capabilities."""

    platforms: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    requires_tools: tuple[str, ...] = ()
    requires_capabilities: tuple[str, ...] = ()


class Skill(Record, frozen=True, kw_only=True):
    """One SKILL.md. `metadata` is what the author wrote, untouched."""

    name: str
    body: str
    description: str = ""
    version: str = ""
    metadata: dict[str, object] = {}
    when: SkillConditions | None = None
    mcp_servers: tuple[McpServer, ...] = ()
    hooks: tuple[HookDeclaration, ...] = ()


class _Extras(msgspec.Struct, kw_only=True):
    when: SkillConditions | None = None
    servers: list[McpServer] = []
    hooks: list[HookDeclaration] = []


def read_skill(data: bytes, path: str = "SKILL.md") -> tuple[Skill | None, tuple[Diagnostic, ...]]:
    """Read a SKILL.md; the skill is None when a diagnostic is an error."""
    found = take_apart(data, path, malformed="skill-malformed-frontmatter", header_required=True, known=SKILL.fields)
    value = found.value if isinstance(found.value, dict) else {}
    if found.document is None:
        return None, found.diagnostics()
    known = {key: item for key, item in value.items() if key in SKILL.fields}
    decoder = Decoder(YAML)
    fields = decoder.table(SKILL, {key: item for key, item in known.items() if key != "metadata"}, ())
    found.problems += decoder.problems
    found.problems += [_unknown_key(key) for key in value if key not in SKILL.fields and key not in SKILL_FOREIGN]
    name = trim(text_in(fields, "name"))
    if not name and ("name",) not in decoder.failed:
        found.problems.append(Problem(code="skill-name-required", message="skill name is required", path=("name",)))
    extras = _extras(found, known.get("metadata"))
    if len(found.source.text) > LONG_SKILL_CHARACTERS:
        message = f"the skill has {len(found.source.text)} characters; move details into files beside it"
        found.problems.append(Problem(code="skill-long", message=message, span=(0, 0)))
    diagnostics = found.diagnostics()
    if has_errors(diagnostics):
        return None, diagnostics
    metadata = known.get("metadata")
    skill = Skill(
        name=name,
        body=found.body,
        description=trim(text_in(fields, "description")),
        version=trim(text_in(fields, "version")),
        metadata=metadata if isinstance(metadata, dict) else {},
        when=extras.when,
        mcp_servers=tuple(extras.servers),
        hooks=tuple(extras.hooks),
    )
    return skill, diagnostics


def _unknown_key(key: str) -> Problem:
    close = nearest(key, SKILL.fields)
    message = f"unknown field {shown(key)} is ignored"
    if close:
        message += f": did you mean {shown(close)}?"
    fix = Fix(title=f"rename it to {close}", kind="rename_key", text=close) if close else None
    return Problem(code="skill-unknown-field", message=message, path=(key,), part="key", suggestion=close, fix=fix)


def _extras(found: Companion, metadata: object) -> _Extras:
    extras = _Extras()
    if metadata is None:
        return extras
    if not isinstance(metadata, dict):
        found.problems.append(_mismatch("metadata", "a mapping", ("metadata",)))
        return extras
    ours = metadata.get("compozy")
    path: Path = ("metadata", "compozy")
    if ours is None:
        return extras
    if not isinstance(ours, dict):
        found.problems.append(_mismatch(dotted(path), "a mapping", path))
        return extras
    for key in ours:
        if key not in _COMPOZY_KEYS:
            close = nearest(key, _COMPOZY_KEYS)
            message = f"unknown field {shown(dotted((*path, key)))} is ignored"
            message += f": did you mean {shown(close)}?" if close else ""
            fix = Fix(title=f"rename it to {close}", kind="rename_key", text=close) if close else None
            found.problems.append(
                Problem(code="skill-unknown-field", message=message, path=(*path, key), part="key", fix=fix)
            )
    extras.when = _when(found, ours.get("when"), (*path, "when"))
    for index, item in enumerate(_rows(found, ours.get("mcp_servers"), (*path, "mcp_servers"))):
        _server(found, extras, item, (*path, "mcp_servers", index))
    for index, item in enumerate(_rows(found, ours.get("hooks"), (*path, "hooks"))):
        _hook(found, extras, item, (*path, "hooks", index))
    return extras


def _mismatch(where: str, wanted: str, path: Path) -> Problem:
    return Problem(code="type-mismatch", message=f"{where} must be {wanted}", path=path)


def _rows(found: Companion, value: object, path: Path) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        found.problems.append(_mismatch(dotted(path), Kind.TABLES.value, path))
        return []
    return value


def _when(found: Companion, value: object, path: Path) -> SkillConditions | None:
    if value is None:
        return None
    decoder = Decoder(YAML)
    fields = decoder.table(SKILL_WHEN, value, path)
    found.problems += decoder.problems
    lists = {name: tuple(text for text in map(trim, texts_in(fields, name)) if text) for name in SKILL_WHEN.fields}
    return SkillConditions(**lists)


def _decode(table: Table, item: object, path: Path) -> tuple[dict[str, object], list[Problem], set[Path]]:
    decoder = Decoder(YAML)
    return decoder.table(table, item, path), decoder.problems, decoder.failed


def _server(found: Companion, extras: _Extras, item: object, path: Path) -> None:
    fields, problems, failed = _decode(MCP_SERVER, item, path)
    server = server_from(fields)
    problems += server_problems(server, path, dotted(path)) if not failed else []
    hard = [problem for problem in problems if problem.code != "env-secret-like"]
    for problem in hard:
        problem.code = "skill-server-skipped"
        problem.message = f"this server is skipped: {problem.message}"
    found.problems += problems
    if not hard:
        extras.servers.append(server)


def _hook(found: Companion, extras: _Extras, item: object, path: Path) -> None:
    fields, problems, failed = _decode(HOOK, item, path)
    # A skill serves any agent: its hooks may name one, which AGENT.md's rules do not foresee.
    matcher = fields.get("matcher")
    agent = matcher.get("agent_name", "") if isinstance(matcher, Mapping) else ""
    if isinstance(matcher, dict):
        fields["matcher"] = {key: value for key, value in matcher.items() if key != "agent_name"}
    hook, converted = convert(fields, path, dotted(path), "")
    problems += converted + hook_problems(hook, failed)
    found.problems += problems
    if all(problem.code == "env-secret-like" for problem in problems):
        record = hook.record
        named = {"agent_name": str(agent), **record.matcher} if agent else record.matcher
        extras.hooks.append(msgspec.structs.replace(record, matcher=named))
