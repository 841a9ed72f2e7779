"""A registered workspace (contract §3.4)."""

from compozy.model.record import Record


class Workspace(Record, frozen=True, kw_only=True):
    """One registered root; `add_dirs` are additional roots in registered order. Paths are absolute."""

    id: str
    name: str
    root_dir: str
    add_dirs: tuple[str, ...]
    created_at: str
    updated_at: str
    default_agent: str = ""
    sandbox_ref: str = ""
