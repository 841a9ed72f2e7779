"""Which endpoint of a capability a request uses: by region and protocol, decided when it is chosen (decisions O5).

An endpoint in another region than the request's is never used. What can be called goes before what an operator wires,
the request's own region before "anywhere", then the order of the manifest. Opens no connection.
"""

from collections.abc import Iterable, Mapping

from compozy.model.record import Record

# What `bind_endpoint` can call; queue, grpc and other are wired by an operator.
CALLABLE = ("http", "a2a", "mcp", "openai")


class Choice(Record, frozen=True, kw_only=True):
    """The endpoint of a request. `is_callable` is false where an operator has to wire it."""

    protocol: str
    url: str = ""
    region: str = ""
    auth: str = ""
    is_callable: bool = False


def choose_endpoint(endpoints: Iterable[Mapping[str, object]], region: str = "", protocol: str = "") -> Choice | None:
    """Return the endpoint for a request in `region` ("": the request names none), or None when there is none."""
    best: tuple[tuple[bool, int], Choice] | None = None
    for endpoint in endpoints:
        choice = _read(endpoint)
        if protocol and choice.protocol != protocol:
            continue
        rank = _rank(choice.region, region)
        if rank is None:
            continue
        order = (not choice.is_callable, rank)
        if best is None or order < best[0]:
            best = (order, choice)
    return best[1] if best else None


def is_reachable(regions: Iterable[str], region: str) -> bool:
    """Whether one of the endpoints' regions ("" is anywhere) serves a request; a capability without any is local."""
    offered = tuple(regions)
    return not region or not offered or any(_rank(one, region) is not None for one in offered)


def _rank(offered: str, wanted: str) -> int | None:
    """The lower the nearer; None for another region."""
    if not offered:
        return 1 if wanted else 0
    if not wanted:
        return 1
    return 0 if offered.casefold() == wanted.casefold() else None


def _read(endpoint: Mapping[str, object]) -> Choice:
    def text(key: str) -> str:
        value = endpoint.get(key)
        return value if isinstance(value, str) else ""

    protocol, url = text("protocol"), text("url")
    return Choice(
        protocol=protocol,
        url=url,
        region=text("region").strip(),
        auth=text("auth").strip(),
        # Without an address an MCP server is a program to start, and no manifest may name programs to start.
        is_callable=protocol in CALLABLE and bool(url),
    )
