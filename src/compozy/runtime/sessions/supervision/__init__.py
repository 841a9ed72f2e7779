"""Watching over turns: signs of life, silence, deadlines, restarts of agents that died (contract §5.9)."""
