"""The daemon's client: transports, typed calls, and a reader for event streams."""
