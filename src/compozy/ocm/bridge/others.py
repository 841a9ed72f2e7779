"""SKILL.md, MCP tool lists and persona files as manifests (issue 8 item 3)."""

import json
from collections.abc import Mapping
from pathlib import PurePath

from compozy.documents.problems import first_error
from compozy.documents.skill_file import read_skill
from compozy.ocm.bridge.drafts import BridgeError, Draft, refuse_shared_ids, slug_id, text_of, texts_of

# A tool's schema can be of any size; what a router compares are words.
_MAX_WORDS = 2_000


def from_skill(data: bytes, path: str, *, publisher: str) -> Draft:
    """Return the manifest of a SKILL.md; its body is the instructions.

    Raises:
        BridgeError: the file does not load, or has no description.
    """
    skill, diagnostics = read_skill(data, path)
    if skill is None:
        found = first_error(diagnostics)
        reason = found.message if found else "unreadable"
        raise BridgeError(f"{path}: {reason}; run `compozy skill check {path}`")
    if not skill.description:
        raise BridgeError(f"{path}: the skill has no description, which a manifest needs; add one")
    document: dict[str, object] = {
        "ocm": "1",
        "id": slug_id(publisher, "skills", skill.name),
        "kind": "skill",
        "name": skill.name,
        "description": skill.description,
        "publisher": publisher,
    }
    if skill.version:
        document["version"] = skill.version
    if skill.body.strip():
        document["instructions"] = skill.body.strip("\n")
    unmapped = ["servers" for _ in skill.mcp_servers[:1]] + ["hooks" for _ in skill.hooks[:1]]
    unmapped += ["conditions"] if skill.when is not None else []
    return Draft(document=document, unmapped=tuple(unmapped))


def tool_rows(value: object) -> list[Mapping[str, object]] | None:
    """Return the tools of an MCP answer (`tools/list`, its result, or the bare list), or None when it is none."""
    if isinstance(value, Mapping):
        inner = value.get("result", value)
        value = inner.get("tools") if isinstance(inner, Mapping) else None
    if not isinstance(value, list) or not value:
        return None
    rows = [one for one in value if isinstance(one, Mapping) and "inputSchema" in one and text_of(one.get("name"))]
    return rows if len(rows) == len(value) else None


def from_mcp_tools(rows: list[Mapping[str, object]], *, publisher: str, server: str, url: str = "") -> list[Draft]:
    """Return one manifest for each tool of a server.

    Raises:
        BridgeError: two tools become one id.
    """
    drafts = []
    for row in rows:
        name = text_of(row.get("name"))
        described = text_of(row.get("description")) or text_of(row.get("title")) or name
        parameters = _parameters(row.get("inputSchema"))
        endpoint: dict[str, object] = {"protocol": "mcp", **({"url": url} if url else {})}
        document: dict[str, object] = {
            "ocm": "1",
            "id": slug_id(publisher, server, name),
            "kind": "tool",
            "name": text_of(row.get("title")) or name,
            "description": (described + (f" Parameters: {parameters}." if parameters else ""))[:_MAX_WORDS],
            "publisher": publisher,
            "endpoints": [endpoint],
            "metadata": {
                "mcp": {key: row[key] for key in ("name", "inputSchema", "outputSchema", "annotations") if key in row}
                | {"server": server}
            },
        }
        known = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
        unmapped = tuple(f"{name}: {key}" for key in row if key not in known)
        drafts.append(Draft(document=document, unmapped=unmapped))
    return refuse_shared_ids(drafts)


def _parameters(schema: object) -> str:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return ""
    parts = []
    for name, one in properties.items():
        told = text_of(one.get("description")) if isinstance(one, Mapping) else ""
        parts.append(f"{name} ({told})" if told else str(name))
    return ", ".join(parts)


def from_persona(text: str, path: str, *, publisher: str, is_json: bool = False) -> list[Draft]:
    """Return the personas of a Markdown file, or of a JSON object or list; they accompany others.

    `is_json` says what a text without a telling name is.

    Raises:
        BridgeError: nothing there reads as a persona.
    """
    if is_json or path.lower().endswith(".json"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BridgeError(f"{path}: {error}; a persona file is Markdown or JSON") from error
        rows = value if isinstance(value, list) else [value]
        drafts = [_persona_row(row, path, publisher) for row in rows]
        return refuse_shared_ids(drafts)
    title, described, body = _markdown(text)
    name = title or PurePath(path).stem
    if not body.strip():
        raise BridgeError(f"{path}: the file is empty; write who the persona is")
    return [_persona(name, described, body, publisher)]


def _persona_row(row: object, path: str, publisher: str) -> Draft:
    name = text_of(row.get("name")) if isinstance(row, Mapping) else ""
    if not isinstance(row, Mapping) or not name:
        raise BridgeError(f"{path}: each persona is an object with a name and a prompt")
    body = next(
        (text for key in ("instructions", "prompt", "persona", "system") if (text := text_of(row.get(key)))), ""
    )
    draft = _persona(name, text_of(row.get("description")), body, publisher)
    if examples := texts_of(row.get("examples")):
        draft.document["examples"] = examples
    return draft


def _persona(name: str, described: str, body: str, publisher: str) -> Draft:
    # Headings name, paragraphs describe.
    told = "\n".join(line for line in body.splitlines() if not line.startswith("#"))
    paragraph = next((part for part in told.split("\n\n") if part.strip()), name)
    document: dict[str, object] = {
        "ocm": "1",
        "id": slug_id(publisher, "personas", name),
        "kind": "persona",
        "name": name,
        "description": described or " ".join(paragraph.split())[:300],
        "publisher": publisher,
    }
    if body.strip():
        document["instructions"] = body.strip("\n")
    document["primary"] = False
    return Draft(document=document)


def _markdown(text: str) -> tuple[str, str, str]:
    """Return title, description and body; both may stand in a header between fences, the title as a heading too."""
    title, described, body = "", "", text
    lines = text.splitlines()
    if lines and lines[0].strip() == "---" and "---" in [line.strip() for line in lines[1:]]:
        end = [line.strip() for line in lines[1:]].index("---") + 1
        body = "\n".join(lines[end + 1 :])
        for line in lines[1:end]:
            key, _, value = line.partition(":")
            value = value.strip().strip("\"'")
            title = value if key.strip() == "name" else title
            described = value if key.strip() == "description" else described
    heading = next((line for line in body.splitlines() if line.startswith("# ")), "")
    return title or heading.removeprefix("# ").strip(), described, body
