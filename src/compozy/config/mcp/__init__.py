"""Where MCP servers come from and how their definitions are merged (contract §2.1, §2.4; decisions D19)."""
