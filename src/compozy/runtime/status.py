"""What the daemon says about itself: identity, health, drain state (contract §3.6)."""


class DaemonStatus:
    """Identity and drain state of this process."""
