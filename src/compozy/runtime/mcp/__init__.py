"""Configured MCP servers: started or reached by the daemon, supervised, their tools offered to sessions (issue 7)."""
