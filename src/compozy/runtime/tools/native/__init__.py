"""The daemon's own tools: existing services under a tool id, one module per subject (contract §6.2)."""
