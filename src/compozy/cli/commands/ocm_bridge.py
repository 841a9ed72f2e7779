"""`compozy ocm export` and `import`: agents, skills, MCP tools, A2A cards and personas (issue 8 item 3)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import (
    EXIT_INVALID_MANIFEST,
    InvalidManifests,
    is_strict,
    ocm_command,
    refuse_standard_output,
    standard_input,
    valid_entries,
)
from compozy.cli.output import note, write_json
from compozy.cli.wording import count

if TYPE_CHECKING:
    from compozy.model.definition import AgentDefinition
    from compozy.ocm.bridge.drafts import Draft

_KINDS = ("auto", "agent-card", "mcp-tools", "skill", "persona")


@ocm_command(
    "export",
    examples=(
        "compozy ocm export .compozy/agents/reviewer --publisher acme",
        "compozy ocm export .compozy/agents --publisher acme --out capabilities/",
        "compozy ocm export .compozy/agents/reviewer --publisher acme --to agent-card > agent-card.json",
    ),
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--publisher", required=True, help="Who stands behind the capabilities; the first part of their ids.")
@click.option("--to", "form", type=click.Choice(("ocm", "agent-card")), default="ocm", show_default=True)
@click.option(
    "--include",
    multiple=True,
    type=click.Choice(("prompt", "definition")),
    help="Also send the prompt, or the whole definition with its commands, servers and environment.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write one file each below this folder (a card: here).")
@pass_invocation
def export(
    invocation: Invocation,
    paths: tuple[Path, ...],
    publisher: str,
    form: str,
    include: tuple[str, ...],
    out: Path | None,
) -> int:
    """Make manifests of agents on disk, one for each capability: PUBLISHER/AGENT/CAPABILITY.

    PATH is an AGENT.md, an agent folder, or a folder of them. Prompt, environment, commands and paths stay here
    unless --include asks for them.
    """
    from compozy.cli.ocm.putting import put, tell_unmapped  # noqa: PLC0415 - start-up cost
    from compozy.documents.agents import load_agent  # noqa: PLC0415 - start-up cost
    from compozy.ocm.bridge.a2a import to_card  # noqa: PLC0415 - start-up cost
    from compozy.ocm.bridge.agents import to_manifests  # noqa: PLC0415 - start-up cost

    loaded = [load_agent(path) for path in _agent_files(paths)]
    drafts: list[Draft] = []
    for agent in loaded:
        definition = agent.definition
        found = to_manifests(
            definition.name,
            definition.capabilities or (),
            publisher=publisher,
            category_path=definition.category_path,
            prompt=definition.prompt if "prompt" in include else "",
            definition=definition if "definition" in include else None,
        )
        if not found:
            note(invocation, f"{definition.name} declares no capabilities; nothing to export")
        drafts.extend(found)
    documents = [draft.document for draft in drafts]
    if not documents:
        raise InvalidManifests("no agent there declares a capability; write a capabilities.toml beside its AGENT.md")
    if form == "agent-card":
        names = ", ".join(agent.name for agent in loaded)
        card, unmapped = to_card(documents, name=names, description=f"Agents of {publisher}", publisher=publisher)
        fails = is_strict() and bool(unmapped)
        if out is None:
            refuse_standard_output(invocation)
            if not fails:
                write_json(card)
        elif not fails:
            from compozy.documents.atomic import write_atomically  # noqa: PLC0415 - start-up cost
            from compozy.ocm.writing import to_json  # noqa: PLC0415 - start-up cost

            write_atomically(out.absolute(), to_json(card).encode(), mode=0o644)
        tell_unmapped(invocation, unmapped)
        return EXIT_INVALID_MANIFEST if fails else 0
    return put(invocation, documents, out)


def _agent_files(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_file():
            found.append(path)
        elif (path / "AGENT.md").is_file():
            found.append(path / "AGENT.md")
        else:
            below = sorted(path.glob("*/AGENT.md"))
            if not below:
                raise click.UsageError(f"there is no AGENT.md at {str(path)!r}; name an agent, or a folder of agents")
            found.extend(below)
    return found


@ocm_command(
    "import",
    examples=(
        "compozy ocm import agent-card.json",
        "compozy ocm import tools.json --publisher acme --server tracker --out capabilities/",
        "compozy ocm import skills/reconcile/SKILL.md --publisher acme",
        "compozy ocm import capabilities/ --to agents --out .compozy/agents",
    ),
)
@click.argument("paths", nargs=-1, required=True)
@click.option("--from", "kind", type=click.Choice(_KINDS), default="auto", show_default=True, help="What PATH holds.")
@click.option("--to", "form", type=click.Choice(("ocm", "agents")), default="ocm", show_default=True)
@click.option("--publisher", default="", help="The first part of the ids (a card may name its own; default: local).")
@click.option("--server", default="", help="The MCP server's name (default: the file's name).")
@click.option("--url", default="", help="The MCP server's address.")
@click.option("--out", type=click.Path(path_type=Path), help="Write one file each below this folder.")
@pass_invocation
def import_(
    invocation: Invocation,
    paths: tuple[str, ...],
    kind: str,
    form: str,
    publisher: str,
    server: str,
    url: str,
    out: Path | None,
) -> int:
    """Make manifests of A2A agent cards, MCP tool lists, SKILL.md and persona files; or agents of manifests.

    What has no place on the other side is named on standard error.
    """
    if form == "agents":
        _to_agents(invocation, paths, out)
        return 0
    from compozy.cli.ocm.putting import put  # noqa: PLC0415 - start-up cost
    from compozy.ocm.bridge.drafts import refuse_shared_ids  # noqa: PLC0415 - start-up cost

    stdin = standard_input(paths)
    drafts: list[Draft] = []
    for path in paths:
        drafts.extend(_drafts(path, stdin, kind, publisher, server, url))
    refuse_shared_ids(drafts)
    unmapped = [f"{draft.document['id']}: {one}" for draft in drafts for one in draft.unmapped]
    return put(invocation, [draft.document for draft in drafts], out, unmapped)


def _drafts(given: str, stdin: bytes | None, kind: str, publisher: str, server: str, url: str) -> "list[Draft]":
    from compozy.documents.source import SourceText  # noqa: PLC0415 - start-up cost
    from compozy.ocm.bridge import a2a, others  # noqa: PLC0415 - start-up cost
    from compozy.ocm.sources import STDIN, STDIN_NAME, YAML_SUFFIXES, is_yaml, read_text  # noqa: PLC0415 - start-up cost

    source = read_text(given, stdin)
    if not isinstance(source, SourceText):
        raise InvalidManifests(f"{source.path}: {source.message}", (source,))
    path = Path(STDIN_NAME if given == STDIN else given)
    is_json = path.suffix.lower() == ".json" or (given == STDIN and not is_yaml(given, source.text))
    who = publisher or "local"
    if kind == "skill" or (kind == "auto" and path.name == "SKILL.md"):
        return [others.from_skill(source.text.encode("utf-8", "surrogatepass"), str(path), publisher=who)]
    if kind == "auto" and path.suffix.lower() in YAML_SUFFIXES:
        raise InvalidManifests(
            f"{path}: YAML holds none of these; a manifest is used as it is, or say --from persona"
        )
    if kind == "persona" or (kind == "auto" and not is_json):
        return others.from_persona(source.text, str(path), publisher=who, is_json=is_json)
    try:
        value: object = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        raise InvalidManifests(
            f"{path}: no JSON ({error}); name a JSON file, or say what it is with --from"
        ) from error
    if kind == "auto" and isinstance(value, Mapping) and "ocm" in value:
        raise InvalidManifests(f"{path}: this is a manifest already; use it as it is, or turn it with `ocm convert`")
    rows = others.tool_rows(value)
    if kind == "mcp-tools" or (kind == "auto" and rows is not None):
        if rows is None:
            raise InvalidManifests(f"{path}: no MCP tool list; it holds `tools`, each with name and inputSchema")
        return others.from_mcp_tools(rows, publisher=who, server=server or path.stem, url=url)
    if isinstance(value, Mapping) and (kind == "agent-card" or a2a.is_card(value)):
        return [a2a.from_card(value, publisher=publisher)]
    if kind == "auto":
        return others.from_persona(source.text, str(path), publisher=who, is_json=is_json)
    raise InvalidManifests(f"{path}: no agent card; a card is an object with name, description and skills")


def _to_agents(invocation: Invocation, paths: tuple[str, ...], out: Path | None) -> None:
    from compozy.documents.canonical import NoDigest, render  # noqa: PLC0415 - start-up cost
    from compozy.documents.digests import capability_bytes  # noqa: PLC0415 - start-up cost
    from compozy.documents.names import name_problem  # noqa: PLC0415 - start-up cost
    from compozy.ocm.bridge.agents import to_agents  # noqa: PLC0415 - start-up cost
    from compozy.ocm.publishing import write_below  # noqa: PLC0415 - start-up cost

    if out is None:
        raise click.UsageError("--to agents writes folders: name one with --out")
    documents = [entry.document for entry in valid_entries(invocation, paths) if isinstance(entry.document, Mapping)]
    drafts = to_agents(documents)
    files: dict[str, str] = {}
    for draft in drafts:
        definition = draft.definition
        problem = name_problem(definition.name)
        if problem is not None:
            raise InvalidManifests(f"{problem.message}; rename the agent in metadata.compozy.agent")
        if (out / definition.name).exists():
            raise InvalidManifests(f"{str(out / definition.name)!r} is there already; import into another folder")
        if f"{definition.name}/AGENT.md" in files:
            raise InvalidManifests(
                f"two publishers have an agent {definition.name!r}: import the manifests of one, or into two folders"
            )
        try:
            files[f"{definition.name}/AGENT.md"] = render(definition)
        except NoDigest as error:
            raise InvalidManifests(f"{definition.name}: {error.message}") from error
        rows = [json.loads(capability_bytes(one)) for one in definition.capabilities or ()]
        catalog = json.dumps({"capabilities": rows}, indent=2, ensure_ascii=False) + "\n"
        files[f"{definition.name}/capabilities.json"] = catalog
    try:
        encoded = {path: text.encode() for path, text in files.items()}
    except UnicodeEncodeError as error:
        raise InvalidManifests(
            f"a text holds half a character ({error.object[error.start]!r}), which no file can; correct it"
        ) from error
    out.mkdir(parents=True, exist_ok=True)
    for path, data in encoded.items():
        write_below(out, path, data)
    for draft in drafts:
        name = draft.definition.name
        if not draft.is_whole:
            note(invocation, f"{name}: only its capabilities came along; review AGENT.md before use")
        elif brought := _brought(draft.definition):
            note(invocation, f"{name}: brings {brought} of its publisher; review AGENT.md before use")
    names = [draft.definition.name for draft in drafts]
    note(invocation, f"wrote {count(len(names), 'agent')} below {out}")
    if not invocation.is_human:
        answer(invocation, {"agents": names})


def _brought(definition: "AgentDefinition") -> str:
    """Name what an imported definition would run or be allowed."""
    found = {
        "a command": definition.command,
        "MCP servers": definition.mcp_servers,
        "hooks": definition.hooks,
        "permissions": definition.permissions,
    }
    return ", ".join(what for what, value in found.items() if value)
