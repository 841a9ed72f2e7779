"""The home folder, config.toml, providers, environments and redaction: read, merge, explain."""
