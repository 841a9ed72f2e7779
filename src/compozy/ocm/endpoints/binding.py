"""`bind_endpoint`: a callable for the endpoint that a request in some region uses (issue 8 item 6; decisions O3, O5).

Everything that can be refused is refused while binding: no endpoint there, one that an operator wires, an address or
a credential that breaks a rule. Calling has one bound in time for all of it, whatever the other side does.
"""

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from compozy.model.extras import install_line
from compozy.ocm.endpoints.address import check_address
from compozy.ocm.endpoints.calls import Call, Options, Reply, SecretResolver
from compozy.ocm.endpoints.choice import Choice, choose_endpoint
from compozy.ocm.endpoints.connection import Connection, prepare
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused
from compozy.ocm.manifest import Manifest
from compozy.ocm.target import Target
from compozy.ocm.validate import errors, validate

_NO_OPTIONS = Options()
_Ask = Callable[[Connection, Call, Options], Awaitable[Reply]]


class _Capability(NamedTuple):
    id: str
    endpoints: Sequence[Mapping[str, object]]
    metadata: Mapping[str, object]
    instructions: str


class BoundEndpoint:
    """One endpoint, ready to be called: `bound("task")`, or `await bound.ask(call)` inside an event loop."""

    def __init__(self, capability: _Capability, choice: Choice, connection: Connection, options: Options) -> None:
        self._capability = capability
        self._connection = connection
        self._options = options
        self.id = capability.id
        self.choice = choice

    def __call__(self, task: str, context: Mapping[str, object] | None = None) -> Reply:
        """Call and wait.

        Raises:
            EndpointFailed, EndpointRefused: there is no answer; the message says why.
        """
        return asyncio.run(self.ask(Call(task=task, context=context or {})))

    async def ask(self, call: Call) -> Reply:
        """Call; bounded by the options' timeout as a whole.

        Raises:
            EndpointFailed, EndpointRefused: there is no answer; the message says why.
        """
        if not call.request_id:
            call = msgspec.structs.replace(call, request_id=uuid.uuid4().hex)
        # Before the clock runs: the libraries of some protocols take seconds to import on a busy machine.
        speak, options = self._speaker()
        try:
            async with asyncio.timeout(self._options.timeout):
                return await speak(self._connection, call, options)
        except TimeoutError as error:
            raise EndpointFailed(
                f"{self._connection.address.origin} did not answer within {self._options.timeout:g} s; what it was "
                "asked may still be going on there",
                code="endpoint_timeout",
                is_temporary=True,
            ) from error

    def _speaker(self) -> "tuple[_Ask, Options]":
        """Return how the protocol is spoken; each brings a library of its own, imported when one is called."""
        if self.choice.protocol == "http":
            from compozy.ocm.endpoints import over_http  # noqa: PLC0415 - start-up cost

            return over_http.ask, self._options
        if self.choice.protocol == "a2a":
            from compozy.ocm.endpoints import over_a2a  # noqa: PLC0415 - start-up cost

            return over_a2a.ask, self._options
        if self.choice.protocol == "mcp":
            from compozy.ocm.endpoints import over_mcp  # noqa: PLC0415 - start-up cost

            tool = self._options.tool or _named(self._capability.metadata, "mcp", "name")
            return over_mcp.ask, msgspec.structs.replace(self._options, tool=tool)
        try:
            from compozy.ocm.endpoints import over_openai  # noqa: PLC0415 - an extra, and start-up cost
        except ModuleNotFoundError as error:
            raise EndpointRefused(
                f"endpoints of protocol openai need the extra `openai`: {install_line('openai')}",
                code="endpoint_extra",
            ) from error
        model = self._options.model or _text(self._capability.metadata.get("model")) or self.id.rpartition("/")[2]
        ask = partial(over_openai.ask, instructions=self._capability.instructions)
        return ask, msgspec.structs.replace(self._options, model=model)


def environment(reference: str) -> str:
    """Resolve `env:NAME`; the resolver where nobody gives one that knows a vault too."""
    kind, _, name = reference.partition(":")
    return os.environ.get(name, "") if kind == "env" else ""


def bind_endpoint(
    manifest: Manifest | Target | Mapping[str, object],
    region: str | None = None,
    *,
    protocol: str = "",
    options: Options = _NO_OPTIONS,
    secrets: SecretResolver = environment,
) -> BoundEndpoint:
    """Return a callable for the endpoint that a request in `region` uses; sends nothing yet.

    Raises:
        EndpointRefused: `endpoint_none`, `endpoint_region`, `endpoint_operator` (queue, grpc, other: an operator has
            to wire them), `endpoint_address`, `endpoint_auth`; or the manifest is invalid.
    """
    capability = _read(manifest)
    choice = choose_endpoint(capability.endpoints, region or "", protocol)
    if choice is None:
        raise _none(capability, region or "", protocol)
    if not choice.is_callable:
        where = " without a url" if choice.protocol == "mcp" else ""
        raise EndpointRefused(
            f"{capability.id!r} answers over {choice.protocol}{where}, which its operator wires: it cannot be called "
            "from here",
            code="endpoint_operator",
        )
    address = check_address(choice.url, allow_plain_http=options.allow_plain_http)
    return BoundEndpoint(capability, choice, prepare(choice, address, options, secrets), options)


def _none(capability: _Capability, region: str, protocol: str) -> EndpointRefused:
    offered = sorted({_text(one.get("region")) or "anywhere" for one in capability.endpoints})
    spoken = sorted({_text(one.get("protocol")) for one in capability.endpoints})
    if not capability.endpoints:
        return EndpointRefused(
            f"{capability.id!r} names no endpoint; add one to its manifest, or run it as an agent of yours",
            code="endpoint_none",
        )
    if protocol and protocol not in spoken:
        return EndpointRefused(
            f"{capability.id!r} has no endpoint of protocol {protocol}; it has {', '.join(spoken)}",
            code="endpoint_none",
        )
    return EndpointRefused(
        f"{capability.id!r} has no endpoint in region {region!r}, only in {', '.join(offered)}; another region "
        "is never used",
        code="endpoint_region",
    )


def _read(manifest: Manifest | Target | Mapping[str, object]) -> _Capability:
    if isinstance(manifest, Target):
        return _Capability(manifest.id, manifest.endpoints, manifest.metadata, manifest.instructions)
    if isinstance(manifest, Manifest):
        rows = [msgspec.to_builtins(one) for one in manifest.endpoints]
        return _Capability(manifest.id, rows, manifest.metadata, manifest.instructions)
    wrong = errors(validate(manifest))
    if wrong:
        raise EndpointRefused(f"the manifest is invalid: {wrong[0].message}; see `compozy ocm validate`")
    found = manifest.get("endpoints", [])
    metadata = manifest.get("metadata", {})
    return _Capability(
        str(manifest["id"]),
        [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else [],
        metadata if isinstance(metadata, Mapping) else {},
        _text(manifest.get("instructions")),
    )


def _named(metadata: Mapping[str, object], section: str, key: str) -> str:
    found = metadata.get(section)
    return _text(found.get(key)) if isinstance(found, Mapping) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
