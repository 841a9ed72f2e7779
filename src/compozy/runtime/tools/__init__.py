"""Tools at work: who may call what, calls, approvals, built-in tools, their way into a session (contract §6)."""
