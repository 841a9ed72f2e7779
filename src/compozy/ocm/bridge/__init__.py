"""Between manifests and the formats that others write: agents, skills, MCP tools, A2A cards, personas.

Each module maps one format. What has no place on the other side is named, never dropped in silence.
"""
