"""Manifests as text: YAML that versions 1.1 and 1.2 read alike, and JSON; their digests (issue 8 items 3, 5).

Knows nothing of files. Lone surrogates cannot be written as YAML; they stay escaped in JSON.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from compozy.ocm.yaml_core import meaning_in_yaml_11, resolve

# Text that stays text without quotes in every version and style.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+(][A-Za-z0-9_./@+()-]*)*\Z")
_BLOCK = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\t]*\Z")


def to_yaml(documents: Sequence[Mapping[str, object]]) -> str:
    """Return one document, or a stream of several."""
    texts = ["\n".join(_mapping(document, "")) + "\n" for document in documents]
    return "---\n".join(texts)


def to_json(document: object) -> str:
    """Return indented JSON of ASCII escapes where characters could not be written."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False, default=str)
    return text + "\n"


def json_key(key: object) -> str:
    """Return how JSON spells a key; YAML's may be numbers, true, false or null."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {True: "true", False: "false", None: "null"}[key]
    return repr(key)


def manifest_digest(document: Mapping[str, object]) -> str:
    """Return ``sha256:`` and the hash of the manifest's canonical JSON: keys sorted, whole numbers as integers."""
    text = json.dumps(_plain(document), sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {json_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    # 1.0 and 1 are one number in JSON; which one a reader makes of it must not count.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _mapping(value: Mapping[object, object] | Mapping[str, object], indent: str) -> list[str]:
    lines: list[str] = []
    for key, item in value.items():
        lines.extend(_entry(f"{indent}{scalar_text(key)}:", item, indent))
    return lines


def _entry(head: str, item: object, indent: str) -> list[str]:
    if isinstance(item, Mapping) and item:
        return [head, *_mapping(item, indent + "  ")]
    if isinstance(item, list | tuple) and item:
        return [head, *_sequence(item, indent + "  ")]
    if isinstance(item, str) and "\n" in item and _is_block(item):
        mark = "|" if item.endswith("\n") else "|-"
        body = [f"{indent}  {line}" if line else "" for line in item.removesuffix("\n").split("\n")]
        return [f"{head} {mark}", *body]
    return [f"{head} {scalar_text(item)}"]


def _sequence(value: Sequence[object], indent: str) -> list[str]:
    lines: list[str] = []
    for item in value:
        if isinstance(item, Mapping) and item:
            inner = _mapping(item, indent + "  ")
            lines.append(f"{indent}- {inner[0].lstrip()}")
            lines.extend(inner[1:])
        elif isinstance(item, list | tuple) and item:
            lines.append(f"{indent}-")
            lines.extend(_sequence(item, indent + "  "))
        else:
            lines.append(f"{indent}- {scalar_text(item)}")
    return lines


def _is_block(text: str) -> bool:
    first = text.split("\n", 1)[0]
    return bool(_BLOCK.match(text)) and bool(first) and first[0] != " " and not text.endswith("\n\n")


def scalar_text(value: object) -> str:
    """Return a value that is no list or mapping as YAML, in one line."""
    if isinstance(value, str):
        is_plain = _PLAIN.match(value) and resolve(value) == value and not meaning_in_yaml_11(value, value)
        return value if is_plain else _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        return str(value)
    return json.dumps(value, ensure_ascii=True, default=str)


def _number(value: float) -> str:
    text = repr(value)
    if "e" in text and "." not in text:
        # A number with an exponent and no point is text to YAML 1.1.
        text = text.replace("e", ".0e")
    return text


def _quoted(text: str) -> str:
    # JSON's escapes are YAML's; what YAML calls not printable is escaped too.
    is_safe = text.isprintable() and "\ufeff" not in text
    return json.dumps(text, ensure_ascii=not is_safe) if is_safe else _escaped(text)


def _escaped(text: str) -> str:
    named = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(named.get(c) or (c if c.isprintable() else f"\\U{ord(c):08X}") for c in text) + '"'
