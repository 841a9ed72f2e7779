"""Durable facts: workspaces, sessions, events, processes. The interface, SQLite, and an in-memory twin."""
