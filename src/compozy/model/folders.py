"""A folder as the folder picker shows it (shapes: fs browse)."""

from compozy.model.record import Record


class FolderEntry(Record, frozen=True, kw_only=True):
    """One name in a folder."""

    name: str
    path: str
    is_dir: bool


class FolderListing(Record, frozen=True, kw_only=True):
    """The names in a folder; `parent` is "" at the root, `truncated` when there were too many."""

    path: str
    home: str
    roots: tuple[str, ...]
    entries: tuple[FolderEntry, ...]
    parent: str = ""
    truncated: bool = False
