"""The one merge of MCP servers (contract §2.1, §2.4; decisions D19; reports P37).

Layers come lowest first. A server is found by its name. Within one level of trust the later definition's non-empty
fields are laid over the earlier ones, except that an mcp.json replaces whole servers, as does a change of transport.
Across levels the later definition always replaces the whole server: a repository cannot put its command under the
home's secrets. One without command and url only adds to a server of its own level, else it is left out. An empty map
adds and removes nothing. Pure: reads nothing, decides no trust.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from compozy.documents.servers import has_auth
from compozy.model.definition import McpServer
from compozy.model.mcp import McpLevel, McpPlace, Standing

_TEXTS = ("transport", "command", "args", "url", "catalog_entry", "catalog_version")
# A key that is given in one of a pair is taken out of the other: two answers to one question are none.
_MAPS = (("env", "secret_env"), ("headers", "secret_headers"))


@dataclass(frozen=True, kw_only=True)
class McpLayer:
    """The servers of one place. `digest` is what trust in the place is bound to, "" where none is needed.

    `trust_path` is the file that is trusted, where that is not the place itself.
    """

    place: McpPlace
    level: McpLevel
    path: str
    servers: tuple[McpServer, ...]
    digest: str = ""
    trust_path: str = ""

    @property
    def replaces(self) -> bool:
        """Whether its servers replace those of the same level as a whole."""
        return self.place == "mcp.json"


@dataclass(kw_only=True)
class Merged:
    """One server after the merge: what it says, and which layer said each key and each definition of it."""

    server: McpServer
    sources: list[tuple[McpLayer, Standing]]
    keys: dict[str, McpLayer] = field(default_factory=dict)

    @property
    def winner(self) -> McpLayer:
        """The layer whose definition is in force."""
        return next(layer for layer, standing in reversed(self.sources) if standing == "effective")

    @property
    def in_use(self) -> tuple[McpLayer, ...]:
        """The layers of which something is left."""
        return tuple(layer for layer, standing in self.sources if standing != "replaced")


def merge_layers(layers: Iterable[McpLayer]) -> dict[str, Merged]:
    """Return every server by its name, in the order in which the names first occur."""
    found: dict[str, Merged] = {}
    for layer in layers:
        for server in layer.servers:
            below = found.get(server.name)
            if below is None:
                found[server.name] = Merged(server=server, sources=[(layer, "effective")])
                found[server.name].keys = dict.fromkeys(keys_of(server), layer)
            else:
                _put_over(below, server, layer)
    return found


def _put_over(below: Merged, server: McpServer, layer: McpLayer) -> None:
    if layer.level != below.winner.level and not is_whole(server):
        below.sources.append((layer, "replaced"))
        return
    is_replaced = layer.level != below.winner.level or layer.replaces or _differs(below.server, server)
    standing: Standing = "replaced" if is_replaced else "merged"
    below.sources = [
        *((one, "replaced" if is_replaced or old == "replaced" else standing) for one, old in below.sources),
        (layer, "effective"),
    ]
    below.server = server if is_replaced else overlaid(below.server, server)
    said = set(keys_of(server))
    below.keys = {key: layer if key in said else below.keys.get(key, layer) for key in keys_of(below.server)}


def overlaid(below: McpServer, above: McpServer) -> McpServer:
    """Return a server with the non-empty fields of `above` over those of `below`; maps are merged by key."""
    changes: dict[str, object] = {name: getattr(above, name) for name in _TEXTS if getattr(above, name)}
    for literal, secret in _MAPS:
        folds = literal == "headers"
        changes[literal] = _over(below, above, literal, secret, folds=folds)
        changes[secret] = _over(below, above, secret, literal, folds=folds)
    if has_auth(above.auth):
        changes["auth"] = above.auth
    return msgspec.structs.replace(below, **changes)


def _over(below: McpServer, above: McpServer, name: str, other: str, *, folds: bool) -> dict[str, str]:
    mine: Mapping[str, str] = getattr(above, name)
    taken = {_folded(key, folds) for key in (*mine, *getattr(above, other))}
    kept = {key: value for key, value in getattr(below, name).items() if _folded(key, folds) not in taken}
    return {**kept, **mine}


def _folded(key: str, folds: bool) -> str:
    return key.lower() if folds else key


def _differs(below: McpServer, above: McpServer) -> bool:
    """Whether one is started and the other reached; a definition that says neither fits both."""
    return _speaks(above) not in ("", _speaks(below))


def is_whole(server: McpServer) -> bool:
    """Whether a definition can stand alone."""
    return bool(server.command or server.url)


def _speaks(server: McpServer) -> str:
    if server.transport:
        return server.transport
    return "http" if server.url else "stdio" if server.command else ""


def keys_of(server: McpServer) -> Sequence[str]:
    """Return every key that a server gives a value, as ``command`` or ``env.NAME``."""
    keys = [name for name in _TEXTS if getattr(server, name)]
    for pair in _MAPS:
        for name in pair:
            keys += [f"{name}.{key}" for key in getattr(server, name)]
    return [*keys, "auth"] if has_auth(server.auth) else keys
