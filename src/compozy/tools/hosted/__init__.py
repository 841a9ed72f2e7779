"""Tools inside a session: launches with their single-use nonce, and the MCP server that speaks for the daemon.

`server` imports the MCP SDK, which costs a second and forty megabytes: import it when the first agent needs it.
"""
