"""Looking into folders for the web page's folder picker (shapes: fs browse). Reads names only, never contents.

The system decides what this user may read; what is refused is said. Bounded: a huge folder is cut, and says so.
"""

import os
from pathlib import Path

from compozy.model.errors import Forbidden, InvalidRequest, NotFound
from compozy.model.folders import FolderEntry, FolderListing

# A person picks from a list; nobody reads further than this.
MAX_ENTRIES = 5000


def browse(path: str, *, show_hidden: bool = False, dirs_only: bool = False) -> FolderListing:
    """List a folder, the user's home by default: folders first, by name. Call it in a thread.

    Raises:
        InvalidRequest: the path is not absolute, or no folder.
        NotFound: there is nothing.
        Forbidden: this user may not read it.
    """
    folder = _folder(path)
    found: list[tuple[bool, str]] = []
    is_cut = False
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") and not show_hidden:
                    continue
                is_dir = _is_dir(entry)
                if is_dir or not dirs_only:
                    if len(found) == MAX_ENTRIES:
                        is_cut = True
                        break
                    found.append((is_dir, entry.name))
    except FileNotFoundError as error:
        raise NotFound(f"there is no folder {path!r}; choose one that exists", code="path_not_found") from error
    except NotADirectoryError as error:
        raise InvalidRequest(f"{path!r} is no folder; choose the folder it lies in", code="not_a_folder") from error
    except PermissionError as error:
        raise Forbidden(f"this user may not read {path!r}; choose another folder", code="path_unreadable") from error
    except OSError as error:
        raise InvalidRequest(f"{path!r} cannot be listed: {error.strerror}", code="path_unusable") from error
    found.sort(key=lambda one: (not one[0], one[1].casefold(), one[1]))
    return FolderListing(
        path=str(folder),
        home=str(Path.home()),
        roots=("/",),
        entries=tuple(FolderEntry(name=name, path=str(folder / name), is_dir=is_dir) for is_dir, name in found),
        parent=str(folder.parent) if folder.parent != folder else "",
        truncated=is_cut,
    )


def _folder(path: str) -> Path:
    if "\0" in path:
        raise InvalidRequest("path holds a NUL character; remove it", code="path_unusable")
    try:
        wanted = Path(path).expanduser() if path else Path.home()
    except RuntimeError as error:
        raise NotFound(f"there is no user behind {path!r}; write an absolute path", code="path_not_found") from error
    if not wanted.is_absolute():
        raise InvalidRequest(f"path {path!r} is not absolute; start it with / or ~", code="path_not_absolute")
    return Path(os.path.normpath(wanted))


def _is_dir(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
