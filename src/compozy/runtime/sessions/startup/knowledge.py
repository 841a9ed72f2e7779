"""The knowledge of a workspace: its `knowledge/*.md` as one block, read anew for every turn (contract §5.7).

What is there must be readable: a file that cannot be read, is no text or leads out of the workspace stops the turn,
because an agent that works without what its people wrote down for it works wrongly in silence.
"""

import os
from pathlib import Path

from compozy.documents.files import read_regular
from compozy.model.errors import Unprocessable
from compozy.runtime.sessions.containment import OutsideRoots, Roots
from compozy.runtime.sessions.startup.assembly import strip_envelope, within

KNOWLEDGE_OPEN, KNOWLEDGE_CLOSE = "<compozy-workspace-knowledge>", "</compozy-workspace-knowledge>"
# Characters of all files together; as much as the history that a new agent session is told.
KNOWLEDGE_BUDGET = 48_000
# Decisions D11: what people write is at most this large.
_LARGEST_BYTES = 4 * 1024 * 1024
_MOST_FILES = 200


def read_knowledge(workspace_root: str) -> str:
    """Return the block, "" when the workspace has no knowledge.

    Raises:
        Unprocessable: a file cannot be read; naming it and the reason.
    """
    folder = Path(workspace_root) / "knowledge"
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".md"))
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise _unreadable(folder, error.strerror or str(error)) from error
    if len(names) > _MOST_FILES:
        raise _unreadable(folder, f"it holds {len(names)} files, at most {_MOST_FILES} are read")
    roots = Roots(workspace_root)
    texts = [f"## {name}\n\n{_read(roots, folder / name).strip()}" for name in names]
    if not texts:
        return ""
    body = within(strip_envelope("\n\n".join(texts)), KNOWLEDGE_BUDGET)
    return f"{KNOWLEDGE_OPEN}\n{body}\n{KNOWLEDGE_CLOSE}"


def _read(roots: Roots, path: Path) -> str:
    try:
        real = roots.resolve(str(path))
        if not real.is_file():
            raise _unreadable(path, "it is no regular file")
        data = read_regular(real, _LARGEST_BYTES)
        if len(data) > _LARGEST_BYTES:
            raise _unreadable(path, f"it is larger than {_LARGEST_BYTES} bytes")
        return data.decode("utf-8-sig")
    except OutsideRoots as error:
        raise _unreadable(path, "it leads out of the workspace") from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"it is not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error


def _unreadable(path: Path, reason: str) -> Unprocessable:
    return Unprocessable(
        f"the knowledge of the workspace cannot be read: {str(path)!r}: {reason}; mend it or move it away, then "
        "prompt again",
        code="knowledge_unreadable",
        category="session",
        evidence={"path": str(path), "reason": reason},
        diagnostic=True,
    )
