"""Files that people give agents with a prompt: kept below the home, sent as the agent takes them (contract §3.5)."""

from compozy.runtime.sessions.attachments.files import AttachmentFiles

__all__ = ["AttachmentFiles"]
