"""SKILL.md, MCP tool lists and persona files as manifests (issue 8 item 3)."""

import json
from collections.abc import Mapping
from pathlib import PurePath

from compozy.documents.companion_fields import SKILL
from compozy.documents.companions import take_apart
from compozy.documents.problems import first_error
from compozy.documents.skill_file import read_skill
from compozy.ocm.bridge.drafts import BridgeError, Draft, refuse_shared_ids, slug_id, text_of, texts_of

# A tool's description and schema can be of any size; what a router compares are some sentences.
_MAX_CHARACTERS = 2_000
# The code of a header that cannot be read; a persona has none of its own, and only its sentence is shown.
_MALFORMED = "skill-malformed-frontmatter"
_PERSONA_FIELDS = ("name", "description", "examples")
# Where other programs keep what a persona is told.
_PERSONA_TEXTS = ("instructions", "prompt", "persona", "system")


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
    if kept := {key: value for key, value in skill.metadata.items() if key != "compozy"}:
        document["metadata"] = {"skill": kept}
    unmapped = ["servers" for _ in skill.mcp_servers[:1]] + ["hooks" for _ in skill.hooks[:1]]
    unmapped += ["conditions"] if skill.when is not None else []
    header = take_apart(data, path, malformed=_MALFORMED, header_required=True).value
    unmapped += [str(key) for key in header if key not in SKILL.fields] if isinstance(header, Mapping) else []
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
        told = described + (f" Parameters: {parameters}." if parameters else "")
        endpoint: dict[str, object] = {"protocol": "mcp", **({"url": url} if url else {})}
        document: dict[str, object] = {
            "ocm": "1",
            "id": slug_id(publisher, server, name),
            "kind": "tool",
            "name": text_of(row.get("title")) or name,
            "description": told[:_MAX_CHARACTERS],
            "publisher": publisher,
            "endpoints": [endpoint],
            "metadata": {
                "mcp": {key: row[key] for key in ("name", "inputSchema", "outputSchema", "annotations") if key in row}
                | {"server": server}
            },
        }
        known = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
        unmapped = [key for key in row if key not in known]
        if len(told) > _MAX_CHARACTERS:
            unmapped.append(f"the description beyond {_MAX_CHARACTERS:,} characters")
        drafts.append(Draft(document=document, unmapped=tuple(unmapped)))
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
    return [_markdown(text, path, publisher)]


def _persona_row(row: object, path: str, publisher: str) -> Draft:
    told: Mapping[str, object] = row if isinstance(row, Mapping) else {}
    name = text_of(told.get("name"))
    body = next((text for key in _PERSONA_TEXTS if (text := text_of(told.get(key)))), "")
    if not name or not (body or text_of(told.get("description"))):
        raise BridgeError(f"{path}: each persona is an object with a name and a prompt")
    return _persona(told, name, body, publisher)


def _markdown(text: str, path: str, publisher: str) -> Draft:
    """Read a persona from Markdown; name and description may stand in a header, the name as a heading too."""
    found = take_apart(text.encode("utf-8", "surrogatepass"), path, malformed=_MALFORMED, header_required=False)
    wrong = first_error(found.diagnostics())
    if wrong is not None:
        raise BridgeError(f"{path}: {wrong.message}; correct the header of the persona")
    if not found.body.strip():
        raise BridgeError(f"{path}: the file is empty; write who the persona is")
    header = found.value if isinstance(found.value, Mapping) else {}
    heading = next((line for line in found.body.splitlines() if line.startswith("# ")), "")
    name = text_of(header.get("name")) or heading.removeprefix("# ").strip() or PurePath(path).stem
    return _persona(header, name, found.body, publisher)


def _persona(row: Mapping[str, object], name: str, body: str, publisher: str) -> Draft:
    # Headings name, paragraphs describe.
    told = "\n".join(line for line in body.splitlines() if not line.startswith("#"))
    paragraph = next((part for part in told.split("\n\n") if part.strip()), name)
    document: dict[str, object] = {
        "ocm": "1",
        "id": slug_id(publisher, "personas", name),
        "kind": "persona",
        "name": name,
        "description": text_of(row.get("description")).strip() or " ".join(paragraph.split())[:300],
        "publisher": publisher,
    }
    if body.strip():
        document["instructions"] = body.strip("\n")
    if examples := texts_of(row.get("examples")):
        document["examples"] = examples
    document["primary"] = False
    known = (*_PERSONA_FIELDS, *(key for key in _PERSONA_TEXTS if text_of(row.get(key)) == body))
    return Draft(document=document, unmapped=tuple(str(key) for key in row if key not in known))
