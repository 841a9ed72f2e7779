"""Setting and removing values of config.toml: checked before it is written, old-or-new on disk, nothing else touched.

One lock of the home orders writers of all processes. The text keeps its comments and order (decisions D3). What a
workspace may never decide is refused instead of being written in vain.
"""

import typing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from compozy.config.builtin_providers import canonical_provider
from compozy.config.effective import effective_table, look_up
from compozy.config.errors import ConfigError, HomeError
from compozy.config.home import Home
from compozy.config.install import create_home, write_settings_file
from compozy.config.keys import ANY, Key, Lifecycle, is_table, join_key, lifecycle_of, type_at
from compozy.config.load import load_config, read_layers, workspace_config_file
from compozy.config.locking import locked
from compozy.config.toml_edit import change_values
from compozy.config.toml_source import TomlSource, read_toml, toml_source
from compozy.config.trust_grants import file_trust
from compozy.config.workspace_rules import workspace_needs
from compozy.documents.toml_reader import TomlProblem
from compozy.documents.toml_reader import read_toml as parse_toml
from compozy.model.record import Record


class Change(Record, frozen=True, kw_only=True):
    """What a change did: values in force before and after, where it was written, and how it is applied."""

    key: str
    before: object
    after: object
    file: str
    lifecycle: Lifecycle
    is_written: bool
    note: str = ""
    trust: tuple[str, ...] = ()
    """The keys of the workspace's file that count only after it is trusted as it is now."""


def set_value(home: Home, key: Key, text: str, workspace_root: Path | None = None) -> Change:
    """Set one key to what a person typed.

    Raises:
        ConfigError: the key holds a table, the value does not fit, or the workspace may not decide it.
        HomeError: the file cannot be written.
    """
    if is_table(key):
        raise ConfigError(f"{join_key(key)!r} is a table; set one of its keys: compozy config list {join_key(key)}")
    return _change(home, key, read_value(key, text), workspace_root)


def unset_value(home: Home, key: Key, workspace_root: Path | None = None) -> Change:
    """Remove one key, or a whole table, from the file; what lies below it is in force again.

    Raises:
        ConfigError, HomeError: as `set_value`.
    """
    return _change(home, key, None, workspace_root)


def read_value(key: Key, text: str) -> object:
    """Return the value that a person's text means for a key: text is text, everything else is written as in TOML.

    Raises:
        ConfigError: the text is no value of TOML.
    """
    expected = type_at(key)
    quoted = text[:1] in ("'", '"') and len(text) > 1 and text[-1:] == text[:1]
    if not quoted and (expected is str or typing.get_origin(expected) is typing.Literal or _is_text(expected)):
        return text
    try:
        return parse_toml(f"value = {text}\n")["value"]
    except (TomlProblem, KeyError) as problem:
        if expected is ANY:
            return text
        example = "['a', 'b']" if typing.get_origin(expected) is tuple else "true" if expected is bool else "5"
        raise ConfigError(f"{join_key(key)}: {text!r} is no value of TOML; write it like {example}") from problem


def _is_text(expected: object) -> bool:
    return isinstance(expected, type) and expected.__name__ == "Duration"


def change_settings(home: Home, values: Mapping[Key, object], workspace_root: Path | None = None) -> None:
    """Set (or with None remove) several values at once, all or none.

    Raises:
        ConfigError: the file would not be valid; nothing is written.
        HomeError: the file cannot be written.
    """
    path = _file(home, workspace_root)
    with _locked(home):
        source = read_toml(path)
        table = source.table if source else {}
        spelled = {_spelled(table, key): value for key, value in values.items()}
        text = change_values(source.text if source else "", spelled, path=str(path))
        load_config(home, workspace_root, instead={path: text})
        if source is None or text != source.text:
            write_settings_file(path, text)


def _change(home: Home, key: Key, value: object, workspace_root: Path | None) -> Change:
    path = _file(home, workspace_root)
    with _locked(home):
        before = _in_force(home, key, workspace_root)
        source = read_toml(path)
        text = source.text if source else ""
        spelled = _spelled(source.table if source else {}, key)
        if value is None and (source is None or not source.is_written(spelled)):
            raise ConfigError(
                f"{join_key(key)!r} is not set in {str(path)!r}; see: compozy config explain {join_key(key)}"
            )
        new = change_values(text, {spelled: value}, path=str(path))
        # The file as it will be was trusted by nobody yet, unless it is what was trusted before.
        is_trusted = file_trust(home)
        config = load_config(home, workspace_root, instead={path: new}, is_trusted=is_trusted)
        layers = read_layers(home, workspace_root, instead={path: new}, is_trusted=is_trusted)
        refused = layers[-1].refused if workspace_root is not None and layers else {}
        reason = next((why for at, why in refused.items() if spelled[: len(at)] == at), "")
        if value is not None and "home alone" in reason:
            raise ConfigError(f"{join_key(key)!r} {reason}; set it without --workspace")
        if new != text:
            _make_folder(path.parent)
            write_settings_file(path, new)
    needs: tuple[str, ...] = ()
    if workspace_root is not None and new != text:
        needs = _untrusted(home, toml_source(path, new))
    return Change(
        key=join_key(key),
        before=before,
        after=look_up(effective_table(config), key)[1],
        file=str(path),
        # What a workspace says counts for its next session; the daemon looks at the file itself.
        lifecycle=lifecycle_of(key) if workspace_root is None else "live",
        is_written=new != text,
        note=_note(join_key(key), reason, config.notes) if value is not None else "",
        trust=needs,
    )


def _note(key: str, reason: str, notes: Iterable[str]) -> str:
    if reason:
        return f"{key} {reason}; it is left out until then"
    return next((note for note in notes if f": {key} " in note), "")


def _untrusted(home: Home, source: TomlSource) -> tuple[str, ...]:
    """Return what of a workspace's file needs trust, when it does not have it as it is."""
    config = load_config(home)
    if config.trust.mode == "off" or file_trust(home)(source):
        return ()
    return tuple(need.key for need in workspace_needs(source, config.permissions))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o755, exist_ok=True)
    except OSError as error:
        raise HomeError(
            f"cannot make {str(folder)!r}: {error.strerror}; check the folder's owner and mode"
        ) from error


def _in_force(home: Home, key: Key, workspace_root: Path | None) -> object:
    return look_up(effective_table(load_config(home, workspace_root, is_trusted=file_trust(home))), key)[1]


def _file(home: Home, workspace_root: Path | None) -> Path:
    return home.config_file if workspace_root is None else workspace_config_file(workspace_root)


def _spelled(table: dict[str, object], key: Key) -> Key:
    """Return the key with the provider's name as the file already spells it."""
    written = table.get("providers")
    if key[0] != "providers" or not isinstance(written, dict) or len(key) < 2:
        return key
    return next((("providers", name, *key[2:]) for name in written if canonical_provider(name) == key[1]), key)


@contextmanager
def _locked(home: Home) -> Iterator[None]:
    """Hold the lock that orders all writers of this home's settings: read, check and write are one step."""
    create_home(home)
    path = home.root / ".config.lock"
    try:
        with locked(path):
            yield
    except OSError as error:
        # What is written below the lock brings its own words; this is the lock itself.
        raise HomeError(f"cannot lock {str(path)!r}: {error.strerror or error}; check the folder's owner") from error
