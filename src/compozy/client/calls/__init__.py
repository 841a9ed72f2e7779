"""The operations of the API, one typed method each, by resource. Knows paths and records; nothing of transports."""
