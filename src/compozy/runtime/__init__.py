"""The services that make one system of catalog, store and agents: fleet, sessions, permissions, fan-out."""
