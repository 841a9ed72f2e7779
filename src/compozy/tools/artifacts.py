"""Kept results: what is too large to hand out, as files below the home, read in pages (contract §6.3, §1.1).

An artifact's id is the digest of its bytes, so equal results are one file and a damaged file is recognised. Files of
one workspace lie in one folder; the oldest go when there are too many, too large or too old.
"""

import base64
import hashlib
import os
import re
import time
from pathlib import Path

from compozy.documents.atomic import write_atomically
from compozy.model.tool import ArtifactPage, ReasonCode, ToolArtifact

PAGE_BYTES = 64 * 1024
URI_SCHEME = "compozy-artifact:"
# Contract §2.2, [tools.artifacts].
MOST_FILES, MOST_BYTES, MOST_SECONDS = 200, 1 << 30, 720 * 3600
_SUFFIXES = {"text/plain": ".txt", "application/json": ".json"}
_MIME_TYPES = {suffix: mime for mime, suffix in _SUFFIXES.items()}
_ID = re.compile(r"art_[0-9a-f]{64}")
_UNBOUND = "_unbound"


class ArtifactProblem(Exception):
    """An artifact cannot be kept or read."""

    def __init__(self, message: str, reason: ReasonCode) -> None:
        super().__init__(message)
        self.message, self.reason = message, reason


class ArtifactStore:
    """The artifacts of one home. Methods block: call them in a thread."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def keep(self, workspace_id: str, data: bytes, mime_type: str, name: str) -> ToolArtifact:
        """Store bytes and return their reference.

        Raises:
            ArtifactProblem: they cannot be stored.
        """
        digest = hashlib.sha256(data).hexdigest()
        folder = self._folder(workspace_id)
        path = folder / f"art_{digest}{_SUFFIXES.get(mime_type, '.bin')}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(path, data)
            self._make_room(folder, path)
        except OSError as error:
            raise ArtifactProblem(
                f"a result of {len(data)} bytes cannot be kept in {str(folder)!r}: {error.strerror or error}; make "
                "room and call the tool again",
                "result_persistence_failed",
            ) from error
        return ToolArtifact(
            uri=f"{URI_SCHEME}art_{digest}", bytes=len(data), mime_type=mime_type, name=name, sha256=digest
        )

    def read(self, workspace_id: str, artifact_id: str, *, offset: int = 0, limit: int = PAGE_BYTES) -> ArtifactPage:
        """Return one page, at most 64 KiB.

        Raises:
            ArtifactProblem: no such artifact, or its file was changed.
        """
        wanted = artifact_id.removeprefix(URI_SCHEME)
        path = self._find(workspace_id, wanted)
        if path is None:
            raise ArtifactProblem(
                f"artifact {artifact_id!r} is not kept here: it never was, or was removed to make room",
                "tool_artifact_not_found",
            )
        data = path.read_bytes()
        if f"art_{hashlib.sha256(data).hexdigest()}" != wanted:
            raise ArtifactProblem(f"artifact {artifact_id!r} was changed on disk", "tool_artifact_corrupt")
        start = min(max(offset, 0), len(data))
        page = data[start : start + max(1, min(limit, PAGE_BYTES))]
        after = start + len(page)
        return ArtifactPage(
            artifact=ToolArtifact(
                uri=f"{URI_SCHEME}{wanted}",
                bytes=len(data),
                mime_type=_MIME_TYPES.get(path.suffix, "application/octet-stream"),
                sha256=wanted.removeprefix("art_"),
            ),
            offset=start,
            bytes=len(page),
            total_bytes=len(data),
            next_offset=after,
            eof=after >= len(data),
            data_base64=base64.b64encode(page).decode(),
        )

    def _folder(self, workspace_id: str) -> Path:
        return self._root / (workspace_id or _UNBOUND)

    def _find(self, workspace_id: str, artifact_id: str) -> Path | None:
        if not _ID.fullmatch(artifact_id):
            return None
        for suffix in (".json", ".txt", ".bin"):
            path = self._folder(workspace_id) / f"{artifact_id}{suffix}"
            if path.is_file() and not path.is_symlink():
                return path
        return None

    def _make_room(self, folder: Path, newest: Path) -> None:
        """Remove what is too old, then the oldest of what is too much; the newest stays in any case."""
        found: list[tuple[float, int, Path]] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("art_") and entry.is_file(follow_symlinks=False):
                    state = entry.stat(follow_symlinks=False)
                    found.append((state.st_mtime, state.st_size, Path(entry.path)))
        found.sort(key=lambda item: item[0], reverse=True)
        too_old, size = time.time() - MOST_SECONDS, 0
        for number, (changed, length, path) in enumerate(found):
            size += length
            if path != newest and (number >= MOST_FILES or size > MOST_BYTES or changed < too_old):
                path.unlink(missing_ok=True)
