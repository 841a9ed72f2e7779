"""Child sessions: who may start one, what it may do at most, and when it ends (contract §5.1, §9 safe spawn)."""
