"""The transport that every call goes through, whatever library speaks above it (issue 8 item 6).

A request never leaves its origin, an answer never exceeds its limit, and what is sent again is only what the other
side did not take: a connection that was never made, 429, and 503 that says when to come back. Knows no protocol.
"""

import asyncio
import email.utils
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from urllib.parse import urljoin, urlsplit

import httpx2

from compozy.ocm.endpoints.address import Address
from compozy.ocm.endpoints.errors import EndpointFailed

_ATTEMPTS = 3
_REDIRECTS = 3
# Redirects that keep method and body; every other kind would lose the request on the way.
_KEEPING = (307, 308)
_FIRST_PAUSE = 0.2
# Whoever asks for a longer pause is told about, not waited for.
_LONGEST_PAUSE = 30.0
_LONGEST_SAID = 400
_REDIRECTING = range(300, 400)
# A certificate that the other side refuses arrives as a bare TLS error, which is an OSError.
_BREAKING = (httpx2.TransportError, OSError)


class Guard(httpx2.AsyncBaseTransport):
    """Sends requests to one origin. `headers` are put on every request; `only` drops all others but these.
    `masked` takes the credential out of what is said: the other side may echo it anywhere.

    `failure` is the last error of ours and `refused` tells of it, for libraries that swallow exceptions; `attempts`
    counts what was sent, `last_status` is that of the last POST.
    """

    def __init__(
        self,
        address: Address,
        inner: httpx2.AsyncBaseTransport,
        *,
        max_bytes: int,
        headers: Mapping[str, str],
        only: Collection[str] | None = None,
        masked: Callable[[str], str] = str,
    ) -> None:
        self._address = address
        self._home = _origin(httpx2.URL(address.url))
        self._inner = inner
        self._max_bytes = max_bytes
        self._headers = headers
        self._only = only
        self._masked = masked
        self.failure: EndpointFailed | None = None
        self.refused = asyncio.Event()
        self.attempts = 0
        self.last_status = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._prepare(request)
        try:
            return await self._follow(request)
        except EndpointFailed as error:
            self._remember(error)
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _prepare(self, request: httpx2.Request) -> None:
        if self._only is not None:
            for name in list(request.headers):
                if name.lower() not in self._only:
                    del request.headers[name]
        # Unpacked answers could be a thousand times what was counted.
        request.headers["accept-encoding"] = "identity"
        for name, value in self._headers.items():
            request.headers[name] = value

    async def _follow(self, request: httpx2.Request) -> httpx2.Response:
        for _ in range(_REDIRECTS + 1):
            self._stay(request.url)
            response = await self._send(request)
            if request.method == "POST":
                self.last_status = response.status_code
            location = response.headers.get("location")
            if response.status_code not in _REDIRECTING or location is None:
                return self._limited(response)
            await response.aclose()
            self._check_redirect(request, response.status_code, location)
            request = self._redirected(request, location)
        raise self._failed(f"redirects more than {_REDIRECTS} times", "endpoint_redirect")

    def _redirected(self, request: httpx2.Request, location: str) -> httpx2.Request:
        try:
            return httpx2.Request(
                request.method,
                urljoin(str(request.url), location),
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        except (httpx2.InvalidURL, ValueError) as error:
            raise self._failed("redirects to an address that cannot be read", "endpoint_redirect") from error

    def _stay(self, url: httpx2.URL) -> None:
        # As they go over the wire: a host has two spellings (bücher.example, xn--bcher-kva.example).
        if _origin(url) != self._home:
            raise self._failed("was to be left for another host, which is never done", "endpoint_redirect")

    def _check_redirect(self, request: httpx2.Request, status: int, location: str) -> None:
        try:
            parts = urlsplit(urljoin(str(request.url), location))
            there = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
        except ValueError:
            there = "an address that cannot be read"
        if status not in _KEEPING and request.method != "GET":
            raise self._failed(
                f"answered {status} with a redirect to {there}, which would lose the request; put the final address "
                "into the manifest",
                "endpoint_redirect",
            )
        if there not in (self._address.origin, f"{self._address.scheme}://{self._address.host}:{self._address.port}"):
            raise self._failed(
                f"answered {status} with a redirect to {there}; other hosts are never followed: put the "
                "final address into the manifest if you trust it",
                "endpoint_redirect",
            )

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        for attempt in range(1, _ATTEMPTS + 1):
            self.attempts += 1
            last = attempt == _ATTEMPTS
            pause = _FIRST_PAUSE * 2 ** (attempt - 1)
            try:
                response = await self._inner.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
                # Nothing was sent: trying again repeats nothing.
                if last:
                    raise self._failed(
                        f"cannot be reached ({str(error) or type(error).__name__})",
                        "endpoint_unreachable",
                        temporary=True,
                    ) from error
            except _BREAKING as error:
                raise self.broken(error) from error
            else:
                asked = retry_after(response.headers.get("retry-after"))
                was_taken = response.status_code != 429 and (response.status_code != 503 or asked is None)
                if was_taken or last or (asked or 0.0) > _LONGEST_PAUSE:
                    return response
                await response.aclose()
                pause = pause if asked is None else asked
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _limited(self, response: httpx2.Response) -> httpx2.Response:
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding not in ("identity", ""):
            raise self._failed(f"packs its answer with {encoding!r} although it was asked not to", "endpoint_answer")
        length = response.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length[:20]) > self._max_bytes:
            raise self.too_large()
        # What is called a charset may be any codec of Python: some unpack, some take minutes, some cannot be used.
        media = response.headers.get("content-type", "")
        if ";" in media:
            response.headers["content-type"] = media.partition(";")[0].strip()
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Limited(response.stream, self._max_bytes, self)
        return response

    def too_large(self) -> EndpointFailed:
        """Return the error for an answer beyond the limit."""
        return self._remember(self._failed(f"answers more than {self._max_bytes:,} bytes", "endpoint_too_large"))

    def _remember(self, error: EndpointFailed) -> EndpointFailed:
        self.failure = error
        self.refused.set()
        return error

    def broken(self, error: Exception) -> EndpointFailed:
        """Return the error for a connection that ended in the middle."""
        if isinstance(error, httpx2.TimeoutException):
            return self._failed("did not answer in time", "endpoint_timeout", temporary=True)
        told = str(error) or type(error).__name__
        return self._failed(f"broke the connection off ({told})", "endpoint_broken", temporary=True)

    def _failed(self, what: str, code: str, *, temporary: bool = False) -> EndpointFailed:
        said = self._masked(what)[:_LONGEST_SAID]
        return EndpointFailed(f"{self._address.origin} {said}", code=code, is_temporary=temporary)


class _Limited(httpx2.AsyncByteStream):
    """A stream that ends with an error beyond its limit."""

    def __init__(self, inner: httpx2.AsyncByteStream, limit: int, guard: Guard) -> None:
        self._inner = inner
        self._limit = limit
        self._guard = guard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        try:
            async for chunk in self._inner:
                read += len(chunk)
                if read > self._limit:
                    raise self._guard.too_large()
                yield chunk
        except _BREAKING as error:
            raise self._guard.broken(error) from error

    async def aclose(self) -> None:
        await self._inner.aclose()


def _origin(url: httpx2.URL) -> tuple[str, bytes, int]:
    return url.scheme, url.raw_host, url.port or (443 if url.scheme == "https" else 80)


def retry_after(value: str | None) -> float | None:
    """Return the pause in seconds that a Retry-After header asks for; None without one that can be read."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None
