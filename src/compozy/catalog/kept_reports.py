"""What a large fleet's reader knew, kept in a file of the home, so that the next daemon need not parse it all again.

Only a shortcut: a report is used while its folder and files have the very identities they were read with, the file
is ignored whole when anything about it or the parser is different, and definitions that may hold secrets (servers,
hooks, commands) are never in it.
"""

import hashlib
import logging
from pathlib import Path

import msgspec

from compozy import __version__, documents, model
from compozy.catalog.reading import AgentReader, KeptReport
from compozy.documents.atomic import write_atomically

_log = logging.getLogger("compozy.fleet")
# Fewer are parsed as quickly as the file would be read.
FEWEST = 500
_LARGEST_BYTES = 256 * 1024 * 1024
_KEY_BYTES = 32
_Shelves = dict[str, dict[str, KeptReport]]
_decoder = msgspec.msgpack.Decoder(_Shelves, dec_hook=lambda kind, value: _from_plain(kind, value))


def save(reader: AgentReader, path: Path) -> None:
    """Write what the reader keeps, old or new; a failure only costs the shortcut."""
    shelves = {
        root: {name: kept for name, kept in shelf.items() if _is_plain(kept)} for root, shelf in reader.kept().items()
    }
    try:
        data = msgspec.msgpack.encode(shelves, enc_hook=_to_plain)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(path, _key() + hashlib.sha256(data).digest() + data)
    except (OSError, ValueError, NotImplementedError) as error:
        _log.info("the reports of definitions were not kept in %s: %s", path, error)


def restore(reader: AgentReader, path: Path) -> None:
    """Give a reader what an earlier one kept, if there is any and it is of this program."""
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            return
        content = path.read_bytes()
        data = content[2 * _KEY_BYTES :]
        if content[: 2 * _KEY_BYTES] != _key() + hashlib.sha256(data).digest():
            return
        reader.restore(_decoder.decode(data))
    except FileNotFoundError:
        return
    except (OSError, ValueError, NotImplementedError) as error:
        _log.info("the kept reports of definitions in %s are not used: %s", path, error)


def _is_plain(kept: KeptReport) -> bool:
    loaded = kept.report.loaded
    if loaded is None:
        return False
    definition = loaded.definition
    return not (definition.mcp_servers or definition.hooks or definition.command)


def _key() -> bytes:
    """Name this program's way of reading: its version, and the state of the modules that read."""
    parts = [__version__]
    for package in (documents, model):
        folder = Path(package.__path__[0])
        for file in sorted(folder.rglob("*.py")):
            state = file.stat()
            parts.append(f"{file.relative_to(folder)} {state.st_size} {state.st_mtime_ns}")
    return hashlib.sha256("\n".join(parts).encode()).digest()


def _to_plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"no encoding for {type(value).__name__}")


def _from_plain(kind: type, value: object) -> object:
    if issubclass(kind, Path) and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(f"no decoding for {kind.__name__}")
