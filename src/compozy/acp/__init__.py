"""One agent subprocess over the Agent Client Protocol: process supervision, JSON-RPC peer, client."""
