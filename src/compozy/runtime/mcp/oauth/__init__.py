"""Logins at remote MCP servers: discovery, registration, PKCE, tokens in the vault, refresh (issue 7 item 3)."""
