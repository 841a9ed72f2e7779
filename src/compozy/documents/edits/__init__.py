"""Lossless edits (decisions D3): change a value in a file and keep comments, order, quoting, line endings, body.

`edit_definition` makes an AGENT.md say what a payload says; `edit_frontmatter` and `replace_body` are for single
fields of AGENT.md, SOUL.md, HEARTBEAT.md and SKILL.md; `edit_toml` and `edit_json` for capability catalogs, mcp.json
and config.toml. Every writer of the product goes through here.
"""

from compozy.documents.edits.data_files import edit_json, edit_toml
from compozy.documents.edits.definition import edit_definition
from compozy.documents.edits.header import AGENT_FIELD_ORDER, edit_frontmatter, replace_body
from compozy.documents.edits.nodes import EditRefused, EditResult

__all__ = [
    "AGENT_FIELD_ORDER",
    "EditRefused",
    "EditResult",
    "edit_definition",
    "edit_frontmatter",
    "edit_json",
    "edit_toml",
    "replace_body",
]
