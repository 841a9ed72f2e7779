"""What an agent is told beside the user's words: the startup prompt, frozen at creation, and each turn's context.

Implements contract §5.7. Parts of the product that have something to tell fill `StartupSlots`.
"""

from compozy.runtime.sessions.startup.slots import BlockContext, StartupSlots

__all__ = ["BlockContext", "StartupSlots"]
