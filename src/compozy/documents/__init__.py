"""Text to records and back, with positions: AGENT.md, capability catalogs, mcp.json, digests, diagnostics."""
